package sweep

import (
	"math"
	"math/bits"
	"slices"

	"shadow/internal/traffic/intern"
	"shadow/limit"
)

// The high bounds of the token buckets of some rates, as in limit.Bounds: a request counts as if it came with the one
// that is judged, until its span is over, the slack after its stamp, and from then on as if it had come at that end.
// So the levels are those of ordinary buckets, by the slack late, and the requests whose spans are not over come on
// top, each a token.
//
// Stamps in whole seconds have a slack of a second. So the requests whose spans are not over mostly have one stamp, that
// of the last. Where no burst is chosen, which would have to know of each request whether it was admitted, such a run is a
// number and not a queue.
type lagging struct {
	rates []*tokenRate
	slack uint64 // microseconds
	plain bool   // whether no burst is chosen
	keys  intern.PagedSlice[keyLag]
	queue arena[uint64]
	admit []uint64 // by rate: which bursts admit the request at hand, a word for 64
	runs  []run    // of the segment at hand
}

// A keyLag holds the pending requests of a key, whose spans are not over. The zero keyLag is a key never seen.
type keyLag struct {
	now   uint64 // its latest moment as an ordinal; 0: never seen
	over  uint64 // the stamp of the last request whose span is over; 0: there was none
	last  uint32 // requests stamped now, if size is 0
	block uint32 // in queue, if held: the stamp of each request, and which bursts have admitted it
	head  uint32 // the oldest
	size  uint32 // requests
	class uint8
	held  bool
}

// A run is requests of one stamp, all that are not over with the last of them.
type run struct {
	charged  uint32 // requests whose spans are over with it
	gap      uint64 // from those whose spans were over before to these
	rest     uint64 // from the end of their spans to the run
	requests uint64
}

// newLagging makes the high bounds of buckets that have seen nothing.
func newLagging(rates []*tokenRate, slack uint64) *lagging {
	for _, r := range rates {
		r.levelClass = classFor(max(1, 2*len(r.bursts)))
	}
	plain := !slices.ContainsFunc(rates, func(r *tokenRate) bool { return len(r.bursts) > 0 })
	return &lagging{rates: rates, slack: slack, plain: plain}
}

// words returns how many words an entry of the queue takes.
func (l *lagging) words() int {
	n := 1
	for _, r := range l.rates {
		n += r.words()
	}
	return n
}

// words returns how many words it takes to have a bit for each burst.
func (r *tokenRate) words() int { return (len(r.bursts) + 63) / 64 }

func (l *lagging) grow(keys, clients int) {
	l.keys.Grow(keys)
	for _, r := range l.rates {
		r.grow(keys, clients)
	}
}

func (l *lagging) judge(p *segment) {
	if p.warm {
		return // see Options.Rates
	}
	k, words := l.keys.At(p.key), l.words()
	from := 0 // the requests that are no runs
	if l.plain && k.size == 0 {
		from = l.findRuns(k, p.at)
		l.judgeRuns(p)
	}
	for ; from < len(p.at) && k.last > 0; k.last-- {
		l.push(k, words)[0] = k.now
	}
	for j, at := range p.at[from:] {
		k.now = max(k.now, ordinal(at)) // a request out of order counts as the last one
		l.pass(k, p.key, words)
		rest := uint64(0)
		if k.over != 0 && k.now-k.over > l.slack {
			rest = k.now - k.over - l.slack
		}
		l.admit = l.admit[:0]
		for _, r := range l.rates {
			l.admit = r.ask(l.admit, p, from+j, rest, k.size)
		}
		entry := l.push(k, words)
		entry[0] = k.now
		copy(entry[1:], l.admit)
	}
}

// findRuns puts the requests at some times into runs, up to the first that sees an earlier stamp. It returns how many.
func (l *lagging) findRuns(k *keyLag, at []limit.Time) int {
	l.runs = l.runs[:0]
	for i, t := range at {
		now := max(k.now, ordinal(t)) // a request out of order counts as the last one
		if now == k.now && len(l.runs) > 0 {
			k.last++
			l.runs[len(l.runs)-1].requests++
			continue
		}
		r := run{requests: 1}
		switch {
		case now == k.now:
			r.requests += uint64(k.last)
		case now-k.now < l.slack && k.last > 0:
			return i
		default:
			if r.charged = k.last; k.last > 0 {
				if k.over != 0 {
					r.gap = k.now - k.over
				}
				k.over = k.now
			}
			k.now, k.last = now, 0
		}
		if k.over != 0 && now-k.over > l.slack {
			r.rest = now - k.over - l.slack
		}
		k.last++
		l.runs = append(l.runs, r)
	}
	return len(at)
}

// judgeRuns has the buckets of a key take in runs.
func (l *lagging) judgeRuns(p *segment) {
	if len(l.runs) == 0 {
		return
	}
	for _, r := range l.rates {
		backlog, peak := r.backlogs.At(p.key), uint64(0)
		level := *backlog
		for i := range l.runs {
			run := &l.runs[i]
			if run.charged > 0 {
				level = r.refill(level, run.gap)
				level = r.take(level, uint64(run.charged))
			}
			peak = max(peak, r.with(r.refill(level, run.rest), run.requests))
		}
		*backlog = level
		r.reach(p, peak)
	}
}

// pass charges the requests whose spans are over.
func (l *lagging) pass(k *keyLag, key int32, words int) {
	for k.size > 0 {
		entry := l.queue.at(k.class, k.block)[int(k.head)*words:][:words]
		if k.now-entry[0] < l.slack {
			return
		}
		gap := uint64(0)
		if k.over != 0 {
			gap = entry[0] - k.over
		}
		k.over = entry[0]
		admitted := entry[1:]
		for _, r := range l.rates {
			r.charge(key, gap, admitted)
			admitted = admitted[r.words():]
		}
		k.head++
		k.size--
	}
	k.head = 0
}

// push makes room for one more request.
func (l *lagging) push(k *keyLag, words int) []uint64 {
	end := int(k.head+k.size+1) * words
	if !k.held || end > roomOf(k.class) {
		class := classFor((int(k.size) + 1) * words)
		if k.held && class <= k.class {
			class = k.class
		}
		block := l.queue.take(class)
		if k.held {
			old := l.queue.at(k.class, k.block)
			copy(l.queue.at(class, block), old[int(k.head)*words:int(k.head+k.size)*words])
			l.queue.give(k.class, k.block)
		}
		k.block, k.class, k.head, k.held = block, class, 0, true
	}
	k.size++
	return l.queue.at(k.class, k.block)[int(k.head+k.size-1)*words:][:words]
}

func (l *lagging) release(key int32) {
	k := l.keys.At(key)
	if k.held {
		l.queue.give(k.class, k.block)
	}
	*k = keyLag{}
	for _, r := range l.rates {
		r.release(key)
	}
}

func (l *lagging) finish() {
	l.keys, l.queue = intern.PagedSlice[keyLag]{}, arena[uint64]{}
	for _, r := range l.rates {
		r.finish()
	}
}

// charge has the buckets of a key take in a request whose span is over, gap after the last such one. Where buckets
// are apart, levels hold one number more for each burst: how many requests it has admitted whose spans are not over.
func (r *tokenRate) charge(key int32, gap uint64, admitted []uint64) {
	backlog := r.backlogs.At(key)
	*backlog = r.take(r.refill(*backlog, gap), 1)
	if len(r.bursts) == 0 || r.aparts.At(key).n == 0 {
		return
	}
	levels := r.levels.at(r.levelClass, r.aparts.At(key).block)
	waiting := levels[len(r.bursts):]
	for i := range r.bursts {
		levels[i] = r.refill(levels[i], gap)
		if admitted[i/64]>>(i%64)&1 != 0 {
			levels[i] += r.token
			waiting[i]--
		}
	}
}

// ask has the buckets of a key judge a request, rest after the last one whose span is over, with so many requests
// between. It appends which bursts admit it.
func (r *tokenRate) ask(admitted []uint64, p *segment, j int, rest uint64, between uint32) []uint64 {
	level := *r.backlogs.At(p.key)
	backlog := r.with(r.refill(level, rest), uint64(between)+1)
	r.reach(p, backlog)
	from := len(admitted)
	for range r.words() {
		admitted = append(admitted, math.MaxUint64)
	}
	if len(r.bursts) == 0 {
		return admitted
	}
	k := r.aparts.At(p.key)
	if k.n == 0 {
		if backlog <= r.bursts[0] {
			return admitted
		}
		r.part(k, level, between)
	}
	levels := r.levels.at(r.levelClass, k.block)
	waiting, apart := levels[len(r.bursts):], false
	for i, burst := range r.bursts {
		if r.with(r.refill(levels[i], rest), waiting[i]+1) <= burst {
			waiting[i]++
		} else {
			admitted[from+i/64] &^= 1 << (i % 64)
			r.refuse(p.clients[p.rows[j]], i, 1)
		}
		apart = apart || levels[i] != level || waiting[i] != uint64(between)+1
	}
	if !apart {
		r.levels.give(r.levelClass, k.block)
		k.n = 0
	}
	return admitted
}

// with is a level and some requests, or more than any bucket holds.
func (r *tokenRate) with(level, requests uint64) uint64 {
	over, more := bits.Mul64(requests, r.token)
	sum, carry := bits.Add64(level, more, 0)
	if over != 0 || carry != 0 {
		return math.MaxUint64
	}
	return sum
}

// part gives each burst a level of its own.
func (r *tokenRate) part(k *keyApart, level uint64, between uint32) {
	k.block, k.n = r.levels.take(r.levelClass), uint32(len(r.bursts))
	levels := r.levels.at(r.levelClass, k.block)
	for i := range r.bursts {
		levels[i], levels[len(r.bursts)+i] = level, uint64(between)
	}
}
