package findings

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/bits"
	"net/netip"
	"slices"
	"strings"

	"shadow/limit"
	"shadow/report/format"
	"shadow/request"
	"shadow/traffic/network"
)

// A network may be one bot, although each of its addresses sends no more than a person does. So its addresses are judged
// together, by how many of them fetched a file at all:
//
//	203.0.113.0/24   200 addresses; of other addresses with as many requests 70 % fetched a file: of 200 people 140 would
//	   0 did         nobody is there. With equal numbers, errors, passwords or no referers: a bot
//	  30 did         undecided: both may be there
//	  90 did         people, whether in an office or behind a carrier
//
// docs/evidence.md has all rules, and says where the thresholds come from.
const (
	leastExpected = 10  // addresses with a file, were they people's: one at most, instead of so many, is no chance
	mostOfOne     = 4   // a quarter of the network's requests: an address that sends more is judged by itself
	evenFrom      = 5   // requests of each address, on average
	unevenFrom    = 2   // likewise
	evenPercent   = 58  // of that average, by which the numbers of people's requests vary at least
	nearlyAll     = 90  // percent of a network's requests: the narrower networks within it that send those are named
	botsShare     = 100 // a hundredth of all requests, together, is worth to tell
)

// prefixes are how long those of networks are, the narrowest network first.
var prefixes = [][]int{{24, 20, 16}, {64, 48}} // of IPv4, of IPv6

// A whole is what a network is, taken together.
type whole uint8

const (
	undecided whole = iota
	people
	aBot
)

func (w whole) String() string { return [...]string{"undecided", "people", "a bot"}[w] }

// A member is an address of a network that claims to be a browser, or says nothing of itself.
type member struct {
	addr netip.Addr
	id   int32
}

func byAddress(m, n member) int { return m.addr.Compare(n.addr) }

// A group is the members of a network, in the order of their addresses, and what they did.
type group struct {
	name    string
	key     request.Key // by which a limit counts them as one
	members []member
	deeds
	expected int64 // of the members, fetchers if they were people
	whole    whole
	signs    []string // of a bot
	sure     bool     // whether there is another one than missing referers: apps send none either
}

// deeds are sums over members.
type deeds struct {
	count, fetchers int64 // members, and those that fetched a file

	requests, steps, referred, errors, logins, most int64
	squares                                         float64                               // of their numbers of requests
	several                                         int64                                 // members that come as several browsers
	alike                                           [33]struct{ members, fetchers int64 } // with as many requests, by the power of two
}

func (d *deeds) add(c *client) {
	n := c.requests()
	d.count++
	d.requests += n
	d.steps += n - int64(c.files)
	d.referred += int64(c.referred)
	d.errors += int64(c.errors)
	d.logins += int64(c.logins)
	d.most = max(d.most, n)
	d.squares += float64(n) * float64(n)
	if c.several(crowdedFrom) {
		d.several++
	}
	alike := &d.alike[min(bits.Len64(uint64(n)), len(d.alike)-1)]
	alike.members++
	if c.files > 0 {
		d.fetchers++
		alike.fetchers++
	}
}

// claims reports whether a client claims to be a browser, or says nothing of itself.
func (c *client) claims() bool {
	n := c.requests()
	return n > 0 && 2*int64(c.classes[request.Browser]+c.nameless) >= n
}

// members are all addresses that may be people's, in order. There are at most so many.
func (l *networks) members(most int64) []member {
	all := make([]member, 0, most)
	for id := range int32(l.all.Len()) {
		if l.all.At(id).claims() {
			if addr, err := netip.ParseAddr(l.Read.Tables.Clients.Name(id)); err == nil {
				all = append(all, member{addr.Unmap().WithZone(""), id})
			}
		}
	}
	slices.SortFunc(all, byAddress)
	return all
}

// bots are the networks that are bots as a whole.
func (l *networks) bots() (named []*group) {
	var sum deeds
	for id := range int32(l.all.Len()) {
		if c := l.all.At(id); c.claims() {
			sum.add(c)
		}
	}
	if sum.fetchers < leastExpected {
		return nil
	}
	all := l.members(sum.count)
	owners := map[network.Owner][]member{}
	if l.Known.Owners != nil {
		for _, m := range all {
			if owner := l.ownerOf(m.addr); owner != (network.Owner{}) {
				owners[owner] = append(owners[owner], m)
			}
		}
	}
	ipv6, _ := slices.BinarySearchFunc(all, member{addr: netip.IPv6Unspecified()}, byAddress)
	for i, family := range [][]member{all[:ipv6], all[ipv6:]} {
		for _, length := range prefixes[i] {
			for prefix, members := range runs(family, length, leastExpected) {
				named = l.name(named, &group{name: prefix.String(), key: request.Key(fmt.Sprint("client/", length)), members: members}, &sum)
			}
		}
	}
	for _, owner := range slices.SortedFunc(maps.Keys(owners), func(o, p network.Owner) int { return cmp.Compare(o.String(), p.String()) }) {
		g := &group{name: owner.String(), key: "asn", members: owners[owner]}
		if owner.ASN == 0 {
			g.key = "network"
		}
		named = l.name(named, g, &sum)
		l.wholes[owner] = g.whole
	}
	return named
}

// runs are the addresses of each prefix of a length that has at least so many; they are in order.
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
func (l *networks) name(named []*group, g *group, all *deeds) []*group {
	if len(g.members) < leastExpected {
		return named
	}
	for _, m := range g.members {
		g.add(l.all.At(m.id))
	}
	if g.judge(all); g.whole != aBot {
		return named
	}
	inside := func(narrow *group) bool {
		_, found := slices.BinarySearchFunc(g.members, narrow.members[0], byAddress)
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
func (g *group) judge(all *deeds) {
	expected := 0.0
	for i, alike := range g.alike {
		if others := all.alike[i].members - alike.members; others > 0 {
			expected += float64(alike.members) * float64(all.alike[i].fetchers-alike.fetchers) / float64(others)
		}
	}
	g.expected = int64(expected)
	switch {
	case g.expected < leastExpected:
		return
	case 2*g.fetchers >= g.expected:
		g.whole = people
		return
	case 10*g.fetchers > g.expected, mostOfOne*g.most > g.requests:
		return
	}
	g.whole = g.looksLike(&deeds{
		requests: all.requests - g.requests, steps: all.steps - g.steps, referred: all.referred - g.referred,
		errors: all.errors - g.errors, logins: all.logins - g.logins,
	})
}

// looksLike looks for the signs of a bot in a network where nobody fetches files. Tried
// passwords alone are no sign: people sign in, too.
func (g *group) looksLike(others *deeds) whole {
	sign := func(format string, values ...any) { g.signs = append(g.signs, fmt.Sprintf(format, values...)) }
	percent := func(n, of int64) string { return format.Percentage(format.PercentOf(n, of)) }
	size, variation := g.count, g.variation()
	if g.requests >= evenFrom*size && 2*g.several < size && isEven(variation, size) {
		sign("their numbers vary by %d %% of the mean", variation)
	}
	if moreOften(g.errors, g.requests, 50, others.errors, others.requests) {
		sign("%s of the answers are errors", percent(g.errors, g.requests))
	}
	g.sure = len(g.signs) > 0
	peopleVary := g.requests >= unevenFrom*size && variation >= evenPercent
	if !peopleVary && 20*g.referred < g.steps && others.referred > 0 && 5*others.referred >= others.steps {
		sign("%s of the pages have a referer", percent(g.referred, g.steps))
	}
	if len(g.signs) == 0 {
		return undecided
	}
	if moreOften(g.logins, g.requests, 80, others.logins, others.requests) {
		sign("%s of the requests try passwords", percent(g.logins, g.requests))
		g.sure = true
	}
	return aBot
}

// moreOften reports whether a part is at least so many percent, and twice that of others.
func moreOften(part, of, percent, others, ofOthers int64) bool {
	return 100*part >= percent*of && part*ofOthers >= 2*others*of
}

// variation is that of the members' numbers of requests, in percent of their mean, rounded up.
func (g *group) variation() int64 {
	n := float64(g.count)
	mean := float64(g.requests) / n
	return int64(math.Ceil(100 * math.Sqrt(max(0, g.squares/n-mean*mean)) / mean))
}

// isEven reports whether numbers vary less than people's, which n of them show with an error of about 1/√n.
func isEven(variation, n int64) bool {
	short := evenPercent - variation
	return short > 0 && short*short*n > evenPercent*evenPercent
}

// tellBots tells of networks, unless what they send together is little.
func (l *networks) tellBots(named []*group, span limit.Time) []Finding {
	var requests int64
	once := map[int32]bool{} // a network and its owner's may overlap
	for _, g := range named {
		for _, m := range g.members {
			if !once[m.id] {
				requests += l.all.At(m.id).requests()
			}
			once[m.id] = true
		}
	}
	if botsShare*requests < l.total || requests < mustRequests {
		return nil
	}
	slices.SortStableFunc(named, func(g, h *group) int { return cmp.Compare(h.requests, g.requests) })
	const most = 3
	var names []string
	for i, g := range named {
		if i < most {
			names = append(names, g.name)
		}
		for _, m := range g.members {
			if c := l.all.At(m.id); g.sure && c.files == 0 && 2*int64(c.referred) < c.requests() {
				l.disguised = append(l.disguised, m.id)
			}
		}
	}
	first := named[0]
	what, from := first.name+" is one bot", "come from"
	if len(named) > 1 {
		what, from = fmt.Sprintf("%d networks (%s) are one bot each", len(named), format.Named(names, int64(len(named)))), "are theirs, the first has"
	}
	rate := float64(requests) / float64(max(span, limit.Minute)) * float64(limit.Minute)
	f := Finding{
		Code: "bot_network", Severity: Info, Share: ShareOf(requests, l.total),
		Evidence: fmt.Sprintf("%s: %s requests, %s a minute, %s %s, at most %s from each; %s fetched a file, where of as many "+
			"others about %s would; %s", what, format.Share(requests, l.total), format.Amount(rate), from, addresses(first.count),
			format.Thousands(first.most), format.Thousands(first.fetchers), format.Thousands(first.expected), strings.Join(first.signs, ", ")),
	}
	if l.By && !slices.Contains(l.Keys, first.key) {
		f.Remedy = "--by " + string(first.key)
	}
	return []Finding{f}
}
