package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"shadow/limit"
)

// A Reader answers what a report asks about stored runs. It shares the file with other readers, and with nobody who writes.
type Reader struct {
	ctx  context.Context
	path string
	duck *duck
	stop func() // lets go of ctx
}

// readerOptions are for questions of ours. What is too large for memory spills into a directory beside the database, which
// DuckDB removes again.
var readerOptions = map[string]string{
	"access_mode":                  "READ_ONLY",
	"enable_external_access":       "false",
	"autoinstall_known_extensions": "false",
	"autoload_known_extensions":    "false",
	"memory_limit":                 "1GB",
	"lock_configuration":           "true",
}

// OpenReader opens the database at path, which must be there, for reading. When ctx is done, what is being read is given up.
func OpenReader(ctx context.Context, path string, wait Wait) (*Reader, error) {
	if err := checkExists(path); err != nil {
		return nil, err
	}
	path, err := realPath(path)
	if err != nil {
		return nil, err
	}
	d, err := openWhole(ctx, path, wait, func() (*duck, error) { return openExplained(path, readerOptions) }, (*duck).close)
	if err != nil {
		return nil, err
	}
	r := &Reader{ctx: ctx, path: path, duck: d, stop: d.interruptWith(ctx)}
	if err := d.checkOurs(); err != nil {
		r.Close()
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	return r, nil
}

// Close gives the file free.
func (r *Reader) Close() {
	r.stop()
	r.duck.close()
}

// ask is scan, with an error that says which file it is about.
func (r *Reader) ask(query string, take func(*block) error) error {
	err := context.Cause(r.ctx)
	if err == nil {
		err = r.duck.scan(query, take)
	}
	if cause := context.Cause(r.ctx); cause != nil {
		return cause
	}
	if err != nil {
		return fmt.Errorf("database %s: %w", r.path, err)
	}
	return nil
}

// each is ask, row by row.
func (r *Reader) each(query string, take func(b *block, row int) error) error {
	return r.ask(query, func(b *block) error {
		for row := range b.rows {
			if err := take(b, row); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkOurs reports an error unless the file has our schema.
func (d *duck) checkOurs() error {
	ours, err := d.number("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'shadow_schema'")
	if err != nil {
		return err
	}
	if ours > 0 {
		return d.checkVersion("shadow_schema")
	}
	others, err := d.number("SELECT count(*) FROM duckdb_tables() WHERE NOT internal")
	if err == nil && others == 0 { // a first run that was killed leaves a file without any table
		return errNoRuns
	}
	return errors.New("has none of shadow's tables: choose another file with --db")
}

var errNoRuns = errors.New("holds no runs yet: shadow replay makes one")

// idList is a list of numbers for SQL, NULL of none: (1, 2, 3).
func idList(ids []int32) string {
	texts := []string{"NULL"}
	for _, id := range ids {
		texts = append(texts, fmt.Sprint(id))
	}
	if len(ids) > 0 {
		texts = texts[1:]
	}
	return "(" + strings.Join(texts, ", ") + ")"
}

// moment is a time in SQL.
func moment(t limit.Time) string { return fmt.Sprintf("make_timestamp(%d)", t) }

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

// OverTime hands over how many requests the policies of a result refused in each minute in which they refused any: of those
// policies whose events are kept, in all runs that have them.
func (r *Reader) OverTime(l *Loaded, take func(policy int, minute limit.Time, refused int64)) error {
	left, err := r.withoutEvents(l)
	if err != nil {
		return err
	}
	return r.each(`SELECT run, policy, epoch_us(date_trunc('minute', time)) AS minute, sum(count)::BIGINT
		FROM events WHERE run IN `+idList(l.runs)+` GROUP BY ALL ORDER BY minute, run, policy`, func(b *block, row int) error {
		id, err := l.policies.at(values[int32](b, 0)[row], values[int32](b, 1)[row])
		if err == nil && !slices.Contains(left, id) {
			take(int(id), limit.Time(values[int64](b, 2)[row]), values[int64](b, 3)[row])
		}
		return err
	})
}

// withoutEvents are the policies of a result of which some run keeps no events.
func (r *Reader) withoutEvents(l *Loaded) (left []int32, err error) {
	err = r.each(`SELECT run, policy FROM policies WHERE run IN `+idList(l.runs)+` AND NOT events_kept`, func(b *block, row int) error {
		id, err := l.policies.at(values[int32](b, 0)[row], values[int32](b, 1)[row])
		left = append(left, id)
		return err
	})
	return left, err
}
