package sweep

import (
	"net/netip"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/evidence"
	"shadow/internal/traffic/intern"
	"shadow/limit"
)

// What a log has that keys can go by: agents, users, addresses of either family; and two things that make addresses bad
// keys: several people behind one, and one who has as many as there are numbers. A home or a server usually has a whole
// /64 of IPv6 addresses, 2^64 of them, and may take another one for every request.

// ClientStats say what keys can go by. Clients are as --client tells them.
type ClientStats struct {
	Clients  int64           `json:"-"`
	Sent     int64           `json:"-"` // requests in all
	Agents   int64           `json:"visitors_with_agent"`
	Users    int64           `json:"visitors_with_user"`
	IPv4     int64           `json:"ipv4_clients"`
	IPv6     int64           `json:"ipv6_clients"`
	IPv6Sent int64           `json:"ipv6_requests"`
	Shared   int64           `json:"clients_with_several_browsers"`
	Most     string          `json:"most_browsers_client"` // the client with the most of them
	InMost   int64           `json:"most_browsers"`
	Rotating AddressRotation `json:"rotating"`
}

// AddressRotation counts what /64 networks sent that had RotatingAddresses on one day.
type AddressRotation struct {
	Networks  int64        `json:"networks"`
	Addresses int64        `json:"addresses"`
	Requests  int64        `json:"requests"`
	Most      netip.Prefix `json:"-"` // the network with the most addresses
	InMost    int64        `json:"-"` // addresses in it
}

// RotatingAddresses is the number of addresses of one /64 that must first show up on one day (UTC) for the network to
// count as rotating. A person's device takes one or two new ones a day (RFC 8981), and a home has a few devices.
const RotatingAddresses = 10

// clientCounts keeps what is known of each client.
type clientCounts struct {
	clients intern.PagedSlice[clientCount]
}

type clientCount struct {
	first    limit.Time // the first request that was read
	requests int64
}

func (c *clientCounts) take(b *traffic.Batch, t *traffic.Tables) {
	c.clients.Grow(t.Clients.Len())
	for row, client := range b.Client {
		s := c.clients.At(client)
		if s.requests == 0 {
			s.first = b.At[row]
		}
		s.requests++
	}
}

func (c *clientCounts) result(v *evidence.Visitors, t *traffic.Tables) (r ClientStats) {
	browsers := map[int32]int64{}
	for id := range int32(v.Len()) {
		if *v.Requests.At(id) == 0 {
			continue
		}
		who := v.At(id)
		if t.Agents.Name(int32(who.Agent)) != "-" {
			r.Agents++
		}
		if who.User != traffic.NoUser {
			r.Users++
		}
		if t.Agents.Class(int32(who.Agent)) == request.Browser {
			browsers[who.Client]++
		}
	}
	for client, n := range browsers {
		if n < 2 {
			continue
		}
		r.Shared++
		if name := t.Clients.Name(client); n > r.InMost || n == r.InMost && name < r.Most {
			r.Most, r.InMost = name, n
		}
	}
	c.networks(&r, t)
	return r
}

// A network64 is what came from one /64.
type network64 struct {
	addresses, requests, most int64 // most: new addresses on one day
	days                      map[limit.Time]int64
}

// networks counts addresses, and finds the networks that rotate theirs.
func (c *clientCounts) networks(r *ClientStats, t *traffic.Tables) {
	found, addresses := map[netip.Prefix]*network64{}, t.Addresses()
	for id := range int32(c.clients.Len()) {
		s := c.clients.At(id)
		if s.requests == 0 {
			continue
		}
		r.Clients++
		r.Sent += s.requests
		if addresses.Is4(id) {
			r.IPv4++
		}
		if !addresses.Is6(id) {
			continue
		}
		prefix := netip.PrefixFrom(addresses.At(id), 64).Masked()
		r.IPv6++
		r.IPv6Sent += s.requests
		if found[prefix] == nil {
			found[prefix] = &network64{days: map[limit.Time]int64{}}
		}
		found[prefix].add(s)
	}
	for prefix, n := range found {
		if n.most >= RotatingAddresses {
			r.Rotating.add(prefix, n)
		}
	}
}

func (n *network64) add(s *clientCount) {
	day := s.first / limit.Day
	if s.first < day*limit.Day {
		day--
	}
	n.addresses++
	n.requests += s.requests
	n.days[day]++
	n.most = max(n.most, n.days[day])
}

func (r *AddressRotation) add(prefix netip.Prefix, n *network64) {
	r.Networks++
	r.Addresses += n.addresses
	r.Requests += n.requests
	if n.addresses > r.InMost || n.addresses == r.InMost && prefix.Addr().Less(r.Most.Addr()) {
		r.Most, r.InMost = prefix, n.addresses
	}
}
