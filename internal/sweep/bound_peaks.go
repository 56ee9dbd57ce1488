package sweep

import (
	"cmp"
	"math"
	"slices"

	"shadow/internal/traffic/intern"
	"shadow/limit"
)

// peaks finds D, for each number of requests that is tried. It notes when protected clients sent requests, and then
// finds of each client the least time for so many. What others sent with the same key does not count: a limit that does
// not hit a client has admitted all that this client sent, and nothing is known of the others, nor of warm requests.
type peaks struct {
	bound       *Bound
	who         uint16 // the groups of any goal
	most        int64  // no client sent more, apart from those that may be hit
	tried       []int  // numbers of requests, from 2 to most
	goals       []smallest
	those       []*smallest // of one client, reused
	part, parts int32       // clients that are looked at

	keys  intern.PagedSlice[peakKey]
	ids   map[uint64]int32 // of a key and a client; nil: each key belongs to one client
	pairs intern.PagedSlice[peakPair]
	times arena[limit.Time] // of the requests of each pair; where the key began again, lifeMark
}

// A peakKey says where a key is in time.
type peakKey struct {
	last limit.Time // the latest moment of this life
	life uint32     // how often the key has begun, or begun again
}

// A peakPair is what a client sent of a key.
type peakPair struct {
	client int32
	life   uint32 // of the key, at the latest request
	block  uint32 // in times
	n      uint32
	class  uint8
}

// A peakClient is what one client sent. Those who sent most come first: theirs are most of the smallest times, and of the
// others few need a closer look.
type peakClient struct {
	pairs    []*peakPair
	requests uint32
}

// lifeMark stands between times where a key began again.
const lifeMark limit.Time = math.MinInt64

// A smallest keeps the smallest times of the clients of a goal, for each number of requests that is tried: as many as
// may be hit, and one more.
type smallest struct {
	who  uint16
	keep int
	of   [][]limit.Time // heaps, the largest on top
}

// exactUpTo is up to how many requests every number is tried. Above, 128 are while the number grows by a factor of e.
// Of those between two of them a limit may have to admit as many as the smaller, in the time of the larger.
const exactUpTo = 512

// newPeaks looks for the times of up to most requests.
func newPeaks(d *Bound, goals []smallest, most int64) *peaks {
	p := &peaks{bound: d, goals: goals, most: most}
	for n := int64(2); n < most; n += max(1, 4*n/d.exact) {
		p.tried = append(p.tried, int(n))
	}
	if most > 1 {
		p.tried = append(p.tried, int(most))
	}
	for _, share := range d.shares {
		share.goals = slices.Clone(goals)
		p.empty(share.goals)
	}
	p.empty(goals)
	return p
}

// empty makes room for the times of goals.
func (p *peaks) empty(goals []smallest) {
	for i := range goals {
		p.who |= goals[i].who
		goals[i].of = make([][]limit.Time, len(p.tried))
	}
}

func (p *peaks) begin(part, parts int32) {
	p.part, p.parts = part, parts
	if p.bound.options.By.Shared() {
		p.ids = map[uint64]int32{}
	}
}

func (p *peaks) grow(keys, _ int) {
	p.keys.Grow(keys)
	if p.ids == nil {
		p.pairs.Grow(keys)
	}
}

func (p *peaks) wants(client int32) bool {
	return client%p.parts == p.part && p.bound.in(p.who, client)
}

// judge notes the requests of protected clients.
func (p *peaks) judge(s *segment) {
	k, b := p.keys.At(s.key), &p.bound.handful.batch
	if k.life == 0 {
		p.release(s.key)
	}
	var pair *peakPair // of the client before
	for i, t := range s.at {
		row := s.rows[i]
		if b.Seq != nil && b.Seq[row] != b.At[row] { // where a request came too late, limits may have forgotten the key
			p.release(s.key)
		}
		k.last = max(k.last, t) // a request out of order counts as the last one
		if client := s.clients[row]; !s.warm && p.wants(client) {
			if pair == nil || pair.client != client {
				pair = p.pairOf(s.key, client)
			}
			if pair.life != k.life && pair.n > 0 {
				p.add(pair, lifeMark)
			}
			pair.life = k.life
			p.add(pair, k.last)
		}
	}
}

// pairOf returns what a client sent of a key.
func (p *peaks) pairOf(key, client int32) *peakPair {
	id := key
	if p.ids != nil {
		both := uint64(key)<<32 | uint64(client)
		known, found := p.ids[both]
		if id = known; !found {
			id = int32(len(p.ids))
			p.ids[both] = id
			p.pairs.Grow(len(p.ids))
		}
	}
	pair := p.pairs.At(id)
	pair.client = client
	return pair
}

// add adds a time, or a mark.
func (p *peaks) add(pair *peakPair, t limit.Time) {
	pair.class, pair.block = p.times.extend(pair.class, pair.block, pair.n)
	p.times.at(pair.class, pair.block)[pair.n] = t
	pair.n++
}

// release has a key begin again.
func (p *peaks) release(key int32) {
	k := p.keys.At(key)
	*k = peakKey{last: math.MinInt64, life: k.life + 1}
}

// end finds the times of the clients of this part.
func (p *peaks) end() {
	order := make([]uint64, 0, p.pairs.Len()) // pairs, by client
	for id := range int32(p.pairs.Len()) {
		if pair := p.pairs.At(id); pair.n > 0 {
			order = append(order, uint64(pair.client)<<32|uint64(id))
		}
	}
	slices.Sort(order)
	pairs, clients := make([]*peakPair, 0, len(order)), make([]peakClient, 0, len(order))
	for i, one := range order {
		pair := p.pairs.At(int32(uint32(one)))
		pairs = append(pairs, pair)
		if i == 0 || pairs[i-1].client != pair.client {
			clients = append(clients, peakClient{pairs: pairs[i:i]})
		}
		c := &clients[len(clients)-1]
		c.pairs, c.requests = c.pairs[:len(c.pairs)+1], c.requests+pair.n
	}
	slices.SortFunc(clients, func(x, y peakClient) int { return cmp.Compare(y.requests, x.requests) })
	var lives []life
	for _, c := range clients {
		lives = lives[:0]
		for _, pair := range c.pairs {
			lives = appendLives(lives, p.times.at(pair.class, pair.block)[:pair.n])
		}
		p.offer(c.pairs[0].client, lives)
	}
	p.finish()
}

func (p *peaks) finish() {
	p.keys, p.ids, p.pairs, p.times = intern.PagedSlice[peakKey]{}, nil, intern.PagedSlice[peakPair]{}, arena[limit.Time]{}
}

// A life lists when a client sent requests of a key, until the key began again, in the order of time.
type life []limit.Time

// appendLives adds the lives between marks.
func appendLives(lives []life, times []limit.Time) []life {
	for {
		n := slices.Index(times, lifeMark)
		if n < 0 {
			return append(lives, times)
		}
		lives, times = append(lives, times[:n]), times[n+1:]
	}
}

// goalsOf returns the goals of a client, and those of keys that put it together alike.
func (p *peaks) goalsOf(client int32) (those []*smallest) {
	those = p.those[:0]
	group := p.bound.options.Group(client)
	add := func(goals []smallest) {
		for i := range goals {
			if goals[i].who>>group&1 == 1 {
				those = append(those, &goals[i])
			}
		}
	}
	add(p.goals)
	for _, share := range p.bound.shares {
		if share.same[client] {
			add(share.goals)
		}
	}
	p.those = those
	return those
}

// offer holds the times of a client against the smallest, from the largest number of requests on. Of most numbers none
// matters: where at most m requests came in less time than n need to matter, neither do any in between, as fewer need
// no more time.
func (p *peaks) offer(client int32, lives []life) {
	goals := p.goalsOf(client)
	longest := 0
	for _, l := range lives {
		longest = max(longest, len(l))
	}
	upTo := func(most int) int { // index of the largest number that is tried, −1 if all are larger
		i, found := slices.BinarySearch(p.tried, most)
		if !found {
			i--
		}
		return i
	}
	matters := false
	for i := upTo(longest); i >= 0; {
		bar := limit.Time(0)
		for _, g := range goals {
			bar = max(bar, g.bar(i))
		}
		if !matters && bar < limit.Never {
			most := 0
			for _, l := range lives {
				most = max(most, l.most(bar))
			}
			if most < p.tried[i] {
				i = upTo(most)
				continue
			}
		}
		took := limit.Never
		for _, l := range lives {
			took = min(took, l.least(p.tried[i]))
		}
		if matters = took < bar; matters {
			for _, g := range goals {
				g.offer(i, took)
			}
			i--
		}
	}
}

// join adds what was found of clients that another key looks at.
func (p *peaks) join(goals []smallest) {
	for j := range goals {
		for i, times := range goals[j].of {
			for _, took := range times {
				p.goals[j].offer(i, took)
			}
		}
	}
}

// least is the least time in which n requests came.
func (l life) least(n int) limit.Time {
	least := limit.Never
	if n > len(l) {
		return least
	}
	ends := l[n-1:]
	begins := l[:len(ends)]
	for i := range begins {
		least = min(least, ends[i]-begins[i])
	}
	return least
}

// most returns the most requests that came in less than some time.
func (l life) most(within limit.Time) (most int) {
	begin := 0
	for i, at := range l {
		for begin <= i && at-l[begin] >= within {
			begin++
		}
		most = max(most, i+1-begin)
	}
	return most
}

// bar is the time below which one matters.
func (g *smallest) bar(i int) limit.Time {
	if len(g.of[i]) < g.keep {
		return limit.Never
	}
	return g.of[i][0]
}

// offer keeps a time if it is among the smallest.
func (g *smallest) offer(i int, took limit.Time) {
	heap := g.of[i]
	if len(heap) < g.keep {
		heap = append(heap, took)
		at := len(heap) - 1
		for ; at > 0 && heap[(at-1)/2] < took; at = (at - 1) / 2 {
			heap[at] = heap[(at-1)/2]
		}
		heap[at], g.of[i] = took, heap
		return
	}
	if took >= heap[0] {
		return
	}
	at := 0
	for {
		child := 2*at + 1
		if child+1 < len(heap) && heap[child+1] > heap[child] {
			child++
		}
		if child >= len(heap) || heap[child] <= took {
			break
		}
		heap[at] = heap[child]
		at = child
	}
	heap[at] = took
}

// steps are D of the numbers that were tried. Behind the last any limit may refuse.
func (p *peaks) steps() (steps []BoundStep) {
	for i, n := range p.tried {
		within := limit.Never
		for j := range p.goals {
			within = min(within, p.goals[j].bar(i))
		}
		steps = append(steps, BoundStep{int64(n), within})
	}
	return steps
}
