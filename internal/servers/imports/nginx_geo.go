package imports

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/parse/nginxconf"
)

// Variables of geo, and maps of addresses by their bytes.

// geo are the cases of what a geo makes: the entry with the longest prefix says so.
func (r *nginxReader) geo(d *nginxconf.Directive) (all []valueCase) {
	if len(d.Args) == 2 && d.Args[0] != "$remote_addr" {
		r.lose(d.Place(), "geo by %s is taken for one by the address of the client", d.Args[0])
	}
	entries, fallback, _ := r.entries(d, d.Block)
	type network struct {
		netip.Prefix
		value string
	}
	var networks []network
	for _, e := range entries {
		prefixes := networksOf(e.key)
		if prefixes == nil {
			r.lose(e.Place(), "%s is no network: this entry is left out", e.key)
		}
		for _, p := range prefixes {
			networks = append(networks, network{p, e.value})
		}
	}
	covered := Set{}
	var texts []string
	for _, n := range networks {
		var inner []string
		for _, m := range networks {
			if m.value != n.value && m.Bits() > n.Bits() && n.Contains(m.Addr()) {
				inner = append(inner, networkText(m.Prefix))
			}
		}
		set := within("network", networkText(n.Prefix))
		if inner != nil {
			set = set.and(within("network", inner...).except())
		}
		all = append(all, in(set, literal(n.value))...)
		texts = append(texts, networkText(n.Prefix))
	}
	if texts != nil {
		covered = within("network", texts...).except()
	}
	dollar := func(e entry) bool { return strings.Contains(e.value, "$") }
	if i := slices.IndexFunc(append(entries, entry{value: fallback}), dollar); i >= 0 {
		value := append(entries, entry{value: fallback})[i].value
		r.tell(d.Place(), "geo takes its values as they stand: %s is one text for all, so all these requests count in one "+
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

func networkText(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}

var firstBytes = lazy.Regexp(`^\^\(\?s\)(\\x00\{10\}\\xff\\xff)?\(\?<(\w+)>\.\{(\d+)\}\)\.\{(\d+)\}\\z$`)

// networkMap are the cases of a map that cuts addresses to networks: ~^(?s)(?<net>.{3}).{1}\z $net.
func (r *nginxReader) networkMap(source []piece, entries []entry) (all []valueCase, ok bool) {
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
		all = append(all, valueCase{within("network", family), []piece{{variable: "client/" + strconv.Itoa(8*kept)}}})
	}
	return all, true
}
