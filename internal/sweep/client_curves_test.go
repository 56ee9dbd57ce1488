package sweep_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// oddBatches are requests of clients that go on over several batches: some come too late, and clocks are set back.
func oddBatches(rng *rand.Rand, tables *traffic.Tables) (batches []*traffic.Batch) {
	now, place := 20*limit.Day, limit.Time(0)
	seconds, late, back := rng.IntN(2) == 0, rng.IntN(3) == 0, rng.IntN(3) == 0
	for range 1 + rng.IntN(4) {
		b := &traffic.Batch{Stamps: traffic.Coarseness{Slack: limit.Second - limit.Microsecond}}
		if back && rng.IntN(2) == 0 {
			now -= limit.Time(rng.Int64N(int64(2 * limit.Hour)))
		}
		for range 1 + rng.IntN(600) {
			now += []limit.Time{0, 0, 1, limit.Second / 7, limit.Second, limit.Minute, limit.Hour}[rng.IntN(6+rng.IntN(2))]
			at := now
			if seconds {
				at -= at % limit.Second
			}
			place = max(place, at)
			if late && rng.IntN(20) == 0 {
				at -= limit.Time(rng.Int64N(int64([]limit.Time{limit.Second, limit.Hour, 2 * limit.Day}[rng.IntN(3)])))
			}
			b.At, b.Seq = append(b.At, at), append(b.Seq, place)
			b.Client = append(b.Client, int32(float64(tables.Clients.Len())*rng.Float64()*rng.Float64()))
			b.Agent, b.Action = append(b.Agent, 0), append(b.Action, uint16(rng.IntN(3)/2))
			b.Status, b.Bytes = append(b.Status, 200), append(b.Bytes, 1)
		}
		if slices.Equal(b.Seq, b.At) {
			b.Seq = nil
		}
		batches = append(batches, b)
	}
	return batches
}

// Client by client, and in passes for some of them each, curves are those of a sweep, wherever they say something.
func TestClientCurvesAgainstSweep(t *testing.T) {
	rng := testneeds.Rand(t, 4, 9)
	known, hit := 0, 0
	for range 60 {
		tables := traffic.NewTables()
		for name := range 1 + rng.IntN(30) {
			tables.Clients.ID([]byte{byte(name)})
		}
		tables.Agents.ID([]byte("curl/8"))
		tables.Actions.ID([]byte("/"))
		tables.Actions.ID([]byte("/login"))
		batches := oddBatches(rng, tables)
		o := options(tables)
		o.Bursts, o.Band, o.Action = nil, rng.IntN(2) == 0, []string{"", "/login"}[rng.IntN(2)]
		slow := sweep.New(o)
		for _, b := range batches {
			slow.Take(b)
		}
		group := func(client int32) uint8 { return uint8(client) % uint8(request.ClassCount) }
		want := slow.Of(func(client int32) (request.Class, bool) { return request.Class(group(client)), true })
		quick := sweep.NewClientCurves(sweep.ClientOptions{
			Tables: tables, Kinds: o.Kinds, Periods: o.Periods, Rates: o.Rates, Action: o.Action, Lateness: ingest.DefaultLateness,
			Band: o.Band, Group: group,
		})
		from := make([]int64, len(want.Curves))
		for i := range from {
			from[i] = 1 + rng.Int64N(20)
		}
		shards := 1 + rng.Int32N(3)
		for pass := range 2 * shards {
			wanted := func(client int32) bool { return client%shards == pass%shards }
			if quick.Begin(wanted); pass >= shards {
				quick.BeginRefused(from, wanted)
			}
			for _, b := range batches {
				quick.Take(b)
			}
			quick.Finish()
		}
		if g := quick.Groups(); sweep.Classes(g.Requests[:request.ClassCount]) != want.Requests || sweep.Classes(g.Clients[:request.ClassCount]) != want.Clients {
			t.Fatalf("%v, want %v of %v", g, want.Requests, want.Clients)
		}
		logged, high := quick.Curves()
		placements := [][]sweep.ClientCurve{logged, high}
		late := slices.ContainsFunc(batches, func(b *traffic.Batch) bool { return b.Seq != nil })
		for p, curves := range [][]sweep.Curve{want.Curves, want.High} {
			if len(placements[p]) != len(curves) {
				t.Fatalf("%d curves, want %d", len(placements[p]), len(curves))
			}
			for i := range curves {
				for n := int64(1); n <= 40; n++ {
					want, got := curves[i].At(n), pointAt(placements[p][i].Points, n)
					hits := sweep.Classes(got.Hit[:request.ClassCount])
					if p > 0 && late { // low bounds, which are not looked at here, may hit others then
						want.Hit = hits
					}
					if hits != want.Hit {
						t.Fatalf("%s: %d hit, want %d", curves[i].Limit(n), got.Hit, want.Hit)
					}
					hit += int(want.Hit.Sum())
					if counted := curves[i].Kind != sweep.Token && p == 0 && n >= from[i] || want.Hit == (sweep.Classes{}); got.Counted != counted {
						t.Fatalf("%s: counted %v", curves[i].Limit(n), got.Counted)
					}
					if got.Counted && sweep.Classes(got.Refused[:request.ClassCount]) != want.Refused {
						t.Fatalf("%s: %d refused, want %d", curves[i].Limit(n), got.Refused, want.Refused)
					}
					if got.Counted {
						known++
					}
				}
			}
		}
		needs := map[int32]int64{}
		slow.Needs([]int{0}, func(_ int, client int32, need int64) { needs[client] = need })
		quick.Needs([]int{0}, func(_ int, client int32, need int64) {
			if want := needs[client]; need < want || o.Band == false && need > want+want/8 {
				t.Fatalf("client %d needs %d, want %d", client, need, want)
			}
			delete(needs, client)
		})
		if len(needs) > 0 {
			t.Fatalf("%d clients need nothing", len(needs))
		}
	}
	if known < 1000 || hit < 1000 {
		t.Errorf("%d figures are known, and %d clients hit: that proves nothing", known, hit)
	}
}

// pointAt returns the point that says what a limit does.
func pointAt(points []sweep.ClientPoint, n int64) (at sweep.ClientPoint) {
	at.Counted = true // without any request
	for _, p := range points {
		if p.Limit <= n {
			at = p
		}
	}
	return at
}
