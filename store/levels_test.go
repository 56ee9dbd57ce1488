package store

import (
	"context"
	"reflect"
	"testing"
	"time"

	"shadow/replay"
)

// Samples come back as they were kept, and go with their run.
func TestLevelsComeBack(t *testing.T) {
	path := dbPath(t)
	m := makeRun(t, 1, 2, 10, 1000)
	kept := []replay.Sampled{
		{Policy: 0, Part: 0, Client: 3, First: dayOne, Last: dayOne + 1000, Full: 10, Levels: []float64{0, 1.5, 2}, Refused: []int64{0, 0, 7}},
		{Policy: 1, Part: 0, Client: 2, First: dayOne, Last: dayOne + 1001, Full: 3, Levels: []float64{0.25, 3}, Refused: []int64{1, 2}},
	}
	db := openStore(t, path)
	run, err := db.Begin(context.Background(), info)
	check(t, err)
	run.KeepLevels(kept)
	check(t, run.Write(m.events))
	check(t, run.Finish(&m.result, time.Now()))
	check(t, db.Close())

	r, err := OpenReader(context.Background(), path, Wait{})
	check(t, err)
	levels, err := r.Levels(1)
	check(t, err)
	r.Close()
	if len(levels) != len(kept) {
		t.Fatalf("%d levels", len(levels))
	}
	for i, l := range levels {
		want := kept[i]
		if l.Client != m.result.Tables.Clients.Name(want.Client) || l.Policy != m.result.Policies[want.Policy].Policy.Name {
			t.Errorf("level %d is of %q and %q", i, l.Client, l.Policy)
		}
		want.Policy, want.Part, want.Client = 0, 0, 0
		if !reflect.DeepEqual(l.Sampled, want) {
			t.Errorf("level %d: %+v, want %+v", i, l.Sampled, want)
		}
	}

	db = openStore(t, path)
	_, err = db.Delete(context.Background(), []int32{1})
	check(t, err)
	check(t, db.Close())
	if n := askNumber(t, path, "SELECT count(*) FROM levels"); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}
