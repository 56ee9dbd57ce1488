package replay_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shadow/limit"
	"shadow/policy"
	"shadow/replay"
	"shadow/request"
	"shadow/testneeds"
	"shadow/traffic"
	"shadow/traffic/ingest"
)

// told is all that a result says, by names.
func told(r *replay.Result) string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for id := range int32(r.Clients.Len()) {
		if c := r.Clients.At(id); c.Requests() > 0 {
			say("client %s: %v, %s", r.Tables.Clients.Name(id), c.ByClass, r.Tables.Agents.Name(c.LastAgent))
		}
	}
	byAction := func(counts []int64) string {
		named := map[string]int64{}
		for id, n := range counts {
			if n != 0 {
				named[r.Tables.Actions.Name(int32(id))] = n
			}
		}
		return fmt.Sprint(named)
	}
	say("actions %s, over time %s %v", byAction(r.Actions), limit.FormatPeriod(r.OverTime.Length()), maps.Collect(r.OverTime.All()))
	for i := range r.Policies {
		p := &r.Policies[i]
		say("%d: %d of %d refused, %s, %d bytes, %d us, %d in minute %d, %+v", i, p.Refused, p.Requests, byAction(p.ByAction), p.BytesSaved, p.UpstreamSaved, p.WorstMinuteRefused, p.WorstMinute, p.Degraded)
		if p.Delays != nil {
			say("%d: delays %+v", i, *p.Delays)
		}
		if p.Range != nil {
			say("%d: from %v to %v", i, p.Range.Refused, p.Range.ClientsHit)
		}
		for h := range p.Hits.All() {
			name, of := r.Tables.Clients.Name(h.Client), [2]int64{}
			if p.Range != nil {
				of = p.Range.Of(h.Client)
			}
			h.Client = 0
			say("%d: hits %s %+v %v", i, name, h, of)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// saved is a sum as Save writes it.
func saved(t *testing.T, s *replay.Sum, tables *traffic.Tables) []byte {
	t.Helper()
	var to bytes.Buffer
	e := traffic.NewEncoder(tables, &to)
	s.Save(e)
	check(t, e.Flush())
	return to.Bytes()
}

// sumOf adds up what engines have saved.
func sumOf(t *testing.T, policies int, parts ...[]byte) *replay.Sum {
	t.Helper()
	tables := traffic.NewTables()
	s := replay.NewSum(tables, policies)
	for _, part := range parts {
		from := traffic.NewDecoder(part, tables, tables.Actions.ID)
		s.Add(from)
		from.End()
		check(t, from.Err())
	}
	return s
}

// Engines of which each has judged the requests of some clients have judged, together, what one engine judges of all.
func TestSumOfParts(t *testing.T) {
	policies := ownPolicies(t)
	guessed, err := policy.ParseLimits([]string{"cloudflare~:3/10s"}, request.ByClient)
	check(t, err)
	policies = append(policies, guessed...)
	idle := idleTimes(policies, lateness)
	testneeds.Rapid(t, func(rt *rapid.T) {
		var parts [3][]line
		lines := drawLog(rt, idle[request.ByClient])
		for i := range lines {
			l := &lines[i]
			l.agent = []string{"curl/8", "-"}[i%2]
			in := slices.Index(drawn, l.client) % len(parts)
			parts[in] = append(parts[in], *l)
		}
		whole := newBenchOf(t, lateness, policies)
		whole.judge(cutLog(rt, lines)...)
		var kept [][]byte
		for _, lines := range parts {
			b := newBenchOf(t, lateness, policies)
			b.judge(cutLog(rt, lines)...)
			kept = append(kept, saved(t, b.engine.Sum(), b.tables))
		}
		s := sumOf(t, len(policies), kept...)
		want := told(whole.engine.Result(ingest.Stats{}))
		if got := told(s.Result(ingest.Stats{}, policies)); got != want {
			rt.Fatalf("one engine:\n%s\nseveral:\n%s", want, got)
		}
		again := sumOf(t, len(policies), saved(t, s, s.Tables()))
		if got := told(again.Result(ingest.Stats{}, policies)); got != want || again.Requests() != whole.engine.Result(ingest.Stats{}).Policies[0].Requests {
			rt.Fatalf("one engine:\n%s\na sum that was saved:\n%s", want, got)
		}
	})
}

// Of a client of which several engines have judged requests, the last agent is that of its last request.
func TestSumHasLastAgents(t *testing.T) {
	policies := policiesOf(t, "window:1/10s", request.ByClientAction)
	var parts [][]byte
	for i, agent := range []string{"first", "last", "between"} {
		b := newBenchOf(t, lateness, policies)
		b.judge([]line{{at: limit.Time(i) * second, client: "192.0.2.1", action: agent, agent: agent, status: 200}})
		s := b.engine.Sum()
		s.Lasts = new(replay.Paged[replay.Place])
		s.Lasts.Grow(1)
		*s.Lasts.At(0) = replay.Place{Known: true, Seq: 7, Line: []int64{3, 5, 4}[i]}
		parts = append(parts, saved(t, s, b.tables))
	}
	s := sumOf(t, 1, parts...)
	again := sumOf(t, 1, saved(t, s, s.Tables()), parts[2])
	for _, s := range []*replay.Sum{s, again} {
		r := s.Result(ingest.Stats{}, policies)
		if got := r.Tables.Agents.Name(r.Clients.At(0).LastAgent); got != "last" {
			t.Errorf("the last agent is %s", got)
		}
	}
}

// Places are ordered by whether they are known, by their moment, whether they stand behind the others of it, by input and line.
func TestPlacesAreOrdered(t *testing.T) {
	ordered := []replay.Place{
		{Seq: 9, Last: true, Source: 9, Line: 9},
		{Known: true, Line: 8, Source: 8, Seq: -1, Last: true},
		{Known: true, Source: 1, Line: 1},
		{Known: true, Source: 1, Line: 2},
		{Known: true, Source: 2, Line: 1},
		{Known: true, Last: true},
		{Known: true, Seq: 1},
	}
	for i, p := range ordered {
		for k, q := range ordered {
			if p.Before(q) != (i < k) {
				t.Errorf("%+v before %+v: %v", p, q, i >= k)
			}
		}
	}
}

// What differs from what Save wrote, or ends too early, is refused or added; nothing panics.
func TestSumOfForged(t *testing.T) {
	b := newBenchOf(t, lateness, ownPolicies(t))
	b.judge([]line{{client: "a", action: "/x", agent: "curl", status: 200}, {client: "a", action: "/x", agent: "curl", status: 200}})
	kept := saved(t, b.engine.Sum(), b.tables)
	for end := range kept {
		tables := traffic.NewTables()
		from := traffic.NewDecoder(kept[:end], tables, tables.Actions.ID)
		replay.NewSum(tables, len(ownPolicies(t))).Add(from)
		if from.Err() == nil {
			t.Errorf("%d of %d bytes will do", end, len(kept))
		}
	}
	from := traffic.NewDecoder(kept, b.tables, b.tables.Actions.ID)
	if replay.NewSum(b.tables, 1).Add(from); from.Err() == nil {
		t.Error("a sum of other policies will do")
	}
}

// Approximations have a range, and as many variants as their limits' assumptions make together.
func TestVariants(t *testing.T) {
	for text, some := range map[string]bool{"window:2/10s": false, "cloudflare~:2/10s": true, "window:2/10s+cloudflare~:2/10s": true} {
		if n := replay.VariantsOf(policiesOf(t, text, request.ByClient)[0]); n > 0 != some {
			t.Errorf("%s has %d variants", text, n)
		}
	}
	one := policiesOf(t, "cloudflare~:2/10s", request.ByClient)[0]
	two := one
	two.Parts = slices.Concat(one.Parts, one.Parts)
	if n, pairs := replay.VariantsOf(one)+1, replay.VariantsOf(two)+1; pairs != n*n {
		t.Errorf("%d ways to mean one, %d to mean two", n, pairs)
	}
}
