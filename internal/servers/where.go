package servers

import (
	"net/netip"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
)

// What is pasted must limit by what was judged: by the same client, and in the place that serves the same requests.
// Where a server has no such thing, or only the operator can know it, that is said instead.

// A Where is the clients and requests that a limit was judged for. The zero value is each address, for all requests.
type Where struct {
	Client     string         // who one is, as --client takes it: addr, addr/24,/64, user, header:NAME, a field
	Cut        bool           // whether a client is a network, and then
	V4, V6     int            // how many bits of addresses are
	ClientFrom string         // the header from which addresses are taken; "": the peer's
	Trusted    []netip.Prefix // the proxies whose header is believed

	Action string // "": all requests
	Named  bool   // whether the configuration, not the path alone, says what the action is

	Exempt []netip.Prefix // addresses that are not to be limited

	Within *Within // the configuration that the lines go into; nil: it is not known

	Front *Front // that wrote the log; nil: none

	FromNginx bool   // whether the fields of the log are variables of nginx, all of them
	Format    string // of the log; a variable of nginx is in it as $name
}

// Directives holds what a server is to be told.
type Directives struct {
	Key    string // what it counts by, in its own words; "": only the operator knows
	Note   string // about the key, and whatever is not quite as judged; a sentence without its end
	Count  string // a command that counts what would be refused; "": nothing does
	Front  string // what stands before the server and wrote the log; "": nothing
	Blocks []Block

	Exempts bool // whether they let the exempt addresses through
	Partly  bool // whether some places do not get them
}

// A Block is lines that go to one place.
type Block struct {
	// the server's word for it: http, location, frontend
	Place string `json:"place"`
	// whether the place wants these lines once, however many limits there are
	Once  bool     `json:"-"`
	Lines []string `json:"lines"`
}

// address reports whether a client is an address or its network.
func (w *Where) address() bool {
	name := strings.TrimPrefix(w.Client, "$")
	return name == "" || name == "addr" || strings.HasPrefix(name, "addr/")
}

var (
	notInName = lazy.Regexp(`[^A-Za-z0-9]+`)
	plainPath = lazy.Regexp(`^/([A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*)?$`)
)

// name returns what a zone, table or middleware is called: perclient for all requests, or after the action.
func (w *Where) name() string {
	if w.Action == "" {
		return "perclient"
	}
	page, all := strings.CutSuffix(w.Action, "/**")
	page, below := strings.CutSuffix(page, "/…")
	name := strings.TrimRight("action_"+strings.Trim(notInName().ReplaceAllString(page, "_"), "_"), "_")
	if below {
		name += "_below"
	}
	if all {
		name += "_all"
	}
	return name
}

// path returns the path that an action is named after: the page itself, with or without a slash at its end, or with
// below all that begins with it and a slash. It returns false for all requests, and where the configuration or more
// than the path says what the action is.
func (w *Where) path() (page string, below, ok bool) {
	page, below = strings.CutSuffix(w.Action, "/…")
	return page, below, !w.Named && plainPath().MatchString(page)
}

// all returns the path of a page that is judged together with all below it; false if it is not.
func (w *Where) all() (page string, ok bool) {
	page, ok = strings.CutSuffix(w.Action, "/**")
	return page, ok && !w.Named && plainPath().MatchString(page)
}

// exempt are the exempt addresses and networks, as every server writes them.
func (w *Where) exempt() []string { return mapped.Of(w.Exempt, AddressText) }

// trusted are the proxies, as every server writes them.
func (w *Where) trusted() string {
	return strings.Join(mapped.Of(w.Trusted, netip.Prefix.String), " ")
}

// AddressText is a network, or the one address that is all of it.
func AddressText(network netip.Prefix) string {
	if network.IsSingleIP() {
		return network.Addr().String()
	}
	return network.String()
}

// cannotExempt is a comment for a server that limits every address alike; none if there is nothing to exempt.
func (w *Where) cannotExempt(instead string) (lines []string) {
	if len(w.Exempt) > 0 {
		lines = append(lines, "# it exempts no address: "+instead+" "+strings.Join(w.exempt(), ", "))
	}
	return lines
}

// headerText is the name of a header in a form that cannot end a directive.
func headerText(name string) string {
	return strings.Map(func(c rune) rune {
		if c == '-' || c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
			return c
		}
		return -1
	}, name)
}
