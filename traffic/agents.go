package traffic

// Agents is the dictionary of user agents, each with the class that it claims.
type Agents struct{ Dict }

// Class is what the agent with this id claims to be.
func (a *Agents) Class(id int32) Class { panic("to be written") }
