package traffic

import (
	"slices"

	"shadow/request"
	"shadow/traffic/intern"
	"shadow/traffic/network"
	"shadow/traffic/useragent"
)

// Tables are the dictionaries of a run: what the ids in a Batch stand for. Several goroutines may use them at once.
type Tables struct {
	Clients *intern.Dict
	Agents  *useragent.Agents
	Actions *intern.Dict
	Hosts   *intern.Dict
	Users   *intern.Dict
	Paths   *intern.Dict
	Values  *intern.Dict   // of all Parts together
	Parts   []request.Part // what Batch.Values are, at most MaxValues

	Owners *network.Database // nil: there is none

	addresses *addresses // of Clients
}

// NewTables returns empty dictionaries.
func NewTables() *Tables {
	clients := intern.NewDict()
	return &Tables{
		Clients: clients, Agents: useragent.NewAgents(), Actions: intern.NewDict(), Hosts: intern.NewDict(), Users: intern.NewDict(), Paths: intern.NewDict(),
		Values: intern.NewDict(), addresses: &addresses{clients: clients},
	}
}

// ValuesOf is the column of a batch that is for a part, nil if there is none.
func (t *Tables) ValuesOf(b *Batch, part request.Part) []int32 {
	if i := slices.Index(t.Parts, part); i >= 0 {
		return b.Values[i]
	}
	return nil
}
