package redis

import (
	"context"
	"testing"

	"shadow/limit"
	"shadow/request"
)

// A host's memory counts where no other host has been, and where Redis has not charged more than it knows of.
func TestMemoryCounts(t *testing.T) {
	s := startServer(t)
	part := &limits(t, request.ByClient, "window:2/30s")[0].Parts[0]
	l, err := NewLimit("p", part, openEnded)
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.open("a"), s.open("b")
	ask := func(r *Conn, key string, first int, memory *limit.State) (refused bool) {
		t.Helper()
		c := &Call{Limit: l, Key: key, At: []limit.Time{limit.Second}, Places: placesFrom(first, 1), Memory: memory}
		if err := r.Judge(context.Background(), []*Call{c}); err != nil {
			t.Fatal(err)
		}
		return len(c.Refused) > 0
	}
	var full limit.State
	part.Limiter.Refuse(nil, &full, []limit.Time{0, 0})

	if !ask(a, "unknown", 5, &full) {
		t.Error("Redis knows nothing of the key: memory should count")
	}
	ask(a, "own", 5, nil)
	if !ask(a, "own", 6, &full) {
		t.Error("nobody else knows the key: memory should count")
	}
	ask(a, "other", 5, nil)
	ask(b, "other", 5, nil)
	if !ask(a, "other", 6, nil) || !ask(b, "other", 6, &limit.State{At: 1, Level: 1}) {
		t.Error("another host has been there: memory should not count")
	}
	ask(a, "ahead", 5, nil)
	ask(a, "ahead", 9, nil)
	again := &Call{
		Limit: l, Key: "ahead", At: []limit.Time{limit.Second, limit.Second}, Places: placesFrom(9, 2),
		Memory: &limit.State{At: 1, Level: 1},
	}
	if err := a.Judge(context.Background(), []*Call{again}); err != nil {
		t.Fatal(err)
	}
	if len(again.Refused) != 1 || again.Refused[0] != 1 {
		t.Errorf("Redis has charged more already, so memory should not count: refused %v, want the second", again.Refused)
	}
}
