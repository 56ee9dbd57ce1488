package sweep

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/match"
	"shadow/limit"
)

// The limit of a policy, for every N. Its requests may cost more than one, or count for as long as they take, so N may be
// a hundred million bytes, and a histogram by N is too long. There are two looks instead:
//
//	first look ──▶ what clients need ──▶ the N that matter ──▶ second look ──▶ what these refuse
//
// Until a limit refuses for the first time it holds what the largest limit holds: the backlog. So where clients do not
// share a key, N hits just those clients of whose requests one comes to more than N on top of the backlog. What is refused
// is not nested: a larger N may admit a large request, and have no room for many small ones. So each N that matters has a
// level of its own, from the first request on that not all of them admit.

// A WeighedCurve says of each N of the limit of a policy which clients it would hit, and of some what it would refuse.
type WeighedCurve struct {
	Curve
	Subject
}

// A Subject is the limit of a policy.
type Subject struct {
	Policy string      // its name
	By     request.Key // what it counts by
	Text   string      // the limit in words
	Named  []int64     // the N that the configuration has

	Clients Classes // that have a request that the limit may refuse, and that takes some of it
	Hidden  int64   // of these, doubted browsers
	Beyond  int64   // of these, clients that even the largest N may hit
	Most    int64   // the largest N that there can be
}

// Weighed are the limits of a policy that differ in N only.
type Weighed struct {
	Subject
	Shape  Shape
	Action string  // only requests of this action; "" for all
	More   []int64 // further N of which to count what they refuse

	part    policy.Part
	costs   match.Costs
	tables  *traffic.Tables
	unit    int64   // shares in a token, see tokenRate; 1 in a window
	inflow  uint64  // shares that a microsecond brings
	limits  []int64 // those that have levels, in shares, ascending; none in the first look
	levels  []int64 // of these, at the request at hand
	partial bool    // whether needs do not tell which clients an N hits

	timelines traffic.Timelines
	seen      traffic.LastSeen
	now       limit.Time
	keys      intern.PagedSlice[weighedKey]
	needs     intern.PagedSlice[int64] // by client: the smallest N that hits it in no case; 0: not in Subject.Clients

	hits   intern.PagedSlice[uint64] // by client: a bit for each limit that hits it
	points []Point                   // of the limits
	who    func(client int32) member
	action match.ActionIDs // as far as they are known
}

// A weighedKey is what is known of a key.
type weighedKey struct {
	last    uint64         // its latest moment as an ordinal; 0: never seen
	end     uint64         // of a fixed window: its last moment
	backlog int64          // in shares
	levels  []int64        // of the limits; none: all are the backlog
	ring    []weighedEntry // of a rolling window: what it holds, and from head on only
	head    int
}

// A weighedEntry is a request in a rolling window.
type weighedEntry struct {
	at   uint64 // when it came; of a limit on requests under way when it ends, and these are in the order of that
	cost int64
	of   uint64 // a bit for each limit that admitted it, and ofBacklog
}

// limitsAtOnce is the number of limits that have bits in a weighedEntry, beside ofBacklog.
const (
	limitsAtOnce = 63
	ofBacklog    = 1 << limitsAtOnce
)

// NewWeighed returns the limits of the policies of an entry of the configuration, for the first look.
func NewWeighed(of policy.Set, tables *traffic.Tables, lateness limit.Time) (all []*Weighed, err error) {
	for _, p := range of.Policies {
		part := p.Parts[0]
		shape, n, ok := shapeOf(part.Spec)
		if shape.Kind == UnderWay && part.Match != part.Count {
			return nil, fmt.Errorf("policy %q: its limit counts other requests under way than it refuses; shadow replay "+
				"judges each N", of.Name)
		}
		if !ok || len(p.Parts) > 1 {
			return nil, fmt.Errorf("policy %q: a sweep goes over the N of one limit, window:N/W, fixed:N/W, "+
				"token:RATE,burst=N or conn:N, and this one is %s", of.Name, p.Text())
		}
		i := slices.IndexFunc(all, func(w *Weighed) bool { return w.Shape == shape })
		if i < 0 {
			w := &Weighed{Shape: shape, part: part, tables: tables}
			w.Subject = Subject{
				Policy: of.Name, By: part.By, Text: shape.String() + strings.TrimPrefix(part.String(), part.Spec.String()),
			}
			i, all = len(all), append(all, w)
			w.init(lateness)
		}
		all[i].Named = append(all[i].Named, n)
	}
	return all, nil
}

// shapeOf is the shape and the N of a limit, false if a Weighed cannot judge by it.
func shapeOf(spec limit.Spec) (s Shape, n int64, ok bool) {
	args := spec.Args()
	switch spec.Algorithm {
	case "window", "fixed":
		if s, n = (Shape{Kind: Window, Per: spec.Period}), spec.Count; spec.Algorithm == "fixed" {
			s.Kind = Fixed
		}
	case "token":
		s, n = Shape{Kind: Token, Rate: Rate{spec.Count, spec.Period}}, args.Int("burst", spec.Count)
	case "conn":
		s, n = Shape{Kind: UnderWay}, spec.Count
	default:
		return s, 0, false
	}
	return s, n, args.Err() == nil
}

func (w *Weighed) init(lateness limit.Time) {
	w.costs = match.NewCosts(w.part.Costs, w.tables)
	w.action = match.ActionIDs{-1, -1}
	w.timelines.By, w.seen.Lateness, w.now = w.By, lateness, math.MinInt64
	switch w.unit = 1; w.Shape.Kind {
	case Token:
		g := limit.GCD(w.Shape.Rate.Count, int64(w.Shape.Rate.Per))
		w.unit, w.inflow = int64(w.Shape.Rate.Per)/g, uint64(w.Shape.Rate.Count/g)
		w.Most = w.Shape.Rate.MostBurst()
		w.seen.Remember(limit.Never)
	case Window, UnderWay:
		w.Most = limit.MaxRing
		w.seen.Remember(w.part.Limiter.Horizon())
	default:
		w.Most = math.MaxInt64 - 1
		w.seen.Remember(w.Shape.Per)
	}
}

// again returns a second look, at what some limits refuse, at most limitsAtOnce of them.
func (w *Weighed) again(limits []int64, who func(client int32) member) *Weighed {
	second := &Weighed{Subject: w.Subject, Shape: w.Shape, Action: w.Action, part: w.part, tables: w.tables, who: who}
	second.init(w.seen.Lateness)
	for _, n := range limits {
		second.limits = append(second.limits, n*w.unit)
		second.points = append(second.points, Point{Limit: n, Counted: true})
	}
	second.levels = make([]int64, len(limits))
	return second
}

// Take takes in the requests of one batch. Buckets are full at the first that counts.
func (w *Weighed) Take(b *traffic.Batch) {
	if b.Warm && w.Shape.Kind == Token {
		return
	}
	action := actionIDs(w.tables, w.Action)
	if action.Moved(w.action) {
		w.keys, w.needs, w.partial = intern.PagedSlice[weighedKey]{}, intern.PagedSlice[int64]{}, false
	}
	w.action = action
	l := &w.timelines
	l.Take(b, w.tables)
	w.keys.Grow(l.Len)
	w.needs.Grow(w.tables.Clients.Len())
	w.hits.Grow(w.tables.Clients.Len())
	w.seen.Update(b, l)
	resets := w.seen.Resets
	var start int32
	for i, end := range l.Ends {
		for ; start < end; start++ {
			if len(resets) > 0 && resets[0] == start {
				w.release(l.Keys[i])
				resets = resets[1:]
			}
			w.judge(w.keys.At(l.Keys[i]), b, l.Rows[start], l.At[start])
		}
	}
	for _, p := range b.Sequence() {
		w.now = max(w.now, p)
	}
	w.seen.Forget(b.Len(), w.now, w.release)
}

func (w *Weighed) release(key int32) { *w.keys.At(key) = weighedKey{} }

// judge has the limits take in a request, in the way of a policy of one limit: who is asked without being counted leaves
// nothing behind, and what is counted without being asked is charged where there is room.
func (w *Weighed) judge(k *weighedKey, b *traffic.Batch, row int32, t limit.Time) {
	if w.Action != "" && !w.action.Has(b.Action[row]) {
		return
	}
	var marks uint64
	if b.Marks != nil {
		marks = b.Marks[row]
	}
	asked, counted := w.part.Match.Holds(marks), w.part.Count.Holds(marks)
	if !asked && !counted {
		return
	}
	now := ordinal(t)
	if k.last != 0 {
		now = max(now, k.last) // a request out of order counts as the last one
	}
	cost, end := int64(1), now
	if w.Shape.Kind == UnderWay {
		end += uint64(min(w.costs.At(b, row, marks), int64(limit.Day)))
	} else if w.part.Costs != nil {
		cost = w.costs.At(b, row, marks)
	}
	backlog, gone := w.at(k, now)
	none := cost > w.Most || cost*w.unit > w.Most*w.unit-backlog // whether even the largest has no room
	if cost > 0 && asked && !b.Warm {
		need := w.Most + 1
		if !none {
			need = limit.CeilDiv(backlog+cost*w.unit, w.unit)
		}
		its := w.needs.At(b.Client[row])
		*its = max(*its, need)
	}
	// An N that has no room for a request which hits no client has more room for others.
	w.partial = w.partial || cost > 0 && (!asked || b.Warm)
	refusing := w.refusing(k, backlog, cost)
	if refusing != 0 && asked && !b.Warm {
		w.book(b.Client[row], refusing)
	}
	if !counted {
		return
	}
	k.last, k.backlog = now, backlog
	if w.Shape.Kind == Fixed && (k.end == 0 || now > k.end) {
		k.end = lastOf(limit.Time(now-1<<63), w.Shape.Per)
	}
	k.drop(gone)
	w.charge(k, weighedEntry{at: end, cost: cost}, none, refusing)
}

// at is the backlog of a key at some moment, and how many requests have left its rolling window by then. Levels are then those
// at the same moment.
func (w *Weighed) at(k *weighedKey, now uint64) (backlog int64, gone int) {
	copy(w.levels, k.levels)
	each := func(do func(int64) int64) {
		backlog = do(k.backlog)
		if len(k.levels) > 0 {
			for i, level := range k.levels {
				w.levels[i] = do(level)
			}
		}
	}
	switch {
	case k.last == 0:
		return 0, 0
	case w.Shape.Kind == Token:
		high, low := bits.Mul64(now-k.last, w.inflow)
		each(func(level int64) int64 {
			if high != 0 || low >= uint64(level) {
				return 0
			}
			return level - int64(low)
		})
	case w.Shape.Kind == Fixed && now > k.end:
		each(func(int64) int64 { return 0 })
	default:
		return w.left(k, now)
	}
	return backlog, gone
}

// left returns the backlog of a rolling window, or of requests under way, at some moment, and how many have left it by
// then. What they added to levels is taken off.
func (w *Weighed) left(k *weighedKey, now uint64) (backlog int64, gone int) {
	for backlog = k.backlog; k.head+gone < len(k.ring); gone++ {
		e := &k.ring[k.head+gone]
		if w.Shape.Kind == UnderWay && e.at > now || w.Shape.Kind == Window && now-e.at < uint64(w.Shape.Per) {
			break
		}
		if e.of&ofBacklog != 0 {
			backlog -= e.cost
		}
		if len(k.levels) > 0 {
			for of := e.of &^ ofBacklog; of != 0; of &= of - 1 {
				w.levels[bits.TrailingZeros64(of)] -= e.cost
			}
		}
	}
	return backlog, gone
}

// refusing has a bit for each limit that has no room for a cost.
func (w *Weighed) refusing(k *weighedKey, backlog, cost int64) (which uint64) {
	if cost == 0 || len(w.limits) == 0 {
		return 0
	}
	if len(k.levels) == 0 {
		if cost <= w.Most && cost*w.unit <= w.limits[0]-backlog {
			return 0
		}
		for i := range w.levels {
			w.levels[i] = backlog
		}
	}
	for i, most := range w.limits {
		if cost > w.Most || cost*w.unit > most-w.levels[i] {
			which |= 1 << i
		}
	}
	return which
}

// charge adds a request to what has room for it. One that is over at once takes none.
func (w *Weighed) charge(k *weighedKey, e weighedEntry, none bool, refusing uint64) {
	cost := e.cost
	if w.Shape.Kind == UnderWay && e.at == k.last {
		cost = 0
	}
	if cost == 0 {
		copy(k.levels, w.levels)
		return
	}
	switch {
	case len(k.levels) == 0 && (none || refusing != 0):
		k.levels = append(k.levels, w.levels...)
	case len(k.levels) == 0:
	case refusing == 0 && k.backlog == 0 && !slices.ContainsFunc(w.levels, func(level int64) bool { return level > 0 }):
		k.levels = k.levels[:0] // all are the same again
	default:
		copy(k.levels, w.levels)
	}
	of := (uint64(1)<<len(w.limits) - 1) &^ refusing
	if !none {
		k.backlog += cost * w.unit
		of |= ofBacklog
	}
	for i := range k.levels {
		if refusing>>i&1 == 0 {
			k.levels[i] += cost * w.unit
		}
	}
	if (w.Shape.Kind == Window || w.Shape.Kind == UnderWay) && of != 0 {
		e.of = of
		k.ring = append(k.ring, e)
		for i := len(k.ring) - 1; i > k.head && k.ring[i-1].at > e.at; i-- {
			k.ring[i-1], k.ring[i] = k.ring[i], k.ring[i-1]
		}
	}
}

// drop forgets the oldest requests in a rolling window.
func (k *weighedKey) drop(n int) {
	switch k.head += n; {
	case k.head == len(k.ring):
		if k.ring, k.head = k.ring[:0], 0; cap(k.ring) > 64 {
			k.ring = nil
		}
	case k.head > len(k.ring)/2:
		k.ring, k.head = k.ring[:copy(k.ring, k.ring[k.head:])], 0
	}
}

// book notes a request of a client that some limits refuse.
func (w *Weighed) book(client int32, refusing uint64) {
	c, hits := w.who(client), w.hits.At(client)
	for of := refusing; of != 0; of &= of - 1 {
		i := bits.TrailingZeros64(of)
		p := &w.points[i]
		p.Refused[c.class]++
		if c.doubted {
			p.Hidden.Requests++
		}
		if *hits>>i&1 == 0 {
			p.Hit[c.class]++
			if c.doubted {
				p.Hidden.Clients++
			}
		}
	}
	*hits |= refusing
}
