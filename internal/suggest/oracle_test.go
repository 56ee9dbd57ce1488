package suggest_test

import (
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

// drawLog draws the requests of some clients: browsers with pauses, tools without.
func drawLog(t *rapid.T) (requests []sent) {
	for client := range rapid.IntRange(1, 12).Draw(t, "clients") {
		agent := rapid.SampledFrom([]string{firefox, firefox, firefox, curl, crawler}).Draw(t, "agent")
		now := limit.Time(rapid.IntRange(0, 300).Draw(t, "start")) * limit.Second
		for range rapid.IntRange(1, 25).Draw(t, "requests") {
			requests = append(requests, sent{now, client, agent})
			now += limit.Time(rapid.SampledFrom([]int{0, 0, 1, 1, 3, 10, 45, 100}).Draw(t, "pause")) * limit.Second
		}
	}
	return requests
}

// drawQuestion draws the protected and the target.
func drawQuestion(rt *rapid.T, t *testing.T) suggest.Question {
	p, err := suggest.ParseGoal("browsers=" + rapid.SampledFrom([]string{"50%", "66.6%", "80%", "99.9%", "100%"}).Draw(rt, "share"))
	check(t, err)
	scale, err := suggest.ParseScale("1")
	check(t, err)
	return suggest.Question{Goals: []suggest.Goal{p}, Target: who.Everybody &^ p.Who, Scale: scale}
}

var someShapes = sweep.Options{
	Kinds:    []sweep.Kind{sweep.Window, sweep.Fixed, sweep.WindowAll, sweep.Token},
	Periods:  []limit.Time{limit.Second, 7 * limit.Second, limit.Minute},
	Rates:    []sweep.Rate{{Count: 1, Per: limit.Second}, {Count: 7, Per: 30 * limit.Second}, {Count: 3, Per: limit.Minute}},
	Lateness: ingest.DefaultLateness, Workers: 1,
}

// Whatever the log: a replay of the suggested limit keeps the promise, one of the limit below it does not, and the figures
// are those of the replays, on the first part and on the rest.
func TestTheStrictestByReplay(t *testing.T) {
	testneeds.Rapid(t, func(rt *rapid.T) {
		tables := traffic.NewTables()
		all := batch(tables, drawLog(rt))
		n := rapid.IntRange(1, all.Len()).Draw(rt, "first part")
		m := rapid.IntRange(n, all.Len()).Draw(rt, "second part")
		first, second, rest := rows(all, 0, n), rows(all, n, m), rows(all, m, all.Len())
		labels := labelsOf(t, tables, all)
		o, q := someShapes, drawQuestion(rt, t)
		o.Tables = tables
		a := suggest.Advise(q, "", [suggest.PartCount]*suggest.Part{
			part(first, labels, o), part(second, labels, o), part(rest, labels, o),
		}, suggest.Loads{})
		for i := range a.Suggestions {
			judgeOne(rt, t, a, &a.Suggestions[i], labels, tables, first, second, rest)
		}
	})
}

// judgeOne replays the limits of one suggestion.
func judgeOne(rt *rapid.T, t *testing.T, a *suggest.Advice, s *suggest.Suggestion, labels who.Identities, tables *traffic.Tables, batches ...*traffic.Batch) {
	if s.Why != suggest.Found {
		return
	}
	figures := func(b *traffic.Batch, n int64) suggest.Figures {
		return suggest.Count(&replayed(t, tables, b, s.Shape.Limit(n)).Policies[0].Hits, labels)
	}
	n := s.Chosen.Limit
	keeps := func(part int, n int64) bool {
		at := figures(batches[part], n)
		return a.Keeps(&at, &a.Parts[part].Clients)
	}
	for part := range suggest.Rest {
		if !keeps(part, n) {
			rt.Fatalf("%s breaks the promise on part %d", s.Shape.Limit(n), part)
		}
	}
	if n > 1 && keeps(suggest.First, n-1) && keeps(suggest.Second, n-1) {
		rt.Fatalf("%s keeps the promise as well as %s", s.Shape.Limit(n-1), s.Shape.Limit(n))
	}
	for part, batch := range batches {
		at := figures(batch, n)
		same(rt, s.Shape.Limit(n), &s.Chosen.On[part], &at)
	}
	if holds := keeps(suggest.Rest, n); s.Proof == suggest.Holds && !holds || s.Proof == suggest.Fails && holds {
		rt.Fatalf("%s: the proof is %s", s.Shape.Limit(n), s.Proof)
	}
	for i := range s.Others {
		at := figures(batches[suggest.First], s.Others[i].Limit)
		same(rt, s.Shape.Limit(s.Others[i].Limit), &s.Others[i].On[suggest.First], &at)
	}
}

// same holds what the curve says against what a replay says. Of some bursts a curve does not know what they refuse.
func same(rt *rapid.T, what string, curve, replay *suggest.Figures) {
	if curve.Hit != replay.Hit || curve.Counted && curve.Refused != replay.Refused {
		rt.Fatalf("%s: the curve says %v hit, %v refused; a replay %v and %v", what, curve.Hit, curve.Refused, replay.Hit, replay.Refused)
	}
}

// A scaled limit hits, of clients that send k times as much, those that the limit hits as they are. A window refuses k times as
// many requests; a bucket may have room for some of k requests that come as one.
func TestScaleIsExact(t *testing.T) {
	testneeds.Rapid(t, func(rt *rapid.T) {
		requests := drawLog(rt)
		k := rapid.IntRange(1, 4).Draw(rt, "scale")
		var more []sent
		for range k {
			more = append(more, requests...)
		}
		tables := traffic.NewTables()
		plain, scaled := batch(tables, requests), batch(tables, more)
		labels := labelsOf(t, tables, plain)
		q, o := drawQuestion(rt, t), someShapes
		var err error
		q.Scale, err = suggest.ParseScale([]string{"1", "2", "3", "4"}[k-1])
		check(t, err)
		o.Tables = tables
		a := suggest.Advise(q, "", [suggest.PartCount]*suggest.Part{part(plain, labels, o)}, suggest.Loads{})
		for i := range a.Suggestions {
			s := &a.Suggestions[i]
			if s.Why != suggest.Found {
				continue
			}
			text, ok := a.Text(s, s.Chosen.Limit)
			if !ok {
				rt.Fatalf("%s does not fit", s.Shape.Limit(s.Chosen.Limit))
			}
			before := suggest.Count(&replayed(t, tables, plain, s.Shape.Limit(s.Chosen.Limit)).Policies[0].Hits, labels)
			after := suggest.Count(&replayed(t, tables, scaled, text).Policies[0].Hits, labels)
			for g := range before.Refused {
				if after.Hit[g] != before.Hit[g] {
					rt.Fatalf("%s hits %v, %s hits %v", s.Shape.Limit(s.Chosen.Limit), before.Hit, text, after.Hit)
				}
				if s.Kind != sweep.Token && after.Refused[g] != int64(k)*before.Refused[g] {
					rt.Fatalf("%s refuses %v, %s refuses %v", s.Shape.Limit(s.Chosen.Limit), before.Refused, text, after.Refused)
				}
			}
		}
	})
}

// rows are the rows i … j−1 of a batch.
func rows(b *traffic.Batch, i, j int) *traffic.Batch {
	return &traffic.Batch{
		At: b.At[i:j], Client: b.Client[i:j], Agent: b.Agent[i:j], Action: b.Action[i:j], Status: b.Status[i:j], Bytes: b.Bytes[i:j],
		Clues: b.Clues[i:j],
	}
}
