package request

import (
	"slices"
	"strings"
)

// Conditions say which requests are meant. Those that are stated must all fit; of the values of a condition, one must,
// other than of Without.
// The zero Conditions mean every request.
type Conditions struct {
	Actions   []string // names of actions
	Methods   []string // in upper case
	Paths     []string // patterns for the path, as Rule.Glob
	Prefixes  []string // beginnings of the path
	Regexps   []string // for the path, as Rule.Regexp
	Hosts     []string // virtual hosts; * stands for any bytes, ? for one
	Classes   []string // what the agent claims to be
	Tiers     []string
	ASNs      []string // numbers of autonomous systems: AS64500
	Countries []string // of networks, two letters
	Networks  []string // addresses, prefixes, private; else the name of who runs the network, with * and ?
	Without   []string // parts of keys that a request must all lack: user, header:NAME
	Statuses  []string // of the answer: 401, 4xx
}

// MaxScopes is how many different Conditions a run may have: one for each bit of a mark of a request.
const MaxScopes = 64

const withoutKey = "without"

// Each calls do with each condition, its key in a configuration and its values, in the order of texts.
func (c *Conditions) Each(do func(key string, values *[]string)) {
	do("action", &c.Actions)
	do("method", &c.Methods)
	do("path", &c.Paths)
	do("prefix", &c.Prefixes)
	do("regexp", &c.Regexps)
	do("host", &c.Hosts)
	do("class", &c.Classes)
	do("tier", &c.Tiers)
	do("asn", &c.ASNs)
	do("country", &c.Countries)
	do("network", &c.Networks)
	do(withoutKey, &c.Without)
	do("status", &c.Statuses)
}

// String is the conditions in words: "action login or search, method POST".
func (c *Conditions) String() string {
	var texts []string
	c.Each(func(key string, values *[]string) {
		if len(*values) > 0 {
			or := " or "
			if key == withoutKey {
				or = " and "
			}
			texts = append(texts, key+" "+strings.Join(*values, or))
		}
	})
	return strings.Join(texts, ", ")
}

// Is reports whether both state the same.
func (c *Conditions) Is(other *Conditions) bool {
	var mine [][]string
	c.Each(func(_ string, values *[]string) { mine = append(mine, *values) })
	same := true
	other.Each(func(_ string, values *[]string) {
		same, mine = same && slices.Equal(mine[0], *values), mine[1:]
	})
	return same
}

// A Rule names the requests that it fits. An empty field fits every request; the others must all fit. Rules
// see the path as it was logged, without the query, and only requests that are HTTP. A rule with methods
// does not fit where the log has none.
type Rule struct {
	Name    string
	Methods []string // GET, POST …
	Prefix  string   // of the path: /login fits /login, /login/now and /login-help
	Glob    string   // of the whole path: * within a segment, ** across segments, /**/ any, ? one byte
	Regexp  string   // anywhere in the path, in Go's syntax
}

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
