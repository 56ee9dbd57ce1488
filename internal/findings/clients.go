package findings

import (
	"hash/crc32"
	"math/bits"
	"net/netip"
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/who"
)

// Who the clients are: one small record for each, which does not grow with what a client sends. Lines stand for the
// questions that are asked of the records:
//
//	proxy.go    does an address stand for many people?
//	forged.go   does a client write entries of its own into the headers of proxies?
//	machine.go  the server itself, its health checks, an attacker
//	site.go     is this a site for people at all?

// A client is what is known of one, in a line of the cache.
type client struct {
	classes  [request.ClassCount]uint32 // requests by the class of their agent
	nameless uint32                     // requests without an agent, or a URL in its place
	errors   uint32                     // answers with 4xx, but for those of logins and limits
	files    uint32                     // requests for files of pages
	kinds    uint64                     // of browsers: a set of useragent.Kinds
	pages    uint32                     // asked for, as a set for partial
	referers uint32                     // likewise, those that files came from
	agents   uint32                     // a set of hashes
	peak                                // for enforced
}

// requests returns how many requests the client sent.
func (c *client) requests() (n int64) {
	for _, k := range c.classes {
		n += int64(k)
	}
	return n
}

// is reports whether a part of the client's requests is at least so many percent.
func (c *client) is(part uint32, percent int64) bool { return 100*int64(part) >= percent*c.requests() }

// several reports whether the client comes as so many kinds of browsers, and asks for what is there.
func (c *client) several(kinds int) bool {
	return bits.OnesCount64(c.kinds) >= kinds && c.is(c.classes[request.Browser], 50) && !c.is(c.errors, 50)
}

// crowd reports whether several people seem to be behind the client: browsers that fetch what pages are made of.
func (c *client) crowd(kinds int) bool { return c.several(kinds) && c.is(c.files, 10) }

// motley reports whether another agent sends each second request or so, of eight or more: people who share an address send
// some each.
func (c *client) motley() bool {
	agents := int64(bits.OnesCount32(c.agents))
	return agents >= 8 && 2*agents >= min(c.requests(), 32) && c.is(c.classes[request.Browser], 50) && !c.is(c.errors, 50)
}

// A client is heavy from a hundredth of all requests on, if there are some.
const (
	heavyShare = 100
	heavyLeast = 50
)

// crowdedFrom is the number of kinds of browsers that are several people, where all come in one minute.
const crowdedFrom = 3

// clients is the looker for all that concerns single clients.
type clients struct {
	*seen
	agents []agent // by id
	static int32   // the action; −1: unknown
	fronts []int32 // that stand for many, once it is known
	behind behind
	kind   Site // once it is known
}

// An agent is what is asked of one for each request.
type agent struct {
	kind  uint64 // as a set; 0: no browser
	mark  uint64 // a set that holds a hash of its name
	none  uint32 // 1: it is none
	class request.Class
}

func (l *clients) take(b *traffic.Batch, from, to int) {
	if from == 0 {
		l.learn()
	}
	for row := from; row < to; row++ {
		c, a := l.all.At(b.Client[row]), &l.agents[b.Agent[row]]
		c.classes[a.class]++
		c.kinds |= a.kind
		c.agents |= uint32(a.mark | a.mark>>32)
		c.nameless += a.none
		file := uint32(0) // what a branch could not predict is added
		if int32(b.Action[row]) == l.static {
			file = 1
		}
		c.files += file
		if status := b.Status[row]; status/100 == 4 && status != 401 && status != 407 && status != 429 {
			c.errors++
		}
	}
	if to == b.Len() && b.Origin != nil {
		l.behind.take(b, l.agents, l.name)
	}
}

// learn makes room for all that the tables know.
func (l *clients) learn() {
	t := l.Read.Tables
	for id := int32(len(l.agents)); int(id) < t.Agents.Len(); id++ {
		name := t.Agents.Name(id)
		a := agent{class: t.Agents.Class(id), mark: 1 << (crc32.ChecksumIEEE([]byte(name)) >> 26)}
		if who.SaysNothing(name) {
			a.none = 1
		}
		if kind := t.Agents.Kind(id); kind >= 0 {
			a.kind = 1 << kind
		}
		l.agents = append(l.agents, a)
	}
	l.static = -1
	if id, known := t.Actions.Find([]byte(match.StaticAction)); known {
		l.static = id
	}
}

// heavy returns the heavy clients.
func (l *clients) heavy() (ids []int32) {
	least := max(heavyLeast, l.total/heavyShare)
	for id := range int32(l.all.Len()) {
		if l.all.At(id).requests() >= least {
			ids = append(ids, id)
		}
	}
	return ids
}

func (l *clients) find(s *ingest.Stats) (found []Finding) {
	if l.total == 0 {
		return nil
	}
	if l.byAddress() {
		found = l.proxies(s)
		found = slices.Concat(found, l.forged(s), l.masked())
	}
	site := l.site()
	return slices.Concat(found, l.machines(), site, l.fileless())
}

// name returns the name of a client.
func (l *clients) name(id int32) string { return l.Read.Tables.Clients.Name(id) }

// address returns the address of a client; the zero one if it is none.
func (l *clients) address(id int32) netip.Addr {
	a, err := netip.ParseAddr(l.name(id))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap()
}
