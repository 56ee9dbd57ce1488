package replay

import (
	"shadow/traffic"
	"shadow/traffic/evidence"
)

// behaviour is what is known of how clients behave. A nil one gathers nothing.
type behaviour struct {
	clients Paged[evidence.Summary] // by client id
	agents  []uint16                // by agent id: the set that holds a browser; none for other agents
}

// gather takes in the requests of a batch.
func (e *behaviour) gather(b *traffic.Batch, clients *traffic.Group, t *traffic.Tables) {
	if e == nil {
		return
	}
	e.clients.Grow(t.Clients.Len())
	for id := len(e.agents); id < t.Agents.Len(); id++ {
		e.agents = append(e.agents, t.Agents.BrowserSet(int32(id)))
	}
	var start int32
	for i, end := range clients.Ends {
		client := e.clients.At(clients.Keys[i])
		for j := start; j < end; j++ {
			row := clients.Rows[j]
			client.Add(clients.At[j], b.Status[row], e.agents[b.Agent[row]], b.Traces[row])
		}
		start = end
	}
}

// result is what was gathered, with a place for each client.
func (e *behaviour) result(t *traffic.Tables) *Paged[evidence.Summary] {
	if e == nil {
		return nil
	}
	e.clients.Grow(t.Clients.Len())
	return &e.clients
}
