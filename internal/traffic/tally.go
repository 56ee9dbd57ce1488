package traffic

import (
	"shadow/internal/request"
	"shadow/internal/traffic/intern"
)

// Tallies counts requests of clients and actions apart from any limit. The zero value has counted nothing.
type Tallies struct {
	Requests int64
	Clients  intern.PagedSlice[ClientTally] // by client id
	Actions  []int64                        // requests by action id

	classes []request.Class // by agent id
}

// ClientTally counts the requests of one client apart from any limit.
type ClientTally struct {
	ByClass   [request.ClassCount]int64 // requests, by the class of their agent
	LastAgent int32                     // of the client's last request; Tables.Agents
}

// Requests returns how many requests the client sent.
func (c *ClientTally) Requests() (n int64) {
	for _, k := range c.ByClass {
		n += k
	}
	return n
}

// Class returns the class of most of the client's requests; of several with as many, the first in the order of classes.
func (c *ClientTally) Class() request.Class {
	best := request.Browser
	for k := range c.ByClass {
		if c.ByClass[k] > c.ByClass[best] {
			best = request.Class(k)
		}
	}
	return best
}

// Count adds a batch, of which clients are the timelines by client. The last request of a client is that of its timeline
// in the latest batch.
func (s *Tallies) Count(b *Batch, clients *Group, t *Tables) {
	s.Requests += int64(b.Len())
	s.Grow(t)
	var start int32
	for i, end := range clients.Ends {
		tally := s.Clients.At(clients.Keys[i])
		for _, row := range clients.Rows[start:end] {
			tally.ByClass[s.classes[b.Agent[row]]]++
		}
		tally.LastAgent = int32(b.Agent[clients.Rows[end-1]])
		start = end
	}
	for _, id := range b.Action {
		s.Actions[id]++
	}
}

// Grow makes room for all that the tables know.
func (s *Tallies) Grow(t *Tables) {
	s.Clients.Grow(t.Clients.Len())
	for id := len(s.classes); id < t.Agents.Len(); id++ {
		s.classes = append(s.classes, t.Agents.Class(int32(id)))
	}
	s.Actions = append(s.Actions, make([]int64, max(0, t.Actions.Len()-len(s.Actions)))...)
}

// Carry carries what was counted. The last agent of a client is that of one of the Tallies that have its requests.
func (s *Tallies) Carry(c Carrier) {
	c.Sum(&s.Requests)
	c.Counts(ActionName, &s.Actions)
	for id := range c.IDs(ClientName, s.Clients.Len(), func(id int32) bool { return s.Clients.At(id).Requests() > 0 }) {
		s.Clients.Grow(int(id) + 1)
		tally := s.Clients.At(id)
		for class := range tally.ByClass {
			c.Sum(&tally.ByClass[class])
		}
		c.ID(AgentName, &tally.LastAgent)
	}
}
