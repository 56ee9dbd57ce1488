package traffic

// Agents is the dictionary of user agents, each with the class that it claims. Any number of goroutines may use it.
type Agents struct{ dict Dict }

// NewAgents returns an empty dictionary.
func NewAgents() *Agents { return new(Agents) }

// ID returns the id of an agent. No agent, nil or empty, is an agent as well: "-".
func (a *Agents) ID(agent []byte) int32 {
	if len(agent) == 0 {
		return a.dict.ID([]byte("-"))
	}
	return a.dict.ID(agent)
}

// Name returns the agent with this id.
func (a *Agents) Name(id int32) string { return a.dict.Name(id) }

// Len is the number of agents; the ids are 0 … Len−1.
func (a *Agents) Len() int { return a.dict.Len() }

// Class is what the agent with this id claims to be.
func (a *Agents) Class(id int32) Class { return Unknown }
