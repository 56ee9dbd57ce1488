package traffic

import (
	"shadow/traffic/intern"
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
}

// NewTables returns empty dictionaries.
func NewTables() *Tables {
	return &Tables{
		Clients: intern.NewDict(), Agents: useragent.NewAgents(), Actions: intern.NewDict(), Hosts: intern.NewDict(), Users: intern.NewDict(), Paths: intern.NewDict(),
	}
}
