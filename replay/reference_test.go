package replay_test

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"
	"testing"

	"shadow/limit"
	"shadow/parse"
	"shadow/policy"
	"shadow/traffic"
)

// The reference does what replay promises in the most obvious way: it holds all requests in memory, sorts them, and
// judges one after the other with textbook limiters.

// A request is one line of a log.
type request struct {
	at, place      limit.Time
	rank           int
	client, action string
	status         uint16
}

// readAll reads logs line by line.
func readAll(t testing.TB, names []string, lateness limit.Time) []request {
	t.Helper()
	var files [][]request
	known := traffic.NewDict()
	actions, err := traffic.NewActions(nil, known)
	check(t, err)
	for _, name := range names {
		files = append(files, readFile(t, name, lateness, actions.NewMatcher(), known))
	}
	slices.SortStableFunc(files, func(a, b []request) int { return cmp.Compare(firstMoment(a), firstMoment(b)) })
	var all []request
	for rank, file := range files {
		for i := range file {
			file[i].rank = rank
		}
		all = append(all, file...)
	}
	slices.SortStableFunc(all, func(a, b request) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.rank, b.rank))
	})
	return all
}

func firstMoment(file []request) limit.Time {
	if len(file) < 2 {
		return -1 << 62
	}
	return min(file[0].at, file[1].at)
}

// readFile reads the requests of one file and gives each its place: a request more than the lateness behind what two
// successive ones before it have reached counts as coming just then.
func readFile(t testing.TB, name string, lateness limit.Time, actions *traffic.Matcher, known *traffic.Dict) (file []request) {
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
		if !parser.Parse(line, &r).OK() {
			continue
		}
		q := request{
			at: r.Start, place: max(r.Start, mark-lateness), client: string(r.Client),
			action: known.Name(actions.ID(r.Method, r.Path)), status: uint16(r.Status),
		}
		if addr, err := netip.ParseAddr(q.client); err == nil && addr.Is4In6() {
			q.client = addr.Unmap().String() // one client, whichever way it is written
		}
		if q.client == "" {
			q.client = "-"
		}
		mark, last = max(mark, min(last, q.at)), q.at
		file = append(file, q)
	}
	return file
}

// content is all of a file, decompressed.
func content(t testing.TB, name string) (text []byte) {
	t.Helper()
	input, err := parse.OpenInput(name, nil)
	check(t, err)
	defer input.Close()
	var b parse.Block
	for input.Next(&b) == nil {
		text = append(text, b.Data...)
	}
	return text
}

// A textbook limiter is asked once for each request of one key, in order.
type textbook interface{ refuses(t limit.Time) bool }

// newTextbook is the limiter that a policy means, without options.
func newTextbook(p policy.Policy) textbook {
	n, per := p.Spec.Count, p.Spec.Period
	switch p.Spec.Algorithm {
	case "token":
		return &tokens{n: n, per: int64(per), level: n * int64(per)}
	case "leaky":
		return &drops{n: n, per: int64(per)}
	case "window":
		return &admitted{n: int(n), per: per}
	}
	panic(p.Name)
}

// tokens: capacity n, n more per period. The level is in tokens times the period in microseconds.
type tokens struct {
	n, per, level int64
	last          limit.Time
	seen          bool
}

func (b *tokens) refuses(t limit.Time) bool {
	if b.seen && t > b.last {
		b.level = min(b.n*b.per, b.level+int64(t-b.last)*b.n)
	}
	if !b.seen || t > b.last {
		b.last, b.seen = t, true
	}
	if b.level < b.per {
		return true
	}
	b.level -= b.per
	return false
}

// drops: n at most, one leaks at each multiple of period/n.
type drops struct {
	n, per, level, tick int64
	seen                bool
}

func (b *drops) refuses(t limit.Time) bool {
	tick := int64(t) * b.n / b.per // no log here is from before 1970
	if b.seen && tick > b.tick {
		b.level = max(0, b.level-(tick-b.tick))
	}
	if !b.seen || tick > b.tick {
		b.tick, b.seen = tick, true
	}
	if b.level == b.n {
		return true
	}
	b.level++
	return false
}

// admitted: at most n in any period.
type admitted struct {
	n     int
	per   limit.Time
	times []limit.Time
	last  limit.Time
	seen  bool
}

func (w *admitted) refuses(t limit.Time) bool {
	if w.seen {
		t = max(t, w.last)
	}
	w.last, w.seen = t, true
	for len(w.times) > 0 && w.times[0] <= t-w.per {
		w.times = w.times[1:]
	}
	if len(w.times) >= w.n {
		return true
	}
	w.times = append(w.times, t)
	return false
}

// judgeAll hands each request that p refuses to refused.
func judgeAll(all []request, p policy.Policy, lateness, idle limit.Time, refused func(*request)) {
	type key struct {
		limiter textbook
		latest  limit.Time // its highest time
		place   limit.Time // of its last request
	}
	keys := map[string]*key{}
	for i := range all {
		q := &all[i]
		name := keyOf(q, p.By)
		k := keys[name]
		if k == nil || q.at < k.latest-lateness || q.place-k.place > idle {
			k = &key{limiter: newTextbook(p), latest: q.at}
			keys[name] = k
		}
		k.latest, k.place = max(k.latest, q.at), q.place
		if k.limiter.refuses(q.at) {
			refused(q)
		}
	}
}

func keyOf(q *request, by policy.Key) string {
	switch by {
	case policy.ByClient:
		return q.client
	case policy.ByClientAction:
		return q.client + "\x00" + q.action
	case policy.ByAction:
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
