package calibrate

import (
	"container/heap"
	"math/rand/v2"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// A crowd is clients of known kinds before a limit, in time that is only counted. What its log teaches is held against
// another crowd of the same kinds, before another limit.
type crowd struct {
	now, end limit.Time
	policy   *policy.Policy
	states   map[int32][]limit.State
	events   events
	log      *Requests
	demand   *rand.Rand // what clients want
	chance   *rand.Rand // how they behave
	paths    int32
}

// An event is something that a client of a crowd does.
type event struct {
	at limit.Time
	do func()
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}

// runCrowd has so many clients of each kind ask for as long as the log is, and returns the log.
func runCrowd(t *testing.T, p *policy.Policy, kinds []kind, clients int, length limit.Time, demand, chance uint64) *Requests {
	c := &crowd{
		end: length, policy: p, states: map[int32][]limit.State{}, log: &Requests{Keys: make([][]int32, 1)},
		chance: testneeds.Rand(t, chance, 9),
	}
	for k, kind := range kinds {
		for n := range clients {
			client := int32(k*clients + n)
			c.demand = testneeds.Rand(t, demand, uint64(client))
			kind.begin(c, client, c.demand)
		}
	}
	for len(c.events) > 0 {
		e := heap.Pop(&c.events).(event)
		if c.now = e.at; c.now > c.end {
			break
		}
		e.do()
	}
	return c.log
}

func (c *crowd) after(wait limit.Time, do func()) {
	heap.Push(&c.events, event{c.now + wait, do})
}

// ask sends a request, and reports whether it is admitted.
func (c *crowd) ask(client, path int32) bool {
	s := c.states[client]
	if s == nil {
		s = make([]limit.State, len(c.policy.Parts))
		c.states[client] = s
	}
	l := c.policy.Parts[0].Limiter
	refused := l.Wait(&s[0], c.now) > 0
	l.Charge(&s[0], c.now, refused)
	verdict := Passed
	if refused {
		verdict = Refused
	}
	r := c.log
	r.At, r.Client, r.Path = append(r.At, c.now), append(r.Client, client), append(r.Path, path)
	r.Verdict, r.Class, r.Retry = append(r.Verdict, verdict), append(r.Class, request.Tool), append(r.Retry, 0)
	r.Keys[0] = append(r.Keys[0], client)
	return !refused
}

// job asks until it is admitted or gives up, then calls done.
func (c *crowd) job(client, path int32, again func(try int) (limit.Time, bool), done func()) {
	var try func(n int)
	try = func(n int) {
		if c.ask(client, path) {
			done()
			return
		}
		wait, more := again(n)
		if !more {
			done()
			return
		}
		c.after(wait, func() { try(n + 1) })
	}
	try(0)
}

func (c *crowd) path() int32 { c.paths++; return c.paths }

// A kind is how clients behave.
type kind struct {
	name  string
	begin func(c *crowd, client int32, demand *rand.Rand)
}

const ms = limit.Millisecond

// onTime wants something now and then, whatever happens to it.
func onTime(name string, mean limit.Time, again func(c *crowd) func(int) (limit.Time, bool)) kind {
	return kind{name, func(c *crowd, client int32, demand *rand.Rand) {
		for at := limit.Time(demand.ExpFloat64() * float64(mean)); at < c.end; at += 1 + limit.Time(demand.ExpFloat64()*float64(mean)) {
			path := c.path()
			c.after(at, func() { c.job(client, path, again(c), func() {}) })
		}
	}}
}

// inTurn wants something once it has what it wanted before, and a pause is over; jobs: how many in all, 0: no end.
func inTurn(name string, pause limit.Time, jobs int, samePath bool, again func(c *crowd) func(int) (limit.Time, bool)) kind {
	return kind{name, func(c *crowd, client int32, demand *rand.Rand) {
		n, own := 0, c.path()
		var next func()
		next = func() {
			if n++; jobs > 0 && n > jobs {
				return
			}
			path := own
			if !samePath {
				path = c.path()
			}
			c.job(client, path, again(c), func() {
				c.after(1*ms+limit.Time(c.chance.Float64()*2*float64(pause)), next)
			})
		}
		c.after(limit.Time(demand.Int64N(int64(2*limit.Second))), next)
	}}
}

func never(*crowd) func(int) (limit.Time, bool) {
	return func(int) (limit.Time, bool) { return 0, false }
}

func every(wait limit.Time, tries int) func(*crowd) func(int) (limit.Time, bool) {
	return func(*crowd) func(int) (limit.Time, bool) {
		return func(n int) (limit.Time, bool) { return wait, n < tries }
	}
}

func fullJitter(base, most limit.Time, tries int) func(*crowd) func(int) (limit.Time, bool) {
	return func(c *crowd) func(int) (limit.Time, bool) {
		return func(n int) (limit.Time, bool) {
			return 1 + limit.Time(c.chance.Float64()*float64(min(most, base<<n))), n < tries
		}
	}
}

func doubling(base, most limit.Time, tries int) func(*crowd) func(int) (limit.Time, bool) {
	return func(*crowd) func(int) (limit.Time, bool) {
		return func(n int) (limit.Time, bool) { return min(most, base<<n), n < tries }
	}
}

func decorrelated(base, most limit.Time, tries int) func(*crowd) func(int) (limit.Time, bool) {
	return func(c *crowd) func(int) (limit.Time, bool) {
		last := base
		return func(n int) (limit.Time, bool) {
			last = min(most, base+limit.Time(c.chance.Float64()*float64(3*last-base)))
			return last, n < tries
		}
	}
}

func reload(share float64, most int) func(*crowd) func(int) (limit.Time, bool) {
	return func(c *crowd) func(int) (limit.Time, bool) {
		return func(n int) (limit.Time, bool) {
			return 2*limit.Second + limit.Time(c.chance.ExpFloat64()*float64(3*limit.Second)), n < most && c.chance.Float64() < share
		}
	}
}

const endless = 1 << 30

// lanes are several workers of one client, each of which goes on when it is done.
func lanes(name string, n int, pause limit.Time, again func(c *crowd) func(int) (limit.Time, bool)) kind {
	one := inTurn("", pause, 0, false, again)
	return kind{name, func(c *crowd, client int32, demand *rand.Rand) {
		for range n {
			one.begin(c, client, demand)
		}
	}}
}

// amongPaths is a kind whose requests are for few paths.
func amongPaths(name string, n int, mean limit.Time, again func(c *crowd) func(int) (limit.Time, bool)) kind {
	return kind{name, func(c *crowd, client int32, demand *rand.Rand) {
		first := c.path()
		c.paths += int32(n)
		for at := limit.Time(demand.ExpFloat64() * float64(mean)); at < c.end; at += 1 + limit.Time(demand.ExpFloat64()*float64(mean)) {
			path := first + demand.Int32N(int32(n))
			c.after(at, func() { c.job(client, path, again(c), func() {}) })
		}
	}}
}

// bursts wants ten things at once, every so often.
func bursts(name string, often limit.Time, again func(c *crowd) func(int) (limit.Time, bool)) kind {
	return kind{name, func(c *crowd, client int32, demand *rand.Rand) {
		for at := limit.Time(demand.Int64N(int64(often))); at < c.end; at += often {
			for range 10 {
				path := c.path()
				c.after(at, func() { c.job(client, path, again(c), func() {}) })
			}
		}
	}}
}
