package useragent

import (
	"bytes"
	"hash/crc32"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"shadow/internal/request"
	"shadow/internal/traffic/intern"
)

const (
	maxAgents   = 1 << 16
	namedAgents = maxAgents - int(request.ClassCount) // agents that keep their names; then there is one more for each class
)

// Agents is the dictionary of user agents, each with the class that it claims. Any number of goroutines may use it.
//
// It holds at most 65,536 agents. When it is full, further ones are folded into one per class, such as "(further
// browser agents)", so agents made up at random take no memory, and the requests of each class are counted right still.
type Agents struct {
	dict    intern.Dict
	mu      sync.Mutex               // held while an agent is taken in
	classes [maxAgents]atomic.Uint32 // class + 1 by id; 0 is not yet known
	folded  [1 << 12]atomic.Uint64   // classes of agents without a name: hash, its last 3 bits replaced by the class
}

// NewAgents returns an empty dictionary.
func NewAgents() *Agents { return new(Agents) }

var noAgent = []byte("-")

// ID returns the id of an agent. No agent, nil or empty, is an agent as well: "-".
func (a *Agents) ID(agent []byte) int32 {
	if len(agent) == 0 {
		agent = noAgent
	}
	if id, ok := a.dict.Find(agent); ok {
		return id
	}
	return a.insert(agent)
}

// A Finder finds ids for one goroutine. A client rarely changes its agent, so each is first compared with the one that
// the client had last, which costs a third of looking it up.
type Finder struct {
	agents *Agents
	last   [lasts]uint16 // ids, by client
	names  [][]byte      // by id, of the agents that were found; nil: not yet
}

// lasts is the number of clients whose last agents are at hand; of two clients that share a place the later one has it.
const lasts = 1 << 13

// NewFinder returns a Finder for one goroutine.
func (a *Agents) NewFinder() *Finder { return &Finder{agents: a} }

// ID returns Agents.ID of a client's agent.
func (f *Finder) ID(client int32, agent []byte) uint16 {
	if len(agent) == 0 || isRemoved(agent) {
		agent = noAgent
	}
	last := &f.last[uint32(client)%lasts]
	if id := int(*last); id >= len(f.names) || string(f.names[id]) != string(agent) {
		*last = f.find(agent)
	}
	return *last
}

// isRemoved reports whether servers or those who shared a log have put a word in the place of the agent: REDACTED, [redacted], ***.
func isRemoved(agent []byte) bool {
	const longest = len("[redacted]")
	if len(agent) > longest {
		return false
	}
	word := bytes.Trim(agent, "*-[]<>()")
	return len(word) == 0 || bytes.EqualFold(word, []byte("redacted"))
}

// find looks an agent up, and notes its name.
func (f *Finder) find(agent []byte) uint16 {
	id := f.agents.ID(agent)
	f.names = append(f.names, make([][]byte, max(0, int(id)+1-len(f.names)))...)
	f.names[id] = f.agents.dict.Bytes(id)
	return uint16(id)
}

// insert takes an agent in, under its name or that of its class.
func (a *Agents) insert(agent []byte) int32 {
	a.mu.Lock()
	if a.dict.Len() < namedAgents {
		defer a.mu.Unlock()
		return a.dict.ID(agent)
	}
	a.mu.Unlock()
	return a.dict.ID([]byte(furtherAgents[a.foldedClass(agent)]))
}

// Name returns the agent with this id.
func (a *Agents) Name(id int32) string { return a.dict.Name(id) }

// Names returns the dictionary of the names, for those who keep it. Names that it has given may be taken in again, in
// their order.
func (a *Agents) Names() *intern.Dict { return &a.dict }

// Len returns the number of agents; the ids are 0 … Len−1.
func (a *Agents) Len() int { return a.dict.Len() }

// Class returns the class that the agent with this id claims to be.
func (a *Agents) Class(id int32) request.Class {
	if c := a.classes[id].Load(); c != 0 {
		return request.Class(c - 1)
	}
	name := a.dict.Name(id)
	folded := slices.Index(furtherAgents[:], name) // the class, if it stands for many
	c := request.Class(folded)
	if folded < 0 {
		c = Classify([]byte(name))
	}
	a.classes[id].Store(uint32(c) + 1)
	return c
}

// BrowserSet returns a set of browsers, for Evidence.Add, which holds the agent with this id; none for other agents. It
// depends on the name alone: ids differ from run to run.
func (a *Agents) BrowserSet(id int32) uint16 {
	if a.Class(id) != request.Browser {
		return 0
	}
	return 1 << (crc32.ChecksumIEEE([]byte(a.Name(id))) >> 28)
}

// foldedClass works as Classify, with a memory of fixed size.
func (a *Agents) foldedClass(agent []byte) request.Class {
	const bits = 7
	h := maphash.Bytes(agentSeed, agent)
	p := &a.folded[h>>(64-12)]
	if seen := p.Load(); (seen^h)&^bits == 0 {
		return request.Class(seen & bits)
	}
	c := Classify(agent)
	p.Store(h&^bits | uint64(c))
	return c
}

// agentSeed is the secret of the hashes in folded.
var agentSeed = maphash.MakeSeed()

// furtherAgents are the names of agents that did not fit.
var furtherAgents = func() (names [request.ClassCount]string) {
	for c := range request.ClassCount {
		names[c] = "(further " + c.String() + " agents)"
	}
	return names
}()
