package calibrate

import (
	"container/heap"
	"math"
	"math/rand/v2"

	"shadow/internal/policy"
	"shadow/limit"
)

// A forecast lets the clients of a log go on under another limit: what is wanted comes at its time or in turn, and what
// is refused comes again as the log shows. What it does not show is drawn, so that the least and the most of many
// futures say how much hangs on it.

// A Load is what a limit has to bear where refused requests come back.
type Load struct {
	Requests int64 // all of them
	Refused  int64
	Lost     int64 // jobs that were given up
	Guessed  int64 // of the refused: the log hardly shows what their clients do then
	Cut      bool  // whether there would have been more
}

// A Forecast is the load that a limit is expected to bear, and the least and the most of it.
type Forecast struct {
	Load
	Low, High Load
}

// The most futures that are drawn, the least where there are many requests, and those besides in which clients want no
// more than in the log, although they wanted things until it ended.
const (
	mostFutures  = 20
	leastFutures = 5
	endedFutures = 2
	inFutures    = 5_000_000 // requests of all
)

// What a forecast may be wrong by beside chance: parts of the requests, of how many more or fewer than in the log there
// are, and of the refused whose clients are hardly known. TestCrowds holds them.
const (
	wrongOfAll     = 0.03
	wrongOfChange  = 0.15
	wrongOfGuessed = 0.5
)

// Foresee returns the load of a policy that counts by a column of keys.
func (d *Demand) Foresee(p *policy.Policy, keys []int32) (f Forecast) {
	futures := int64(max(leastFutures, min(mostFutures, inFutures/max(1, d.requests.Len()))))
	for seed := range futures + endedFutures {
		l := d.simulate(p, keys, uint64(seed), seed >= futures)
		if seed == 0 {
			f.Low, f.High = l, l
		}
		f.Low, f.High = f.Low.with(l, least), f.High.with(l, most)
		if seed < futures {
			f.Load = f.Load.with(l, sum)
		}
	}
	f.Load = f.Load.with(Load{}, func(a, _ int64) int64 { return (a + futures/2) / futures })
	if d.fixed != nil {
		return f
	}
	change := math.Abs(float64(f.Requests) - float64(d.requests.Len()))
	wrong := wrongOfAll*float64(f.Requests) + wrongOfChange*change + wrongOfGuessed*float64(f.Guessed)
	lost := wrong * float64(f.Lost) / float64(max(1, f.Refused)) // of each refused one too many
	w := Load{Requests: int64(wrong), Refused: int64(wrong), Lost: int64(lost)}
	if f.High.Refused == 0 {
		w.Refused, w.Lost = 0, 0
	}
	least := min(f.Low.Requests, int64(d.Wanted())) / 2 // some come, however wrong this is
	low := func(a, b int64) int64 { return max(0, a-b) }
	f.Low, f.High = f.Low.with(w, low), f.High.with(w, sum)
	f.Low.Requests, f.High.Refused = max(f.Low.Requests, least), min(f.High.Refused, f.High.Requests)
	return f
}

func least(a, b int64) int64 { return min(a, b) }
func most(a, b int64) int64  { return max(a, b) }
func sum(a, b int64) int64   { return a + b }

// with joins the figures of two loads.
func (l Load) with(o Load, join func(a, b int64) int64) Load {
	return Load{
		Requests: join(l.Requests, o.Requests), Refused: join(l.Refused, o.Refused),
		Lost: join(l.Lost, o.Lost), Guessed: join(l.Guessed, o.Guessed), Cut: l.Cut || o.Cut,
	}
}

// A future is one way that a log might go under another limit: what it does not tell is drawn by chance.
type future struct {
	*Demand
	random  *rand.Rand
	load    Load
	states  map[int32][]limit.State // by key
	again   comings
	inTurn  []bool         // by client
	begun   []int32        // by client in turn: jobs
	guess   map[*pool]bool // whether its clients go on beyond the tries that the log shows
	unknown *pool          // by which clients go that were never refused
	ends    bool           // whether clients want no more than in the log
}

// simulate judges what is wanted, and has refused requests come back until the log ends.
func (d *Demand) simulate(p *policy.Policy, keys []int32, seed uint64, ends bool) Load {
	f := &future{
		Demand: d, random: rand.New(rand.NewPCG(seed, 1)), states: map[int32][]limit.State{},
		inTurn: make([]bool, len(d.clients)), begun: make([]int32, len(d.clients)), guess: map[*pool]bool{}, ends: ends,
	}
	f.choose(seed)
	most := int64(4*d.requests.Len() + 100_000)
	for i := 0; i < len(d.wishes) || len(f.again) > 0; {
		var now coming
		if i < len(d.wishes) && (len(f.again) == 0 || d.requests.At[d.wishes[i].row] <= f.again[0].at) {
			now.wish = d.wishes[i]
			now.at = d.requests.At[now.row]
			i++
			if f.inTurn[now.client] {
				if !d.clients[now.client].jobs[now.job].opens {
					continue
				}
				f.begun[now.client]++
			}
		} else {
			now = heap.Pop(&f.again).(coming)
		}
		if f.load.Requests == most {
			f.load.Cut = true
			break
		}
		f.judge(now, p, keys)
	}
	return f.load
}

// choose draws what holds of a whole future.
func (f *future) choose(seed uint64) {
	f.unknown = &pool{} // they give up
	drawn, all := map[*pool]bool{}, 0
	for i, p := range f.pools {
		drawn[p] = f.random.IntN(2) == 0
		f.guess[p] = (uint64(i)+seed)%2 == 0
		all += p.clients
	}
	switch kind := f.random.IntN(4); {
	case kind == 0:
		f.unknown.habit = *stated(Backoff)
	case kind > 1:
		n := f.random.IntN(max(all, 1))
		for _, p := range f.pools {
			if n -= p.clients; n < 0 {
				f.unknown = p
				break
			}
		}
	}
	for i := range f.clients {
		c := &f.clients[i]
		like := f.like(c)
		switch {
		case f.fixed != nil:
		case c.overlap.known():
			f.inTurn[i] = c.overlap.inTurn()
		case like.overlap.known():
			f.inTurn[i] = like.overlap.inTurn()
		default:
			f.inTurn[i] = 2*c.paths <= len(c.jobs) || drawn[like]
		}
	}
}

// like returns the pool that a client goes by.
func (f *future) like(c *client) *pool {
	if c.like == nil {
		return f.unknown
	}
	return c.like
}

// judge decides on a request, and has its client go on.
func (f *future) judge(now coming, p *policy.Policy, keys []int32) {
	state := f.states[keys[now.row]]
	if state == nil {
		state = make([]limit.State, len(p.Parts))
		f.states[keys[now.row]] = state
	}
	refused := false
	for k := range p.Parts {
		refused = refused || p.Parts[k].Limiter.Wait(&state[k], now.at) > 0
	}
	for k := range p.Parts {
		p.Parts[k].Limiter.Charge(&state[k], now.at, refused)
	}
	f.load.Requests++
	if refused {
		f.load.Refused++
		if f.clients[now.client].habit.first() < few && f.fixed == nil {
			f.load.Guessed++
		}
		if after, again := f.comesAgain(&f.clients[now.client], now.try); again {
			next := now
			next.at, next.try = now.at+after, now.try+1
			f.push(next)
			return
		}
		f.load.Lost++
	}
	if f.inTurn[now.client] {
		f.next(now)
	}
}

// next has a client go on with its next job after a pause. One that wanted things until the log ended goes through its
// jobs once more.
func (f *future) next(now coming) {
	c := &f.clients[now.client]
	for {
		now.job = f.begun[now.client]
		f.begun[now.client]++
		if int(now.job) >= len(c.jobs) && (f.ends || !c.endless || len(c.jobs) == int(c.overlap.lanes)) {
			return
		}
		j := &c.jobs[int(now.job)%len(c.jobs)]
		if !j.opens {
			now.at, now.row, now.try = now.at+j.pause, j.row, 0
			f.push(now)
			return
		}
	}
}

func (f *future) push(c coming) {
	if c.at <= f.end {
		heap.Push(&f.again, c)
	}
}

// comesAgain draws whether a request comes again that was refused for the nth time, from 0, and after how long.
func (f *future) comesAgain(c *client, n int) (after limit.Time, again bool) {
	if h := f.fixed; h != nil {
		if n >= len(h.tries) {
			return 0, false
		}
		return h.tries[n].draw(f.random)
	}
	like := f.like(c)
	if c.like == nil && n >= mostTries {
		return 0, false
	}
	if t := c.known(like, n, enough); t != nil {
		return t.draw(f.random)
	}
	deepest := min(n, max(len(c.habit.tries), len(like.habit.tries))-1)
	for deepest >= 0 && c.known(like, deepest, 1) == nil {
		deepest--
	}
	switch {
	case deepest < 0:
		return 0, false
	case deepest < n && deepest < stubborn && !f.guess[like]:
		return 0, false
	case deepest < n:
		f.load.Guessed++
	}
	return c.known(like, deepest, 1).draw(f.random)
}

// known returns the try of a client with at least so many refusals, or that of a pool; nil if there is neither.
func (c *client) known(p *pool, n int, least int64) *try {
	for _, h := range []*Habit{&c.habit, &p.habit} {
		if n < len(h.tries) && h.tries[n].refused >= least {
			return &h.tries[n]
		}
	}
	return nil
}

// A coming is a request that a client will send.
type coming struct {
	wish
	at  limit.Time
	try int
}

// comings are ordered by time, then by row.
type comings []coming

func (c comings) Len() int { return len(c) }

func (c comings) Less(i, j int) bool {
	return c[i].at < c[j].at || c[i].at == c[j].at && c[i].row < c[j].row
}

func (c comings) Swap(i, j int) { c[i], c[j] = c[j], c[i] }

// Push implements heap.Interface.
func (c *comings) Push(x any) { *c = append(*c, x.(coming)) }

// Pop implements heap.Interface.
func (c *comings) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	*c = (*c)[:last]
	return x
}
