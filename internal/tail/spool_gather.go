package tail

import (
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/parse"
	"shadow/replay"
)

// An openBatch is a batch on its way into the spool. The ids of a tail change when names are dropped, so a batch has lists of
// its own, and what it knows of the tables' ids is forgotten in time.
type openBatch struct {
	texts   []replay.PolicyText
	to      replay.Addition
	clients []place // by id of the tables
	actions []place
	agents  []place
	sources []place  // by number of the log
	touched []int32  // clients with a place
	latest  []latest // by place in to.Clients
	turn    int      // how many batches of requests have come
	sets    replay.Sets
	set     []replay.Refuser // of the request at hand
}

// A place in a list, from 1; 0 means: not there.
type place int32

// The latest request of a client.
type latest struct {
	turn int
	row  int32
}

// begin begins an empty batch.
func (g *openBatch) begin() {
	g.to = replay.Addition{Policies: g.texts, Did: make([]replay.PolicyCounts, len(g.texts)), Events: g.to.Events[:0]}
	g.latest, g.sets = g.latest[:0], replay.Sets{}
	clear(g.sources)
	g.forget()
}

// forget forgets ids of the tables.
func (g *openBatch) forget() {
	for _, id := range g.touched {
		g.clients[id] = 0
	}
	g.touched = g.touched[:0]
	clear(g.actions)
	clear(g.agents)
}

// held counts the entries that are held in memory.
func (g *openBatch) held() int { return len(g.to.Events) + len(g.to.Clients) }

// faultsKept is the most unreadable lines that a batch tells of, as many as a run.
const faultsKept = 10

// took takes in what was read of a log, which is judged in this batch or a later one.
func (g *openBatch) took(source int, name string, f *parse.Format, taken *ingest.BlockStats) {
	p := at(&g.sources, source)
	if *p == 0 || g.to.Inputs[*p-1].Name != name { // numbers are given again
		g.to.Inputs = append(g.to.Inputs, replay.InputPart{Name: name})
		*p = place(len(g.to.Inputs))
	}
	in := &g.to.Inputs[*p-1]
	in.Format, in.FormatText = f.Name, f.Text
	in.Lines, in.Parsed, in.Unreadable = in.Lines+taken.Lines, in.Parsed+taken.Parsed, in.Unreadable+taken.Unreadable
	for i := range taken.Faults[:min(len(taken.Faults), faultsKept-len(g.to.Faults))] {
		fault := &taken.Faults[i]
		g.to.Faults = append(g.to.Faults, replay.FaultPart{
			Input: name, Reason: fault.Fault.Reason, Column: fault.Fault.Column, Text: fault.Text,
		})
	}
	g.to.Resolution = ingest.Finer(g.to.Resolution, taken.Resolution)
}

// observe takes in a batch of requests with the verdicts of each policy, and which of them are refused.
func (g *openBatch) observe(b *traffic.Batch, verdicts []replay.Verdicts, refusals []refusal, t *traffic.Tables) {
	g.turn++
	a := &g.to
	for i := range verdicts {
		if verdicts[i].Degraded {
			a.Did[i].Degraded.Requests += int64(b.Len())
		}
	}
	for row := range int32(b.Len()) {
		g.request(b, row, t)
		if a.Requests == 0 {
			a.First, a.Last = b.At[row], b.At[row]
		}
		a.First, a.Last = min(a.First, b.At[row]), max(a.Last, b.At[row])
		a.Requests++
		if traffic.Refusal(int32(b.Status[row])) {
			a.AlreadyRefused++
		}
	}
	for i, r := range refusals { // request by request
		did := &a.Did[r.policy]
		did.Refused++
		did.BytesSaved += b.Bytes[r.row]
		if r.degraded {
			did.Degraded.Refused++
		}
		g.set = append(g.set, replay.Refuser{Policy: r.policy, Degraded: r.degraded})
		if i+1 < len(refusals) && refusals[i+1].row == r.row {
			continue
		}
		a.Events = append(a.Events, replay.Event{
			At: b.At[r.row], Status: b.Status[r.row], Count: 1, Set: g.sets.ID(g.set),
			Client: g.client(b.Client[r.row], t), Action: g.action(b.Action[r.row], t),
		})
		g.set = g.set[:0]
	}
	a.Sets = g.sets.All
}

// request counts a request of a client for an action. The client's agent is that of its latest request, as in a replay.
func (g *openBatch) request(b *traffic.Batch, row int32, t *traffic.Tables) {
	client := g.client(b.Client[row], t)
	c, last := &g.to.Clients[client], &g.latest[client]
	c.ByClass[t.Agents.Class(int32(b.Agent[row]))]++
	if last.turn != g.turn || b.Before(last.row, row) {
		*last = latest{g.turn, row}
		c.Agent = g.agent(b.Agent[row], t)
	}
	g.to.Actions[g.action(b.Action[row], t)].Requests++
}

// client is the place of a client in the batch.
func (g *openBatch) client(id int32, t *traffic.Tables) int32 {
	p := at(&g.clients, int(id))
	if *p == 0 {
		g.to.Clients = append(g.to.Clients, replay.ClientPart{Name: t.Clients.Name(id)})
		g.latest = append(g.latest, latest{})
		g.touched = append(g.touched, id)
		*p = place(len(g.to.Clients))
	}
	return int32(*p - 1)
}

func (g *openBatch) action(id uint16, t *traffic.Tables) int32 {
	p := at(&g.actions, int(id))
	if *p == 0 {
		g.to.Actions = append(g.to.Actions, replay.ActionPart{Name: t.Actions.Name(int32(id))})
		*p = place(len(g.to.Actions))
	}
	return int32(*p - 1)
}

func (g *openBatch) agent(id uint16, t *traffic.Tables) int32 {
	p := at(&g.agents, int(id))
	if *p == 0 {
		g.to.Agents = append(g.to.Agents, replay.AgentPart{Name: t.Agents.Name(int32(id)), Class: t.Agents.Class(int32(id)).String()})
		*p = place(len(g.to.Agents))
	}
	return int32(*p - 1)
}

// at is where the place of an id stands.
func at(places *[]place, id int) *place {
	for id >= len(*places) {
		*places = append(*places, 0)
	}
	return &(*places)[id]
}
