package findings

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"net/netip"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/request"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/network"
	"shadow/internal/traffic/who"
	"shadow/report/format"
)

// A limit by address behind a proxy counts all its clients as one. That a proxy is in front shows in its header, which
// names other clients than the log's column. Where the log does not have the header, it shows in the clients: one
// address comes as many browsers at once. So does an office, from which a proxy differs by the part of the requests
// that it carries: no client comes past it.

// Percent of all requests: proxies carry so many, and so many are worth a warning.
const (
	proxyStops = 50
	proxyWarns = 10
)

// proxies tells of addresses that stand for many clients.
func (l *clients) proxies(s *ingest.Stats) []Finding {
	f, found := l.headerDiffers(s)
	for _, other := range []func(*ingest.Stats) (Finding, bool){l.published, l.severalAtOnce, l.edges} {
		if !found {
			f, found = other(s)
		}
	}
	l.proxied = found && f.Severity == Stop
	switch {
	case !found:
		return l.sharedAddresses()
	case f.Severity == Warn:
		return append(l.sharedAddresses(), f)
	}
	return []Finding{f}
}

// headerDiffers goes by the header.
func (l *clients) headerDiffers(s *ingest.Stats) (f Finding, found bool) {
	var peers []int32
	var requests, private int64
	for id, peer := range l.behind.peers {
		if peer.origins > 0 && !l.forger(id, peer) {
			peers = append(peers, id)
			requests += peer.origins
			if match.IsPrivate(l.address(id)) {
				private += peer.origins
			}
		}
	}
	f = Finding{Code: "proxy_as_client", Share: ShareOf(requests, l.total), Severity: Warn}
	switch {
	case 100*requests >= proxyStops*l.total:
		f.Severity = Stop
	case 100*requests < proxyWarns*l.total && 100*private < l.total:
		return f, false
	}
	l.busiestFirst(peers)
	header := headerName(s.ForwardedBy)
	clients := fmt.Sprintf("%s real ones", format.Thousands(l.real()))
	if l.behind.many {
		clients = "more than " + clients
	}
	f.Evidence = fmt.Sprintf("%s in %s of requests names another client than the log's address: %s behind %s; trust them only "+
		"if they are yours", header, format.Percentage(100*float64(f.Share)), clients, l.named(peers))
	if f.Remedy = trust(l.addressesOf(peers)); f.Remedy == "" {
		f.Evidence += "; they lie too far apart for a few networks to hold them: are they proxies? If so, name their networks " +
			"with --trusted-proxy, from the list of their operator"
		return f, true
	}
	if len(l.Read.Clients.Trusted()) == 0 {
		f.Remedy = "--client-from " + cmp.Or(s.ForwardedBy, "x-forwarded-for") + " " + f.Remedy
	}
	return f, true
}

// real counts the origins, but those that one forger alone names.
func (l *clients) real() (n int64) {
	forgers := map[int64]bool{}
	for id, peer := range l.behind.peers {
		if l.forger(id, peer) {
			forgers[markOf(l.name(id))] = true
		}
	}
	for _, origin := range l.behind.origins {
		if !forgers[origin.origins] {
			n++
		}
	}
	return n
}

// published goes by the addresses that delivery networks publish.
func (l *clients) published(s *ingest.Stats) (f Finding, found bool) {
	edges, requests := map[string][]int32{}, map[string]int64{}
	for id := range int32(l.all.Len()) {
		if n := l.all.At(id).requests(); n > 0 {
			if name := network.EdgeOf(l.address(id)); name != "" {
				edges[name] = append(edges[name], id)
				requests[name] += n
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(edges)) {
		ids := edges[name]
		if n := requests[name]; 100*n >= proxyStops*l.total {
			l.busiestFirst(ids)
			return Finding{
				Code: "proxy_as_client", Severity: Stop, Share: ShareOf(n, l.total), Evidence: fmt.Sprintf("%s of requests come from %s of %s: %s",
					format.Percentage(format.PercentOf(n, l.total)), l.named(ids), name, l.lacking(s)),
			}, true
		}
	}
	return f, false
}

// mixedFrom is the number of kinds of browsers that no machine is, over the whole log: a quiet site's proxy brings no two at once.
const mixedFrom = 5

// stands reports whether a client brings so many kinds of browsers that it stands for others, whatever one of these does: a
// scanner or a health check behind a proxy must not hide it.
func (l *clients) stands(id int32, c *client) bool {
	if l.address(id).IsLoopback() && bits.OnesCount32(c.agents) > 1 && 10*c.requests() >= 9*l.total && c.is(c.classes[request.Browser], 10) {
		return true // no reader sits there
	}
	if is := l.is(id); match.IsPrivate(l.address(id)) && is != who.Office && is != who.Person && !c.is(c.errors, 50) {
		return bits.OnesCount64(c.kinds) >= mixedFrom
	}
	return c.crowd(mixedFrom) && l.carry(c.requests()) && !l.oneBrowser(id)
}

// oneBrowser reports whether nearly all that a client sends comes from one browser, as of a developer who tries others.
func (l *clients) oneBrowser(id int32) bool {
	agent, mainly := l.census.Mainly(id)
	return mainly && l.Read.Tables.Agents.Kind(agent) >= 0
}

// severalAtOnce goes by heavy clients that come as several browsers, most in the same minutes.
func (l *clients) severalAtOnce(s *ingest.Stats) (f Finding, found bool) {
	var fronts []int32
	var requests, unusual, largest, proxied int64
	together, kinds := 0, 0
	for _, id := range l.heavy() {
		c, minutes, inner := l.all.At(id), l.census.Together(id), match.IsPrivate(l.address(id))
		switch is := l.is(id); {
		case is == who.Proxy:
			proxied += c.requests()
		case l.stands(id, c):
		case is == who.Own || is == who.Monitor || is == who.Attacker:
			continue
		case l.address(id).IsUnspecified():
			inner = true
			if !c.several(crowdedFrom) {
				continue
			}
		case inner && (!c.several(crowdedFrom) || minutes.Shown < 3),
			!inner && (!c.crowd(crowdedFrom) || minutes.Crowded < 3 || 20*minutes.Crowded < minutes.Active):
			continue
		}
		fronts = append(fronts, id)
		requests += c.requests()
		largest = max(largest, c.requests())
		if inner {
			unusual += c.requests()
		}
		together, kinds = max(together, int(minutes.Most)), max(kinds, bits.OnesCount64(c.kinds))
	}
	f = Finding{Code: "proxy_as_client", Share: ShareOf(requests, l.total), Severity: Warn}
	switch {
	case l.carry(requests), 100*unusual >= proxyWarns*l.total, 100*proxied >= proxyStops*l.total:
		f.Severity = Stop
	case unusual == 0 && 100*largest < 2*proxyWarns*l.total:
		return f, false
	}
	l.busiestFirst(fronts)
	l.fronts = fronts
	why := l.lacking(s)
	switch {
	case l.address(fronts[0]).IsUnspecified():
		why = "no client has this address, so the log was made without those of its clients"
	case f.Severity == Warn, l.census.Tally()[who.Person].Clients >= mustClients: // people come past it
		why = "an office or a carrier is behind them, or " + why
	}
	f.Evidence = fmt.Sprintf("%s of requests come from %s as %s of browsers, up to %d in one minute: %s",
		format.Percentage(100*float64(f.Share)), l.named(fronts), format.Count(int64(kinds), "kind"), max(together, 1), why)
	return f, true
}

// edges goes by many addresses, each of which comes as several browsers, as those of a delivery network do.
func (l *clients) edges(s *ingest.Stats) (f Finding, found bool) {
	var edges []int32
	var requests int64
	for id := range int32(l.all.Len()) {
		c := l.all.At(id)
		forms := c.files == 0 && 3*l.census.Sends(id) > c.requests() // sent by one program that changes its agents
		if c.requests() >= 6 && (c.crowd(crowdedFrom) || c.motley() && !forms) {
			edges = append(edges, id)
			requests += c.requests()
		}
	}
	f = Finding{Code: "proxy_as_client", Severity: Stop, Share: ShareOf(requests, l.total)}
	if few := len(edges) < 3 || 100*requests < proxyStops*l.total; few || !l.carry(l.near(edges)) || trust(l.addressesOf(edges)) == "" {
		return f, false // bots that change their agents come from everywhere
	}
	l.busiestFirst(edges)
	f.Evidence = fmt.Sprintf("%s of requests come from %s that each are %d browsers or more: %s",
		format.Percentage(100*float64(f.Share)), l.named(edges), crowdedFrom, l.lacking(s))
	return f, true
}

// near returns how many requests come from the networks of some addresses: not each address of a delivery network is busy.
func (l *clients) near(edges []int32) (requests int64) {
	network := func(id int32) netip.Prefix {
		a := l.address(id)
		p, _ := a.Prefix(a.BitLen() / 2)
		return p
	}
	all := map[netip.Prefix]bool{}
	for _, id := range edges {
		all[network(id)] = true
	}
	for id := range int32(l.all.Len()) {
		if n := l.all.At(id).requests(); n > 0 && all[network(id)] {
			requests += n
		}
	}
	return requests
}

// carry reports whether so many requests are most of all, and nearly all those of browsers: none comes past a proxy.
func (l *clients) carry(requests int64) bool {
	var browsers int64
	for id := range int32(l.all.Len()) {
		if c := l.all.At(id); c.kinds != 0 {
			browsers += c.requests()
		}
	}
	return 100*requests >= proxyStops*l.total && 10*requests >= 8*browsers
}

// lacking says what the log must have for the clients behind a proxy to be known.
func (l *clients) lacking(s *ingest.Stats) string {
	if s.ForwardedBy != "" {
		return "a proxy seems to be in front, and does not pass their addresses on in " + headerName(s.ForwardedBy)
	}
	return `a proxy seems to be in front; log the header with their addresses ("$http_x_forwarded_for" in log_format, ` +
		`"%{X-Forwarded-For}i" in LogFormat) and give --client-from x-forwarded-for`
}

// sharedAddresses tells of addresses behind which several people seem to be.
func (l *clients) sharedAddresses() []Finding {
	offices := l.census.Tally()[who.Office]
	n, requests := offices.Clients, offices.Requests
	if n == 0 {
		return nil
	}
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	return []Finding{{
		Code: "shared_addresses", Severity: Info, Share: ShareOf(requests, l.total),
		Evidence: fmt.Sprintf("%s %s shared by several people, as in an office: %s",
			addresses(n), verb, format.Count(requests, "request")),
	}}
}

// busiestFirst sorts clients by their requests.
func (l *clients) busiestFirst(ids []int32) {
	slices.SortFunc(ids, func(x, y int32) int {
		return cmp.Or(cmp.Compare(l.all.At(y).requests(), l.all.At(x).requests()), strings.Compare(l.name(x), l.name(y)))
	})
}

// named counts clients, and names the first few by their addresses. Other names are strangers' texts.
func (l *clients) named(ids []int32) string {
	const most = 3
	if !l.byAddress() {
		return format.Count(int64(len(ids)), "client")
	}
	text := addresses(int64(len(ids)))
	names := mapped.Add(nil, l.addressesOf(ids[:min(len(ids), most)]), netip.Addr.String)
	if names == nil {
		return text
	}
	return text + " (" + format.Named(names, int64(len(ids))) + ")"
}

func (l *clients) addressesOf(ids []int32) (all []netip.Addr) {
	for _, id := range ids {
		if a := l.address(id); a.IsValid() {
			all = append(all, a)
		}
	}
	return all
}

// trust is the flag that names proxies: private networks by that word, a few addresses one by one, and more of them by the
// networks that hold them. It is "" where these would hold many others, who could then name any client.
func trust(proxies []netip.Addr) string {
	const few = 3
	var names []string
	var public []netip.Addr
	for _, a := range proxies {
		if !match.IsPrivate(a) {
			public = append(public, a)
		}
	}
	if inner := len(proxies) - len(public); inner > few || inner > 0 && len(public) > 0 {
		names = append(names, "private")
	} else if inner > 0 {
		public = proxies
	}
	if len(public) <= few {
		names = mapped.Add(names, public, netip.Addr.String)
	} else {
		for _, is4 := range []bool{true, false} {
			kind := slices.DeleteFunc(slices.Clone(public), func(a netip.Addr) bool { return a.Is4() != is4 })
			networks := covering(kind, 8)
			if slices.ContainsFunc(networks, tooWide) {
				networks = covering(kind, 16)
			}
			if slices.ContainsFunc(networks, tooWide) {
				return ""
			}
			names = mapped.Add(names, networks, netip.Prefix.String)
		}
	}
	return "--trusted-proxy " + strings.Join(names, ",")
}

// tooWide reports whether a network is wider than those of proxies are.
func tooWide(p netip.Prefix) bool { return p.Bits() < 8 || p.Addr().Is6() && p.Bits() < 20 }

// covering are the smallest networks, at most so many, that hold all addresses, which are of one kind: neighbours that
// share the most bits share a network.
func covering(all []netip.Addr, most int) (networks []netip.Prefix) {
	slices.SortFunc(all, netip.Addr.Compare)
	all = slices.Compact(all)
	if len(all) == 0 {
		return nil
	}
	shared := make([]int, len(all)-1) // bits with the next one
	for i := range shared {
		shared[i] = match.SharedBits(all[i], all[i+1])
	}
	gaps := slices.Sorted(slices.Values(shared))
	cut := -1 // neighbours that share as many bits or fewer are apart
	if n := min(most-1, len(gaps)) - 1; n >= 0 {
		cut = gaps[n]
		if n+1 < len(gaps) && gaps[n+1] == cut {
			cut--
		}
	}
	longest := 24
	if all[0].Is6() {
		longest = 48
	}
	for i := 0; i < len(all); {
		j := i
		for j < len(shared) && shared[j] > cut {
			j++
		}
		p, _ := all[i].Prefix(min(longest, match.SharedBits(all[i], all[j])))
		networks = append(networks, p)
		for n := len(networks) - 1; n > 0; n-- { // one in the other, or the other half of one
			last, before := networks[n], networks[n-1]
			whole, _ := last.Addr().Prefix(max(0, last.Bits()-1))
			switch {
			case last.Overlaps(before) && last.Bits() >= before.Bits():
				whole = before
			case last.Overlaps(before):
				whole = last
			case last.Bits() != before.Bits() || !whole.Contains(before.Addr()):
				n = 0
				continue
			}
			networks[n-1] = whole
			networks = networks[:n]
		}
		i = j + 1
	}
	return networks
}
