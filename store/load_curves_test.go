package store

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shadow/limit"
	"shadow/request"
	"shadow/sweep"
)

// Curves come back as they went in, also what was not counted.
func TestLoadCurves(t *testing.T) {
	path := dbPath(t)
	want := sweptRun(t, 7)
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	storeSweep(t, path, want)
	r := openReaderOf(t, path)
	got, err := r.Curves(2)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Curves, got.Curves); diff != "" {
		t.Error(diff)
	}
	if got.By != "client+action" || got.Action != "login" || got.Judged != want.Judged || got.Clients != want.Clients || !slices.Equal(got.Changes, []int64{7, 2}) {
		t.Errorf("%+v", got)
	}
	if got.Requests != (sweep.Classes{}) {
		t.Errorf("requests %v, of one action they are not known by class", got.Requests)
	}
	if none, err := r.Curves(1); none != nil || err != nil {
		t.Error("a run without curves has", none, err)
	}
}

// Curves of all requests tell these by class: they are those of the clients.
func TestLoadCurvesRequests(t *testing.T) {
	path := dbPath(t)
	res := sweptRun(t, 3)
	res.Action, res.Judged = "", 42
	who := &res.Tallies.Clients
	who.At(0).ByClass = [request.ClassCount]int64{request.Browser: 20, request.Tool: 2}
	who.At(2).ByClass = [request.ClassCount]int64{request.Tool: 20}
	want := sweep.Classes{request.Browser: 22, request.Tool: 20}
	storeSweep(t, path, res)
	if got, err := openReaderOf(t, path).Curves(1); err != nil || got.Requests != want {
		t.Errorf("%+v, want requests %v: %v", got, want, err)
	}
}

// Of a long curve a selection comes back, and how long it was.
func TestLoadCurvesLong(t *testing.T) {
	path := dbPath(t)
	storeSweep(t, path, sweptRun(t, MostPoints+5000))
	got, err := openReaderOf(t, path).Curves(1)
	if err != nil || got.Changes[0] != MostPoints+5000 || len(got.Curves[0].Points) > MostPoints {
		t.Fatalf("%d of %d points: %v", len(got.Curves[0].Points), got.Changes[0], err)
	}
	last := got.Curves[0].Points[len(got.Curves[0].Points)-1]
	if last.Limit != MostPoints+5000 || last.Refused[request.Tool] != 0 {
		t.Errorf("the last point is %+v", last)
	}
}

// What the minutes of a policy sum up to is what it refused; policies whose events are not kept have none.
func TestOverTime(t *testing.T) {
	path := dbPath(t)
	some := info
	some.Events = 2
	storeRun(t, path, makeRun(t, 1, 2, 10, 3000), info)
	storeRun(t, path, makeRun(t, 2, 3, 10, 3000), some)
	r := openReaderOf(t, path)
	for _, runs := range [][]int32{{1}, {2}, {1, 2}} {
		l, err := r.Load(runs)
		if err != nil {
			t.Fatal(err)
		}
		sums := make([]int64, len(l.Result.Policies))
		err = r.OverTime(l, func(policy int, minute limit.Time, refused int64) {
			if minute%limit.Minute != 0 {
				t.Fatalf("%d is no minute", minute)
			}
			sums[policy] += refused
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range l.Result.Policies {
			want := p.Refused
			if i >= 2 {
				want = 0
			}
			if sums[i] != want || p.Refused == 0 {
				t.Errorf("runs %v: policy %d refused %d over time, %d in all", runs, i, sums[i], p.Refused)
			}
		}
	}
}
