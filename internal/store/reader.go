package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"shadow/internal/store/duck"
	"shadow/limit"
)

// A Reader answers what a report asks about stored runs. It sees what was there when it was opened.
type Reader struct {
	duck     *duck.Conn
	stop     func() // lets go of the context
	overflow string // a folder for what does not fit into memory
	all      selection
}

// OpenReader opens the database at path, which must be there, for reading. When ctx is done, what is being read is
// given up.
func OpenReader(ctx context.Context, path string) (*Reader, error) {
	f := folder(path)
	all, err := f.listWhole()
	if err != nil {
		return nil, err
	}
	return openSelection(ctx, f, all)
}

// listWhole lists the runs of a folder that must be there.
func (f folder) listWhole() ([]runFolder, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	all, err := f.list()
	return all, f.wrap(plain(err))
}

// readerMemory bounds the memory of reading.
const readerMemory = "1GB"

// openSelection opens some runs of a folder.
func openSelection(ctx context.Context, f folder, some selection) (*Reader, error) {
	r := &Reader{overflow: filepath.Join(os.TempDir(), "shadow-"+rand.Text()), stop: func() {}, all: some}
	var err error
	if r.duck, err = openViews(f, some, duck.Settings{{"memory_limit", readerMemory}, {"temp_directory", r.overflow}}); err != nil {
		return nil, f.wrap(err)
	}
	r.stop = r.duck.InterruptWith(ctx)
	r.duck.Name = string(f)
	return r, nil
}

// Close frees what the reader has.
func (r *Reader) Close() {
	r.stop()
	r.duck.Close()
	os.RemoveAll(r.overflow) //nolint:errcheck // it lies where files go by themselves
}

// idList returns a list of numbers for SQL, NULL of none: (1, 2, 3).
func idList(ids []int32) string {
	if len(ids) == 0 {
		return "(NULL)"
	}
	return "(" + strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ", "), "[]") + ")"
}

// moment returns a time in SQL.
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
func (r *Reader) Runs() ([]RunFact, error) {
	return duck.List[RunFact](r.duck, `SELECT r.run, r.command, r.version, r.started, r.finished,
		coalesce(i.n, 0), r.lines, r.bytes, r.parsed, r.unreadable, r.excluded, r.warm, r.requests, r.late, r.refusals, r.not_http, r.moved,
		r.first_at, r.last_at, r.clients, coalesce(p.n, 0), coalesce(k.n, 0), coalesce(p.refused, 0), coalesce(p.hit, 0),
		r.tail, coalesce(p.degraded, 0)
		FROM runs r
		LEFT JOIN (SELECT run, count(*) AS n FROM inputs GROUP BY run) i ON i.run = r.run
		LEFT JOIN (SELECT run, count(*) AS n, max(refused) AS refused, max(clients_hit) AS hit, max(degraded) AS degraded FROM policies GROUP BY run) p ON p.run = r.run
		LEFT JOIN (SELECT run, count(*) AS n FROM curves GROUP BY run) k ON k.run = r.run
		ORDER BY r.run`)
}

// Alike are the runs that have a policy in common with some runs, these among them, by number.
func (r *Reader) Alike(runs []int32) ([]int32, error) {
	return duck.List[int32](r.duck, `SELECT DISTINCT p.run FROM policies p JOIN policies q ON q.name = p.name AND q.counts_by = p.counts_by
		WHERE q.run IN `+idList(runs)+` ORDER BY p.run`)
}

// OverTime hands over how many requests the policies of a result refused in each minute in which they refused any: of
// those policies whose events are kept, in all runs that have them.
func (r *Reader) OverTime(l *Loaded, take func(policy int, minute limit.Time, refused int64)) error {
	left, err := r.withoutEvents(l)
	if err != nil {
		return err
	}
	type row struct {
		Run, Policy int32
		Minute      limit.Time
		Refused     int64
	}
	return duck.Each(r.duck, `SELECT run, policy, epoch_us(date_trunc('minute', time)) AS minute, sum(count)::BIGINT
		FROM events WHERE run IN `+idList(l.runs)+` GROUP BY ALL ORDER BY minute, run, policy`, func(m *row) error {
		id, err := l.policies.at(m.Run, m.Policy)
		if err == nil && !slices.Contains(left, id) {
			take(int(id), m.Minute, m.Refused)
		}
		return err
	})
}

// withoutEvents are the policies of a result of which some run keeps no events.
func (r *Reader) withoutEvents(l *Loaded) (left []int32, err error) {
	err = duck.Each(r.duck, `SELECT run, policy FROM policies WHERE run IN `+idList(l.runs)+` AND NOT events_kept`, func(p *[2]int32) error {
		id, err := l.policies.at(p[0], p[1])
		left = append(left, id)
		return err
	})
	return left, err
}
