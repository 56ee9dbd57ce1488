package sweep_test

import (
	"reflect"
	"slices"
	"testing"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// drawnRequests are requests of clients with several agents, some of them out of order.
func drawnRequests(t *testing.T, n int) (*traffic.Batch, *traffic.Tables) {
	b, tables := manyRequests(t, n, 60)
	rng := testneeds.Rand(t, 8, 1)
	for _, agent := range []string{"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Googlebot/2.1", "python-requests/2.32"} {
		tables.Agents.ID([]byte(agent))
	}
	for i := range n {
		b.Agent[i] = uint16(rng.IntN(4)) * uint16(b.Client[i]%2)
		if rng.IntN(20) == 0 {
			b.At[i] -= limit.Time(rng.Int64N(int64(limit.Hour)))
		}
	}
	b.Stamps = traffic.Coarseness{Slack: limit.Second - limit.Microsecond}
	return b, tables
}

// What is known of clients beforehand makes curves cheaper, not others.
func TestGroupsBeforehand(t *testing.T) {
	b, tables := drawnRequests(t, 30_000)
	group := func(client int32) uint8 { return uint8(client % 7) }
	o := options(tables)
	o.Bursts = nil
	slow := sweep.New(o)
	o.Group = group
	quick := sweep.New(o)
	slow.Take(b)
	quick.Take(b)
	quick.Finish()
	for half := range uint8(2) {
		class := func(client int32) (request.Class, bool) {
			return request.Class(group(client) / 2), group(client)%2 == half
		}
		if want, got := slow.Of(class), quick.Of(class); !reflect.DeepEqual(got, want) || got.Requests.Sum() == 0 {
			t.Errorf("half %d: of %d requests, curves differ from those of %d", half, got.Requests, want.Requests)
		}
	}
}

// Curves that are drawn in a second pass, by class, are those of one pass.
func TestAgainDrawsTheSameCurves(t *testing.T) {
	b, tables := drawnRequests(t, 20_000)
	for _, action := range []string{"", "/"} {
		o := sweep.KeysOptions{
			Tables: tables, Lateness: ingest.DefaultLateness, Action: action,
			Side: func(client int32) request.Class { return request.Class(client % 3) },
		}
		survey := sweep.NewKeys(o)
		o.Keys = []request.Key{request.ByClient, request.ByClientAgent, request.BySite, request.ByClientAction}
		o.Periods = []limit.Time{10 * limit.Second, limit.Minute, limit.Hour}
		once := sweep.NewKeys(o)
		once.Take(b)
		survey.Take(b)
		want, got := once.Result(ingest.Stats{}), survey.Result(ingest.Stats{})
		for _, periods := range [][]limit.Time{o.Periods[:2], o.Periods[2:]} {
			for some := range slices.Chunk(o.Keys, 3) {
				again := survey.Again(some, periods)
				again.Take(b)
				survey.Draw(got, again)
			}
		}
		if !reflect.DeepEqual(got, want) || len(got.Sides) != 4 || len(got.Sides[2].Curves[2].Points) < 10 {
			t.Errorf("action %q: the curves of several passes differ from those of one", action)
		}
	}
}
