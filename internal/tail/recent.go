package tail

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"shadow/internal/request"
)

// Who is refused of late is counted by name over a span that slides in steps, exactly as long as there is room:
//
//	        <───────── Span ─────────>
//	…│ step │ step │ step │ … │ step │ now     a step is 15 seconds, by the clock of the machine
//
// When more names than there is room for were refused within the span, the half with the fewest refusals are dropped, and
// what the greatest of them had is noted as the loss of this step. A name that comes back after that counts from nothing:
// it may have had up to the losses in the span more than its counter says, and the counter says so (Recent.Missing).

// Span is the time over which clients and actions are counted for a screen; the latest of its steps is not over.
const (
	Span  = spanSteps * spanStep
	steps = int64(spanSteps)

	spanSteps = 20
	spanStep  = 15 * time.Second
)

// recent counts refusals by name over the span.
type recent struct {
	capacity int
	counters map[string]*counter
	cache    [cacheSize]cached
	all      counter
	step     int64            // the number of the latest step
	lost     [spanSteps]int64 // what names dropped in a step had at most
}

// A counter is the refusals of one name.
type counter struct {
	counts [spanSteps]uint32
	sum    int64
	born   int64 // the step in which it was made
	last   lastRefusal
}

// A lastRefusal is when, for what and by what class a client was refused last.
type lastRefusal struct {
	at     time.Duration // when it was told, since the tail began
	action uint16
	class  request.Class // what the agent of the request claims to be
}

// Few names have most refusals, and looking one up takes longer than counting it: the counters of the latest ids are cached.
const cacheSize = 2048

type cached struct {
	id int32
	*counter
}

func newRecent(capacity int) *recent {
	return &recent{capacity: capacity, counters: map[string]*counter{}}
}

// add counts one refusal of a name by its id.
func (r *recent) add(id int32, name func(id int32) string, s lastRefusal) {
	at := &r.cache[id%cacheSize]
	if at.counter == nil || at.id != id {
		c := r.counter(name(id))
		*at = cached{id, c}
	}
	at.last = s
	at.add(r.step)
	r.all.add(r.step)
}

// forget forgets the ids: their names, or counters, have changed.
func (r *recent) forget() { clear(r.cache[:]) }

// counter returns the counter of a name, which is made if there is none.
func (r *recent) counter(name string) *counter {
	c := r.counters[name]
	if c == nil {
		if len(r.counters) >= r.capacity {
			r.drop()
		}
		c = &counter{born: r.step}
		r.counters[name] = c
	}
	return c
}

func (c *counter) add(step int64) {
	c.counts[step%steps]++
	c.sum++
}

// clear empties a step that is to be used again.
func (c *counter) clear(step int64) {
	c.sum -= int64(c.counts[step%steps])
	c.counts[step%steps] = 0
}

// advance goes on to a step, and forgets what lies a span back. Steps never go back.
func (r *recent) advance(step int64) {
	if r.step < step {
		r.forget()
	}
	for r.step = max(r.step, step-steps); r.step < step; {
		r.step++
		r.lost[r.step%steps] = 0
		r.all.clear(r.step)
		for name, c := range r.counters {
			if c.clear(r.step); c.sum == 0 {
				delete(r.counters, name)
			}
		}
	}
}

// drop drops the names with the fewest refusals, at least half of all.
func (r *recent) drop() {
	r.forget()
	sums := make([]int64, 0, len(r.counters))
	for _, c := range r.counters {
		sums = append(sums, c.sum)
	}
	slices.Sort(sums)
	most := sums[len(sums)/2]
	for name, c := range r.counters {
		if c.sum <= most {
			delete(r.counters, name)
		}
	}
	r.lost[r.step%steps] += most
}

// missing returns what a counter made in a step may lack: the losses in the span since then, for which names that were
// there before have not been dropped.
func (r *recent) missing(born int64) (n int64) {
	for step := max(0, r.step-steps+1); step <= min(born, r.step); step++ {
		n += r.lost[step%steps]
	}
	return n
}

// A List is the first names in some order, out of those that were refused within the span.
type List struct {
	Top   []Recent
	Total int64 // refusals of all names
	Names int   // how many there are, but for dropped ones
	Found int   // how many of them Query.Filter leaves
	Lost  int64 // what a name that was dropped for want of room may have had; 0: none was
}

// A Recent is a name and what was refused of it within the span.
type Recent struct {
	Name    string
	Refused int64
	Missing int64 // how many more there may have been; 0: Refused is exact
	Class   string
	Action  string
	Last    time.Time // when the latest was told; Class and Action are those of this one
}

// An Order is how names are sorted.
type Order int

// The orders.
const (
	ByRefused Order = iota
	ByLatest
	ByName // those that ByRefused would show
)

// list lists the first names in the order that was asked for.
func (r *recent) list(q *Query, begun time.Time, action func(id int32) string) List {
	var top []Recent
	best, found := r.best(q, max(1, q.Rows), action)
	for _, x := range best {
		top = append(top, Recent{
			Name: x.name, Refused: x.sum, Missing: r.missing(x.born), Last: begun.Add(x.last.at),
			Class: x.last.class.String(), Action: action(int32(x.last.action)),
		})
	}
	if q.Order == ByName {
		slices.SortFunc(top, func(x, y Recent) int { return strings.Compare(x.Name, y.Name) })
	}
	return List{Top: top, Total: r.all.sum, Names: len(r.counters), Found: found, Lost: r.missing(r.step)}
}

// A ranked is a name that stands among others.
type ranked struct {
	name string
	*counter
}

// best finds the first names, and counts those that the filter leaves. It sorts no more than twice as many as it needs
// at once: there may be many.
func (r *recent) best(q *Query, rows int, action func(id int32) string) (best []ranked, found int) {
	full, order, filter := false, q.Order, strings.ToLower(q.Filter)
	cut := func() {
		slices.SortFunc(best, order.compare)
		best = best[:min(rows, len(best))]
	}
	leaves := func(name string) bool { return strings.Contains(strings.ToLower(name), filter) }
	for name, c := range r.counters {
		if filter != "" && !leaves(name) && !leaves(action(int32(c.last.action))) {
			continue
		}
		found++
		x := ranked{name, c}
		if full && order.compare(x, best[rows-1]) > 0 {
			continue
		}
		if best = append(best, x); len(best) == 2*rows {
			cut()
			full = true
		}
	}
	cut()
	return best, found
}

// compare says whether x stands before y (−1) or behind it (+1).
func (o Order) compare(x, y ranked) int {
	latest := 0
	if o == ByLatest {
		latest = cmp.Compare(y.last.at, x.last.at)
	}
	return cmp.Or(latest, cmp.Compare(y.sum, x.sum), strings.Compare(x.name, y.name))
}
