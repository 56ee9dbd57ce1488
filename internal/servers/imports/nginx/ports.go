package nginx

import (
	"cmp"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
	"shadow/parse/nginxconf"
)

// Servers may have one name on several ports, or none. Where that decides which limits judge, conditions on the port tell
// their requests apart. Of a log without ports, the server that does more than redirect gets them all.

var rangeOfPorts = lazy.Regexp(`^(\S*:)?\d+-\d+( |$)`)

// hosts are the requests of each server.
func (r *reader) hosts(servers []*nginxconf.Directive, limits levelLimits) []neutral.Set {
	before := len(r.Notes)
	sets := r.named(servers, "")
	decided := r.decidedByPort(servers, sets)
	if slices.Contains(decided, true) {
		r.Notes = r.Notes[:before]
	}
	r.tellAddresses(servers, sets)
	if !slices.Contains(decided, true) {
		return sets
	}
	var ports []string
	for _, d := range servers {
		ports = append(ports, portsOf(d)...)
		for _, s := range d.Block {
			if s.Name == "listen" && rangeOfPorts().MatchString(strings.Join(s.Args, " ")) {
				r.Lose(s.Place(), "listen %s: of these ports only the first is read", s.Args[0])
			}
		}
	}
	ports = slices.DeleteFunc(neutral.SortedPorts(ports), func(port string) bool { return port == request.NoPort })
	parts := make([]byPort, len(servers))
	for _, port := range ports {
		var here []*nginxconf.Directive
		var at []int
		for i, d := range servers {
			if slices.Contains(portsOf(d), port) {
				here, at = append(here, d), append(at, i)
			}
		}
		for i, set := range r.named(here, port) {
			parts[at[i]].add(set, port)
		}
	}
	for i, d := range servers {
		if decided[i] {
			note := r.Tell
			if len(limits.inherit(d.Block).limits) > 0 || hasLimits(d) {
				note = r.Lose
			}
			note(d.Place(), "only a log with the port tells its requests (%s) from those of other servers; else one of them gets all",
				strings.Join(portsOf(d), ", "))
		}
		parts[i].add(sets[i], request.NoPort)
		sets[i] = parts[i].set(len(ports) + 1)
	}
	return sets
}

// named are the requests of each server, by the host that is asked for, among those that listen on a port. Without one,
// a server that answers everything by itself beside another of the same name has none, nor one that limits nothing beside
// one that does, where neither has a name.
func (r *reader) named(servers []*nginxconf.Directive, port string) []neutral.Set {
	sets := make([]neutral.Set, len(servers))
	if len(servers) < 2 {
		return sets
	}
	names, answers := mapped.Add(nil, servers, r.serverNames), make([]bool, len(servers))
	if port == "" && onSeveral(servers) {
		answers = givingWay(servers, names)
	}
	for i := range sets {
		sets[i] = neutral.None
	}
	leaders := leadersOf(servers, port)
	fallback := fallbackOf(servers, leaders, names, answers, port)
	for i, d := range servers {
		if answers[i] && len(names[i]) == 0 && hasLimits(servers[fallback]) {
			r.Tell(d.Place(), "this server answers by itself, or limits nothing: what comes to it is taken to come to the one at %s",
				servers[fallback].Place())
		}
	}
	var claimed []string
	for _, answering := range []bool{false, true} { // those that do more than answer go first
		for i, d := range servers {
			if answers[i] != answering {
				continue
			}
			free := slices.DeleteFunc(names[i], func(name string) bool {
				taken := slices.Contains(claimed, name)
				if taken {
					r.Tell(d.Place(), "there is another server with the name %s, which gets its requests here, whatever port "+
						"or address they came to", name)
				}
				return taken
			})
			if claimed = append(claimed, free...); len(free) > 0 {
				sets[i] = neutral.Within("host", free...)
			}
		}
	}
	leaveNarrower(sets)
	if len(claimed) == 0 {
		sets[fallback] = neutral.Set{}
		return sets
	}
	if sets[fallback].Never {
		sets[fallback] = neutral.Within("host", claimed...).Except()
	} else {
		sets[fallback] = neutral.Union(slices.Concat(sets[:fallback], sets[fallback+1:])...).Except()
	}
	gets := "gets what no other one names"
	if len(leaders) > 1 {
		gets = "is taken to get what no other one names, on any port or address"
	}
	r.Tell(servers[fallback].Place(), "this server %s; conditions on hosts need a log that has them", gets)
	return sets
}

// givingWay says which servers get nothing of a name that another one has, too: those that answer by themselves, and of
// those without a name the ones that limit nothing, if others do.
func givingWay(servers []*nginxconf.Directive, names [][]string) (all []bool) {
	limited := false
	for i, d := range servers {
		limited = limited || len(names[i]) == 0 && hasLimits(d)
	}
	for i, d := range servers {
		all = append(all, answersAll(d) || limited && len(names[i]) == 0 && !hasLimits(d))
	}
	return all
}

// serverNames are the names of a server.
func (r *reader) serverNames(d *nginxconf.Directive) (names []string) {
	for _, s := range d.Block {
		if s.Name == "server_name" {
			names = append(names, r.hostNames(s)...)
		}
	}
	return names
}

// fallbackOf returns the server that gets what none is named for: of the leaders the declared default, else the first,
// but none that answers by itself if there is another.
func fallbackOf(servers []*nginxconf.Directive, leaders []int, names [][]string, answers []bool, port string) int {
	fallback, unnamed, first := -1, -1, -1
	for _, i := range leaders {
		if (fallback < 0 || answers[fallback] && !answers[i]) && len(placesOf(servers[i], port, true)) > 0 {
			fallback = i
		}
		if first < 0 && !answers[i] {
			first = i
		}
		if unnamed < 0 && len(names[i]) == 0 && !answers[i] {
			unnamed = i
		}
	}
	switch {
	case fallback < 0:
		return max(first, leaders[0])
	case answers[fallback] && unnamed >= 0: // which is the default of its own ports
		return unnamed
	}
	return fallback
}

// leadersOf returns the servers that are the default of an address and port: declared so, else the first there.
func leadersOf(servers []*nginxconf.Directive, port string) (leaders []int) {
	at := func(place string, declared bool) int {
		return slices.IndexFunc(servers, func(d *nginxconf.Directive) bool {
			return slices.Contains(placesOf(d, port, declared), place)
		})
	}
	for i, d := range servers {
		if hidesPort(d) || slices.ContainsFunc(placesOf(d, port, false), func(place string) bool {
			first := at(place, true)
			return first == i || first < 0 && at(place, false) == i
		}) {
			leaders = append(leaders, i)
		}
	}
	return leaders
}

// placesOf returns the addresses with a port on which a server listens, of all ports if none is said. They may be only
// those whose default it is declared.
func placesOf(d *nginxconf.Directive, port string, declared bool) (places []string) {
	for _, own := range portsOf(d) {
		if port == "" || port == own {
			for _, address := range addressesOf(d, own, declared) {
				places = append(places, address+" "+own)
			}
		}
	}
	return places
}

// onSeveral reports whether servers listen on several ports, as far as is known.
func onSeveral(servers []*nginxconf.Directive) bool {
	return slices.ContainsFunc(servers, func(d *nginxconf.Directive) bool {
		return !slices.Equal(portsOf(d), portsOf(servers[0])) || hidesPort(d)
	})
}

// hidesPort reports whether where a server listens may stand in a file that is not there.
func hidesPort(d *nginxconf.Directive) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(d.Block, func(s *nginxconf.Directive) bool { return s.Name == name })
	}
	return has("include") && !has("listen")
}

// leaveNarrower takes from masks what another server names: *.example gets what no other one names as a whole.
func leaveNarrower(sets []neutral.Set) {
	for i := range sets {
		for j := range sets {
			for _, name := range sets[j].Conditions.Hosts {
				if i != j && slices.ContainsFunc(sets[i].Conditions.Hosts, func(mask string) bool { return neutral.Narrower(name, mask) }) {
					sets[i] = sets[i].And(neutral.Within("host", name).Except())
				}
			}
		}
	}
}

// hostNames are the names of a server, as conditions have them.
func (r *reader) hostNames(d *nginxconf.Directive) (names []string) {
	for _, name := range d.Args {
		name = strings.ToLower(name)
		switch {
		case name == "_" || name == "":
		case strings.HasPrefix(name, "~"):
			r.Lose(d.Place(), "server_name %s is an expression, and conditions on hosts have none", name)
		case strings.HasPrefix(name, "."):
			names = append(names, name[1:], "*"+name)
		default:
			names = append(names, name)
		}
	}
	return names
}

// decidedByPort reports of each server whether it differs from another one in its ports and not in its names, where one of
// them has limits of its own, and both do more than redirect.
func (r *reader) decidedByPort(servers []*nginxconf.Directive, sets []neutral.Set) []bool {
	decided := make([]bool, len(servers))
	r.rivals(servers, sets, func(i, j int) {
		if !slices.Equal(portsOf(servers[i]), portsOf(servers[j])) {
			decided[i], decided[j] = true, true
		}
	})
	return decided
}

// rivals has each two servers between which no name decides, where one of them has limits, and both do more than redirect.
func (r *reader) rivals(servers []*nginxconf.Directive, sets []neutral.Set, each func(i, j int)) {
	names := mapped.Add(nil, servers, r.serverNames)
	matters := func(i int) bool { return hasLimits(servers[i]) || !answersAll(servers[i]) }
	for i := range servers {
		for j := range servers[:i] {
			shared := sets[i].Never || sets[j].Never ||
				slices.ContainsFunc(names[i], func(name string) bool { return slices.Contains(names[j], name) })
			if shared && matters(i) && matters(j) && (hasLimits(servers[i]) || hasLimits(servers[j])) {
				each(i, j)
			}
		}
	}
}

// tellAddresses tells of servers that listen on one port of different addresses.
func (r *reader) tellAddresses(servers []*nginxconf.Directive, sets []neutral.Set) {
	r.rivals(servers, sets, func(i, j int) {
		d, other := servers[i], servers[j]
		for _, port := range portsOf(d) {
			if port != request.NoPort && slices.Contains(portsOf(other), port) && !slices.Equal(addressesOf(d, port, false), addressesOf(other, port, false)) {
				r.Lose(d.Place(), "this server and the one at %s listen on port %s of different addresses, which no log tells: one of them gets all",
					other.Place(), port)
				return
			}
		}
	})
}

// addressesOf returns the addresses whose port a server listens on, or is declared the default of; "": that of all.
func addressesOf(d *nginxconf.Directive, port string, declared bool) (all []string) {
	for _, s := range d.Block {
		if s.Name == "listen" && len(s.Args) > 0 && listenPort(s) == port &&
			(!declared || slices.Contains(s.Args, "default_server") || slices.Contains(s.Args, "default")) {
			address := strings.TrimSuffix(s.Args[0], ":"+port)
			if address == port || address == "*" || address == "0.0.0.0" || address == "[::]" {
				address = ""
			}
			all = append(all, address)
		}
	}
	if all == nil && !declared {
		all = []string{""} // none is said
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// hasLimits reports whether a limit_req or limit_conn stands in a server.
func hasLimits(d *nginxconf.Directive) bool {
	return d.Name == "limit_req" || d.Name == "limit_conn" || slices.ContainsFunc(d.Block, hasLimits)
}

// answersAll reports whether a server answers everything by itself, as one that redirects does; or all that no location
// has, of one where none has limits.
func answersAll(d *nginxconf.Directive) bool {
	returns := func(d *nginxconf.Directive) bool { return d.Name == "return" }
	limited := hasLimits(d)
	return slices.ContainsFunc(d.Block, func(d *nginxconf.Directive) bool {
		return returns(d) || !limited && d.Name == "location" && slices.Equal(d.Args, []string{"/"}) && slices.ContainsFunc(d.Block, returns)
	})
}

// portsOf are the ports on which a server listens.
func portsOf(d *nginxconf.Directive) (ports []string) {
	for _, s := range d.Block {
		if s.Name == "listen" {
			ports = append(ports, listenPort(s))
		}
	}
	if ports == nil {
		ports = []string{"80"}
	}
	return neutral.SortedPorts(ports)
}

// listenPort is the port of a listen: [ADDRESS:]PORT, or 80.
func listenPort(d *nginxconf.Directive) string {
	if len(d.Args) == 0 {
		return "80"
	}
	if strings.HasPrefix(d.Args[0], "unix:") {
		return request.NoPort
	}
	text := d.Args[0]
	if _, behind, ok := strings.Cut(text, "]"); ok {
		text = cmp.Or(strings.TrimPrefix(behind, ":"), "80")
	}
	if at := strings.LastIndexByte(text, ':'); at >= 0 {
		text = text[at+1:]
	}
	if strings.Trim(text, "0123456789-") != "" { // an address alone
		return "80"
	}
	port, _, _ := strings.Cut(text, "-")
	return port
}

// byPort are requests by the ports on which they come.
type byPort []struct {
	requests neutral.Set
	ports    []string
}

func (b *byPort) add(requests neutral.Set, port string) {
	if requests.Never {
		return
	}
	for i := range *b {
		if (*b)[i].requests.Conditions.Is(&requests.Conditions) {
			(*b)[i].ports = append((*b)[i].ports, port)
			return
		}
	}
	*b = append(*b, struct {
		requests neutral.Set
		ports    []string
	}{requests, []string{port}})
}

// set is all of them, where there are so many ports.
func (b byPort) set(ports int) neutral.Set {
	var parts []neutral.Set
	for _, part := range b {
		if len(part.ports) == ports {
			return part.requests
		}
		parts = append(parts, neutral.Within("port", part.ports...).And(part.requests))
	}
	return neutral.Union(parts...)
}
