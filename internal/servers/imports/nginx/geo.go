package nginx

import (
	"cmp"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/servers/imports/neutral"
	"shadow/parse/nginxconf"
)

// Entries of maps and geos, variables of geo, and maps of addresses by their bytes.

// An entry of a map or geo, in the order in which nginx looks.
type entry struct {
	*nginxconf.Directive
	key, value string
	regexp     bool
}

// captures reports whether the value of an entry has what its expression captures.
func (e *entry) captures() bool {
	re, err := regexp.Compile(neutral.Insensitive(e.key))
	if !e.regexp || err != nil {
		return false
	}
	return slices.ContainsFunc(variablePattern().FindAllString(e.value, -1), func(v string) bool {
		name := strings.Trim(v, "${}")
		return strings.Trim(name, "0123456789") == "" || re.SubexpIndex(name) >= 0
	})
}

// entries returns the entries of a map or geo, with what is included; fallback is the value of what no entry fits.
func (r *reader) entries(d *nginxconf.Directive, block []*nginxconf.Directive) (all []entry, fallback string, hostnames bool) {
	for _, e := range block {
		switch {
		case e.Name == "include" && len(e.Args) == 1:
			included, problems, err := nginxconf.Read(r.path(e.Args[0]), nil)
			if problems = append(problems, err); len(problems) > 1 || err != nil {
				r.Lose(e.Place(), "include %s: %v", e.Args[0], problems[0])
			}
			unescape(included)
			more, value, _ := r.entries(d, included)
			if all = append(all, more...); value != "" {
				fallback = value
			}
		case e.Name == "hostnames":
			hostnames = true
		case e.Name == "volatile", e.Name == "ranges" && d.Name == "geo" && len(e.Args) == 0:
		case len(e.Args) != 1 || d.Name == "geo" && slices.Contains([]string{"proxy", "delete"}, e.Name):
			r.Lose(e.Place(), "%s %s: not understood", e.Name, strings.Join(e.Args, " "))
		case e.Name == "default":
			fallback = e.Args[0]
		case strings.HasPrefix(e.Name, "~") && d.Name == "map":
			all = append(all, entry{e, e.Name[1:], e.Args[0], true})
		default:
			all = append(all, entry{e, strings.TrimPrefix(e.Name, `\`), e.Args[0], false})
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.rank(hostnames), b.rank(hostnames)), cmp.Compare(b.narrow(hostnames), a.narrow(hostnames)))
	})
	return all, fallback, hostnames
}

// rank orders entries: whole texts, names behind a mask, those before one, expressions.
func (e *entry) rank(hostnames bool) int {
	switch {
	case e.regexp:
		return 3
	case hostnames && strings.HasSuffix(e.key, ".*"):
		return 2
	case hostnames && (strings.HasPrefix(e.key, ".") || strings.HasPrefix(e.key, "*")):
		return 1
	}
	return 0
}

// narrow orders masks: the longest goes first.
func (e *entry) narrow(hostnames bool) int {
	if rank := e.rank(hostnames); rank == 1 || rank == 2 {
		return len(strings.Trim(e.key, "*"))
	}
	return 0
}

// fits reports whether an entry that is no expression fits a text.
func (e *entry) fits(text string, hostnames bool) bool {
	if name, both := strings.CutPrefix(e.key, "."); both && hostnames {
		return strings.EqualFold(text, name) || neutral.Narrower(strings.ToLower(text), strings.ToLower("*"+e.key))
	}
	return strings.EqualFold(text, e.key) || hostnames && neutral.Narrower(strings.ToLower(text), strings.ToLower(e.key))
}

// lookUp returns what a map makes of a text.
func lookUp(text string, entries []entry, fallback string, hostnames bool) string {
	for _, e := range entries {
		if !e.regexp && e.fits(text, hostnames) {
			return e.value
		}
		if e.regexp && text != "" { // no expression fits an empty text
			if re, err := regexp.Compile(neutral.Insensitive(e.key)); err == nil && re.MatchString(text) {
				return e.value
			}
		}
	}
	return fallback
}

// geo are the cases of what a geo makes: the entry with the longest prefix says so.
func (r *reader) geo(d *nginxconf.Directive) (all []valueCase) {
	if len(d.Args) == 2 && d.Args[0] != "$remote_addr" {
		r.Lose(d.Place(), "geo by %s is taken for one by the address of the client", d.Args[0])
	}
	entries, fallback, _ := r.entries(d, d.Block)
	values, networks := map[netip.Prefix]string{}, []netip.Prefix(nil)
	for _, e := range entries {
		prefixes := networksOf(e.key)
		if prefixes == nil {
			r.Lose(e.Place(), "%s is no network: this entry is left out", e.key)
		}
		for _, p := range prefixes {
			if _, twice := values[p]; !twice {
				networks = append(networks, p)
			}
			values[p] = e.value // what is said last holds
		}
	}
	covered := neutral.Set{}
	var texts []string
	order := func(a, b netip.Prefix) int {
		return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
	}
	sorted := slices.SortedFunc(slices.Values(networks), order) // those within a network stand behind it
	for _, n := range networks {
		var inner []string
		at, _ := slices.BinarySearchFunc(sorted, n, order)
		for _, m := range sorted[at+1:] {
			if !n.Contains(m.Addr()) {
				break
			}
			if values[m] != values[n] {
				inner = append(inner, neutral.NetworkText(m))
			}
		}
		set := neutral.Within("network", neutral.NetworkText(n))
		if inner != nil {
			set = set.And(neutral.Within("network", inner...).Except())
		}
		all = append(all, in(set, literal(values[n]))...)
		texts = append(texts, neutral.NetworkText(n))
	}
	if texts != nil {
		covered = neutral.Within("network", texts...).Except()
	}
	dollar := func(e entry) bool { return strings.Contains(e.value, "$") }
	if i := slices.IndexFunc(append(entries, entry{value: fallback}), dollar); i >= 0 {
		value := append(entries, entry{value: fallback})[i].value
		r.Tell(d.Place(), "geo takes its values as they stand: %s is one text for all, so all these requests count in one "+
			"place, there and here. A map would put the variable in: geo $x { … 1; } map $x $key { 1 %s; default \"\"; }", value, value)
	}
	return merged(append(all, in(covered, literal(fallback))...))
}

// literal is the only case of a text without variables.
func literal(text string) []valueCase {
	if text == "" {
		return []valueCase{{}}
	}
	return []valueCase{{pieces: []piece{{text: text}}}}
}

// networksOf are the networks of a text: an address, a network, or a range of IPv4 addresses; nil of any other.
func networksOf(text string) (all []netip.Prefix) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return []netip.Prefix{p.Masked()}
	}
	first, last, isRange := strings.Cut(text, "-")
	from, err := netip.ParseAddr(first)
	to := from
	if err == nil && isRange {
		to, err = netip.ParseAddr(last)
	}
	for err == nil && from.IsValid() && from.Compare(to) <= 0 { // the largest network that begins there and ends in time
		p := netip.PrefixFrom(from, from.BitLen())
		for p.Bits() > 0 {
			wider := netip.PrefixFrom(from, p.Bits()-1)
			if wider.Masked().Addr() != from || lastOf(wider).Compare(to) > 0 {
				break
			}
			p = wider
		}
		all, from = append(all, p), lastOf(p).Next()
	}
	return all
}

// lastOf is the last address of a network.
func lastOf(p netip.Prefix) netip.Addr {
	bytes := p.Addr().AsSlice()
	for bit := p.Bits(); bit < 8*len(bytes); bit++ {
		bytes[bit/8] |= 0x80 >> (bit % 8)
	}
	addr, _ := netip.AddrFromSlice(bytes)
	return addr
}

var firstBytes = lazy.Regexp(`^\^\(\?s\)(\\x00\{10\}\\xff\\xff)?\(\?<(\w+)>\.\{(\d+)\}\)\.\{(\d+)\}\\z$`)

// networkMap are the cases of a map that cuts addresses to networks: ~^(?s)(?<net>.{3}).{1}\z $net.
func (r *reader) networkMap(source []piece, entries []entry) (all []valueCase, ok bool) {
	if len(source) != 1 || source[0].variable != "binary_remote_addr" || len(entries) == 0 {
		return nil, false
	}
	for _, e := range entries {
		words := firstBytes().FindStringSubmatch(e.key)
		if words == nil || e.value != "$"+words[2] {
			return nil, false
		}
		kept, _ := strconv.Atoi(words[3])
		cut, _ := strconv.Atoi(words[4])
		family := "0.0.0.0/0"
		switch {
		case words[1] != "": // IPv4 once more
			continue
		case kept+cut == 16:
			family = "::/0"
		case kept+cut != 4:
			return nil, false
		}
		all = append(all, valueCase{neutral.Within("network", family), []piece{{variable: "client/" + strconv.Itoa(8*kept)}}})
	}
	return all, true
}
