package replay_test

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"shadow/internal/logfile"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/match"
	"shadow/limit"
	"shadow/parse"
)

// The reference does what replay promises in the most obvious way: it holds all requests in memory, sorts them, and
// judges one after the other with textbook limiters.

// A sent is one line of a log.
type sent struct {
	at, place      limit.Time
	rank           int
	client, action string
	status         uint16
	marks          uint64
}

// readAll reads logs line by line.
func readAll(t testing.TB, names []string, lateness limit.Time) []sent {
	t.Helper()
	var files [][]sent
	known := intern.NewDict()
	actions, err := match.NewActions(nil, known)
	check(t, err)
	for _, name := range names {
		files = append(files, readFile(t, name, lateness, actions.NewMatcher(), known))
	}
	slices.SortStableFunc(files, func(a, b []sent) int { return cmp.Compare(firstMoment(a), firstMoment(b)) })
	var all []sent
	for rank, file := range files {
		for i := range file {
			file[i].rank = rank
		}
		all = append(all, file...)
	}
	slices.SortStableFunc(all, func(a, b sent) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.behind(), b.behind()), cmp.Compare(a.rank, b.rank))
	})
	return all
}

// behind returns 1 for a request that stands behind the others of its moment: the server refused it, and the moment is
// no whole second.
func (q *sent) behind() int {
	if (q.status == 429 || q.status == 503) && q.place == q.at && q.at%limit.Second != 0 {
		return 1
	}
	return 0
}

func firstMoment(file []sent) limit.Time {
	if len(file) < 2 {
		return -1 << 62
	}
	return min(file[0].at, file[1].at)
}

// readFile reads the requests of one file and gives each its place: a request more than the lateness behind what two
// successive ones before it have reached counts as coming just then.
func readFile(t testing.TB, name string, lateness limit.Time, actions *match.Matcher, known *intern.Dict) (file []sent) {
	t.Helper()
	text := content(t, name)
	format := formatOf(t, name, text)
	if format == nil {
		return nil
	}
	parser := format.NewParser()
	var r parse.Record
	mark, last := limit.Time(-1<<62), limit.Time(-1<<62)
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if !parser.Parse(line, &r).OK() || r.NotHTTP { // the default is ingest.SkipNotHTTP
			continue
		}
		q := sent{
			at: r.Start, place: max(r.Start, mark-lateness), client: strings.TrimPrefix(string(r.Client), "::ffff:"),
			action: known.Name(actions.ID(r.Method, r.Path)), status: uint16(r.Status),
		}
		if addr, err := netip.ParseAddr(q.client); err == nil && addr.Is4In6() {
			q.client = addr.Unmap().String() // one client, whichever way it is written
		}
		if q.client == "" {
			q.client = "-"
		}
		q.marks = marksOf(q.client, q.action, q.status)
		mark, last = max(mark, min(last, q.at)), q.at
		if !r.NotHTTP {
			file = append(file, q)
		}
	}
	return file
}

// content returns all of a file, decompressed.
func content(t testing.TB, name string) (text []byte) {
	t.Helper()
	input, err := logfile.OpenInput(name, nil)
	check(t, err)
	defer input.Close()
	var b logfile.Block
	for input.Next(&b) == nil {
		text = append(text, b.Data...)
	}
	return text
}

// A textbook limiter remembers one key. It is asked whether it has room for a request, and told of those that it counts.
type textbook interface {
	full(t limit.Time) bool
	count(t limit.Time, refused bool)
}

// newTextbook returns the limiter that a limit means, without options.
func newTextbook(spec limit.Spec) textbook {
	n, per := spec.Count, spec.Period
	switch spec.Algorithm {
	case "token":
		return &tokens{n: n, per: int64(per), level: n * int64(per)}
	case "leaky":
		return &drops{n: n, per: int64(per)}
	case "window":
		return &admitted{n: int(n), per: per}
	}
	panic(spec.String())
}

// tokens: capacity n, n more per period. The level is in tokens times the period in microseconds.
type tokens struct {
	n, per, level int64
	last          limit.Time
	seen          bool
}

func (b *tokens) at(t limit.Time) (level int64, now limit.Time) {
	if !b.seen {
		return b.level, t
	}
	now = max(b.last, t)
	return min(b.n*b.per, b.level+int64(now-b.last)*b.n), now
}

func (b *tokens) full(t limit.Time) bool {
	level, _ := b.at(t)
	return level < b.per
}

func (b *tokens) count(t limit.Time, refused bool) {
	b.level, b.last = b.at(t)
	b.seen = true
	if !refused {
		b.level -= b.per
	}
}

// drops: n at most, one leaks at each multiple of period/n.
type drops struct {
	n, per, level, tick int64
	seen                bool
}

func (b *drops) at(t limit.Time) (level, tick int64) {
	tick = int64(t) * b.n / b.per // no log here is from before 1970
	if !b.seen {
		return 0, tick
	}
	tick = max(tick, b.tick)
	return max(0, b.level-(tick-b.tick)), tick
}

func (b *drops) full(t limit.Time) bool {
	level, _ := b.at(t)
	return level == b.n
}

func (b *drops) count(t limit.Time, refused bool) {
	b.level, b.tick = b.at(t)
	b.seen = true
	if !refused {
		b.level++
	}
}

// admitted: at most n in any period.
type admitted struct {
	n     int
	per   limit.Time
	times []limit.Time
	last  limit.Time
	seen  bool
}

func (w *admitted) at(t limit.Time) limit.Time {
	if w.seen {
		return max(t, w.last)
	}
	return t
}

func (w *admitted) full(t limit.Time) bool {
	recent := 0
	for i := len(w.times) - 1; i >= 0 && w.times[i] > w.at(t)-w.per; i-- {
		recent++
	}
	return recent >= w.n
}

func (w *admitted) count(t limit.Time, refused bool) {
	w.last, w.seen = w.at(t), true
	for len(w.times) > 0 && w.times[0] <= w.last-w.per {
		w.times = w.times[1:]
	}
	if !refused {
		w.times = append(w.times, w.last)
	}
}

// A record holds what one limit of a policy knows of one key.
type record struct {
	textbook
	latest limit.Time // its highest time
	place  limit.Time // of its last request
}

// judgeAll hands each request that p refuses to refused. A key that was idle for longer than idle says resets.
func judgeAll(all []sent, p policy.Policy, lateness limit.Time, idle map[request.Key]limit.Time, refused func(*sent)) {
	books := make([]map[string]*record, len(p.Parts))
	for i := range books {
		books[i] = map[string]*record{}
	}
	records, full := make([]*record, len(p.Parts)), make([]bool, len(p.Parts))
	for i := range all {
		q, verdict := &all[i], false
		for j, part := range p.Parts {
			name := keyOf(q, part.By)
			r := books[j][name]
			if r == nil || q.at < r.latest-lateness || q.place-r.place > idle[part.By] {
				r = &record{textbook: newTextbook(part.Spec), latest: q.at}
				books[j][name] = r
			}
			r.latest, r.place = max(r.latest, q.at), q.place
			records[j], full[j] = r, r.full(q.at)
			if p.Combine != policy.Together { // charged for itself, unless it is not asked
				if !verdict || p.Combine == policy.Each {
					if inScope(part.Count, q.marks) {
						r.count(q.at, full[j])
					}
					verdict = verdict || full[j] && inScope(part.Match, q.marks)
				}
				continue
			}
			verdict = verdict || full[j] && inScope(part.Match, q.marks)
		}
		for j, part := range p.Parts {
			if p.Combine == policy.Together && inScope(part.Count, q.marks) {
				records[j].count(q.at, verdict || full[j])
			}
		}
		if verdict {
			refused(q)
		}
	}
}

func inScope(s policy.Scope, marks uint64) bool { return s == 0 || marks>>(s-1)&1 == 1 }

func keyOf(q *sent, by request.Key) string {
	switch by {
	case request.ByClient:
		return q.client
	case request.ByClientAction:
		return q.client + "\x00" + q.action
	case request.ByAction:
		return q.action
	}
	return ""
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
