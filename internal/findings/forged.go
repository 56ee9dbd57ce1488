package findings

import (
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"

	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/report/format"
)

// Any client can write headers of proxies. A proxy's clients differ in their agents and come again; a client that makes
// addresses up does so for each request. With one agent its first requests show it, with changing ones a thousand do.

// behind holds what headers of proxies say of the clients behind clients.
type behind struct {
	requests [match.EntryCount]int64 // with a list, by what its first entry is
	peers    map[int32]*entries      // by client: what it sent, or passed on
	origins  map[uint32]*entries     // by origin: what stood in front of it; at most mostOrigins
	many     bool                    // whether there are more
}

const mostOrigins = 1 << 14

// entries are the first entries of the lists of one address.
type entries struct {
	requests int64
	looked   int       // of these, at most mostLooked
	first    [4]uint64 // a set of the first entries
	agents   uint64    // a set of the agents
	origins  int64     // of a client: requests whose list names an origin; of an origin: the mark of who did, 0: several
	fresh    int64     // of a client: origins that were new, less usualVisits for each request of one that was not
}

// Of the first mostLooked requests of an address, from leastLooked on, so many percent of the first entries must differ
// for them to be made up.
const (
	mostLooked   = 128
	leastLooked  = 32
	variedShare  = 80
	forgedAgents = 2
)

// Origins are made up, whatever the agents, if one in usualVisits comes again at most, of leastFresh and more. Where all
// requests have a list, a proxy is in front: then visitors may come once.
const (
	usualVisits  = 10
	leastFresh   = 1000
	leastWithout = 5 // percent of all requests without a list
)

func (l *behind) take(b *traffic.Batch, agents []agent, name func(int32) string) {
	l.begin()
	for row, first := range b.Leftmost {
		if first == 0 {
			continue
		}
		l.requests[match.EntryOf(first)]++
		origin := b.Origin[row]
		peer := l.peers[b.Client[row]]
		if peer == nil {
			peer = new(entries)
			l.peers[b.Client[row]] = peer
		}
		peer.add(first, agents[b.Agent[row]].mark)
		if origin == 0 {
			continue
		}
		peer.origins++
		at := l.origins[origin]
		if at != nil {
			peer.fresh -= usualVisits
		} else if len(l.origins) < mostOrigins {
			peer.fresh++
		}
		if at == nil || at.origins != 0 {
			at = l.origin(origin, markOf(name(b.Client[row])))
		}
		at.add(first, agents[b.Agent[row]].mark)
	}
}

func (l *behind) begin() {
	if l.peers == nil {
		l.peers, l.origins = map[int32]*entries{}, map[uint32]*entries{}
	}
}

// origin returns the entries of an origin, of one too many some that do not count.
func (l *behind) origin(of uint32, mark int64) *entries {
	at := l.origins[of]
	if at == nil {
		at = &entries{origins: mark}
		if len(l.origins) == mostOrigins {
			l.many = true
			return at
		}
		l.origins[of] = at
	}
	if at.origins != mark {
		at.origins = 0
	}
	return at
}

// markOf is a number that a client has in all readings.
func markOf(client string) int64 { return int64(crc32.ChecksumIEEE([]byte(client))) | 1 }

func (e *entries) add(first uint32, agent uint64) {
	e.requests++
	if e.looked == mostLooked {
		return
	}
	e.looked++
	e.agents |= agent
	h := first * 0x9E3779B1 >> 24
	e.first[h/64] |= 1 << (h % 64)
}

// varied reports whether nearly each request has another first entry, and all the same agent. The set is read by linear
// counting (Whang, Vander-Zanden and Taylor, 1990).
func (e *entries) varied() bool {
	set := 0
	for _, word := range e.first {
		set += bits.OnesCount64(word)
	}
	const room = 64 * len(e.first)
	distinct := -float64(room) * math.Log(1-float64(min(set, room-1))/float64(room))
	return e.looked >= leastLooked && 100*distinct >= variedShare*float64(e.looked) && bits.OnesCount64(e.agents) <= forgedAgents
}

// forger reports whether a client makes up what it sends in the headers of proxies. One on a private network is ours.
func (l *clients) forger(id int32, e *entries) bool {
	without := l.total
	for _, n := range l.behind.requests {
		without -= n
	}
	fresh := e.fresh >= leastFresh && 100*without >= leastWithout*l.total
	return (fresh || e.varied()) && !match.IsPrivate(l.address(id))
}

// forged tells of entries that proxies have not written.
func (l *clients) forged(s *ingest.Stats) []Finding {
	var made, makers int64
	for id, peer := range l.behind.peers {
		if l.forger(id, peer) {
			made += peer.requests
			makers++
		}
	}
	for _, origin := range l.behind.origins {
		if origin.varied() {
			made += origin.requests
			makers++
		}
	}
	nobody := l.behind.requests[match.NobodysEntry] + l.behind.requests[match.NoAddress]
	if made == 0 && nobody < fewNobodies {
		return nil
	}
	header := headerName(s.ForwardedBy)
	f := Finding{Code: "forged_forwarded_for", Severity: Info, Share: ShareOf(max(made, nobody), l.total)}
	if f.Share >= 0.01 {
		f.Severity = Warn
	}
	switch {
	case made > 0:
		f.Evidence = fmt.Sprintf("%s of %s carry another first entry in %s each time, as no proxy does: it is made up",
			format.Count(made, "request"), addresses(makers), header)
		if nobody > 0 {
			f.Evidence += fmt.Sprintf("; in %s it belongs to no host", format.Count(nobody, "request"))
		}
	default:
		f.Evidence = fmt.Sprintf("the first entry in %s belongs to no host in %s: clients write it themselves", header,
			format.Count(nobody, "request"))
	}
	f.Evidence += "; a limit must count from the right, by entries of its own proxies"
	return []Finding{f}
}

// fewNobodies is the number of entries that belong to no host and need no report.
const fewNobodies = 10

// addresses counts addresses.
func addresses(n int64) string {
	if n == 1 {
		return "1 address"
	}
	return format.Thousands(n) + " addresses"
}

// headerName is a header as people write it.
func headerName(header string) string {
	switch header {
	case "", "x-forwarded-for":
		return "X-Forwarded-For"
	case "x-real-ip":
		return "X-Real-IP"
	case "cf-connecting-ip":
		return "CF-Connecting-IP"
	case "true-client-ip":
		return "True-Client-IP"
	}
	return "Forwarded"
}
