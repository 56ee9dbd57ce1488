package request

import (
	"slices"
	"strings"
)

// Conditions say which requests are meant. Those that are stated must all fit; of the values of a condition, one must.
// The zero Conditions mean every request.
type Conditions struct {
	Actions  []string // names of actions
	Methods  []string // in upper case
	Paths    []string // patterns for the path, as Rule.Glob
	Prefixes []string // beginnings of the path
	Regexps  []string // for the path, as Rule.Regexp
	Hosts    []string // virtual hosts; * stands for any bytes, ? for one
	Classes  []string // what the agent claims to be
	Tiers    []string
	Statuses []string // of the answer: 401, 4xx
}

// MaxScopes is how many different Conditions a run may have: one for each bit of a mark of a request.
const MaxScopes = 64

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
	do("status", &c.Statuses)
}

// String is the conditions in words: "action login or search, method POST".
func (c *Conditions) String() string {
	var texts []string
	c.Each(func(key string, values *[]string) {
		if len(*values) > 0 {
			texts = append(texts, key+" "+strings.Join(*values, " or "))
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
