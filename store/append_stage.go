package store

import (
	_ "embed"
	"errors"

	"shadow/replay"
	"shadow/request"
)

//go:embed stage.sql
var stageSQL string

// A stage is the tables of the connection. In them the places of several batches are counted on.
type stage struct {
	sums, notHTTP, policies, inputs, faults, agents, clients, actions, events *table

	input, fault, agent, client, action int32 // how many there are of the batches before
}

// stage puts the batches into tables of the connection.
func (g *appending) stage() error {
	d := g.store.duck
	if err := d.exec(stageSQL); err != nil {
		return err
	}
	s := &stage{
		sums: d.table("new_sums"), notHTTP: d.table("new_not_http"), policies: d.table("new_policies"), inputs: d.table("new_inputs"), faults: d.table("new_faults"),
		agents:  d.table("new_agents"),
		clients: d.table("new_clients"), actions: d.table("new_actions"), events: d.table("new_events"),
	}
	for _, a := range g.batches {
		s.add(a)
	}
	return errors.Join(s.sums.done(), s.notHTTP.done(), s.policies.done(), s.inputs.done(), s.faults.done(), s.agents.done(), s.clients.done(), s.actions.done(), s.events.done())
}

func (s *stage) add(a *replay.Addition) {
	s.sums.add(a.Lines, a.Bytes, a.Unreadable, a.Excluded, a.Late, a.Requests, a.AlreadyRefused,
		timeIf(a.Requests > 0, a.First), timeIf(a.Requests > 0, a.Last), known(int64(a.Resolution), 0), a.NotHTTP.Lines(), a.JudgesNotHTTP, a.Moved)
	for _, n := range a.NotHTTP {
		s.notHTTP.add(n.Status, n.Lines)
	}
	for i := range a.Policies {
		var degraded replay.Degraded
		if a.Degraded != nil {
			degraded = a.Degraded[i]
		}
		s.policies.add(int32(i), a.Refused[i], a.Saved[i], degraded.Requests, degraded.Refused)
	}
	s.addRead(a)
	for i, agent := range a.Agents {
		s.agents.add(s.agent+int32(i), agent.Name, agent.Class)
	}
	for i := range a.Clients {
		c, n := &a.Clients[i], &a.Clients[i].ByClass
		s.clients.add(s.client+int32(i), c.Name, s.agent+c.Agent,
			n[request.Browser], n[request.Crawler], n[request.Tool], n[request.Monitor], n[request.Unknown])
	}
	for i, act := range a.Actions {
		s.actions.add(s.action+int32(i), act.Name, act.Requests)
	}
	for i := range a.Events {
		e := &a.Events[i]
		s.events.add(e.Policy, e.At, s.client+e.Client, s.action+e.Action, int32(e.Status), int64(e.Count), e.Degraded)
	}
	s.agent, s.client, s.action = s.agent+int32(len(a.Agents)), s.client+int32(len(a.Clients)), s.action+int32(len(a.Actions))
}

// addRead adds what was read.
func (s *stage) addRead(a *replay.Addition) {
	for i := range a.Inputs {
		in := &a.Inputs[i]
		s.inputs.add(s.input+int32(i), in.Name, in.Format, in.FormatText, in.Lines, in.Parsed, in.Unreadable)
	}
	for i := range a.Faults {
		f := &a.Faults[i]
		s.faults.add(s.fault+int32(i), f.Input, int32(f.Column), f.Reason, f.Text)
	}
	s.input, s.fault = s.input+int32(len(a.Inputs)), s.fault+int32(len(a.Faults))
}
