package findings

import (
	"cmp"
	"fmt"
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/network"
	"shadow/internal/traffic/useragent"
	"shadow/internal/traffic/who"
	"shadow/parse"
	"shadow/report/format"
)

// networks looks for what files about networks tell: who forges the name of a crawler, and whose network sends a large part.
type networks struct {
	*seen
	names   []string         // of crawlers, by agent; "": none of which addresses are known
	checked map[claim]uint32 // requests of those who claim to be such a crawler
}

// A claim is that of a client to be a crawler.
type claim struct {
	client int32
	agent  uint16
}

func (l *networks) take(b *traffic.Batch, from, to int) {
	if l.Known.Crawlers == nil {
		return
	}
	l.learn()
	for row := from; row < to; row++ {
		if agent := b.Agent[row]; l.names[agent] != "" {
			l.checked[claim{b.Client[row], agent}]++
		}
	}
}

// learn finds the names of all crawlers that the tables know.
func (l *networks) learn() {
	agents := l.Read.Tables.Agents
	for id := int32(len(l.names)); int(id) < agents.Len(); id++ {
		name := ""
		if agents.Class(id) == request.Crawler {
			name = useragent.CrawlerName(agents.Name(id))
			if !l.Known.Crawlers.Knows(name) {
				name = ""
			}
		}
		l.names = append(l.names, name)
	}
}

func (l *networks) find(s *ingest.Stats) (found []Finding) {
	if l.total == 0 || !l.Read.Clients.IsAddress() {
		return nil
	}
	return slices.Concat(l.forged(), l.owners(), l.tellBots(s.LastAt-s.FirstAt))
}

// forged tells of clients that call themselves a crawler and send from elsewhere.
func (l *networks) forged() []Finding {
	l.learn()
	requests, names, forgers := int64(0), []string{}, map[int32]bool{}
	for c, n := range l.checked {
		addr, _ := parse.Addr([]byte(l.Read.Tables.Clients.Name(c.client)))
		if l.Known.Crawlers.Check(l.names[c.agent], addr) != network.Forged {
			continue
		}
		requests += int64(n)
		forgers[c.client] = true
		if !slices.Contains(names, l.names[c.agent]) {
			names = append(names, l.names[c.agent])
		}
	}
	if requests == 0 {
		return nil
	}
	slices.Sort(names)
	return []Finding{{
		Code: "forged_crawler", Severity: Info, Share: ShareOf(requests, l.total),
		Evidence: fmt.Sprintf("%s requests of %s name %s and come from other addresses than it has",
			format.Share(requests, l.total), format.Count(int64(len(forgers)), "client"), format.Named(names, int64(len(names)))),
	}}
}

// What share of all requests, from how many addresses, is worth to know who runs their network.
const (
	ownerShare     = 10 // a tenth
	ownerAddresses = 10
)

// owners tells whose networks send a large part of the requests from many addresses.
func (l *networks) owners() (found []Finding) {
	if l.Known.Owners == nil {
		return nil
	}
	type sum struct {
		owner             network.Owner
		requests, clients int64
		browsers          int64
	}
	sums := map[network.Owner]*sum{}
	for id := range int32(l.all.Len()) {
		c := l.all.At(id)
		addr, _ := parse.Addr([]byte(l.Read.Tables.Clients.Name(id)))
		owner := who.OwnerOf(l.Known.Owners, addr)
		if c.requests() == 0 || owner == (network.Owner{}) {
			continue
		}
		s := sums[owner]
		if s == nil {
			s = &sum{owner: owner}
			sums[owner] = s
		}
		s.requests += c.requests()
		s.browsers += int64(c.classes[request.Browser])
		s.clients++
	}
	var large []*sum
	for _, s := range sums {
		if ownerShare*s.requests >= l.total && s.clients >= ownerAddresses {
			large = append(large, s)
		}
	}
	slices.SortFunc(large, func(a, b *sum) int {
		return cmp.Or(cmp.Compare(b.requests, a.requests), cmp.Compare(a.owner.String(), b.owner.String()))
	})
	for _, s := range large {
		found = append(found, Finding{
			Code: "one_network", Severity: Info, Share: ShareOf(s.requests, l.total),
			Evidence: fmt.Sprintf("%s requests come from %s of %s; %s of them from browsers, as these say; as a whole %s",
				format.Share(s.requests, l.total), addresses(s.clients), s.owner, format.Share(s.browsers, s.requests), l.census.Owners[s.owner]),
		})
	}
	return found
}
