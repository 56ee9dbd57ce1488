package imports

import (
	"net/netip"
	"strconv"

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
		prefix, err := netip.ParsePrefix(e.key)
		if addr, bad := netip.ParseAddr(e.key); err != nil && bad == nil {
			prefix, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			r.lose(e.Place(), "%s is no network: this entry is left out", e.key)
			continue
		}
		networks = append(networks, network{prefix.Masked(), e.value})
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
		all = append(all, in(set, r.cases(n.value, d))...)
		texts = append(texts, networkText(n.Prefix))
	}
	if texts != nil {
		covered = within("network", texts...).except()
	}
	return merged(append(all, in(covered, r.cases(fallback, d))...))
}

func networkText(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}

var firstBytes = lazy.Regexp(`^\^\(\?s\)(\\x00\{10\}\\xff\\xff)?\(\?<(\w+)>\.\{(\d+)\}\)\.\{(\d+)\}\\z$`)

// networkMap are the cases of a map that cuts addresses to networks: ~^(?s)(?<net>.{3}).{1}\z $net.
func (r *nginxReader) networkMap(variable string, entries []entry) (all []valueCase, ok bool) {
	if variable != "binary_remote_addr" || len(entries) == 0 {
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
