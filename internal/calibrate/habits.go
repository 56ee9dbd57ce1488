package calibrate

import (
	"math"
	"math/rand/v2"
	"slices"

	"shadow/internal/request"
	"shadow/limit"
)

// Habits of clients, try by try: a client has its own as far as enough of it is known, else that of clients like it.

// A Habit is what clients do with refused requests, try by try.
type Habit struct{ tries []try }

// A try is what became of requests refused for the nth time.
type try struct {
	refused int64
	after   []limit.Time // of those that came again
}

// share is the part of the requests that came again.
func (t *try) share() float64 { return float64(len(t.after)) / float64(max(1, t.refused)) }

// enough is the number of refusals of a try from which its client's own habit counts, rather than that of clients like
// it; few is the least from which theirs does.
const (
	enough = 10
	few    = 3
)

// stubborn is the number of tries known of which nearly all came again, after which a client is taken never to give up.
const stubborn = 8

func (h *Habit) at(n int) *try {
	for len(h.tries) <= n {
		h.tries = append(h.tries, try{})
	}
	return &h.tries[n]
}

func (h *Habit) add(o *Habit) {
	for n := range o.tries {
		t := h.at(n)
		t.refused += o.tries[n].refused
		t.after = append(t.after, o.tries[n].after...)
	}
}

func (t *try) draw(random *rand.Rand) (after limit.Time, again bool) {
	i := random.Int64N(t.refused)
	if i >= int64(len(t.after)) {
		return 0, false
	}
	return t.after[i], true
}

// A pool is clients that behave alike.
type pool struct {
	class   request.Class
	clients int
	habit   Habit
	overlap overlap
}

// A likeness is what clients of a pool have in common: their class, how often their refused requests come back at
// first, and after how long, by powers of two of a millisecond.
type likeness struct {
	class  request.Class
	inTurn bool // as far as known
	again  int
	wait   int
}

func (h *Habit) likeness(class request.Class) likeness {
	l, t := likeness{class: class}, &h.tries[0]
	if l.again = int(t.share()*2 + 0.2); l.again > 0 { // below 0.4, below 0.9, or above
		l.wait = octave(median(t.after))
	}
	return l
}

func octave(wait limit.Time) int {
	return int(math.Round(math.Log2(float64(1 + wait/limit.Millisecond))))
}

// gather makes pools of the clients of which enough is known, and one of the others of each class. A client of which
// little is known goes by the pool that most likely does as it did, one that was never refused by none.
func (d *Demand) gather() {
	pools := map[likeness]*pool{}
	var sparse []*client
	for i := range d.clients {
		c := &d.clients[i]
		l := likeness{class: d.requests.Class[c.jobs[0].row], again: -1}
		switch n := c.habit.first(); {
		case n == 0:
			continue
		case n < enough:
			sparse = append(sparse, c)
		default:
			l = c.habit.likeness(l.class)
			l.inTurn = c.overlap.known() && c.overlap.inTurn()
		}
		if pools[l] == nil {
			pools[l] = &pool{class: l.class}
			d.pools = append(d.pools, pools[l])
		}
		pools[l].take(c)
	}
	for _, c := range sparse {
		likely := math.Inf(-1)
		for _, p := range d.pools {
			if like := p.likely(c, d.requests.Class[c.jobs[0].row]); like > likely {
				c.like, likely = p, like
			}
		}
	}
}

// first is the number of requests that were refused for the first time.
func (h *Habit) first() int64 {
	if len(h.tries) == 0 {
		return 0
	}
	return h.tries[0].refused
}

// take has a client go by a pool, which learns from it.
func (p *pool) take(c *client) {
	c.like = p
	p.clients++
	p.habit.add(&c.habit)
	p.overlap.add(c.overlap)
}

// likely is the logarithm of how likely a client of the pool does as c, up to a constant.
func (p *pool) likely(c *client, class request.Class) float64 {
	const unlikely = 5 // another class, or another way to want things
	first, t := &p.habit.tries[0], &c.habit.tries[0]
	share := (float64(len(first.after)) + 0.5) / (float64(first.refused) + 1)
	again := float64(len(t.after))
	like := math.Log(float64(p.clients)) + again*math.Log(share) + (float64(t.refused)-again)*math.Log(1-share)
	if again > 0 && len(first.after) > 0 {
		usual := octave(median(first.after))
		for _, wait := range t.after {
			like -= math.Abs(float64(octave(wait) - usual))
		}
	}
	if class != p.class {
		like -= unlikely
	}
	if c.overlap.known() && p.overlap.known() && c.overlap.inTurn() != p.overlap.inTurn() {
		like -= unlikely
	}
	return like
}

func median(all []limit.Time) limit.Time {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
