package store

import (
	"slices"
	"strings"

	"shadow/limit"
	"shadow/replay"
)

// A policyFigure is a column of table policies: what a run writes there, and what it adds to a result of several runs.
type policyFigure struct {
	column string
	write  func(p *replay.PolicyTally, s *source) any              // nil is NULL
	read   func(p *replay.PolicyTally, n int64, minute limit.Time) // n is not NULL, minute is worst_minute; nil: nothing
}

// A source is what else a figure may depend on.
type source struct {
	upstream bool // whether the log tells upstream times
	events   bool // whether the policy's events are kept
}

// policyFigures are the columns behind the name of a policy, in the order of schema.sql. Of several runs percentiles are the longest
// ones, as those of all are not known; ranges of clients are the widest, as whom several runs hit may be the same or others.
var policyFigures = []policyFigure{
	figure("requests", func(p *replay.PolicyTally) *int64 { return &p.Requests }),
	figure("refused", func(p *replay.PolicyTally) *int64 { return &p.Refused }),
	{"clients_hit", func(p *replay.PolicyTally, _ *source) any { return int64(p.Hits.Len()) }, nil},
	{"worst_minute", func(p *replay.PolicyTally, _ *source) any { return timeIf(p.WorstMinuteRefused > 0, p.WorstMinute) }, nil},
	{
		"worst_minute_refused", func(p *replay.PolicyTally, _ *source) any { return p.WorstMinuteRefused },
		func(p *replay.PolicyTally, n int64, minute limit.Time) {
			if n > p.WorstMinuteRefused {
				p.WorstMinute, p.WorstMinuteRefused = minute, n
			}
		},
	},
	figure("bytes_saved", func(p *replay.PolicyTally) *int64 { return &p.BytesSaved }),
	{
		"upstream_saved_us", func(p *replay.PolicyTally, s *source) any {
			if !s.upstream {
				return nil
			}
			return int64(p.UpstreamSaved)
		}, func(p *replay.PolicyTally, n int64, _ limit.Time) { p.UpstreamSaved += limit.Time(n) },
	},
	{"events_kept", func(_ *replay.PolicyTally, s *source) any { return s.events }, nil},
	delayed("delayed", plus, func(d *replay.Delays) *int64 { return &d.Requests }),
	delayed("delay_total_us", plus, func(d *replay.Delays) *int64 { return (*int64)(&d.Total) }),
	delayed("delay_p50_us", most, func(d *replay.Delays) *int64 { return (*int64)(&d.P50) }),
	delayed("delay_p99_us", most, func(d *replay.Delays) *int64 { return (*int64)(&d.P99) }),
	ranged("refused_low", plus, func(r *replay.Range) *int64 { return &r.Refused[0] }),
	ranged("refused_high", plus, func(r *replay.Range) *int64 { return &r.Refused[1] }),
	ranged("clients_hit_low", most, func(r *replay.Range) *int64 { return &r.ClientsHit[0] }),
	ranged("clients_hit_high", plus, func(r *replay.Range) *int64 { return &r.ClientsHit[1] }),
	figure("degraded", func(p *replay.PolicyTally) *int64 { return &p.Degraded.Requests }),
	figure("degraded_refused", func(p *replay.PolicyTally) *int64 { return &p.Degraded.Refused }),
}

// policyRow is a row of table policies.
func policyRow(run int32, i int, name, by, combine string, p *replay.PolicyTally, s *source) []any {
	row := []any{run, int32(i), name, by}
	for _, f := range policyFigures {
		row = append(row, f.write(p, s))
	}
	return append(row, combine)
}

func plus(x, y int64) int64 { return x + y }
func most(x, y int64) int64 { return max(x, y) }

// figure is one that adds up.
func figure(column string, of func(*replay.PolicyTally) *int64) policyFigure {
	return policyFigure{
		column, func(p *replay.PolicyTally, _ *source) any { return *of(p) },
		func(p *replay.PolicyTally, n int64, _ limit.Time) { *of(p) += n },
	}
}

// delayed is about delays, NULL where the policy has none.
func delayed(column string, sum func(x, y int64) int64, of func(*replay.Delays) *int64) policyFigure {
	return optional(column, sum, func(p *replay.PolicyTally) **replay.Delays { return &p.Delays }, of)
}

// ranged is about an approximation, NULL where the policy is none.
func ranged(column string, sum func(x, y int64) int64, of func(*replay.Range) *int64) policyFigure {
	return optional(column, sum, func(p *replay.PolicyTally) **replay.Range { return &p.Range }, of)
}

func optional[T any](column string, sum func(x, y int64) int64, part func(*replay.PolicyTally) **T, of func(*T) *int64) policyFigure {
	return policyFigure{
		column: column,
		write: func(p *replay.PolicyTally, _ *source) any {
			if *part(p) == nil {
				return nil
			}
			return *of(*part(p))
		},
		read: func(p *replay.PolicyTally, n int64, _ limit.Time) {
			if *part(p) == nil {
				*part(p) = new(T)
			}
			*of(*part(p)) = sum(*of(*part(p)), n)
		},
	}
}

// readFigures are those that are read.
var readFigures = slices.DeleteFunc(slices.Clone(policyFigures), func(f policyFigure) bool { return f.read == nil })

// readColumns are their columns, for a query.
func readColumns() string {
	names := make([]string, len(readFigures))
	for i, f := range readFigures {
		names[i] = f.column
	}
	return strings.Join(names, ", ")
}
