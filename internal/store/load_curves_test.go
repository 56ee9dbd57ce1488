//go:build !nostore

package store

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/limit"
	"shadow/replay"
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
	if got.By.String() != "client+action" || got.Action != "login" || got.Judged != want.Judged || got.Clients != want.Clients || !slices.Equal(got.Changes, []int64{7, 2}) {
		t.Errorf("%+v", got)
	}
	if got.ByClass != (sweep.Classes{}) {
		t.Errorf("requests %v, of one action they are not known by class", got.ByClass)
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
	if got, err := openReaderOf(t, path).Curves(1); err != nil || got.ByClass != want {
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

// Requests by time come back as they were; of several runs they add up, unless a run does not know them.
func TestRequestTimes(t *testing.T) {
	path := dbPath(t)
	var want [3]replay.Stretches
	for i := range want {
		run := makeRun(t, uint64(i), 1, 3, 30)
		if i < 2 {
			run.result.OverTime = &want[i]
			for day := range limit.Time(5000 * i) { // too many for days, and for stretches of eight
				want[i].Add(dayOne+day*limit.Day, int64(day)+1)
			}
			want[i].Add(dayOne+70*limit.Second, 4)
		}
		storeRun(t, path, run, info)
	}
	r := openReaderOf(t, path)
	for runs, want := range map[[2]int32]*replay.Stretches{{1, 1}: &want[0], {2, 2}: &want[1], {3, 3}: nil, {1, 3}: nil} {
		l, err := r.Load(slices.Compact(runs[:]))
		if err != nil || !reflect.DeepEqual(l.Result.OverTime, want) {
			t.Errorf("runs %v: %v, want %v: %v", runs, l.Result.OverTime, want, err)
		}
	}
	l, err := r.Load([]int32{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for at, n := range want[0].All() {
		want[1].Add(at, n)
	}
	if !reflect.DeepEqual(l.Result.OverTime, &want[1]) {
		t.Errorf("together: %v, want %v", l.Result.OverTime, &want[1])
	}
}
