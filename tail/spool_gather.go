package tail

import (
	"time"

	"shadow/policy"
	"shadow/replay"
	"shadow/traffic"
)

// A gathering is a batch on its way into the spool. The ids of a tail change when names are dropped, so a batch has lists of
// its own, and what it knows of the tables' ids is forgotten in time.
type gathering struct {
	policies []policy.Policy
	texts    []replay.PolicyText
	to       replay.Addition
	clients  []int32 // by id of the tables: place in to.Clients, from 1
	actions  []int32
	agents   []uint16 // by place in to.Clients: the latest agent
	touched  []int32  // ids with a place
	resolved int      // clients of which the name is known
}

// begin begins an empty batch.
func (g *gathering) begin() {
	if g.texts == nil {
		g.texts = replay.TextsOf(g.policies)
	}
	n := len(g.policies)
	g.to = replay.Addition{Policies: g.texts, Refused: make([]int64, n), Saved: make([]int64, n), Events: g.to.Events[:0]}
	g.forget()
	g.resolved, g.agents = 0, g.agents[:0]
}

// forget forgets ids of the tables.
func (g *gathering) forget() {
	for _, id := range g.touched {
		g.clients[id] = 0
	}
	g.touched = g.touched[:0]
	clear(g.actions)
}

// settle writes down who the clients are, while the tables know it, and forgets their ids.
func (g *gathering) settle(t *traffic.Tables) {
	for i := g.resolved; i < len(g.to.Clients); i++ {
		c, agent := &g.to.Clients[i], int32(g.agents[i])
		c.Agent, c.AgentClass = t.Agents.Name(agent), t.Agents.Class(agent).String()
	}
	g.resolved = len(g.to.Clients)
	g.forget()
}

// observe takes in a batch of requests, and which of them are refused.
func (g *gathering) observe(b *traffic.Batch, refusals []refusal, t *traffic.Tables) {
	for row := range b.Len() {
		place := g.client(b.Client[row], t)
		g.to.Clients[place].ByClass[t.Agents.Class(int32(b.Agent[row]))]++
		g.agents[place] = b.Agent[row]
		g.to.Actions[g.action(b.Action[row], t)].Requests++
		if at := b.At[row]; g.to.Requests == 0 {
			g.to.First, g.to.Last = at, at
		} else {
			g.to.First, g.to.Last = min(g.to.First, at), max(g.to.Last, at)
		}
		g.to.Requests++
	}
	for _, r := range refusals {
		g.to.Refused[r.policy]++
		g.to.Saved[r.policy] += b.Bytes[r.row]
		g.to.Events = append(g.to.Events, replay.Event{
			Policy: r.policy, At: b.At[r.row], Status: b.Status[r.row], Count: 1,
			Client: g.client(b.Client[r.row], t), Action: g.action(b.Action[r.row], t),
		})
	}
}

// client is the place of a client in the batch.
func (g *gathering) client(id int32, t *traffic.Tables) int32 {
	for int(id) >= len(g.clients) {
		g.clients = append(g.clients, 0)
	}
	if g.clients[id] == 0 {
		g.to.Clients = append(g.to.Clients, replay.ClientPart{Name: t.Clients.Name(id)})
		g.agents = append(g.agents, 0)
		g.clients[id] = int32(len(g.to.Clients))
		g.touched = append(g.touched, id)
	}
	return g.clients[id] - 1
}

// action is the place of an action in the batch.
func (g *gathering) action(id uint16, t *traffic.Tables) int32 {
	for int(id) >= len(g.actions) {
		g.actions = append(g.actions, 0)
	}
	if g.actions[id] == 0 {
		g.to.Actions = append(g.to.Actions, replay.ActionPart{Name: t.Actions.Name(int32(id))})
		g.actions[id] = int32(len(g.to.Actions))
	}
	return g.actions[id] - 1
}

// total writes down what the tally has counted since the batch began.
func (s *spool) total(now time.Time, tally *Tally) {
	a := &s.to
	a.Made = now.UTC().Truncate(time.Microsecond)
	a.Unreadable, a.Excluded = tally.Unreadable-s.before.Unreadable, tally.Excluded-s.before.Excluded
	a.Late = tally.Late - s.before.Late
	a.Lines = a.Requests + a.Excluded + a.Unreadable
}
