package replay_test

import (
	"fmt"
	"testing"

	"shadow/limit"
	"shadow/replay"
	"shadow/request"
	"shadow/testneeds"
	"shadow/traffic"
	"shadow/traffic/evidence"
)

// Evidence does not depend on how requests are cut into batches, nor on the ids of clients and agents; requests that only
// warm the limiters are none.
func TestEvidenceOfAnyCut(t *testing.T) {
	rng := testneeds.Rand(t, 7, 7)
	type sent struct {
		line
		trace traffic.Trace
	}
	var all []sent
	for i := range 3000 {
		kinds := []traffic.Trait{traffic.FetchedAsset, traffic.Stepped, traffic.Stepped | traffic.Asked, 0}
		all = append(all, sent{
			line{
				at: limit.Time(i) * limit.Second / 4, client: fmt.Sprint(rng.IntN(20)), status: uint16(200 + rng.IntN(3)*102),
				agent: fmt.Sprintf("Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/%[1]d.0", 90+rng.IntN(9)),
			},
			traffic.Trace{Traits: kinds[rng.IntN(4)], Page: uint16(1 + rng.IntN(5)), From: uint16(rng.IntN(5))},
		})
	}
	gathered := func(cut func() int, agents ...string) map[string]evidence.Summary {
		b := newBench(t, limit.Hour, request.ByClient, "token:6/30s")
		for _, agent := range agents {
			b.tables.Agents.ID([]byte(agent))
		}
		b.engine = replay.New(replay.Options{Tables: b.tables, Policies: nil, Lateness: limit.Hour, Evidence: true})
		warm := b.batch([]line{{at: -limit.Hour, client: "0", status: 404, warm: true}})
		warm.Traces = []traffic.Trace{{Traits: traffic.Stepped}}
		check(t, b.engine.Judge(warm))
		for from := 0; from < len(all); {
			to := min(from+cut(), len(all))
			var lines []line
			var traces []traffic.Trace
			for _, r := range all[from:to] {
				lines, traces = append(lines, r.line), append(traces, r.trace)
			}
			batch := b.batch(lines)
			batch.Traces = traces
			check(t, b.engine.Judge(batch))
			from = to
		}
		result := b.result()
		found := map[string]evidence.Summary{}
		for id := range int32(result.Evidence.Len()) {
			found[b.tables.Clients.Name(id)] = *result.Evidence.At(id)
		}
		return found
	}
	whole := gathered(func() int { return len(all) })
	cut := gathered(func() int { return 1 + rng.IntN(40) }, "curl/8.5.0", "-", all[50].agent)
	if len(whole) != 20 || whole["0"].Steps == 0 || whole["0"].Agents == 0 {
		t.Fatalf("the evidence is %+v", whole)
	}
	for name, e := range whole {
		if cut[name] != e {
			t.Errorf("%s: cut %+v, whole %+v", name, cut[name], e)
		}
	}
}

// Nothing is gathered that nobody asked for.
func TestNoEvidence(t *testing.T) {
	b := newBench(t, limit.Hour, request.ByClient, "token:6/30s")
	b.judge([]line{{client: "a"}})
	if r := b.result(); r.Evidence != nil {
		t.Errorf("there is evidence about %d clients", r.Evidence.Len())
	}
}
