package replay_test

import (
	"bytes"
	"io"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
	"shadow/limit"
	"shadow/replay"
)

// A listing is an Observer that notes for each request, told by its bytes, what each policy made of it.
type listing struct {
	refused []map[int64]bool // by policy
	delayed []map[int64]limit.Time
	retries []limit.Time
}

func newListing(policies int) *listing {
	l := new(listing)
	for range policies {
		l.refused, l.delayed = append(l.refused, map[int64]bool{}), append(l.delayed, map[int64]limit.Time{})
	}
	return l
}

func (l *listing) Observe(b *traffic.Batch, verdicts []replay.Verdicts) error {
	for i := range verdicts {
		for _, row := range verdicts[i].Refused {
			l.refused[i][b.Bytes[row]] = true
		}
		for _, d := range verdicts[i].Delayed {
			l.delayed[i][b.Bytes[d.Index]] = d.By
		}
		for _, r := range verdicts[i].Retry {
			l.retries = append(l.retries, r.After)
		}
	}
	return nil
}

// Engines that take over from one another by what they remember, each with tables of its own, decide what a single one does:
// request by request, with limits of all kinds, and though requests are judged one by one to tell how long to stay away.
func TestCarriedOverAgainstModel(t *testing.T) {
	policies := append(ownPolicies(t), sharedPolicies(t)...)
	idle := idleTimes(policies, lateness)
	testneeds.Rapid(t, func(rt *rapid.T) {
		lines := drawLog(rt, idle[request.ByClient])
		seen := newListing(len(policies))
		var b *bench
		var kept []byte
		for _, batch := range cutLog(rt, lines) {
			if b == nil || rapid.Bool().Draw(rt, "again") {
				b = newBenchOf(t, lateness, nil)
				b.engine = replay.New(replay.Options{Tables: b.tables, Policies: policies, Lateness: lateness, Observer: seen, Retries: true})
				if kept != nil {
					actions, err := match.NewActions(nil, b.tables.Actions)
					check(t, err)
					from := traffic.NewDecoder(kept, b.tables, actions.Named)
					b.engine.Restore(from)
					check(t, from.Err())
				}
			}
			b.judge(batch)
			var state bytes.Buffer
			to := traffic.NewEncoder(b.tables, &state)
			b.engine.Save(to)
			check(t, to.Flush())
			kept = state.Bytes()
			restoreForged(rt, policies, kept)
		}
		refusals := 0
		for i, p := range policies {
			refused, delays := verdictsOf(lines, p, idle)
			for j, l := range lines {
				if r, d := seen.refused[i][l.bytes], seen.delayed[i][l.bytes]; r != refused[j] || d != delays[j] {
					rt.Fatalf("%s: request %d: refused %v, delayed %v; want %v, %v", p.Name, j, r, d, refused[j], delays[j])
				}
				if refused[j] {
					refusals++
				}
			}
		}
		if len(seen.retries) != refusals {
			rt.Fatalf("%d times to stay away for %d refusals", len(seen.retries), refusals)
		}
		for _, wait := range seen.retries {
			if wait <= 0 {
				rt.Fatalf("a refused request may come back after %d", wait)
			}
		}
	})
}

// restoreForged restores what differs in a byte, or ends too early. Whatever comes of it must not panic, nor must what it
// remembers then.
func restoreForged(t *rapid.T, policies []policy.Policy, kept []byte) {
	forged := bytes.Clone(kept[:rapid.IntRange(1, len(kept)).Draw(t, "cut")])
	forged[rapid.IntRange(0, len(forged)-1).Draw(t, "forged")] ^= rapid.Byte().Draw(t, "by")
	tables := traffic.NewTables()
	actions, err := match.NewActions(nil, tables.Actions)
	if err != nil {
		t.Fatal(err)
	}
	engine := replay.New(replay.Options{Tables: tables, Policies: policies, Lateness: lateness})
	engine.Restore(traffic.NewDecoder(forged, tables, actions.Named))
	engine.Save(traffic.NewEncoder(tables, io.Discard))
}
