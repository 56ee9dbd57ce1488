package request

// A Tier is a named set of clients: those that send from one of the addresses, or as one of the users, or with one of
// the values in a field of the line.
type Tier struct {
	Name     string
	Networks []string // addresses, prefixes, "private" for all networks that are not on the public internet
	Users    []string
	Field    string // an nginx variable, a JSON key, or a header: header:X-Api-Key; "" for none
	Values   []string
	Exempt   bool // no policy judges the requests of these clients
}

// Len is how many entries the tier has.
func (t *Tier) Len() int { return len(t.Networks) + len(t.Users) + len(t.Values) }

// DefaultTier is the tier of the clients that are in no other.
const DefaultTier = "default"
