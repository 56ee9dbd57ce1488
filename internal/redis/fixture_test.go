//go:build !nostore

package redis

import (
	"fmt"
	"testing"
	"time"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/replay"
)

// A sent is one of a made-up log.
type sent struct {
	at, place limit.Time
	client    int
	action    int
	marks     uint64
}

const lateness = 5 * limit.Second

// madeUp is a log of n requests, of few clients that come often and many that do not; one in twenty comes too late, and
// some clients pause for long.
func madeUp(t testing.TB, seed uint64, n int) []sent {
	r := testneeds.Rand(t, seed, 7)
	var all []sent
	now := 1_700_000_000 * limit.Second
	for range n {
		switch r.IntN(2000) {
		case 0:
			now += limit.Time(r.Int64N(int64(3 * limit.Minute)))
		default:
			now += limit.Time(r.Int64N(int64(100*limit.Millisecond))) * limit.Time(r.IntN(2))
		}
		q := sent{at: now, place: now, client: r.IntN(8), action: r.IntN(3), marks: r.Uint64N(4)}
		if r.IntN(3) == 0 {
			q.client = 8 + r.IntN(200)
		}
		if r.IntN(20) == 0 {
			q.at -= limit.Time(r.Int64N(int64(3*lateness))) << (2 * r.IntN(2))
		}
		all = append(all, q)
	}
	return all
}

// A host judges requests of a made-up log by an engine.
type host struct {
	t       *testing.T
	tables  *traffic.Tables
	engine  *replay.Engine
	limiter *SharedLimiter // nil: none

	seen     []int // index of each request in the batch at hand
	refused  map[string]bool
	degraded map[int]bool // by request
	delays   int
}

// newHost makes a host; r may be nil.
func newHost(t *testing.T, r *Conn, policies []policy.Policy, more ...func(*SharedLimiterOptions)) *host {
	t.Helper()
	h := &host{t: t, tables: traffic.NewTables(), refused: map[string]bool{}, degraded: map[int]bool{}}
	h.tables.Parts = []request.Part{{Kind: request.PartSegment, N: 2}, {Kind: request.PartField, Name: "session"}}
	o := replay.Options{Tables: h.tables, Policies: policies, Lateness: lateness, Observer: h}
	if r != nil {
		options := SharedLimiterOptions{Redis: r, Tables: h.tables, Policies: policies, Lateness: lateness, MaxLag: time.Hour}
		for _, change := range more {
			change(&options)
		}
		limiter, err := NewSharedLimiter(options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { limiter.Close() })
		h.limiter, o.Remote = limiter, limiter
	}
	h.engine = replay.New(o)
	return h
}

// Observe implements replay.Observer.
func (h *host) Observe(_ *traffic.Batch, verdicts []replay.Verdicts) error {
	for policy, v := range verdicts {
		for _, row := range v.Refused {
			h.refused[fmt.Sprint(policy, "/", h.seen[row])] = true
		}
		h.delays += len(v.Delayed)
		if v.Degraded {
			for _, i := range h.seen {
				h.degraded[i] = true
			}
		}
	}
	return nil
}

// judge judges some of all requests as one batch.
func (h *host) judge(all []sent, indices []int) {
	h.t.Helper()
	b, late := new(traffic.Batch), false
	for _, i := range indices {
		q := &all[i]
		b.At = append(b.At, q.at)
		b.Seq = append(b.Seq, q.place)
		b.Client = append(b.Client, h.tables.Clients.ID(fmt.Appendf(nil, "10.0.0.%d", q.client)))
		b.Action = append(b.Action, uint16(h.tables.Actions.ID(fmt.Appendf(nil, "a%d", q.action))))
		b.Host = append(b.Host, h.tables.Hosts.ID(fmt.Appendf(nil, "h%d", q.action)))
		b.Agent = append(b.Agent, uint16(h.tables.Agents.ID(fmt.Appendf(nil, "agent/%d", q.action))))
		b.User = append(b.User, h.user(q))
		b.Path = append(b.Path, h.tables.Paths.ID(fmt.Appendf(nil, "/p/%%2f%d", q.action)))
		b.Values[0] = append(b.Values[0], h.tables.Values.ID(fmt.Appendf(nil, "10.0.0.%d", q.action)))
		b.Values[1] = append(b.Values[1], h.session(q))
		b.Status = append(b.Status, 200)
		b.Bytes = append(b.Bytes, 1)
		b.Marks = append(b.Marks, q.marks)
		late = late || q.at != q.place
	}
	if !late {
		b.Seq = nil
	}
	h.tables.Agents.ID(nil)
	h.seen = indices
	if err := h.engine.Judge(b); err != nil {
		h.t.Fatal(err)
	}
}

// session is a value of a request, if it has one.
func (h *host) session(q *sent) int32 {
	if q.client%3 == 0 {
		return traffic.NoValue
	}
	return h.tables.Values.ID(fmt.Appendf(nil, "10.0.0.%d", q.client/2))
}

// user is the user of a request, if it has one.
func (h *host) user(q *sent) int32 {
	if q.client%3 == 0 {
		return traffic.NoUser
	}
	return h.tables.Users.ID(fmt.Appendf(nil, "10.0.0.%d", q.client/2))
}

// cuts are the requests in batches of random size, each of whole moments.
func cuts(t testing.TB, seed uint64, all []sent, most int) (batches [][]int) {
	r := testneeds.Rand(t, seed, 9)
	var batch []int
	left := 1 + r.IntN(most)
	for i := range all {
		if left <= 0 && all[i].place != all[i-1].place {
			batches, batch = append(batches, batch), nil
			left = 1 + r.IntN(most)
		}
		batch = append(batch, i)
		left--
	}
	return append(batches, batch)
}

// play judges the whole log.
func (h *host) play(all []sent, batches [][]int) *host {
	h.t.Helper()
	for _, b := range batches {
		h.judge(all, b)
	}
	return h
}

// same holds what two hosts refused against each other, leaving out degraded requests.
func same(t *testing.T, got, want *host) {
	t.Helper()
	wrong, excused := 0, 0
	for _, pair := range [][2]*host{{got, want}, {want, got}} {
		for what := range pair[0].refused {
			var policy, i int
			fmt.Sscanf(what, "%d/%d", &policy, &i)
			switch {
			case pair[1].refused[what]:
			case got.degraded[i]:
				excused++
			default:
				wrong++
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d verdicts differ, of %d refused", wrong, len(want.refused))
	}
	if excused > 0 {
		t.Logf("%d verdicts differ where they are degraded, of %d refused", excused, len(want.refused))
	}
}

func limits(t *testing.T, by request.Key, texts ...string) []policy.Policy {
	t.Helper()
	policies, err := policy.ParseLimits(texts, by)
	if err != nil {
		t.Fatal(err)
	}
	return policies
}

// ofEach is a limit of each algorithm, small enough to refuse much.
var ofEach = []string{
	"token:6/30s", "leaky:6/30s", "window:6/30s", "window:6/30s,charge=all", "token:6/30s,debt=3", "token:6/30s,refill=step",
	"fixed:6/30s", "counter:6/30s", "nginx:12r/m,burst=5,delay=2", "haproxy:6/30s", "caddy:6/30s", "gcra:12/1m,burst=5",
	"envoy:6/1m", "envoy-local:6/30s", "traefik:12/1m,burst=5", "token:6/30s,cooldown=20s", "nginx:12r/m,burst=5,cooldown=9s/extend",
}

// placesFrom are so many places, each a microsecond behind the other, from one behind a second on.
func placesFrom(first, n int) (places []limit.Time) {
	for i := range n {
		places = append(places, limit.Second+limit.Time(first+i))
	}
	return places
}
