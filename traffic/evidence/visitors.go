package evidence

import (
	"math/bits"
	"math/rand/v2"

	"shadow/limit"
	"shadow/request"
	"shadow/traffic"
	"shadow/traffic/intern"
	"shadow/traffic/useragent"
)

// Behind one address there may be an office, and one scraper may have a thousand. So that keys can be held against each
// other, people are counted in a unit that belongs to none of them: whoever the log can tell apart at all.

// A Visitor is one client with one user agent, and with one user, where the log tells users.
type Visitor struct {
	Client int32  // Tables.Clients
	User   int32  // Tables.Users, or NoUser
	Agent  uint16 // Tables.Agents
}

// Visitors gives each visitor that occurs a dense id. The zero value has seen nobody.
type Visitors struct {
	Requests intern.PagedSlice[int64] // by visitor; those that only warm limits do not count

	who    intern.PagedSlice[Visitor] // by id
	before intern.PagedSlice[int32]   // by id: the visitor of its client that was new before it, +1; 0: none
	newest intern.PagedSlice[clientVisitors]
	many   visitorTable               // those of clients with more than fewVisitors
	own    intern.PagedSlice[Summary] // by id: what the visitor did; empty if batches have no traces
	shared sharedClients
	agents []uint16      // by agent: the set that holds a browser; none for other agents
	group  traffic.Group // for evidence, whose requests must come in time order
}

// Take gives a batch its column of visitors, and counts its requests.
func (v *Visitors) Take(b *traffic.Batch, t *traffic.Tables) {
	v.find(b)
	if b.Warm {
		return
	}
	for _, id := range b.Visitor {
		*v.Requests.At(id)++
	}
	if b.Traces != nil {
		v.gather(b, t)
	}
}

// Look gives a batch that comes again its column, if that was not kept, and counts nothing.
func (v *Visitors) Look(b *traffic.Batch) {
	if len(b.Visitor) < len(b.Client) {
		v.find(b)
	}
}

// find makes the column of a batch.
func (v *Visitors) find(b *traffic.Batch) {
	b.Visitor = b.Visitor[:0]
	for row, client := range b.Client {
		user := int32(traffic.NoUser)
		if b.User != nil {
			user = b.User[row]
		}
		b.Visitor = append(b.Visitor, v.id(Visitor{Client: client, User: user, Agent: b.Agent[row]}))
	}
}

// clientVisitors are those of a client.
type clientVisitors struct {
	latest, newest int32 // the one that came last, mostly it comes again; and the one that was new last, +1; 0: none
	n              int32
}

// fewVisitors of a client are looked through one by one. Most clients have no more.
const fewVisitors = 8

func (v *Visitors) id(who Visitor) int32 {
	v.newest.Grow(int(who.Client) + 1)
	of := v.newest.At(who.Client)
	if of.latest > 0 && *v.who.At(of.latest - 1) == who {
		return of.latest - 1
	}
	id, known := int32(0), false
	if of.n > fewVisitors {
		id, known = v.many.find(who, v)
	} else {
		for next := of.newest; next > 0 && !known; next = *v.before.At(id) {
			id = next - 1
			known = *v.who.At(id) == who
		}
	}
	if !known {
		id = v.add(who, of)
	}
	of.latest = id + 1
	return id
}

// add adds a new visitor to those of its client.
func (v *Visitors) add(who Visitor, of *clientVisitors) int32 {
	id := int32(v.Len())
	v.who.Grow(v.Len() + 1)
	v.before.Grow(v.Len())
	v.Requests.Grow(v.Len())
	*v.who.At(id), *v.before.At(id) = who, of.newest
	of.newest = id + 1
	of.n++
	switch {
	case of.n < fewVisitors+1:
	case of.n > fewVisitors+1:
		v.many.add(id, v)
	default:
		for next := of.newest; next > 0; next = *v.before.At(next - 1) {
			v.many.add(next-1, v)
		}
	}
	return id
}

// A visitorTable finds ids of visitors, by open addressing. At most half of its slots are taken.
type visitorTable struct {
	slots []int32 // ids + 1; a power of two
	n     int
}

// firstSlots is how many slots there are at first.
const firstSlots = 64

// slot is where a visitor lies, or the free slot where it would.
func (t *visitorTable) slot(who Visitor, v *Visitors) *int32 {
	const mix = 0x9E3779B97F4A7C15 // 2⁶⁴ divided by the golden ratio
	high, low := bits.Mul64(uint64(who.Client)<<32|uint64(uint32(who.User))^visitorSeed, mix)
	high, low = bits.Mul64(high^low^uint64(who.Agent)<<48, mix)
	mask := uint64(len(t.slots) - 1)
	for i := high ^ low; ; i++ {
		if s := &t.slots[i&mask]; *s == 0 || *v.who.At(*s - 1) == who {
			return s
		}
	}
}

// visitorSeed makes slots unpredictable: nobody can write a log that makes the table slow.
var visitorSeed = rand.Uint64()

func (t *visitorTable) find(who Visitor, v *Visitors) (id int32, known bool) {
	if t.n == 0 {
		return 0, false
	}
	slot := *t.slot(who, v)
	return slot - 1, slot > 0
}

// add adds a visitor that is not in the table.
func (t *visitorTable) add(id int32, v *Visitors) {
	if 2*t.n >= len(t.slots) {
		old := t.slots
		t.slots = make([]int32, max(firstSlots, 2*len(old)))
		for _, slot := range old {
			if slot > 0 {
				*t.slot(*v.who.At(slot - 1), v) = slot
			}
		}
	}
	t.n++
	*t.slot(*v.who.At(id), v) = id + 1
}

// gather adds the batch to the evidence.
func (v *Visitors) gather(b *traffic.Batch, t *traffic.Tables) {
	v.own.Grow(v.Len())
	for id := len(v.agents); id < t.Agents.Len(); id++ {
		v.agents = append(v.agents, t.Agents.BrowserSet(int32(id)))
	}
	v.group.Sort(b, b.Client, t.Clients.Len())
	v.shared.gather(b, v, t.Clients.Len())
	v.group.Sort(b, b.Visitor, v.Len())
	v.group.Each(func(visitor int32, row int32, at limit.Time) {
		v.own.At(visitor).Add(at, b.Status[row], v.agents[b.Agent[row]], b.Traces[row])
	})
}

// Forget forgets what visitors did. Who they are stays known.
func (v *Visitors) Forget() { v.own, v.shared = intern.PagedSlice[Summary]{}, sharedClients{} }

// sharedClients are what all browsers of each client did. Of most clients there is one browser, which did all of it.
type sharedClients struct {
	of        intern.PagedSlice[int32] // by client: 0: no browser; v+1: visitor v only; −1−i: summary i
	summaries intern.PagedSlice[Summary]
}

// gather adds the requests of a batch, of which v.group has the timelines by client. It comes before they are added to
// what their visitors did.
func (s *sharedClients) gather(b *traffic.Batch, v *Visitors, clients int) {
	s.of.Grow(clients)
	v.group.Each(func(client int32, row int32, at limit.Time) {
		if v.agents[b.Agent[row]] == 0 {
			return
		}
		switch of, visitor := s.of.At(client), b.Visitor[row]; {
		case *of == 0:
			*of = visitor + 1
		case *of > 0 && *of != visitor+1:
			s.summaries.Grow(s.summaries.Len() + 1)
			*s.summaries.At(int32(s.summaries.Len() - 1)) = *v.own.At(*of - 1)
			*of = int32(-s.summaries.Len())
		}
	})
	v.group.Each(func(client int32, row int32, at limit.Time) {
		if set := v.agents[b.Agent[row]]; set != 0 && *s.of.At(client) < 0 {
			s.summaries.At(-*s.of.At(client)-1).Add(at, b.Status[row], set, b.Traces[row])
		}
	})
}

// summary is what all browsers of a client did: nothing, if it has none or only warmed limits.
func (s *sharedClients) summary(client int32, own *intern.PagedSlice[Summary]) *Summary {
	if int(client) >= s.of.Len() {
		return new(Summary)
	}
	switch of := *s.of.At(client); {
	case of > 0:
		return own.At(of - 1)
	case of < 0:
		return s.summaries.At(-of - 1)
	}
	return new(Summary)
}

// Len is the number of visitors; the ids are 0 … Len−1.
func (v *Visitors) Len() int { return v.who.Len() }

// At is the visitor with an id.
func (v *Visitors) At(id int32) Visitor { return *v.who.At(id) }

// Classes are those of the visitors' agents, by id. Where evidence was gathered, who claims to be a browser and does what
// no browser does is of class unknown. So is a visitor that shows too little by itself, if all browsers of its client
// together do so: who comes with another agent each time is many visitors of few requests.
func (v *Visitors) Classes(agents *useragent.Agents, rules *Rules) []request.Class {
	classes := make([]request.Class, v.Len())
	for id := range classes {
		classes[id] = agents.Class(int32(v.At(int32(id)).Agent))
	}
	if rules == nil || v.own.Len() == 0 {
		return classes
	}
	own, clients := assessor{rules: rules}, assessor{rules: rules}
	for id := range int32(v.own.Len()) {
		own.baseline.Add(v.own.At(id))
	}
	for client := range int32(v.shared.of.Len()) {
		clients.baseline.Add(v.shared.summary(client, &v.own))
	}
	for id := range v.own.Len() {
		if classes[id] != request.Browser {
			continue
		}
		verdict := own.verdict(v.own.At(int32(id)))
		if verdict == Undecided {
			verdict = clients.verdict(v.shared.summary(v.At(int32(id)).Client, &v.own))
		}
		if verdict == Bot {
			classes[id] = request.Unknown
		}
	}
	return classes
}

// An assessor judges browsers by their evidence and what is usual among all of them.
type assessor struct {
	rules    *Rules
	baseline SiteBaseline
}

func (a *assessor) verdict(e *Summary) Verdict {
	return a.rules.Assess(e, request.Browser, &a.baseline).Verdict
}
