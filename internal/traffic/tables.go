package traffic

import (
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/network"
	"shadow/internal/traffic/useragent"
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

	Rename Rename // for outputs

	addresses *addresses // of Clients
	targets   *targets
}

// A Rename calls people otherwise where they are shown. The zero one calls nothing otherwise.
type Rename struct {
	Client func(name string) string
	Text   func(text string) string // of actions, which clients choose
	Agent  func(text string) string // likewise
}

func shown(name string, rename func(string) string) string {
	if rename == nil {
		return name
	}
	return rename(name)
}

// ShownClient returns the name that outputs have for a client.
func (t *Tables) ShownClient(id int32) string { return shown(t.Clients.Name(id), t.Rename.Client) }

// ShownAction returns the name that outputs have for an action.
func (t *Tables) ShownAction(id int32) string { return shown(t.Actions.Name(id), t.Rename.Text) }

// ShownAgent returns the name that outputs have for an agent, "" for a log without agents.
func (t *Tables) ShownAgent(id int32) string {
	if id < 0 || int(id) >= t.Agents.Len() {
		return ""
	}
	return shown(t.Agents.Name(id), t.Rename.Agent)
}

// NewTables returns empty dictionaries.
func NewTables() *Tables {
	clients := intern.NewDict()
	return &Tables{
		Clients: clients, Agents: useragent.NewAgents(), Actions: intern.NewDict(), Hosts: intern.NewDict(), Users: intern.NewDict(), Paths: intern.NewDict(),
		Values: intern.NewDict(), addresses: &addresses{clients: clients}, targets: &targets{paths: map[uint16]int32{}},
	}
}

// ValuesOf returns the column of a batch that is for a part, nil if there is none.
func (t *Tables) ValuesOf(b *Batch, part request.Part) []int32 {
	if i := slices.Index(t.Parts, part); i >= 0 {
		return b.Values[i]
	}
	return nil
}
