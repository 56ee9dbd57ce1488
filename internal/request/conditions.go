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
	Ports     []string // of the server, in digits, or NoPort
	Classes   []string // what the agent claims to be
	Agents    []string // for the user agent, as Rule.Regexp
	Tiers     []string
	ASNs      []string // numbers of autonomous systems: AS64500
	Countries []string // of networks, two letters
	Networks  []string // addresses, prefixes, private; else the name of who runs the network, with * and ?
	With      []string // texts of parts of keys: header:NAME=TEXT, or, as Rule.Regexp, field:NAME~EXPRESSION
	Without   []string // parts of keys that a request must all lack: user, header:NAME
	Statuses  []string // of the answer: 401, 4xx
	Busy      []string // a rate of the site that is exceeded: 500/s; one at most, and not within Any and Not

	Any []Conditions // one of these must fit, if there are any
	Not []Conditions // and none of these
}

// MaxScopes is the most different Conditions of a run: one for each bit of a mark of a request.
const MaxScopes = 64

const withoutKey = "without"

// IsUpstream reports whether a value of Hosts is what ingress-nginx calls a service, in logs without hosts:
// NAMESPACE-SERVICE-PORT.
func IsUpstream(host string) bool {
	return strings.Count(host, "-") > 1 && !strings.ContainsAny(host, ".:*?[")
}

// NoPort is the value of Ports that requests fit for which no port is logged.
const NoPort = "none"

// Each calls do with each condition, its key in a configuration and its values, in the order of texts.
func (c *Conditions) Each(do func(key string, values *[]string)) {
	do("action", &c.Actions)
	do("method", &c.Methods)
	do("path", &c.Paths)
	do("prefix", &c.Prefixes)
	do("regexp", &c.Regexps)
	do("host", &c.Hosts)
	do("port", &c.Ports)
	do("class", &c.Classes)
	do("agent", &c.Agents)
	do("tier", &c.Tiers)
	do("asn", &c.ASNs)
	do("country", &c.Countries)
	do("network", &c.Networks)
	do("with", &c.With)
	do(withoutKey, &c.Without)
	do("status", &c.Statuses)
	do("busy", &c.Busy)
}

// String is the conditions in words: "action login or search, method POST, not path /login/reset".
func (c *Conditions) String() string {
	var texts []string
	if len(c.Any) > 0 {
		texts = append(texts, groups(c.Any))
	}
	c.Each(func(key string, values *[]string) {
		if len(*values) > 0 {
			or := " or "
			if key == withoutKey {
				or = " and "
			}
			texts = append(texts, key+" "+strings.Join(*values, or))
		}
	})
	if len(c.Not) > 0 {
		texts = append(texts, "not "+groups(c.Not))
	}
	return strings.Join(texts, ", ")
}

// groups are conditions of which one must fit, in words.
func groups(all []Conditions) string {
	texts := make([]string, len(all))
	for i := range all {
		if texts[i] = all[i].String(); len(all) > 1 && strings.Contains(texts[i], " or ") || strings.Contains(texts[i], ", ") {
			texts[i] = "(" + texts[i] + ")"
		}
	}
	return strings.Join(texts, " or ")
}

// Is reports whether both state the same.
func (c *Conditions) Is(other *Conditions) bool {
	if len(c.Any) != len(other.Any) || len(c.Not) != len(other.Not) || !slices.Equal(c.Paths, other.Paths) ||
		!slices.Equal(c.Prefixes, other.Prefixes) || !slices.Equal(c.Regexps, other.Regexps) || !slices.Equal(c.Hosts, other.Hosts) {
		return false // most differ in these
	}
	var mine [17][]string // those of Each
	n, same := 0, true
	c.Each(func(_ string, values *[]string) { mine[n], n = *values, n+1 })
	n = 0
	other.Each(func(_ string, values *[]string) { same, n = same && slices.Equal(mine[n], *values), n+1 })
	equal := func(a, b Conditions) bool { return a.Is(&b) }
	return same && slices.EqualFunc(c.Any, other.Any, equal) && slices.EqualFunc(c.Not, other.Not, equal)
}

// ByTier reports whether it matters which tier a client is in.
func (c *Conditions) ByTier() bool {
	by := func(c Conditions) bool { return c.ByTier() }
	return len(c.Tiers) > 0 || slices.ContainsFunc(c.Any, by) || slices.ContainsFunc(c.Not, by)
}

// A Group is a scope that takes other scopes to tell: bit i of a mask stands for scope i.
type Group struct {
	Scope    int
	Any, Not uint64 // one of these must fit, if there are any; and none of these
}

// Flatten puts behind scopes what stands in their Any and Not, each once, and takes these out. Groups say what is to
// become of that, inner ones first.
func Flatten(scopes []Conditions) (flat []Conditions, all []Group) {
	flat = slices.Clone(scopes)
	plain := make([]Conditions, len(scopes)) // as they were before they were taken apart
	copy(plain, scopes)
	var enter func(i int)
	mask := func(inner []Conditions) (bits uint64) {
		for _, c := range inner {
			if len(flat) > len(scopes)+MaxScopes { // they are too many
				return bits
			}
			i := len(scopes) + slices.IndexFunc(plain[len(scopes):], func(other Conditions) bool { return c.Is(&other) })
			if i < len(scopes) {
				i = len(flat)
				flat, plain = append(flat, c), append(plain, c)
				enter(i)
			}
			bits |= 1 << i
		}
		return bits
	}
	enter = func(i int) {
		c := plain[i]
		if len(c.Any)+len(c.Not) == 0 {
			return
		}
		group := Group{i, mask(c.Any), mask(c.Not)}
		flat[i].Any, flat[i].Not = nil, nil
		all = append(all, group)
	}
	for i := range scopes {
		enter(i)
	}
	return flat, all
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

// Len returns how many entries the tier has.
func (t *Tier) Len() int { return len(t.Networks) + len(t.Users) + len(t.Values) }

// DefaultTier is the tier of the clients that are in no other.
const DefaultTier = "default"
