package tail

import (
	"testing"

	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/replay"
)

// A client's agent is that of its latest request: within a batch of requests that whose place in time is last, wherever it stands;
// and of a later batch, whatever its times.
func TestGatheredAgentIsTheLatest(t *testing.T) {
	tables := traffic.NewTables()
	client := tables.Clients.ID([]byte("192.0.2.7"))
	tables.Actions.ID([]byte("/"))
	batch := func(at []limit.Time, agents ...string) *traffic.Batch {
		b := &traffic.Batch{At: at}
		for _, name := range agents {
			b.Client = append(b.Client, client)
			b.Agent = append(b.Agent, uint16(tables.Agents.ID([]byte(name))))
			b.Action, b.Status, b.Bytes = append(b.Action, 0), append(b.Status, 200), append(b.Bytes, 1)
		}
		return b
	}
	g := &openBatch{texts: []replay.PolicyText{{Name: "p"}}}
	g.begin()
	for _, step := range []struct {
		what string
		b    *traffic.Batch
		want string
	}{
		{"the first", batch([]limit.Time{30, 10, 20}, "at 30", "at 10", "at 20"), "at 30"},
		{"the last", batch([]limit.Time{40, 60, 50, 70}, "at 40", "at 60", "at 50", "at 70"), "at 70"},
		{"one in the middle", batch([]limit.Time{80, 90, 85}, "at 80", "at 90", "at 85"), "at 90"},
		{"the only one, late", batch([]limit.Time{5}, "late"), "late"},
		{"of one moment the one that was read last", batch([]limit.Time{100, 100}, "one", "two"), "two"},
	} {
		g.observe(step.b, nil, nil, tables)
		if got := g.to.Agents[g.to.Clients[0].Agent].Name; got != step.want {
			t.Errorf("%s is the latest: the agent is %q, want %q", step.what, got, step.want)
		}
	}
}
