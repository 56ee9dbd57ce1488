package network

import "net/netip"

// edges has the addresses from which delivery networks ask a site for others, as these publish them. People who use a relay
// of such a network come from there as well.
var edges = []struct {
	name     string
	networks []netip.Prefix
}{
	// https://www.cloudflare.com/ips/
	{"Cloudflare", prefixes("173.245.48.0/20", "103.21.244.0/22", "103.22.200.0/22", "103.31.4.0/22", "141.101.64.0/18",
		"108.162.192.0/18", "190.93.240.0/20", "188.114.96.0/20", "197.234.240.0/22", "198.41.128.0/17", "162.158.0.0/15",
		"104.16.0.0/13", "104.24.0.0/14", "172.64.0.0/13", "131.0.72.0/22", "2400:cb00::/32", "2606:4700::/32", "2803:f800::/32",
		"2405:b500::/32", "2405:8100::/32", "2a06:98c0::/29", "2c0f:f248::/32")},
	// https://api.fastly.com/public-ip-list
	{"Fastly", prefixes("23.235.32.0/20", "43.249.72.0/22", "103.244.50.0/24", "103.245.222.0/23", "103.245.224.0/24",
		"104.156.80.0/20", "140.248.64.0/18", "140.248.128.0/17", "146.75.0.0/17", "151.101.0.0/16", "157.52.64.0/18",
		"167.82.0.0/17", "167.82.128.0/20", "167.82.160.0/20", "167.82.224.0/20", "172.111.64.0/18", "185.31.16.0/22",
		"199.27.72.0/21", "199.232.0.0/16", "2a04:4e40::/32", "2a04:4e42::/32")},
}

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// EdgeOf returns the name of the delivery network one of whose edges has this address; "" if none has.
func EdgeOf(a netip.Addr) string {
	for i := range edges {
		for _, p := range edges[i].networks {
			if p.Contains(a) {
				return edges[i].name
			}
		}
	}
	return ""
}
