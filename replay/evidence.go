package replay

import "shadow/traffic"

// evidence is what is known of how clients behave. A nil one gathers nothing.
type evidence struct {
	clients Paged[traffic.Evidence] // by client id
	agents  []uint16                // by agent id: the set that holds a browser; none for other agents
}

// gather takes in the requests of a batch.
func (e *evidence) gather(b *traffic.Batch, clients *traffic.Group, t *traffic.Tables) {
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
func (e *evidence) result(t *traffic.Tables) *Paged[traffic.Evidence] {
	if e == nil {
		return nil
	}
	e.clients.Grow(t.Clients.Len())
	return &e.clients
}
