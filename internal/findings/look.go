package findings

import (
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/evidence"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/network"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

// Options say what is looked at.
type Options struct {
	Read   *ingest.Options // how the log is read
	Client string          // who a client is, as --client says it
	Keys   []request.Key   // what limits count by
	ByPath string          // the flags with which they count by path instead; "": there are none
	By     bool            // whether flags say what limits count by
	Now    limit.Time      // when the program was started
	Known  network.Known   // what files of the user tell of addresses
	Rules  *evidence.Rules // of what browsers do; nil: evidence.DefaultRules
}

// byActions reports whether a limit by this key counts by action.
func byActions(key request.Key) bool { return key.ByActions() }

// seen holds what all lookers share.
type seen struct {
	Options
	all     intern.PagedSlice[client]
	total   int64             // requests
	actions []int64           // requests of each action
	sorted  traffic.Timelines // of the batch, by client
	census  *who.Census       // once the log is read
	twice   bool              // whether lines are in the log twice, likewise
	proxied bool              // whether most clients are proxies, likewise
}

// anonymous counts the requests that lack what clients are told apart by.
func (l *seen) anonymous() int64 {
	id, known := l.Read.Tables.Clients.Find([]byte("-"))
	if !known || int(id) >= l.all.Len() {
		return 0
	}
	return l.all.At(id).requests()
}

// byAddress reports whether clients are whole addresses.
func (l *seen) byAddress() bool {
	_, _, cut := l.Read.Clients.Prefixes()
	return l.Read.Clients.IsAddress() && !cut
}

// is returns who a client is.
func (l *seen) is(id int32) who.Identity { return l.census.Identities.Of(id) }

// senders counts the clients that sent a request.
func (l *seen) senders() (n int64) {
	for id := range int32(l.all.Len()) {
		if l.all.At(id).requests() > 0 {
			n++
		}
	}
	return n
}

// A looker looks for findings of one kind. It sees all requests that count once, piece by piece of batches; its memory
// may grow with distinct clients, never with requests.
type looker interface {
	take(b *traffic.Batch, from, to int) // the rows from … to−1; must not keep b
	find(s *ingest.Stats) []Finding
}

// piece is the number of rows that one looker after the other takes: so few that their clients stay in the caches.
const piece = 1 << 8

// silent is embedded by lookers that go by the statistics alone.
type silent struct{}

func (silent) take(*traffic.Batch, int, int) {}

// lookers make those of all kinds.
var lookers = []func(*seen) looker{
	func(*seen) looker { return copies{} },
	func(all *seen) looker {
		return &doubled{seen: all, inputs: map[spell]int64{}, pairs: map[uint64]int64{}}
	},
	func(all *seen) looker {
		return &repeated{seen: all, before: map[moment]came{}, shown: map[int32]uint8{}}
	},
	func(*seen) looker { return notHTTP{} },
	func(all *seen) looker { return &anonymous{seen: all} },
	func(all *seen) looker { return &agents{seen: all} },
	func(all *seen) looker { return &folded{seen: all, counts: slices.ContainsFunc(all.Keys, byActions)} },
	func(all *seen) looker { return &sample{seen: all} },
	func(all *seen) looker { return &clock{seen: all} },
	func(all *seen) looker { return &days{seen: all} },
	func(all *seen) looker { return &stamps{seen: all} },
	func(all *seen) looker { return &clients{seen: all} },
	func(all *seen) looker { return &enforced{seen: all} },
	func(all *seen) looker { return &networks{seen: all, checked: map[claim]uint32{}} },
	func(all *seen) looker { return &keyless{seen: all} },
	func(all *seen) looker { return &partial{seen: all} },
}

// A Look gathers findings while a log is read.
type Look struct {
	seen
	lookers []looker
	who     *who.Observer
}

// New returns a Look that has seen nothing.
func New(o Options) *Look {
	l := &Look{seen: seen{Options: o}}
	l.who = who.New(who.Options{Tables: o.Read.Tables, Rules: o.Rules, Addresses: l.byAddress(), Known: o.Known})
	for _, looker := range lookers {
		l.lookers = append(l.lookers, looker(&l.seen))
	}
	return l
}

// Take looks at a batch. Requests that only warm limits make no finding.
func (l *Look) Take(b *traffic.Batch) {
	if b.Warm {
		return
	}
	l.all.Grow(l.Read.Tables.Clients.Len())
	l.total += int64(b.Len())
	l.actions = append(l.actions, make([]int64, max(0, l.Read.Tables.Actions.Len()-len(l.actions)))...)
	for _, action := range b.Action {
		l.actions[action]++
	}
	l.sorted.Take(b, l.Read.Tables)
	l.who.Take(b, &l.sorted.Group)
	for from := 0; from < b.Len(); from += piece {
		for _, looker := range l.lookers {
			looker.take(b, from, min(from+piece, b.Len()))
		}
	}
}

// Population returns how many requests count, and how many clients sent them.
func (l *Look) Population() (requests, clients int64) { return l.total, l.senders() }

// Timelines returns those of the batch that was taken in last, by client; by other keys nil.
func (l *Look) Timelines(by request.Key) *traffic.Timelines {
	if by != request.ByClient {
		return nil
	}
	return &l.sorted
}

// OfAction returns how many requests are of an action, by its id.
func (l *Look) OfAction(id int32) int64 {
	if id < 0 || int(id) >= len(l.actions) {
		return 0
	}
	return l.actions[id]
}

// Anonymous returns how many requests lack what clients are told apart by.
func (l *Look) Anonymous() int64 { return l.anonymous() }

// Findings returns what was found in a log that has been read, the gravest first. Of a log without a request that
// counts there is nothing to say.
func (l *Look) Findings(s *ingest.Stats) []Finding {
	l.census = l.who.Identify(s.SiteHosts)
	found := []Finding{}
	for _, looker := range l.lookers {
		found = append(found, looker.find(s)...)
	}
	slices.SortStableFunc(found, ByEffect)
	return found
}

// Census returns who the clients are. Findings must have been called.
func (l *Look) Census() *who.Census { return l.census }
