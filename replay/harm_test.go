package replay_test

import (
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/useragent"
	"shadow/limit"
	"shadow/replay"
)

// clueOf makes a request of these tests one for a page or a file, from somewhere: by its action and its time.
func clueOf(action string, at limit.Time) traffic.Clue {
	n := uint16(at / (second / 10))
	if action == "/x" {
		return traffic.Clue{Traits: traffic.Stepped | traffic.Asked, Page: 1 + n%4, From: n / 4 % 5}
	}
	return traffic.Clue{Traits: traffic.FetchedAsset, From: n % 5}
}

func withClues(b *traffic.Batch, tables *traffic.Tables) *traffic.Batch {
	for row, id := range b.Action {
		b.Clues = append(b.Clues, clueOf(tables.Actions.Name(int32(id)), b.At[row]))
	}
	return b
}

// A slowView is a page view of the twin below, or what may be one.
type slowView struct {
	at     limit.Time
	page   uint16
	broken bool
}

// slowViews returns the page views of one client, as docs/evidence.md defines them. Of what turns out to be a page, the
// time is told from the view before, in tenths of a second, up to 6553.5 of which it is as good as when it turns out.
func slowViews(lines []line, refused []bool) (views []slowView) {
	var page uint16
	var maybe *slowView
	last := func() *slowView {
		if len(views) == 0 {
			return &slowView{at: lines[0].at}
		}
		return &views[len(views)-1]
	}
	show := func(v slowView) {
		page = v.page
		if gap := v.at - last().at; len(views) > 0 && -second < gap && gap < second {
			last().broken = last().broken || v.broken
			return
		}
		views = append(views, v)
	}
	confirm := func(now limit.Time) {
		v := *maybe
		if v.at = last().at + v.at; maybe.at >= 65535*second/10 {
			v.at = now
		}
		show(v)
		maybe = nil
	}
	for i, l := range lines {
		t := clueOf(l.action, l.at)
		from := maybe != nil && t.From == maybe.page
		switch {
		case l.action != "/x":
			if from {
				confirm(l.at)
			}
			if len(views) > 0 && l.at-last().at <= 10*second {
				last().broken = last().broken || refused[i]
			}
			continue
		case t.From == 0 || t.From == page:
		case from:
			confirm(l.at)
		default:
			page = t.From
		}
		switch shown := l.status == 0 || l.status/100 == 2 || l.status == 304; {
		case !shown || t.Page == page:
		case t.From == 0:
			show(slowView{l.at, t.Page, refused[i]})
		default:
			wait := max(l.at-last().at, 0) / (second / 10) * (second / 10)
			maybe = &slowView{wait, t.Page, refused[i]}
		}
	}
	return views
}

// A slowHarm holds what the definition says of one client and policy, found by looking at all of its requests at once.
type slowHarm struct {
	views, broken    int64
	lockout, busiest replay.Streak
}

func slowHarmOf(lines []line, refused []bool, p policy.Policy) (h slowHarm) {
	for _, v := range slowViews(lines, refused) {
		h.views++
		if v.broken {
			h.broken++
		}
	}
	var admitted []limit.Time
	for i, l := range lines {
		run := replay.Streak{First: l.at, Last: l.at}
		for j := i; j < len(lines) && refused[j]; j++ {
			run.Requests, run.Last = run.Requests+1, max(run.Last, lines[j].at)
			length, longest := run.Last-run.First, h.lockout.Last-h.lockout.First
			first := i == 0 || !refused[i-1] // else it is part of another one
			if first && (h.lockout.Requests == 0 || length > longest || length == longest && run.Requests > h.lockout.Requests) {
				h.lockout = run
			}
		}
		if !refused[i] && concerns(p, l.marks) {
			at := l.at
			if len(admitted) > 0 {
				at = max(at, admitted[len(admitted)-1])
			}
			admitted = append(admitted, at)
			hour := replay.Streak{Last: at}
			for _, t := range admitted {
				if t > at-limit.Hour {
					if hour.Requests == 0 {
						hour.First = t
					}
					hour.Requests++
				}
			}
			if hour.Requests > h.busiest.Requests {
				h.busiest = hour
			}
		}
	}
	return h
}

func concerns(p policy.Policy, marks uint64) bool {
	for _, part := range p.Parts {
		if inScope(part.Match, marks) {
			return true
		}
	}
	return false
}

// However a log is cut, the harm is what the definition says, and Finish finds the worst of it.
func TestHarmAgainstItsDefinition(t *testing.T) {
	policies := append(ownPolicies(t), sharedPolicies(t)...)
	idle := idleTimes(policies, lateness)
	testneeds.Rapid(t, func(rt *rapid.T) {
		lines := drawLog(rt, idle[request.ByClient])
		b := newBenchOf(t, lateness, policies)
		h := replay.NewHarm(b.tables, policies)
		b.engine = replay.New(replay.Options{Tables: b.tables, Policies: policies, Lateness: lateness, Observer: h})
		for _, batch := range cutLog(rt, lines) {
			check(t, b.engine.Judge(withClues(b.batch(batch), b.tables)))
		}
		h.Finish()
		for i, p := range policies {
			all, _ := verdictsOf(lines, p, idle)
			var worst, most replay.Streak
			for id := range int32(h.Clients()) {
				var own []line
				var refused []bool
				for j, l := range lines {
					if l.client == b.tables.Clients.Name(id) && !l.warm {
						own, refused = append(own, l), append(refused, all[j])
					}
				}
				want := slowHarmOf(own, refused, p)
				if got := h.PageViews(id); got != want.views {
					rt.Fatalf("%d page views, want %d", got, want.views)
				}
				if got := h.Broken(i, id); got != want.broken {
					rt.Fatalf("%s breaks %d page views, want %d", p.Name, got, want.broken)
				}
				if s := want.lockout; s.Requests > 0 && (worst.Requests == 0 || s.Last-s.First > worst.Last-worst.First || s.Last-s.First == worst.Last-worst.First && s.Requests > worst.Requests) {
					worst = s
				}
				if want.busiest.Requests > most.Requests {
					most = want.busiest
				}
			}
			lockout, busiest := h.Policies[i].Lockout, h.Policies[i].Busiest
			if lockout.Requests != worst.Requests || lockout.Last-lockout.First != worst.Last-worst.First || busiest.Requests != most.Requests {
				rt.Fatalf("%s: %+v and %+v, want %+v and %+v", p.Name, lockout, busiest, worst, most)
			}
		}
	})
}

// An hour holds what came less than an hour before, and not what came a whole one before.
func TestHarmCountsRollingHours(t *testing.T) {
	policies, err := policy.ParseLimits([]string{"token:100/1s"}, request.ByClient)
	check(t, err)
	for end, want := range map[limit.Time]int64{limit.Hour: 2, limit.Hour - 1: 3} {
		b := newBenchOf(t, lateness, policies)
		h := replay.NewHarm(b.tables, policies)
		for _, at := range []limit.Time{0, 1, end} {
			batch := withClues(b.batch([]line{{at: at, client: "a", action: "/x", status: 200}}), b.tables)
			check(t, h.Observe(batch, make([]replay.Verdicts, 1)))
		}
		h.Finish()
		if got := h.Policies[0].Busiest; got.Requests != want {
			t.Errorf("0, 1 and %d us: %+v, want %d requests", end, got, want)
		}
	}
}

// What may be a page is one when something comes from it, later: then it is a view of its own, which is broken if it was refused,
// or a file of it, whatever became of the view before it. Within a second of that it belongs to it.
func TestHarmToLatePageViews(t *testing.T) {
	const home, shop, cart = 1, 2, 3
	page := func(page, from uint16) traffic.Clue {
		return traffic.Clue{Traits: traffic.Stepped | traffic.Asked, Page: page, From: from}
	}
	file := func(from uint16) traffic.Clue { return traffic.Clue{Traits: traffic.FetchedAsset, From: from} }
	type sent struct {
		at      limit.Time
		clue    traffic.Clue
		refused bool
	}
	for _, c := range []struct {
		what          string
		requests      []sent
		views, broken int64
	}{
		{"refused, and the view before is whole", []sent{{0, page(home, 0), false}, {5, page(shop, home), true}, {6, file(shop), false}}, 2, 1},
		{"refused, and the view before is broken", []sent{{0, page(home, 0), true}, {5, page(shop, home), true}, {6, file(shop), false}}, 2, 2},
		{"whole, and the view before is broken", []sent{{0, page(home, 0), true}, {5, page(shop, home), false}, {6, file(shop), false}}, 2, 1},
		{"of which a file is refused, and the view before is broken", []sent{{0, page(home, 0), true}, {5, page(shop, home), false}, {6, file(shop), true}}, 2, 2},
		{"refused, with its file", []sent{{0, page(home, 0), false}, {5, page(shop, home), true}, {6, file(shop), true}}, 2, 1},
		{"refused, and no page as nothing came from it", []sent{{0, page(home, 0), false}, {5, page(shop, home), true}, {6, file(home), false}}, 1, 0},
		{"two in a row", []sent{{0, page(home, 0), false}, {5, page(shop, home), true}, {9, page(cart, shop), true}, {12, file(cart), false}}, 3, 2},
		{"within a second of the view before", []sent{{0, page(home, 0), false}, {0, page(shop, home), true}, {1, file(shop), false}}, 1, 1},
	} {
		tables := &traffic.Tables{Clients: intern.NewDict(), Agents: useragent.NewAgents(), Actions: intern.NewDict()}
		b := &traffic.Batch{}
		var verdicts replay.Verdicts
		for i, r := range c.requests {
			b.At, b.Client = append(b.At, r.at*second), append(b.Client, tables.Clients.ID([]byte("a")))
			b.Agent, b.Action, b.Status, b.Bytes = append(b.Agent, 0), append(b.Action, 0), append(b.Status, 200), append(b.Bytes, 0)
			b.Clues = append(b.Clues, r.clue)
			if r.refused {
				verdicts.Refused = append(verdicts.Refused, int32(i))
			}
		}
		h := replay.NewHarm(tables, policiesOf(t, "token:1/1s", request.ByClient))
		check(t, h.Observe(b, []replay.Verdicts{verdicts}))
		if views, broken := h.PageViews(0), h.Broken(0, 0); views != c.views || broken != c.broken {
			t.Errorf("%s: %d page views, %d of them broken; want %d, %d", c.what, views, broken, c.views, c.broken)
		}
	}
}
