package tail

import (
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/replay"
)

// together is a policy of several limits.
func together(t *testing.T, limits ...string) policy.Policy {
	t.Helper()
	all, err := policy.ParseLimits(limits, request.ByClient)
	check(t, err)
	for _, p := range all[1:] {
		all[0].Parts = append(all[0].Parts, p.Parts...)
	}
	return all[0]
}

// A client who is asked for by name comes with its requests, and with the limit that each refused one has to wait for.
func TestClientOfSnapshot(t *testing.T) {
	b, l := live(t)
	p := together(t, "token:2/30s", "window:3/1m")
	b.change = func(o *Options) { o.Feed, o.Policies = l, []policy.Policy{p} }
	b.append("access.log", "")
	b.start()
	defer b.stop()
	l.Ask(Query{Rows: 4, Client: "192.0.2.1"})
	first := b.now
	for i := range 6 { // two are admitted, and those that come later wait longest for the window
		b.append("access.log", line(1+i/5, b.now)+strings.ReplaceAll(line(1, b.now.Add(time.Millisecond)), "page1", "search"))
		b.step(100 * time.Millisecond)
	}
	b.step(10 * time.Second)
	c := l.Latest().Client
	if c == nil || c.Name != "192.0.2.1" || c.Of != 12 || c.Requests != 11 || c.Refused != 9 || c.Agent != "curl/8" || c.Class != "tool" || !c.Since.Equal(first) {
		t.Fatalf("%+v", c)
	}
	if want := []ClientAction{{"/search", 6}, {"/page1", 5}}; !slices.Equal(c.Actions, want) {
		t.Errorf("%v, want %v", c.Actions, want)
	}
	if len(c.Latest) != 4 || c.Latest[0].Action != "/search" || c.Latest[0].Status != 200 || !c.Latest[0].At.Equal(first.Add(501*time.Millisecond)) {
		t.Errorf("%+v", c.Latest)
	}
	for _, r := range c.Latest {
		if len(r.Refusals) != 1 || r.Refusals[0].Limit != "token:2/30s by client" || r.Refusals[0].After <= 0 || r.Refusals[0].After > 15*limit.Second {
			t.Errorf("%+v", r)
		}
	}
	if got := c.Policies[0]; got.Refused != 9 || got.Latest != c.Latest[0].Refusals[0] || !got.At.Equal(c.Latest[0].At) {
		t.Errorf("%+v", got)
	}
	l.Ask(Query{Rows: 4, Client: "192.0.2.77"})
	b.step(time.Second)
	if c := l.Latest().Client; c.Requests != 0 || c.Of != 12 || c.Latest != nil {
		t.Errorf("nobody has %+v", c)
	}
	check(t, b.tail.compact()) // numbers of clients change
	b.step(time.Second)
	if c := l.Latest().Client; c.Of != 0 || c.Name != "192.0.2.77" {
		t.Errorf("after a compaction %+v", c)
	}
}

// Of several limits the one counts that keeps the client away longest.
func TestLimitThatHolds(t *testing.T) {
	b, l := live(t)
	p := together(t, "token:2/30s", "window:2/1h")
	b.change = func(o *Options) { o.Feed, o.Policies = l, []policy.Policy{p} }
	b.append("access.log", "")
	b.start()
	defer b.stop()
	l.Ask(Query{Rows: 4, Client: "192.0.2.1"})
	b.append("access.log", strings.Repeat(line(1, b.now), 3))
	b.step(10 * time.Second)
	b.step(10 * time.Second)
	if r := l.Latest().Client.Policies[0]; r.Refused != 1 || r.Latest.Limit != "window:2/1h by client" || r.Latest.After < 50*limit.Minute {
		t.Errorf("%+v", r)
	}
}

// Requests whose refusals have been overwritten count no more: a policy may have refused them.
func TestRememberedRequests(t *testing.T) {
	random := seeded(t, 5)
	c, tables := newFeedCounts(time.Time{}, 3), traffic.NewTables()
	for _, name := range []string{"a", "b", "c"} {
		tables.Clients.ID([]byte(name))
	}
	tables.Actions.ID([]byte("/"))
	tables.Agents.ID([]byte("curl"))
	policies, err := policy.ParseLimits([]string{"token:1/1s"}, request.ByClient)
	check(t, err)
	policies = slices.Repeat(policies, 3)
	type known struct{ client, refusals int32 }
	var all []known
	for range 9 {
		b := &traffic.Batch{}
		var refusals []refusal
		for row := range int32(40_000) {
			k := known{client: random.Int32N(3)}
			b.At, b.Client = append(b.At, limit.Time(len(all))), append(b.Client, k.client)
			b.Agent, b.Action, b.Status = append(b.Agent, 0), append(b.Action, 0), append(b.Status, 200)
			for p := range int32(3) {
				if random.IntN(2) == 0 {
					refusals = append(refusals, refusal{row: row, policy: p, retry: replay.Retry{After: 1}})
					k.refusals++
				}
			}
			all = append(all, k)
		}
		c.remember(b, refusals)
		for client, name := range []string{"a", "b", "c"} {
			got := c.latest.client(&Query{Client: name, Rows: 10}, policies, tables)
			requests, refused, each := int64(0), int64(0), int32(0)
			for _, k := range all[len(all)-int(got.Of):] {
				if k.client == int32(client) {
					requests, each = requests+1, each+k.refusals
					refused += min(1, int64(k.refusals))
				}
			}
			sum := got.Policies[0].Refused + got.Policies[1].Refused + got.Policies[2].Refused
			if got.Requests != requests || got.Refused != refused || sum != int64(each) || !got.Since.Equal(moment(limit.Time(len(all)-int(got.Of)))) {
				t.Fatalf("%d %d %d, want %d %d %d", got.Requests, got.Refused, sum, requests, refused, each)
			}
			if got.Of < min(int64(len(all)), rememberedRequests/2) {
				t.Fatalf("only %d are remembered", got.Of)
			}
		}
	}
}

// A filter leaves names, and clients by their latest action, whatever the case.
func TestFilteredSnapshot(t *testing.T) {
	b, l := live(t, "token:1/30s")
	b.append("access.log", "")
	b.start()
	defer b.stop()
	for i := range 4 {
		b.append("access.log", strings.Repeat(line(1+i, b.now), 3))
	}
	b.step(100 * time.Millisecond)
	for filter, want := range map[string][2][]any{
		"2.0.2.3": {{"192.0.2.3", 2}, {}},
		"PAGE1":   {{"192.0.2.1", 2, "192.0.2.4", 2}, {"/page1", 4}},
		"é":       {{}, {}},
	} {
		l.Ask(Query{Rows: 10, Order: ByName, Filter: filter})
		b.step(10 * time.Second)
		b.step(time.Second)
		g := l.Latest()
		wantTop(t, g.Clients, 8, want[0]...)
		wantTop(t, g.Actions, 8, want[1]...)
		if g.Clients.Found != len(want[0])/2 || g.Clients.Names != 4 || g.Actions.Found != len(want[1])/2 {
			t.Errorf("%s: %d of %d clients", filter, g.Clients.Found, g.Clients.Names)
		}
	}
}
