package match

import (
	"errors"
	"net/netip"
	"strings"

	"shadow/internal/request"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/network"
	"shadow/parse"
)

// networkBits are the conditions on the network that a request comes from.
type networkBits struct {
	asns      nameBits
	countries nameBits
	networks  patternBits // of names
	prefixes  []prefixBits
	rest      uint64 // of networks: the scopes that do not ask
	asked     bool
	owned     bool // whether a scope asks what only a database of networks tells
	owners    *network.Database
}

type prefixBits struct {
	prefix netip.Prefix
	bit    uint64
}

// newNetworkBits compiles the conditions. owners may be nil; then no request fits those that ask it.
func newNetworkBits(scopes []request.Conditions, owners *network.Database) (n networkBits, err error) {
	n.owners = owners
	canonical := func(values func(*request.Conditions) []string, parse func(string) (string, error)) nameBits {
		return newNameBits(scopes, func(c *request.Conditions) (texts []string) {
			for _, v := range values(c) {
				text, problem := parse(v)
				if problem != nil {
					err = problem
				}
				texts = append(texts, text)
			}
			return texts
		})
	}
	n.asns = canonical(func(c *request.Conditions) []string { return c.ASNs }, func(text string) (string, error) {
		asn, err := network.ParseASN(text)
		return network.Owner{ASN: asn}.ASNText(), err
	})
	n.countries = canonical(func(c *request.Conditions) []string { return c.Countries }, network.ParseCountry)
	if err != nil {
		return n, err
	}
	names, err := n.addNetworks(scopes)
	if err != nil {
		return n, err
	}
	n.networks, err = newPatternBits(scopes, func(c *request.Conditions) []string { return names[c] }, newHost)
	n.owned = n.asns.asked() || n.countries.asked() || n.networks.asked()
	n.asked = n.owned || len(n.prefixes) > 0
	return n, err
}

// addNetworks enters prefixes, and returns the names among the networks of each scope.
func (n *networkBits) addNetworks(scopes []request.Conditions) (names map[*request.Conditions][]string, err error) {
	names = map[*request.Conditions][]string{}
	for i := range scopes {
		c := &scopes[i]
		if len(c.Networks) == 0 {
			n.rest |= 1 << i
		}
		for _, text := range c.Networks {
			prefixes, err := parseNetworks(text)
			switch {
			case err == nil:
				for _, p := range prefixes {
					n.prefixes = append(n.prefixes, prefixBits{p, 1 << i})
				}
			case strings.Contains(text, "/"): // meant as a prefix, or it would be no name
				return nil, err
			default:
				names[c] = append(names[c], text)
			}
		}
	}
	return names, nil
}

// of returns the bits of an address; ok: whether there is one.
func (n *networkBits) of(addr netip.Addr, ok bool) uint64 {
	var owner network.Owner
	if ok && n.owned {
		owner = n.owners.Of(addr)
	}
	bits := n.rest
	for _, p := range n.prefixes {
		if ok && p.prefix.Contains(addr.WithZone("")) {
			bits |= p.bit
		}
	}
	if owner.Name != "" {
		var buf [intern.MaxName]byte
		bits |= n.networks.of(intern.LowerASCII(buf[:0], []byte(owner.Name))) &^ n.networks.rest
	}
	return bits & n.asns.of([]byte(owner.ASNText())) & n.countries.of([]byte(owner.Country))
}

// ByOwner reports whether any scope asks what only a database of networks tells. A nil Scopes asks for nothing.
func (s *Scopes) ByOwner() bool { return s != nil && s.networks.owned }

// A networkFinder finds the bits of requests, for one goroutine. Where a client is an address, once for each client.
type networkFinder struct {
	bits    *networkBits
	clients ClientRule
	known   []uint64 // by client id: its bits
	found   []bool   // by client id
}

func (f *networkFinder) find(client int32, r *parse.Record) uint64 {
	if !f.clients.lasting() {
		return f.bits.of(f.clients.address(r))
	}
	if more := int(client) + 1 - len(f.known); more > 0 {
		f.known, f.found = append(f.known, make([]uint64, more)...), append(f.found, make([]bool, more)...)
	}
	if !f.found[client] {
		f.known[client], f.found[client] = f.bits.of(f.clients.address(r)), true
	}
	return f.known[client]
}

// lasting reports whether a client has one address.
func (r *ClientRule) lasting() bool { return r.source == fromAddress && !r.prefix }

// NeedsOwners complains about conditions that nothing could tell.
func (s *Scopes) NeedsOwners() error {
	if s.ByOwner() && s.networks.owners == nil {
		return errors.New("conditions on asn, country or the name of a network need a database of networks: --network-db FILE.mmdb")
	}
	return nil
}
