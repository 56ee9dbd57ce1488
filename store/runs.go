package store

import (
	"shadow/limit"
)

// A RunFact is what is known of a run without its results. Its times are those of the clock, and those of its log.
type RunFact struct {
	Run               int32
	Command, Version  string
	Started, Finished limit.Time

	Inputs                                         int64
	Lines, Bytes, Parsed, Unreadable               int64
	Excluded, Warm, Requests, Late, AlreadyRefused int64
	NotHTTP, Moved                                 int64
	First, Last                                    limit.Time // of its requests; 0 without any
	Clients, Policies, Curves, Refused, ClientsHit int64      // Refused and ClientsHit are those of the policy that hits most

	Tail     string // whose run it is; "": it does not grow
	Degraded int64  // requests judged while verdicts were degraded, of the policy with most
}

// Span reports whether the run has requests from one moment until before another, and for how long.
func (f *RunFact) Span(from, until limit.Time) (common limit.Time, ok bool) {
	if f.Requests == 0 || f.Last < from || f.First >= until {
		return 0, false
	}
	return min(f.Last, until) - max(f.First, from), true
}

// Runs are all that the database has, by number.
func (r *Reader) Runs() (all []RunFact, err error) {
	err = r.each(`SELECT r.run, r.started, r.finished, r.lines, r.bytes, r.parsed, r.unreadable, r.excluded, r.warm, r.requests, r.late,
		r.refusals, r.first_at, r.last_at, r.command, r.version,
		coalesce(i.n, 0), coalesce(c.n, 0), coalesce(p.n, 0), coalesce(k.n, 0), coalesce(p.refused, 0), coalesce(p.hit, 0),
		coalesce(p.degraded, 0), coalesce(r.tail, ''), r.not_http, r.moved
		FROM runs r
		LEFT JOIN (SELECT run, count(*) AS n FROM inputs GROUP BY run) i ON i.run = r.run
		LEFT JOIN (SELECT run, count(*) AS n FROM clients GROUP BY run) c ON c.run = r.run
		LEFT JOIN (SELECT run, count(*) AS n, max(refused) AS refused, max(clients_hit) AS hit, max(degraded) AS degraded FROM policies GROUP BY run) p ON p.run = r.run
		LEFT JOIN (SELECT run, count(*) AS n FROM curves GROUP BY run) k ON k.run = r.run
		ORDER BY r.run`, func(b *block, row int) error {
		f := RunFact{
			Run: values[int32](b, 0)[row], Started: values[limit.Time](b, 1)[row], Finished: values[limit.Time](b, 2)[row],
			First: orElse[limit.Time](b, 12, row, 0), Last: orElse[limit.Time](b, 13, row, 0), Command: b.text(14, row), Version: b.text(15, row),
			Tail: b.text(23, row), NotHTTP: values[int64](b, 24)[row], Moved: values[int64](b, 25)[row],
		}
		for i, n := range []*int64{&f.Lines, &f.Bytes, &f.Parsed, &f.Unreadable, &f.Excluded, &f.Warm, &f.Requests, &f.Late, &f.AlreadyRefused} {
			*n = values[int64](b, 3+i)[row]
		}
		for i, n := range []*int64{&f.Inputs, &f.Clients, &f.Policies, &f.Curves, &f.Refused, &f.ClientsHit, &f.Degraded} {
			*n = values[int64](b, 16+i)[row]
		}
		all = append(all, f)
		return nil
	})
	return all, err
}

// Alike are the runs that have a policy in common with some runs, these among them, by number.
func (r *Reader) Alike(runs []int32) (alike []int32, err error) {
	err = r.ask(`SELECT DISTINCT p.run FROM policies p JOIN policies q ON q.name = p.name AND q.counts_by = p.counts_by
		WHERE q.run IN `+idList(runs)+` ORDER BY p.run`, func(b *block) error {
		alike = append(alike, values[int32](b, 0)...)
		return nil
	})
	return alike, err
}
