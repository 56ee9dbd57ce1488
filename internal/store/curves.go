package store

import (
	_ "embed"
	"fmt"
	"math"
	"strings"
	"time"

	"shadow/internal/request"
	"shadow/internal/store/duck"
	"shadow/internal/sweep"
	"shadow/limit"
	"shadow/replay"
	"shadow/report/history"
)

// Curves are kept with the run that they come from. A curve may have a point for each of hundreds of thousands of
// limits, of which people look at the lower ones: those are kept whole.

// MostPoints bounds the points of a curve that are kept.
const MostPoints = 10_000

// FinishSweep is Finish for a run that has curves in place of policies.
func (r *Run) FinishSweep(res *sweep.Result, finished time.Time) error {
	r.Curves = res
	return r.Finish(&replay.Result{
		Stats: res.Stats, Tables: res.Tables, Clients: &res.Tallies.Clients, Actions: res.Tallies.Actions,
	}, finished)
}

func (r *Run) writeCurves(w *duck.Writer, _ *replay.Result) {
	s := r.Curves
	if s == nil {
		return
	}
	for i := range s.Curves {
		c := &s.Curves[i]
		var per, count, ratePer, doubted any
		switch c.Kind {
		case sweep.Token:
			count, ratePer = c.Rate.Count, int64(c.Rate.Per)
		case sweep.UnderWay:
		default:
			per = int64(c.Per)
		}
		if s.Hidden != nil {
			doubted = s.Hidden.Clients
		}
		kept, n := thin(c.Points, MostPoints), &s.Clients
		w.Add("curves", int32(i), c.Kind.String(), s.By.String(), known(s.Action, ""), per, count, ratePer,
			s.Judged, n.Sum(), int64(len(c.Points)), int64(len(kept)),
			n[request.Browser], n[request.Crawler], n[request.Tool], n[request.Monitor], n[request.Unknown], doubted)
		for j := range kept {
			w.Add("curve_points", append([]any{int32(i)}, pointValues(&kept[j], s.Hidden != nil)...)...)
		}
	}
}

// pointValues are limit_count, and refused and clients_hit of all, of each class, and of the doubted, if these are
// known.
func pointValues(p *sweep.Point, divided bool) []any {
	values := []any{p.Limit}
	add := func(refused, hit int64) {
		if p.Counted {
			values = append(values, refused, hit)
		} else {
			values = append(values, nil, hit)
		}
	}
	add(p.Refused.Sum(), p.Hit.Sum())
	for class := range request.ClassCount {
		add(p.Refused[class], p.Hit[class])
	}
	if !divided {
		return append(values, nil, nil)
	}
	add(p.Hidden.Requests, p.Hidden.Clients)
	return values
}

// thin keeps at most so many points: the lower half of them, then one in each of as many even stretches of the
// logarithm, and the last.
func thin(points []sweep.Point, most int) []sweep.Point {
	if len(points) <= most {
		return points
	}
	whole := most / 2
	kept := append([]sweep.Point{}, points[:whole]...)
	stretches := float64(most-whole-1) / math.Log(float64(len(points))/float64(whole))
	last := -1
	for i := whole; i < len(points)-1; i++ {
		if at := int(math.Log(float64(i)/float64(whole)) * stretches); at > last {
			kept, last = append(kept, points[i]), at
		}
	}
	return append(kept, points[len(points)-1])
}

// The curves of a run come back as sweep found them, as far as they have been kept: of a long curve, points are
// missing.

// Swept are the curves of a run.
type Swept struct {
	// without what the whole run has: Stats, Tables and Tallies. Requests by class are 0 where they are not known, as of one
	// action; of the doubted as well
	sweep.Result
	Changes []int64 // at how many limits each curve changes, of which Points may be a selection
}

// Curves returns those of a run, nil if it has none.
func (r *Reader) Curves(run int32) (*Swept, error) {
	type curve struct {
		Curve    int32
		Per      limit.Time
		Rate     sweep.Rate
		Requests int64
		Points   int64
		Clients  sweep.Classes
		Doubted  *int64
		Kind, By string
		Action   string
	}
	s, index := &Swept{}, map[int32]int{} // where each curve is in the result
	err := duck.Each(r.duck, fmt.Sprintf(`SELECT curve, per_us, rate_count, rate_per_us, requests, points,
		browser_clients, crawler_clients, tool_clients, monitor_clients, unknown_clients, doubted_clients, limit_kind, counts_by, action
		FROM curves WHERE run = %d ORDER BY curve`, run), func(c *curve) error {
		kind, err := sweep.ParseKind(c.Kind)
		if err != nil {
			return nil //nolint:nilerr // a kind that this shadow does not know has nothing to say
		}
		if s.By, err = request.ParseKey(c.By); err != nil {
			return err
		}
		s.Action, s.Judged, s.Clients = c.Action, c.Requests, c.Clients
		if c.Doubted != nil {
			s.Hidden = &sweep.Doubted{Clients: *c.Doubted}
		}
		index[c.Curve] = len(s.Curves)
		s.Curves = append(s.Curves, sweep.Curve{Shape: sweep.Shape{Kind: kind, Per: c.Per, Rate: c.Rate}})
		s.Changes = append(s.Changes, c.Points)
		return nil
	})
	if err != nil || len(s.Curves) == 0 {
		return nil, err
	}
	type point struct {
		Curve int32
		sweep.Point
	}
	err = duck.Each(r.duck, fmt.Sprintf(`SELECT curve, limit_count, refused IS NOT NULL,
		browser_refused, crawler_refused, tool_refused, monitor_refused, unknown_refused,
		browser_clients_hit, crawler_clients_hit, tool_clients_hit, monitor_clients_hit, unknown_clients_hit,
		doubted_refused, doubted_clients_hit
		FROM curve_points WHERE run = %d ORDER BY curve, limit_count`, run), func(p *point) error {
		if i, ok := index[p.Curve]; ok {
			s.Curves[i].Points = append(s.Curves[i].Points, p.Point)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, r.readSweptRequests(run, s)
}

// readSweptRequests finds the requests by class from the run's clients, all of whose requests curves are about unless
// they are about one action.
func (r *Reader) readSweptRequests(run int32, s *Swept) error {
	if s.Action != "" {
		return nil
	}
	type row struct {
		Class             string
		Requests, Doubted int64
	}
	var doubted int64
	err := duck.Each(r.duck, fmt.Sprintf(`SELECT class, sum(requests)::BIGINT, (sum(requests) FILTER (class = 'browser' AND identity NOT IN ('person', 'office', 'undecided')))::BIGINT
		FROM clients LEFT JOIN client_identities USING (run, client) WHERE run = %d GROUP BY class`, run), func(c *row) error {
		for class := range request.ClassCount {
			if class.String() == c.Class {
				s.ByClass[class] = c.Requests
			}
		}
		doubted += c.Doubted
		return nil
	})
	if err != nil {
		return err
	}
	if s.ByClass.Sum() != s.Judged {
		s.ByClass = sweep.Classes{}
	} else if s.Hidden != nil {
		s.Hidden.Requests = doubted
	}
	return nil
}

// SweptAlike are the runs with curves that have read files with the same beginnings as some runs, by number. A log
// that has grown since is the same file.
func (r *Reader) SweptAlike(runs []int32) ([]int32, error) {
	const heads = `SELECT list_sort(list(DISTINCT head_hash)) AS heads`
	return duck.List[int32](r.duck, `SELECT run FROM (`+heads+`, run FROM inputs WHERE run IN (SELECT run FROM curves) GROUP BY run HAVING count(*) = count(head_hash))
		WHERE heads = (`+heads+` FROM inputs WHERE run IN `+idList(runs)+` HAVING count(*) = count(head_hash)) ORDER BY run`)
}

// Divided are the runs whose curves divide browsers by evidence, by number.
func (r *Reader) Divided() ([]int32, error) {
	return duck.List[int32](r.duck, `SELECT DISTINCT run FROM curves WHERE doubted_clients IS NOT NULL ORDER BY run`)
}

// A Spare is the share of the clients of a class that a limit must not hit.
type Spare struct {
	Class      request.Class
	PerMillion int64
}

//go:embed safe.sql
var safeSQL string

// SafeLimits compares the curves that two runs have both, in the order of the second; nil: none of them has a safe
// limit in both. A curve of which not all points are kept gives the next that is. Where the curves of both divide
// browsers by evidence, the doubted are none.
func (r *Reader) SafeLimits(before, now int32, spare Spare) (*history.SafeLimits, error) {
	class := spare.Class.String()
	clients, hit := class+"_clients", "p."+class+"_clients_hit"
	people, err := duck.One[bool](r.duck, fmt.Sprintf(`SELECT count(*) = count(doubted_clients) FROM curves WHERE run IN (%d, %d)`, before, now))
	if err != nil {
		return nil, err
	}
	if people = people && spare.Class == request.Browser; people {
		clients, hit = clients+" - doubted_clients", "("+hit+" - p.doubted_clients_hit)"
	}
	type row struct {
		Per              limit.Time
		Rate             sweep.Rate
		Before, Now      int64
		Kind, By, Action string
	}
	s := &history.SafeLimits{Class: class, Percent: float64(spare.PerMillion) / 1e4, People: people, Before: before, Now: now}
	question := strings.NewReplacer("$hits_per_million", fmt.Sprint(1_000_000-spare.PerMillion), "$hit", hit, "$clients", clients, "$class", class,
		"$before", fmt.Sprint(before), "$now", fmt.Sprint(now)).Replace(safeSQL)
	err = duck.Each(r.duck, question, func(c *row) error {
		kind, err := sweep.ParseKind(c.Kind)
		if err != nil {
			return nil //nolint:nilerr // a kind that this shadow does not know has nothing to say
		}
		shape := sweep.Shape{Kind: kind, Per: c.Per, Rate: c.Rate}
		s.Limits = append(s.Limits, history.SafeLimit{
			By: c.By, Action: c.Action, Before: shape.Limit(c.Before), Now: shape.Limit(c.Now), Change: c.Now - c.Before,
		})
		return nil
	})
	if err != nil || s.Limits == nil {
		return nil, err
	}
	return s, nil
}
