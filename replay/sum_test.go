package replay_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/replay"
)

// told holds what batches say, by names, so that it does not matter in which batch or place it stands.
type told struct {
	Sums     [9]int64
	First    limit.Time
	Last     limit.Time
	NotHTTP  ingest.ByStatus
	Refused  [2]int64
	Saved    [2]int64
	Degraded [2]replay.Degraded
	Named    map[string]int64 // requests and lines by what and name
	Agents   map[string]string
	Events   map[string]uint32
	Faults   []replay.FaultPart
}

func (s *told) add(a *replay.Addition) {
	for i, n := range []int64{a.Lines, a.Bytes, a.Unreadable, a.Excluded, a.Late, a.Requests, a.Moved, a.AlreadyRefused, a.Parsed} {
		s.Sums[i] += n
	}
	if a.Requests > 0 {
		if s.First == 0 {
			s.First, s.Last = a.First, a.Last
		}
		s.First, s.Last = min(s.First, a.First), max(s.Last, a.Last)
	}
	s.NotHTTP.AddAll(a.NotHTTP)
	for p := range s.Refused {
		s.Refused[p], s.Saved[p] = s.Refused[p]+a.Did[p].Refused, s.Saved[p]+a.Did[p].BytesSaved
		s.Degraded[p].Requests += a.Did[p].Degraded.Requests
		s.Degraded[p].Refused += a.Did[p].Degraded.Refused
	}
	for _, in := range a.Inputs {
		s.Named["lines of "+in.Name] += in.Lines
		s.Named["parsed of "+in.Name] += in.Parsed
		s.Named["unreadable of "+in.Name] += in.Unreadable
	}
	for _, c := range a.Clients {
		for class, n := range c.ByClass {
			s.Named[fmt.Sprint(request.Class(class), " ", c.Name)] += n
		}
		s.Agents[c.Name] = a.Agents[c.Agent].Name + a.Agents[c.Agent].Class
	}
	for _, act := range a.Actions {
		s.Named["action "+act.Name] += act.Requests
	}
	for _, e := range a.Events {
		s.Events[fmt.Sprint(e.At, a.Clients[e.Client].Name, a.Actions[e.Action].Name, e.Status, a.Sets[e.Set])] += e.Count
	}
	s.Faults = append(s.Faults, a.Faults...)
}

func newTold(batches ...*replay.Addition) *told {
	s := &told{Named: map[string]int64{}, Agents: map[string]string{}, Events: map[string]uint32{}}
	for _, a := range batches {
		s.add(a)
	}
	return s
}

// A sum says what its batches say, each name once, and so does a sum of sums.
func TestSum(t *testing.T) {
	rng := testneeds.Rand(t, 2, 3)
	for range 50 {
		var batches []*replay.Addition
		for n := range 1 + rng.IntN(6) {
			batches = append(batches, randomBatch(rng, uint64(n+1)))
		}
		want := newTold(batches...)
		half := rng.IntN(len(batches))
		parts := slices.DeleteFunc([][]*replay.Addition{batches[:half], batches[half:]}, func(p []*replay.Addition) bool { return len(p) == 0 })
		var sums []*replay.Addition
		for _, p := range parts {
			sums = append(sums, replay.Sum(p))
		}
		for _, sum := range []*replay.Addition{replay.Sum(batches), replay.Sum(sums)} {
			if got := newTold(sum); !reflect.DeepEqual(got, want) {
				t.Fatalf("the sum says\n%+v, want\n%+v", got, want)
			}
			if sum.Number != uint64(len(batches)) || !slices.IsSortedFunc(sum.Events, func(x, y replay.Event) int { return int(x.At - y.At) }) {
				t.Fatalf("number %d, events %+v", sum.Number, sum.Events)
			}
			names := map[string]bool{}
			for _, c := range sum.Clients {
				names[c.Name] = true
			}
			if len(names) != len(sum.Clients) || len(want.Events) != len(sum.Events) {
				t.Fatalf("%d clients of %v, %d events of %d", len(sum.Clients), slices.Collect(maps.Keys(names)), len(sum.Events), len(want.Events))
			}
		}
	}
}

func randomBatch(rng *rand.Rand, number uint64) *replay.Addition {
	a := &replay.Addition{
		Number: number, Counts: ingest.Counts{Lines: rng.Int64N(9), Bytes: rng.Int64N(9), Unreadable: rng.Int64N(9), Excluded: rng.Int64N(9), Late: rng.Int64N(9), Moved: rng.Int64N(9), Parsed: rng.Int64N(9)}, AlreadyRefused: rng.Int64N(9), Policies: make([]replay.PolicyText, 2),
		Did: []replay.PolicyCounts{{Refused: rng.Int64N(9), BytesSaved: 2}, {Refused: 1, BytesSaved: rng.Int64N(9)}},
	}
	a.Did[0].Degraded.Requests, a.Did[1].Degraded.Refused = 3, rng.Int64N(3)
	if rng.IntN(2) == 0 {
		a.NotHTTP.Add(int32(rng.IntN(3)), 5)
	}
	if rng.IntN(4) > 0 {
		a.Requests, a.First = 1+rng.Int64N(9), limit.Time(1+rng.IntN(9))
		a.Last = a.First + limit.Time(rng.IntN(9))
	}
	for range 1 + rng.IntN(4) {
		a.Agents = append(a.Agents, replay.AgentPart{Name: fmt.Sprint("agent ", rng.IntN(4)), Class: "tool"})
		a.Actions = append(a.Actions, replay.ActionPart{Name: fmt.Sprint("/", rng.IntN(3)), Requests: rng.Int64N(5)})
		a.Inputs = append(a.Inputs, replay.InputPart{Name: fmt.Sprint("log ", rng.IntN(2)), Lines: 5, Parsed: 3, Unreadable: 2})
		a.Faults = append(a.Faults, replay.FaultPart{Input: "log 1", Column: rng.IntN(9)})
	}
	for range 1 + rng.IntN(6) {
		c := replay.ClientPart{Name: fmt.Sprint("client ", rng.IntN(5)), Agent: int32(rng.IntN(len(a.Agents)))}
		c.ByClass[rng.IntN(len(c.ByClass))] = 1 + rng.Int64N(3)
		a.Clients = append(a.Clients, c)
	}
	var sets replay.Sets
	for range rng.IntN(20) {
		set := []replay.Refuser{{Policy: int32(rng.IntN(2)), Degraded: rng.IntN(2) == 0}}
		if rng.IntN(2) == 0 {
			set = []replay.Refuser{{Policy: 0}, {Policy: 1}}
		}
		a.Events = append(a.Events, replay.Event{
			At: limit.Time(rng.IntN(4)), Client: int32(rng.IntN(len(a.Clients))), Action: int32(rng.IntN(len(a.Actions))),
			Status: 200, Count: 1 + uint32(rng.IntN(2)), Set: sets.ID(set),
		})
	}
	a.Sets = sets.All
	return a
}
