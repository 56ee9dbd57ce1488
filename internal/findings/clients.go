package findings

import (
	"math/bits"
	"net/netip"
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

// Who the clients are: one small record for each, and a larger one for each of those that send a hundredth of all
// requests. Neither grows with what a client sends. Lines stand for the questions that are asked of the records:
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

// A client is heavy from a hundredth of all requests on, if there are some.
const (
	heavyShare = 100
	heavyLeast = 50
	mostHeavy  = 1000
)

// clients is the looker for all that concerns single clients.
type clients struct {
	*seen
	heavy  []heavy
	ranks  []uint16 // 1 + index in heavy, by client; 0: not heavy
	agents []agent  // by id
	static int32    // the action; −1: unknown
	behind behind
	kind   Site // once it is known
}

// An agent is what is asked of one for each request.
type agent struct {
	kind  uint64 // as a set; 0: no browser
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
	if to == b.Len() {
		l.lookCloser(b)
	}
}

// lookCloser takes in the requests of heavy clients once all clients of the batch are counted.
func (l *clients) lookCloser(b *traffic.Batch) {
	l.promote()
	if len(l.heavy) > 0 {
		for row, id := range b.Client {
			if i := l.ranks[id]; i > 0 {
				l.heavy[i-1].take(b, row, l.agents[b.Agent[row]].kind, int32(b.Action[row]) == l.static)
			}
		}
	}
	if b.Origin != nil {
		l.behind.take(b)
	}
}

// learn makes room for all that the tables know.
func (l *clients) learn() {
	t := l.Read.Tables
	l.ranks = append(l.ranks, make([]uint16, l.all.Len()-len(l.ranks))...)
	for id := int32(len(l.agents)); int(id) < t.Agents.Len(); id++ {
		a := agent{class: t.Agents.Class(id)}
		if who.SaysNothing(t.Agents.Name(id)) {
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

// promote begins to look closer at clients that have become heavy. What they sent before, little, is forgotten.
func (l *clients) promote() {
	least := max(heavyLeast, l.total/heavyShare)
	for id, rank := range l.ranks {
		if rank == 0 && len(l.heavy) < mostHeavy && l.all.At(int32(id)).requests() >= least {
			l.heavy = append(l.heavy, heavy{id: int32(id)})
			l.ranks[id] = uint16(len(l.heavy))
		}
	}
}

func (l *clients) find(s *ingest.Stats) (found []Finding) {
	if l.total == 0 {
		return nil
	}
	for i := range l.heavy {
		l.heavy[i].finish()
	}
	if l.byAddress() {
		found = l.proxies(s)
		found = append(found, l.forged(s)...)
	}
	site := l.site()
	return slices.Concat(found, l.machines(), site)
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

// A heavy client is looked at closer.
type heavy struct {
	id       int32
	requests int64
	minutes  [1 << 5]minute
	active   int64 // minutes with a request
	crowded  int64 // minutes in which several people seem to be there
	mixed    int64 // minutes in which several kinds of browsers ask for pages
	together int   // kinds of browsers in the fullest minute
}

// A minute holds the kinds of browsers that showed pages and fetched files in it. Requests may come out of order by as
// many minutes as are kept.
type minute struct {
	number       int64 // of the clock, + 1; 0: none
	pages, files uint64
}

// crowdedFrom is the number of kinds of browsers, with a page and a file in one minute each, that are several people.
const crowdedFrom = 3

func (h *heavy) take(b *traffic.Batch, row int, kind uint64, file bool) {
	at := b.At[row]
	number := int64(at/limit.Minute) + 1
	m := &h.minutes[uint64(number)%uint64(len(h.minutes))]
	if m.number != number {
		h.close(m)
		*m = minute{number: number}
	}
	if file {
		m.files |= kind
	} else {
		m.pages |= kind
	}
	h.requests++
}

// close counts a minute.
func (h *heavy) close(m *minute) {
	if m.number == 0 {
		return
	}
	h.active++
	if n := bits.OnesCount64(m.pages & m.files); n >= crowdedFrom {
		h.crowded++
	}
	if n := bits.OnesCount64(m.pages); n >= crowdedFrom {
		h.mixed++
		h.together = max(h.together, n)
	}
	m.number = 0
}

func (h *heavy) finish() {
	for i := range h.minutes {
		h.close(&h.minutes[i])
	}
}
