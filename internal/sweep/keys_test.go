package sweep_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/traffictest"
	"shadow/limit"
	"shadow/replay"
)

// A tally counts by names what a policy refuses of which clients: the slow and obvious twin of what Keys knows of visitors.
type tally struct {
	tables   *traffic.Tables
	requests map[string]int64
	refused  []map[string]int64 // by policy
	class    map[string]request.Class
}

// Observe implements replay.Observer.
func (t *tally) Observe(b *traffic.Batch, verdicts []replay.Verdicts) error {
	if b.Warm {
		return nil
	}
	name := func(row int) string {
		user := "nobody"
		if b.User != nil && b.User[row] >= 0 {
			user = "user " + t.tables.Users.Name(b.User[row])
		}
		agent := t.tables.Agents.Name(int32(b.Agent[row]))
		name := fmt.Sprintf("%s|%s|%s", t.tables.Clients.Name(b.Client[row]), agent, user)
		t.class[name] = t.tables.Agents.Class(int32(b.Agent[row]))
		return name
	}
	for row := range b.At {
		t.requests[name(row)]++
	}
	for i := range verdicts {
		for _, row := range verdicts[i].Refused {
			t.refused[i][name(int(row))]++
		}
	}
	return nil
}

// point returns what a policy did, by class.
func (t *tally) point(policy int) (p sweep.Point) {
	for name, n := range t.refused[policy] {
		p.Refused[t.class[name]] += n
		p.Hit[t.class[name]]++
	}
	return p
}

// TestKeysAgreeWithReplay holds the curves of every key against replays of their limits by that key, on every log.
func TestKeysAgreeWithReplay(t *testing.T) {
	traffictest.EachLog(t, func(t *testing.T, rng *rand.Rand, _ string, files []string) {
		keysAgree(t, rng, files)
	})
}

func keysAgree(t *testing.T, rng *rand.Rand, files []string) {
	per := []limit.Time{limit.Second, 30 * limit.Second, limit.Minute, limit.Hour}[rng.IntN(4)]
	o := traffictest.Options(t)
	o.Users, o.NoUsers, o.Paths, o.Batch = true, true, true, []int{64, 50_000, 500_000}[rng.IntN(3)]
	o.Lateness = []limit.Time{limit.Second, ingest.DefaultLateness}[rng.IntN(2)]
	if rng.IntN(3) == 0 {
		countFromTheMiddle(t, &o, files)
	}
	var keys []request.Key
	var policies []policy.Policy
	var tried []int64
	for _, by := range slices.Concat(request.UsualKeys, []request.Key{"agent", "client/20", "client/48", "user+path", "segment:2", "agent+segment:1"}) {
		if by == request.ByHost {
			continue // most of the logs do not tell it
		}
		keys = append(keys, by)
		n := 1 + int64(rng.ExpFloat64()*[]float64{2, 20}[rng.IntN(2)])
		tried = append(tried, n)
		some, err := policy.ParseLimits([]string{sweep.Shape{Per: per}.Limit(n)}, by)
		check(t, err)
		policies = append(policies, some...)
	}
	values, _, err := match.NewValues(keys, nil, nil)
	check(t, err)
	o.Values, o.Tables.Parts = values, values.Parts()
	twin := &tally{tables: o.Tables, requests: map[string]int64{}, class: map[string]request.Class{}}
	for range policies {
		twin.refused = append(twin.refused, map[string]int64{})
	}
	options := sweep.KeysOptions{Tables: o.Tables, Keys: keys, Periods: []limit.Time{per}, Lateness: o.Lateness, Limits: len(policies)}
	drawn := sweep.NewKeys(options)
	batches := 0
	engine := replay.New(replay.Options{Tables: o.Tables, Policies: policies, Lateness: o.Lateness, Observer: both{twin, drawn, &batches}})
	reader, err := ingest.NewReader(context.Background(), files, nil, o)
	check(t, err)
	defer reader.Close()
	check(t, engine.Run(reader))
	got := drawn.Result(reader.Stats())
	if int(got.Visitors.Sum()) != len(twin.requests) {
		t.Errorf("%d visitors, want %d", got.Visitors.Sum(), len(twin.requests))
	}
	for i, side := range got.Sides {
		want, point, noted := twin.point(i), side.Curves[0].At(tried[i]), got.Limits[i]
		if point.Refused != want.Refused || point.Hit != want.Hit {
			t.Errorf("by %s, %s: the curve says %v refused, %v hit; replay says %v and %v", side.By, policies[i].Name, point.Refused, point.Hit, want.Refused, want.Hit)
		}
		if noted.Refused != want.Refused || noted.Hit != want.Hit {
			t.Errorf("by %s, %s: noted are %v refused, %v hit; replay says %v and %v", side.By, policies[i].Name, noted.Refused, noted.Hit, want.Refused, want.Hit)
		}
	}

	// A part that is the whole is as the whole, also where no key is remembered from batch to batch.
	drawn.Once = batches == 1 && rng.IntN(4) > 0
	again := drawn.Again(keys, options.Periods)
	second, err := ingest.NewReader(context.Background(), files, nil, o)
	check(t, err)
	defer second.Close()
	for b, err := second.Next(); err != io.EOF; b, err = second.Next() {
		check(t, err)
		again.Take(b)
	}
	part := drawn.Part(got, nil, again)
	if part.Visitors != got.Visitors || part.Requests != got.Requests {
		t.Errorf("%v visitors with %v requests, want %v with %v", part.Visitors, part.Requests, got.Visitors, got.Requests)
	}
	for i, side := range part.Sides {
		if p, want := side.Curves[0].At(tried[i]), got.Sides[i].Curves[0].At(tried[i]); p.Refused != want.Refused || p.Hit != want.Hit {
			t.Errorf("by %s: drawn again, %v are refused and %v hit, want %v and %v", side.By, p.Refused, p.Hit, want.Refused, want.Hit)
		}
	}
}

// both shows two what is refused.
type both struct {
	twin    *tally
	keys    *sweep.Keys
	batches *int // shown so far
}

// Observe implements replay.Observer.
func (o both) Observe(b *traffic.Batch, verdicts []replay.Verdicts) error {
	*o.batches++
	o.keys.Take(b)
	for i := range verdicts {
		o.keys.Refuse(i, verdicts[i].Refused)
	}
	return o.twin.Observe(b, verdicts)
}

// Loosest is the last limit that refuses enough, by trying each.
func TestLoosest(t *testing.T) {
	tools := []request.Class{request.Tool}
	c := sweep.Curve{Points: []sweep.Point{
		{Limit: 1, Refused: sweep.Classes{request.Tool: 9, request.Browser: 5}},
		{Limit: 4, Refused: sweep.Classes{request.Tool: 5, request.Browser: 5}},
		{Limit: 5, Refused: sweep.Classes{request.Tool: 5}},
		{Limit: 9},
	}}
	for requests := int64(1); requests <= 12; requests++ {
		want := int64(0)
		for n := int64(1); n <= 20; n++ {
			if p := c.At(n); p.Refused[request.Tool] >= requests {
				want = n
			}
		}
		if got := c.Loosest(requests, tools); got != want {
			t.Errorf("%d requests: got %d, want %d", requests, got, want)
		}
	}
	if n := new(sweep.Curve).Loosest(1, tools); n != 0 {
		t.Errorf("an empty curve has the limit %d", n)
	}
}
