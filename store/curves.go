package store

import (
	"fmt"
	"math"
	"time"

	"shadow/limit"
	"shadow/replay"
	"shadow/request"
	"shadow/sweep"
)

// Curves are kept with the run that they come from. A curve may have a point for each of hundreds of thousands of limits,
// of which people look at the lower ones: those are kept whole.

// MostPoints is how many points of a curve are kept at most.
const MostPoints = 10_000

// KeepCurves keeps curves of the run's own requests with it. It must be called before Finish.
func (r *Run) KeepCurves(res *sweep.Result) { r.swept = res }

// FinishSweep is Finish for a run that has curves in place of policies.
func (r *Run) FinishSweep(res *sweep.Result, finished time.Time) error {
	r.KeepCurves(res)
	return r.Finish(&replay.Result{
		Stats: res.Stats, Tables: res.Tables, Clients: &res.Tallies.Clients, Actions: res.Tallies.Actions,
	}, finished)
}

func (r *Run) writeCurves(*replay.Result) error {
	if r.swept == nil {
		return nil
	}
	curves, points := r.store.duck.table("curves"), r.store.duck.table("curve_points")
	for i := range r.swept.Curves {
		c := &r.swept.Curves[i]
		kept := thin(c.Points, MostPoints)
		r.addCurve(curves, int32(i), c, len(kept))
		for j := range kept {
			points.add(append([]any{r.id, int32(i)}, pointValues(&kept[j], r.swept.Hidden != nil)...)...)
		}
	}
	if err := curves.done(); err != nil {
		points.done() //nolint:errcheck // the first error tells more
		return err
	}
	return points.done()
}

func (r *Run) addCurve(t *table, curve int32, c *sweep.Curve, kept int) {
	var per, count, ratePer any
	if c.Kind == sweep.Token {
		count, ratePer = c.Rate.Count, int64(c.Rate.Per)
	} else {
		per = int64(c.Per)
	}
	row := []any{
		r.id, curve, c.Kind.String(), r.swept.By.String(), textIf(r.swept.Action), per, count, ratePer,
		r.swept.Judged, r.swept.Clients.Sum(), int64(len(c.Points)), int64(kept),
	}
	for _, clients := range r.swept.Clients {
		row = append(row, clients)
	}
	var disguised any
	if h := r.swept.Hidden; h != nil {
		disguised = h.Clients
	}
	t.add(append(row, disguised)...)
}

// pointValues are limit_count, and refused and clients_hit of all, of each class, and of the disguised, if they are told apart.
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

// The curves of a run come back as sweep found them, as far as they have been kept: of a long curve, points are missing.

// Swept are the curves of a run.
type Swept struct {
	By       string        // key that they count by
	Action   string        // whose requests they are about; "": all
	Judged   int64         // requests that they are about
	Requests sweep.Classes // the same by class of client; none if that is not known, as of one action
	Clients  sweep.Classes // that these are from

	Hidden *sweep.Disguised // of the browsers; Requests is 0 where that is not known; nil: nobody is classified

	Curves  []sweep.Curve
	Changes []int64 // at how many limits each changes, of which Points may be a selection
}

// Curves returns those of a run, nil if it has none.
func (r *Reader) Curves(run int32) (*Swept, error) {
	s := &Swept{}
	index, err := r.readCurves(run, s)
	if err != nil || len(s.Curves) == 0 {
		return nil, err
	}
	if err := r.readPoints(run, s, index); err != nil {
		return nil, err
	}
	return s, r.readSweptRequests(run, s)
}

// readCurves reads all but points, and returns where each curve is in the result.
func (r *Reader) readCurves(run int32, s *Swept) (index map[int32]int, err error) {
	index = map[int32]int{}
	err = r.each(fmt.Sprintf(`SELECT curve, coalesce(per_us, 0), coalesce(rate_count, 0), coalesce(rate_per_us, 0), requests, points,
		browser_clients, crawler_clients, tool_clients, monitor_clients, unknown_clients, limit_kind, counts_by, action, disguised_clients
		FROM curves WHERE run = %d ORDER BY curve`, run), func(b *block, row int) error {
		number := func(i int) int64 { return values[int64](b, i)[row] }
		kind, err := sweep.ParseKind(b.text(11, row))
		if err != nil {
			return nil //nolint:nilerr // a kind that this shadow does not know has nothing to say
		}
		s.By, s.Action, s.Judged = b.text(12, row), b.text(13, row), number(4)
		for class := range request.ClassCount {
			s.Clients[class] = number(6 + int(class))
		}
		if !b.null(14, row) {
			s.Hidden = &sweep.Disguised{Clients: number(14)}
		}
		index[values[int32](b, 0)[row]] = len(s.Curves)
		s.Curves = append(s.Curves, sweep.Curve{Shape: sweep.Shape{
			Kind: kind, Per: limit.Time(number(1)), Rate: sweep.Rate{Count: number(2), Per: limit.Time(number(3))},
		}})
		s.Changes = append(s.Changes, number(5))
		return nil
	})
	return index, err
}

func (r *Reader) readPoints(run int32, s *Swept, index map[int32]int) error {
	return r.each(fmt.Sprintf(`SELECT curve, limit_count, refused, browser_refused, crawler_refused, tool_refused, monitor_refused, unknown_refused,
		browser_clients_hit, crawler_clients_hit, tool_clients_hit, monitor_clients_hit, unknown_clients_hit,
		disguised_refused, disguised_clients_hit
		FROM curve_points WHERE run = %d ORDER BY curve, limit_count`, run), func(b *block, row int) error {
		i, ok := index[values[int32](b, 0)[row]]
		if !ok {
			return nil
		}
		p := sweep.Point{Limit: values[int64](b, 1)[row], Counted: !b.null(2, row)}
		for class := range request.ClassCount {
			p.Refused[class] = orElse[int64](b, 3+int(class), row, 0)
			p.Hit[class] = values[int64](b, 3+int(request.ClassCount)+int(class))[row]
		}
		p.Hidden = sweep.Disguised{Requests: orElse[int64](b, 13, row, 0), Clients: orElse[int64](b, 14, row, 0)}
		s.Curves[i].Points = append(s.Curves[i].Points, p)
		return nil
	})
}

// readSweptRequests tells the requests by class from the run's clients, all of whose requests curves are about unless they are about
// one action.
func (r *Reader) readSweptRequests(run int32, s *Swept) error {
	if s.Action != "" {
		return nil
	}
	for class := range request.ClassCount {
		err := r.each(fmt.Sprintf(`SELECT coalesce(sum(requests), 0)::BIGINT FROM clients WHERE run = %d AND class = '%s'`, run, class),
			func(b *block, row int) error {
				s.Requests[class] = values[int64](b, 0)[row]
				return nil
			})
		if err != nil {
			return err
		}
	}
	if s.Requests.Sum() != s.Judged {
		s.Requests = sweep.Classes{}
		return nil
	}
	return r.readHiddenRequests(run, s)
}

// readHiddenRequests does the same for the disguised.
func (r *Reader) readHiddenRequests(run int32, s *Swept) error {
	if s.Hidden == nil {
		return nil
	}
	return r.each(fmt.Sprintf(`SELECT coalesce(sum(requests), 0)::BIGINT FROM clients JOIN client_evidence USING (run, client)
		WHERE run = %d AND class = 'browser' AND verdict = 'bot'`, run), func(b *block, row int) error {
		s.Hidden.Requests = values[int64](b, 0)[row]
		return nil
	})
}

// SweptAlike are the runs with curves that have read files with the same beginnings as some runs, by number. A log that has
// grown since is the same file.
func (r *Reader) SweptAlike(runs []int32) (alike []int32, err error) {
	const heads = `SELECT list_sort(list(DISTINCT head_hash)) AS heads`
	err = r.ask(`SELECT run FROM (`+heads+`, run FROM inputs WHERE run IN (SELECT run FROM curves) GROUP BY run HAVING count(*) = count(head_hash))
		WHERE heads = (`+heads+` FROM inputs WHERE run IN `+idList(runs)+` HAVING count(*) = count(head_hash)) ORDER BY run`, func(b *block) error {
		alike = append(alike, values[int32](b, 0)...)
		return nil
	})
	return alike, err
}

// Divided are the runs whose curves divide browsers by evidence, by number.
func (r *Reader) Divided() (runs []int32, err error) {
	err = r.ask(`SELECT DISTINCT run FROM curves WHERE disguised_clients IS NOT NULL ORDER BY run`, func(b *block) error {
		runs = append(runs, values[int32](b, 0)...)
		return nil
	})
	return runs, err
}

// A SafeLimit is the strictest limit of a curve that spares a class of clients, as two runs saw it.
type SafeLimit struct {
	sweep.Shape
	By      string
	Action  string // the action that the curve is about; "": all
	Limit   [2]int64
	Clients [2]int64 // of the class

	People bool // whether these are browsers without the disguised: both runs gathered evidence
}

// A Spare is the share of the clients of a class that a limit must not hit.
type Spare struct {
	Class      request.Class
	PerMillion int64
}

// SafeLimits compares the curves that two runs have both, in the order of the second. A curve of which not all points are
// kept gives the next that is. Where the curves of both divide browsers by evidence, the disguised are none.
func (r *Reader) SafeLimits(before, now int32, spare Spare) (safe []SafeLimit, err error) {
	class := spare.Class.String()
	clients, hit := class+"_clients", "p."+class+"_clients_hit"
	people, err := r.divided(before, now)
	if err != nil {
		return nil, err
	}
	if people = people && spare.Class == request.Browser; people {
		clients, hit = clients+" - disguised_clients", "("+hit+" - p.disguised_clients_hit)"
	}
	side := func(run int32) string {
		return fmt.Sprintf(`(SELECT c.limit_kind, coalesce(c.per_us, 0) AS per_us, coalesce(c.rate_count, 0) AS rate_count, coalesce(c.rate_per_us, 0) AS rate_per_us,
			c.counts_by, coalesce(c.action, '') AS action, any_value(c.curve) AS curve, any_value(n.clients) AS clients,
			coalesce(min(p.limit_count) FILTER (%s * 1000000 <= n.clients * %d), CASE WHEN any_value(c.points) = 0 THEN 1 END) AS safe
			FROM curves c
			JOIN (SELECT run, curve, coalesce(%s, CASE WHEN action IS NULL THEN (SELECT count(*) FROM clients k WHERE k.run = %d AND k.class = '%s') END) AS clients
				FROM curves WHERE run = %d) n ON n.run = c.run AND n.curve = c.curve
			LEFT JOIN curve_points p ON p.run = c.run AND p.curve = c.curve
			WHERE c.run = %d GROUP BY ALL)`, hit, 1_000_000-spare.PerMillion, clients, run, class, run, run)
	}
	err = r.each(`SELECT b.per_us, b.rate_count, b.rate_per_us, a.safe, b.safe, a.clients, b.clients, b.limit_kind, b.counts_by, b.action
		FROM `+side(before)+` a JOIN `+side(now)+` b USING (limit_kind, per_us, rate_count, rate_per_us, counts_by, action)
		WHERE a.safe IS NOT NULL AND b.safe IS NOT NULL ORDER BY b.curve`, func(b *block, row int) error {
		number := func(i int) int64 { return values[int64](b, i)[row] }
		kind, err := sweep.ParseKind(b.text(7, row))
		if err != nil {
			return nil //nolint:nilerr // a kind that this shadow does not know has nothing to say
		}
		safe = append(safe, SafeLimit{
			Shape: sweep.Shape{Kind: kind, Per: limit.Time(number(0)), Rate: sweep.Rate{Count: number(1), Per: limit.Time(number(2))}},
			By:    b.text(8, row), Action: b.text(9, row), Limit: [2]int64{number(3), number(4)},
			Clients: [2]int64{number(5), number(6)}, People: people,
		})
		return nil
	})
	return safe, err
}

// divided reports whether all curves of two runs divide the browsers by evidence.
func (r *Reader) divided(before, now int32) (all bool, err error) {
	err = r.each(fmt.Sprintf(`SELECT count(*) = count(disguised_clients) FROM curves WHERE run IN (%d, %d)`, before, now),
		func(b *block, row int) error {
			all = values[bool](b, 0)[row]
			return nil
		})
	return all, err
}
