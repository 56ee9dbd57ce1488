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
		Lateness: s.suggest.Read.Lateness, Group: func(client int32) uint8 { return uint8(labels.Of(client)) },
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
	c := &Curve{Limit: patternOf(policies[0].Parts[0].Spec), Shape: shape.String(), Is: is, Points: []CurvePoint{}}
	crowd, err := s.crowd(ctx, scope{action: q.Action})
	if err != nil {
		return nil, err
	}
	c.Groups = s.groups(crowd, suggest.Figures{})
	points := placements[0][0].Points
	c.Keeps = append([]int64{}, s.Report.Answers[0].Advice.Keeping(&placements[0][0], &crowd.Clients)...)
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
	c.Note = fmt.Sprintf("The curve is that of %s; it joins the N that were counted.", c.Shape)
	return c, nil
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
		p.Add = -1
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
