package who

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"net/netip"
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic/network"
	"shadow/report/format"
)

// A network may be one bot, although each of its addresses sends no more than a person does. So its addresses are judged
// together, by how many of them fetched a file at all:
//
//	203.0.113.0/24   200 addresses; of other addresses with as many requests 70 % fetched a file: of 200 people 140 would
//	   0 did         no person is there. With equal numbers, errors, passwords or no referers: a bot
//	  30 did         undecided: both may be there
//	  90 did         people, whether in an office or behind a carrier
//
// docs/evidence.md has all rules, and says where the thresholds come from.
const (
	mostOfOne   = 4   // a quarter of the network's requests: an address that sends more is judged by itself
	evenFrom    = 5   // requests of each address, on average
	unevenFrom  = 2   // likewise
	manyDevices = 100 // addresses of one /64
	evenPercent = 58  // of that average, by which the numbers of people's requests vary at least
	nearlyAll   = 90  // percent of a network's requests: the narrower networks within it that send those are named
)

// prefixes holds the lengths of the networks' prefixes, the narrowest network first.
var prefixes = [][]int{{24, 20, 16}, {64, 48}} // of IPv4, of IPv6

// A Whole says what a network is, taken together.
type Whole uint8

// What a network may be.
const (
	Mixed Whole = iota // or too small to say
	People
	OneBot
)

func (w Whole) String() string { return [...]string{"undecided", "people", "a bot"}[w] }

// A member is an address of a network that claims to be a browser, or says nothing of itself.
type member struct {
	addr netip.Addr
	id   int32
}

func byAddress(m, n member) int { return m.addr.Compare(n.addr) }

// A Network is the members of a network that is one bot, and what they did.
type Network struct {
	Name     string
	Key      request.Key // by which a limit counts them as one
	Members  []int32     // clients, in the order of their addresses
	Requests int64
	Most     int64 // of one member
	Fetchers int64 // members that fetched a file
	Expected int64 // likewise, if they were people
	Signs    []string

	deeds
	addresses []member
	whole     Whole
	sure      bool // whether there is another sign than missing referers: apps send none either
}

// findNetworks finds the networks that are bots as a whole, and disguises their members.
func (c *Census) findNetworks() {
	if !c.observer.Addresses {
		return
	}
	sum, all := c.claimants()
	if sum.fetchers < leastExpected {
		return
	}
	var named []*Network
	ipv6, _ := slices.BinarySearchFunc(all, member{addr: netip.IPv6Unspecified()}, byAddress)
	for i, family := range [][]member{all[:ipv6], all[ipv6:]} {
		for _, length := range prefixes[i] {
			for prefix, members := range runs(family, length, leastExpected) {
				g := &Network{Name: prefix.String(), Key: request.Key(fmt.Sprint("client/", length)), addresses: members}
				named = c.name(named, g, &sum)
			}
		}
	}
	owners := c.byOwner(all)
	for _, owner := range slices.SortedFunc(maps.Keys(owners), func(o, p network.Owner) int { return cmp.Compare(o.String(), p.String()) }) {
		g := &Network{Name: owner.String(), Key: "asn", addresses: owners[owner]}
		if owner.ASN == 0 {
			g.Key = "network"
		}
		named = c.name(named, g, &sum)
		c.Owners[owner] = g.whole
	}
	slices.SortStableFunc(named, func(g, h *Network) int { return cmp.Compare(h.requests, g.requests) })
	for i, g := range named {
		g.Requests, g.Most, g.Fetchers = g.requests, g.most, g.fetchers
		for _, m := range g.addresses {
			g.Members = append(g.Members, m.id)
		}
		if g.sure {
			c.disguise(g, int32(i))
		}
		c.Networks = append(c.Networks, *g)
	}
}

// claimants returns the clients with an address that may be browsers, in the order of addresses, and sums up what they
// do.
func (c *Census) claimants() (sum deeds, all []member) {
	for id := range int32(len(c.Identities)) {
		if addr := c.observer.address(id); addr.IsValid() && c.observer.records.At(id).mayBrowse() && !c.observer.agents[c.observer.records.At(id).agent.value].mails {
			c.addTo(&sum, id)
			all = append(all, member{addr.WithZone(""), id})
		}
	}
	slices.SortFunc(all, byAddress)
	return sum, all
}

// byOwner returns the members of the networks of each owner, none if it is not known whose they are.
func (c *Census) byOwner(all []member) map[network.Owner][]member {
	known := c.observer.Known.Owners
	if known == nil {
		return nil
	}
	owners := map[network.Owner][]member{}
	for _, m := range all {
		if owner := OwnerOf(known, m.addr); owner != (network.Owner{}) {
			owners[owner] = append(owners[owner], m)
		}
	}
	return owners
}

// disguise takes the members of a network, which has a number, for one bot. Those are left out that do what people do.
func (c *Census) disguise(g *Network, number int32) {
	for _, m := range g.addresses {
		r, e := c.observer.records.At(m.id), c.observer.browsing.At(m.id)
		doubtful := c.Identities[m.id] == Program || Browsers.Has(c.Identities[m.id])
		if doubtful && r.files == 0 && 2*int64(e.Referred) < r.requests() {
			c.Identities[m.id], c.network[m.id] = Disguised, number
		}
	}
}

// OwnerOf returns whose network an address is of, in whatever country.
func OwnerOf(known *network.Database, addr netip.Addr) network.Owner {
	owner := known.Of(addr)
	owner.Country = ""
	return owner
}

// mayBrowse reports whether a client claims to be a browser, or says nothing of itself.
func (r *record) mayBrowse() bool {
	n := r.requests()
	return n > 0 && r.told == 0 && 2*int64(r.classes[request.Browser]+r.nameless) >= n
}

// runs returns the addresses of each prefix of a length that has at least so many; they are in order.
func runs(all []member, length, least int) iter.Seq2[netip.Prefix, []member] {
	return func(yield func(netip.Prefix, []member) bool) {
		for len(all) > 0 {
			prefix, _ := all[0].addr.Prefix(length)
			n := 1
			for n < len(all) && prefix.Contains(all[n].addr) {
				n++
			}
			if n >= least && !yield(prefix, all[:n]) {
				return
			}
			all = all[n:]
		}
	}
}

// name adds a network if it is a bot. Narrower ones come first; where they send nearly all, they keep their names.
func (c *Census) name(named []*Network, g *Network, all *deeds) []*Network {
	if len(g.addresses) < leastExpected {
		return named
	}
	for _, m := range g.addresses {
		c.addTo(&g.deeds, m.id)
	}
	if g.judge(all); g.whole != OneBot {
		return named
	}
	inside := func(narrow *Network) bool {
		_, found := slices.BinarySearchFunc(g.addresses, narrow.addresses[0], byAddress)
		return found
	}
	sent := int64(0)
	for _, narrow := range named {
		if inside(narrow) {
			sent += narrow.requests
		}
	}
	if 100*sent >= nearlyAll*g.requests {
		return named
	}
	return append(slices.DeleteFunc(named, inside), g)
}

// judge finds out what a network is, by what members of all networks do.
func (g *Network) judge(all *deeds) {
	g.Expected = g.expected(all)
	switch {
	case g.Expected < leastExpected:
		return
	case 2*g.fetchers >= g.Expected:
		g.whole = People
		return
	case 10*g.fetchers > g.Expected, mostOfOne*g.most > g.requests:
		return
	}
	others := all.without(&g.deeds)
	g.whole = g.looksLike(&others)
}

// looksLike looks for the signs of a bot in a network where no address fetches files. Tried passwords alone are no
// sign: people sign in, too.
func (g *Network) looksLike(others *deeds) Whole {
	sign := func(format string, values ...any) { g.Signs = append(g.Signs, fmt.Sprintf(format, values...)) }
	percent := func(n, of int64) string { return format.Percentage(format.PercentOf(n, of)) }
	size, variation := g.count, g.variation()
	if g.requests >= evenFrom*size && 2*g.several < size && isEven(variation, size) {
		sign("their numbers vary by %d %% of the mean", variation)
	}
	if moreOften(g.errors, g.steps, 50, others.errors, others.steps) {
		sign("%s of the answers are errors", percent(g.errors, g.steps))
	}
	if g.Key == "client/64" && size >= manyDevices && g.requests <= unevenFrom*size {
		sign("%d addresses where a home has a few devices", size)
	}
	g.sure = len(g.Signs) > 0
	if !g.peopleVary() && 20*g.referred < g.steps && others.referred > 0 && 5*others.referred >= others.steps {
		sign("%s of the pages have a referer", percent(g.referred, g.steps))
	}
	if len(g.Signs) == 0 {
		return Mixed
	}
	if moreOften(g.tried(), g.requests, 80, others.tried(), others.requests) {
		sign("%s of the requests try passwords", percent(g.tried(), g.requests))
		g.sure = true
	}
	return OneBot
}

// moreOften reports whether a part is at least so many percent, and twice that of others.
func moreOften(part, of, percent, others, ofOthers int64) bool {
	return 100*part >= percent*of && part*ofOthers >= 2*others*of
}

// variation returns that of the members' numbers of requests, in percent of their mean, rounded up.
func (some *deeds) variation() int64 {
	n := float64(some.count)
	mean := float64(some.requests) / n
	return int64(math.Ceil(100 * math.Sqrt(max(0, some.squares/n-mean*mean)) / mean))
}

// peopleVary reports whether the members come again, and some much more often than others, as people do.
func (some *deeds) peopleVary() bool {
	return some.requests >= unevenFrom*some.count && some.variation() >= evenPercent
}

// isEven reports whether numbers vary less than people's, which n of them show with an error of about 1/√n.
func isEven(variation, n int64) bool {
	short := evenPercent - variation
	return short > 0 && short*short*n > evenPercent*evenPercent
}
