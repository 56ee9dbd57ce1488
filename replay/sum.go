package replay

import (
	"cmp"
	"slices"

	"shadow/internal/traffic/ingest"
)

// Sum returns what several batches of one tail and one list of policies add up to, in their order. In it each input,
// agent, client and action stands once, and equal refused requests of one moment share an event.
func Sum(batches []*Addition) *Addition {
	last := batches[len(batches)-1]
	s := summing{to: &Addition{
		Tail: last.Tail, Number: last.Number, Made: last.Made, Policies: last.Policies,
		Did: make([]PolicyCounts, len(last.Policies)),
	}}
	for _, a := range batches {
		s.addRead(a)
		s.addNames(a)
	}
	s.to.Sets = s.sets.All
	s.to.Events = joinEvents(s.to.Events)
	return s.to
}

// A summing is a Sum under way. Its maps say where a name stands in the lists of the sum.
type summing struct {
	to                               *Addition
	inputs, agents, clients, actions map[string]int32
	sets                             Sets
}

// placeOf returns where a name stands, and grows the list when it is new.
func placeOf[T any](places *map[string]int32, list *[]T, name string) int32 {
	place, known := (*places)[name]
	if !known {
		if *places == nil {
			*places = map[string]int32{}
		}
		place = int32(len(*list))
		(*places)[name] = place
		*list = append(*list, *new(T))
	}
	return place
}

// addRead adds what was read.
func (s *summing) addRead(a *Addition) {
	to := s.to
	to.Counts.Add(&a.Counts)
	to.AlreadyRefused += a.AlreadyRefused
	if a.Requests > 0 {
		if to.Requests == 0 {
			to.First, to.Last = a.First, a.Last
		}
		to.First, to.Last = min(to.First, a.First), max(to.Last, a.Last)
		to.Requests += a.Requests
	}
	to.Resolution = ingest.Finer(to.Resolution, a.Resolution)
	to.JudgesNotHTTP = to.JudgesNotHTTP || a.JudgesNotHTTP
	for i := range a.Did {
		to.Did[i].Add(&a.Did[i])
	}
	for _, in := range a.Inputs {
		sum := &to.Inputs[placeOf(&s.inputs, &to.Inputs, in.Name)]
		in.Lines, in.Parsed, in.Unreadable = in.Lines+sum.Lines, in.Parsed+sum.Parsed, in.Unreadable+sum.Unreadable
		*sum = in
	}
	to.Faults = append(to.Faults, a.Faults...)
}

// addNames adds who came, what they asked for, and what was refused of it.
func (s *summing) addNames(a *Addition) {
	to := s.to
	agents, clients, actions := make([]int32, len(a.Agents)), make([]int32, len(a.Clients)), make([]int32, len(a.Actions))
	for i, agent := range a.Agents {
		agents[i] = placeOf(&s.agents, &to.Agents, agent.Name)
		to.Agents[agents[i]] = agent
	}
	for i, c := range a.Clients {
		clients[i] = placeOf(&s.clients, &to.Clients, c.Name)
		sum := &to.Clients[clients[i]]
		for class := range c.ByClass {
			c.ByClass[class] += sum.ByClass[class]
		}
		c.Agent = agents[c.Agent]
		*sum = c
	}
	for i, act := range a.Actions {
		actions[i] = placeOf(&s.actions, &to.Actions, act.Name)
		sum := &to.Actions[actions[i]]
		*sum = ActionPart{act.Name, sum.Requests + act.Requests}
	}
	for _, e := range a.Events {
		e.Client, e.Action, e.Set = clients[e.Client], actions[e.Action], s.sets.ID(a.Sets[e.Set])
		to.Events = append(to.Events, e)
	}
}

// joinEvents sorts events by time, and makes one of those that differ in nothing but their count.
func joinEvents(events []Event) []Event {
	order := func(x, y Event) int {
		return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(x.Client, y.Client), compareEvents(x, y))
	}
	slices.SortFunc(events, order)
	joined := events[:0]
	for _, e := range events {
		if n := len(joined); n > 0 && order(joined[n-1], e) == 0 {
			joined[n-1].Count += e.Count
		} else {
			joined = append(joined, e)
		}
	}
	return joined
}
