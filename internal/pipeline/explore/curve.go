package explore

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/policy"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/traffic"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

// A Curve is what limits do that differ from one another in their size only.
type Curve struct {
	Limit  Pattern      `json:"limit"`  // the limit that was asked about
	Shape  string       `json:"shape"`  // the limits that the figures are about, with N in the place of the size
	Is     int64        `json:"is"`     // the size of the limit that was asked about
	Groups []Group      `json:"groups"` // by identity, those that sent something
	Points []CurvePoint `json:"points"`
	Keeps  []int64      `json:"keeps"` // the least N that spares each of the page's percents of protected clients; 0: none
	Note   string       `json:"note"`  // what the curve is
}

// A Pattern is a limit into which other sizes can be put.
type Pattern struct {
	Before string `json:"before"` // the text before its size, "" if no other size can be put in
	Add    int64  `json:"add"`    // to the size that is put in: −1 for a burst of nginx
	After  string `json:"after"`
}

// A CurvePoint is one limit of a curve. Its figures are by group.
type CurvePoint struct {
	N       int64   `json:"n"`
	Hit     []int64 `json:"hit"`     // clients
	Refused []int64 `json:"refused"` // requests
	Counted bool    `json:"counted"` // whether it is known what it refuses
}

// mostPoints is about the most points of a curve: a screen shows no more.
const mostPoints = 400

// curve draws the curve that a limit lies on.
func (s *Session) curve(ctx context.Context, q *Request) (*Curve, error) {
	policies, err := s.policy(q)
	if err != nil {
		return nil, err
	}
	if n := len(policies[0].Parts); n > 1 {
		return nil, fmt.Errorf("no curve is known for %d limits together", n)
	}
	shape, is, err := shapeOf(policies[0].Parts[0])
	if err != nil {
		return nil, err
	}
	labels := s.found.Who.Identities
	o := sweep.Options{
		Tables: s.tables(), By: policies[0].Parts[0].By, Kinds: []sweep.Kind{shape.Kind}, Action: q.Action,
		Lateness: s.suggest.Read.StepBack(), Group: func(client int32) uint8 { return uint8(labels.Of(client)) },
	}
	if shape.Kind == sweep.Token {
		o.Rates, o.Bursts = []sweep.Rate{shape.Rate}, bursts(shape.Rate.MostBurst(), is)
	} else {
		o.Periods = []limit.Time{shape.Per}
	}
	drawn := sweep.New(o)
	if err := s.each(ctx, func(_ int, b *traffic.Batch) error {
		drawn.Take(b)
		return nil
	}); err != nil {
		return nil, err
	}
	placements, _, _ := suggest.Curves(drawn, labels)
	c := &Curve{
		Limit: patternOf(policies[0].Parts[0].Spec), Shape: shape.String(), Is: is, Points: []CurvePoint{},
		Note: fmt.Sprintf("The curve is that of %s; it joins the N that were counted.", shape),
	}
	crowd, err := s.crowd(ctx, scope{action: q.Action})
	if err != nil {
		return nil, err
	}
	c.Groups = s.groups(crowd, suggest.Figures{})
	points := placements[0][0].Points
	c.Keeps = append([]int64{}, s.Report.Answers[0].Advice.Keeping(&placements[0][0], &crowd.Clients)...)
	if err := s.fit(ctx, q, c, &crowd.Clients); err != nil {
		return nil, err
	}
	next := 0.0 // the size from which on a further point shows
	for i := range points {
		p := &points[i]
		if i > 0 && points[i-1].Hit == (who.Groups{}) && p.Limit != is {
			continue // it hits no client, as smaller ones do
		}
		counted := shape.Kind != sweep.Token || p.Hit == (who.Groups{}) || slices.Contains(o.Bursts, p.Limit)
		if float64(p.Limit) < next && i < len(points)-1 && p.Limit != is && (shape.Kind != sweep.Token || !counted) {
			continue
		}
		next = max(float64(p.Limit)+1, float64(p.Limit)*math.Pow(float64(points[len(points)-1].Limit), 1.0/mostPoints))
		shown := CurvePoint{N: p.Limit, Counted: counted}
		for is := range who.Count {
			if crowd.Clients[is] > 0 {
				shown.Hit, shown.Refused = append(shown.Hit, p.Hit[is]), append(shown.Refused, p.Refused[is])
			}
		}
		c.Points = append(c.Points, shown)
	}
	return c, nil
}

// exact are the limits that lie on their curve; others are near it.
var exact = []string{"token", "window", "fixed"}

// mostFitted is the most steps in which a limit that is near its curve is looked for.
const mostFitted = 8

// fit makes Keeps those of the limit that was asked about, where its curve is only near it: by replays.
func (s *Session) fit(ctx context.Context, q *Request, c *Curve, clients *who.Groups) error {
	if slices.Contains(exact, strings.SplitN(q.Limit, ":", 2)[0]) {
		return nil
	}
	c.Note = fmt.Sprintf("The curve is that of %s, which is near; it joins the N that were counted.", c.Shape)
	advice, replayed := s.Report.Answers[0].Advice, map[int64]suggest.Figures{}
	for i, share := range advice.Percents() {
		spares := func(n int64) (bool, error) {
			f, known := replayed[n]
			if !known {
				one := *q
				one.Limit = c.Limit.with(n)
				_, hits, err := s.hits(ctx, &one, nil)
				if err != nil {
					return false, err
				}
				f = suggest.Count(hits, s.found.Who.Identities)
				replayed[n] = f
			}
			return advice.SparesPercent(&f, share, clients), nil
		}
		var err error
		if c.Keeps[i], err = nearest(c.Keeps[i], c.Limit.Before != "", spares); err != nil {
			return err
		}
	}
	return nil
}

// nearest returns the least number from which on something holds, near n; 0 if it is not found there.
func nearest(n int64, able bool, holds func(int64) (bool, error)) (int64, error) {
	if n == 0 || !able {
		return 0, nil
	}
	for range mostFitted {
		here, err := holds(n)
		if err != nil {
			return 0, err
		}
		if !here {
			n++
			continue
		}
		if n == 1 {
			return 1, nil
		}
		if below, err := holds(n - 1); err != nil || !below {
			return n, err
		}
		n--
	}
	return 0, nil
}

// with returns the limit of another size.
func (p *Pattern) with(n int64) string {
	if n+p.Add == 0 { // nginx without a burst
		return strings.TrimSuffix(p.Before, ",burst=")
	}
	return p.Before + strconv.FormatInt(n+p.Add, 10) + p.After
}

// kinds has the curves nearest to limits of servers that are no buckets.
var kinds = map[string]sweep.Kind{
	"window": sweep.Window, "window,charge=all": sweep.WindowAll, "fixed": sweep.Fixed, "caddy": sweep.Window,
	"envoy": sweep.Fixed, "haproxy": sweep.WindowAll,
}

// shapeOf returns the curve that a limit lies on, or is nearest to, and its size.
func shapeOf(p policy.Part) (shape sweep.Shape, size int64, err error) {
	name := p.Spec.Algorithm
	if name == "window" && p.Spec.Options != "" {
		name += "," + p.Spec.Options
	}
	if kind, known := kinds[name]; known {
		return sweep.Shape{Kind: kind, Per: p.Spec.Period}, p.Spec.Count, nil
	}
	if d, ok := p.Limiter.(limit.Describer); ok {
		if bucket := d.Shape(); bucket.Kin && bucket.Step == 0 {
			return sweep.Shape{Kind: sweep.Token, Rate: sweep.Rate{Count: bucket.Count, Per: bucket.Period}}, bucket.AtOnce, nil
		}
	}
	return shape, 0, fmt.Errorf("no curve is known for %s: take a window or a bucket", p.Spec)
}

var burst = lazy.Regexp(`^(.*,burst=)\d+(.*)$`)

// patternOf returns the pattern of a limit: its size is the burst, or of a window the count.
func patternOf(spec limit.Spec) (p Pattern) {
	text := spec.String()
	if parts := burst().FindStringSubmatch(text); parts != nil {
		p.Before, p.After = parts[1], parts[2]
	} else if _, known := kinds[spec.Algorithm]; known {
		begin, count := spec.Algorithm+":", strconv.FormatInt(spec.Count, 10)
		p.Before, p.After = begin, strings.TrimPrefix(text, begin+count)
	}
	if spec.Algorithm == "nginx" {
		if p.Add = -1; p.Before == "" {
			p.Before, p.After = text+",burst=", ",nodelay"
		}
	}
	return p
}

// bursts returns the sizes of buckets whose refusals are counted, ever further from one another.
func bursts(most, is int64) (sizes []int64) {
	for n := int64(1); n <= min(most, 100_000); n = max(n+1, n*5/4) {
		sizes = append(sizes, n)
	}
	return append(sizes, cmp.Or(is, 1))
}
