package store

import (
	"fmt"

	"shadow/limit"
	"shadow/request"
	"shadow/sweep"
)

// The curves of a run come back as sweep found them, as far as they have been kept: of a long curve, points are missing.

// Swept are the curves of a run.
type Swept struct {
	By       string        // key that they count by
	Action   string        // whose requests they are about; "": all
	Judged   int64         // requests that they are about
	Requests sweep.Classes // the same by class of client; none if that is not known, as of one action
	Clients  sweep.Classes // that these are from

	Hidden *sweep.Disguised // of the browsers; Requests is 0 where that is not known; nil: nobody is told apart

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
