package traffic

// Tables are the dictionaries of a run: what the ids in a Batch stand for. Several goroutines may use them at once.
type Tables struct {
	Clients *Dict
	Agents  *Agents
	Actions *Dict
	Hosts   *Dict
	Users   *Dict
	Paths   *Dict
}

// NewTables returns empty dictionaries.
func NewTables() *Tables {
	return &Tables{
		Clients: NewDict(), Agents: NewAgents(), Actions: NewDict(), Hosts: NewDict(), Users: NewDict(), Paths: NewDict(),
	}
}
