package sweep_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/intern"
)

// Where the batches of a log are cut changes nothing: of a key that comes twice in one batch nothing is put aside, of one
// that comes again in a later batch the first request is. Many keys come once, twice or three times.
func TestCutsChangeNothing(t *testing.T) {
	b, tables := drawnRequests(t, 3000) // in whose times some are late
	b.Seq = slices.Clone(b.At)
	for i := range b.Seq {
		b.Seq[i] = max(b.Seq[i], b.Seq[max(0, i-1)])
	}
	rng := testneeds.Rand(t, 5, 5)
	tables.Actions.ID([]byte("/login"))
	for i := range b.Client {
		b.Action[i] = uint16(rng.IntN(2))
		if rng.IntN(3) > 0 {
			b.Client[i] = tables.Clients.ID(fmt.Appendf(nil, "192.0.%d.%d", rng.IntN(8), rng.IntN(200)))
		}
	}
	for _, by := range []request.Key{request.ByClient, request.ByClient24, request.ByClientAgent, request.BySite} {
		for _, action := range []string{"", "/login"} {
			o := options(tables)
			o.By, o.Action, o.Band = by, action, true
			whole, cut := sweep.New(o), sweep.New(o)
			whole.Take(b)
			for i := 0; i < b.Len(); {
				j := min(b.Len(), i+1+rng.IntN(40))
				part := traffic.NewBatch(j-i, traffic.Columns{})
				part.Take(b, i, j)
				part.Stamps = b.Stamps
				cut.Take(part)
				i = j
			}
			want, got := whole.Result(ingest.Stats{}), cut.Result(ingest.Stats{})
			want.Tallies, got.Tallies = nil, nil
			if !reflect.DeepEqual(got, want) || len(got.Curves[0].Points) < 2 {
				t.Errorf("by %s, action %q: curves of small batches differ from those of one", by, action)
			}
		}
	}
}

// What an action is called may mean another one once more is read: /x is /x/… as long as there is no page /x. That changes
// nothing, wherever batches are cut.
func TestActionFoundLate(t *testing.T) {
	b, tables := drawnRequests(t, 3000)
	b.Seq = slices.Clone(b.At)
	for i := range b.Seq {
		b.Seq[i] = max(b.Seq[i], b.Seq[max(0, i-1)])
	}
	pages := []string{"/x/…", "/", "/x"}
	rng := testneeds.Rand(t, 5, 6)
	for i := range b.Client {
		b.Action[i] = uint16(rng.IntN(2 + min(1, i/1000))) // /x comes with the second thousand
	}
	var first []any
	for _, cut := range []int{1, 100, 3000} {
		late := *tables
		late.Actions = intern.NewDict()
		o := options(&late)
		o.Action, o.Band = "/x", true
		k := sweep.KeysOptions{Tables: &late, Keys: []request.Key{request.ByClient}, Periods: o.Periods, Action: "/x", Lateness: o.Lateness}
		curves, keys := sweep.New(o), sweep.NewKeys(k)
		for i := 0; i < b.Len(); i += cut {
			part := traffic.NewBatch(cut, traffic.Columns{})
			part.Take(b, i, min(b.Len(), i+cut))
			part.Stamps = b.Stamps
			for _, action := range part.Action {
				for id := late.Actions.Len(); id <= int(action); id++ {
					late.Actions.ID([]byte(pages[id]))
				}
			}
			curves.Take(part)
			keys.Take(part)
		}
		var want int64
		for _, action := range b.Action {
			want += int64(action / 2)
		}
		got, byKey := curves.Result(ingest.Stats{}), keys.Result(ingest.Stats{})
		if got.Judged != want || byKey.Requests.Sum() != want {
			t.Errorf("cut after %d: curves are of %d requests, those of keys of %d; want %d", cut, got.Judged, byKey.Requests.Sum(), want)
		}
		result := []any{got.Curves, got.Band, byKey.Sides}
		if cut == 1 {
			first = result
		} else if !reflect.DeepEqual(result, first) {
			t.Errorf("cut after %d: other curves than cut after each request", cut)
		}
	}
}
