package match

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"shadow/parse"
)

// An Exclude says which requests are left out, as if they were not in the log: those that any of its parts fits. A
// nil Exclude fits none. It is immutable.
//
//	192.0.2.1, 192.0.2.0/24, cidr:private  the client's address, or the peer's if the client is not an address
//	/health*, path:/status/**              the path without its query (a glob: see there)
//	agent:kube-probe, agent:*probe/1.?     the user agent: a part of it, or a glob for all of it, in either case
//	404, 5xx, status:429,503               the status
type Exclude struct {
	clients  ClientRule
	networks []netip.Prefix
	paths    []Glob
	agents   []Glob
	status   [maxStatus + 1]bool
}

const maxStatus = 999

// ParseExclude reads the values of --exclude; of none it makes nil.
func ParseExclude(texts []string) (*Exclude, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	x := new(Exclude)
	for _, s := range texts {
		if err := x.parse(s); err != nil {
			return nil, fmt.Errorf("exclude %q: %w", s, err)
		}
	}
	return x, nil
}

// Of returns the exclusion that takes the client's address by the given rule rather than from the peer.
func (x *Exclude) Of(clients ClientRule) *Exclude {
	if x == nil {
		return nil
	}
	y := *x
	y.clients = clients
	return &y
}

// Networks returns the addresses that are left out.
func (x *Exclude) Networks() []netip.Prefix {
	if x == nil {
		return nil
	}
	return x.networks
}

// parse reads one value, with or without the word that says what it is about.
func (x *Exclude) parse(s string) error {
	kind, value, ok := strings.Cut(s, ":")
	if ok {
		switch kind {
		case "cidr":
			return x.addNetwork(value)
		case "path":
			return AddGlob(&x.paths, NewGlob, value)
		case "agent":
			return AddGlob(&x.agents, newTextGlob, value)
		case "status":
			return x.addStatus(value)
		}
	}
	switch {
	case strings.HasPrefix(s, "/"):
		return AddGlob(&x.paths, NewGlob, s)
	case s != "" && strings.Trim(s, "0123456789xX,") == "":
		return x.addStatus(s)
	case x.addNetwork(s) == nil:
		return nil
	}
	return fmt.Errorf("want an address or prefix, a path from /, a status, or cidr:…, path:…, agent:…, status:…")
}

func (x *Exclude) addNetwork(s string) error {
	networks, err := parseNetworks(s)
	x.networks = append(x.networks, networks...)
	return err
}

// AddGlob compiles s and appends it to a list.
func AddGlob(to *[]Glob, compile func(string) (Glob, error), s string) error {
	if s == "" {
		return fmt.Errorf("the pattern is missing")
	}
	g, err := compile(s)
	*to = append(*to, g)
	return err
}

// addStatus reads 404, 5xx and lists of them.
func (x *Exclude) addStatus(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		first, n, err := parseStatus(part)
		if err != nil {
			return err
		}
		for i := range n {
			x.status[first+i] = true
		}
	}
	return nil
}

// parseStatus reads 404 as one status and 5xx as a hundred, the first of which it returns.
func parseStatus(text string) (first, n int, err error) {
	digits, n := text, 1
	if digit, ok := strings.CutSuffix(strings.ToLower(text), "xx"); ok {
		digits, n = digit+"00", 100
	}
	status, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || len(digits) != 3 || status < 100 {
		return 0, 0, fmt.Errorf("%q is not a status such as 404 or 5xx", text)
	}
	return int(status), n, nil
}

// Match reports whether the request is left out. It does not allocate.
func (x *Exclude) Match(r *parse.Record) bool {
	switch {
	case x == nil:
		return false
	case r.Status >= 0 && r.Status <= maxStatus && x.status[r.Status],
		len(x.paths) > 0 && AnyFits(x.paths, PathOf(r.Path)),
		len(x.agents) > 0 && AnyFits(x.agents, r.Agent):
		return true
	case len(x.networks) == 0:
		return false
	}
	addr, ok := x.clients.address(r)
	return ok && within(x.networks, addr)
}

// AnyFits reports whether any of the globs fits the text.
func AnyFits(globs []Glob, text []byte) bool {
	for i := range globs {
		if globs[i].fits(text) {
			return true
		}
	}
	return false
}
