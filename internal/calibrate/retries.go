package calibrate

import (
	"container/heap"
	"math/rand/v2"
	"slices"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// Refused requests that come back. A log of a server that refuses has two kinds of requests: those that clients wanted by
// themselves, and those that are there since others were refused:
//
//	wanted      /a ✗            /b ✓     /c ✗
//	again          └▶ /a ✗ ─▶ /a ✓          └▶ (given up)
//
// A request is one again if its client was refused one for the same path within the horizon, and not admitted since. What
// is wanted is judged by another limit, and what that refuses comes back as the model says: one of the ways that the log
// shows, drawn by chance for each request.

// horizon is the time after a refusal in which a request for the same path still counts as the same one, come again.
const horizon = 5 * limit.Minute

// A Habit is what a client does with a refused request, try by try.
type Habit struct{ tries []try }

// A try is what became of requests refused for the nth time.
type try struct {
	refused int64
	after   []limit.Time // of those that came again
}

// Habits holds the habits of clients, as far as the log shows them, and of classes.
type Habits struct {
	fixed   *Habit // of everybody; nil: learned
	clients map[int32]*Habit
	classes map[request.Class]*Habit
}

// The kinds of habits, as --retries names them.
const (
	NoRetries = "none"
	Immediate = "immediate"
	Backoff   = "backoff"
	Learned   = "learned"
)

// RetryWords are the kinds.
var RetryWords = []string{NoRetries, Immediate, Backoff, Learned}

// mostLearned is the most times that a request comes back where the log does not show when clients give up.
const mostLearned = 20

// mostTries is the most times that a refused request comes back where that is not learned.
const mostTries = 5

// stated are the habits that need no log: at once, or after 1, 2, 4, 8 and 16 seconds, a quarter more or less.
func stated(how string) *Habits {
	h := &Habit{}
	for n := range mostTries {
		one := try{refused: 1, after: []limit.Time{10 * limit.Millisecond}}
		if how == Backoff {
			wait := limit.Second << n
			one = try{refused: 3, after: []limit.Time{wait * 3 / 4, wait, wait * 5 / 4}}
		}
		h.tries = append(h.tries, one)
	}
	return &Habits{fixed: h}
}

// A refusal is one that its client may still react to.
type refusal struct {
	at  limit.Time
	try int
}

// Learn finds what is wanted, row by row in the order of time, and how refused requests come back.
func (r *Requests) Learn(how string) (wanted []int32, h *Habits) {
	h = &Habits{clients: map[int32]*Habit{}, classes: map[request.Class]*Habit{}}
	last := r.last()
	for _, t := range r.timelines(r.Client, nil) {
		var open map[int32]refusal
		wanted, open = r.learn(h, &t, wanted)
		// Whether requests refused at the end of the log would have come again is unknown.
		for _, o := range open {
			if last-o.at < min(patience, (last-r.At[0])/20) {
				for _, habit := range h.of(r.Client[t.rows[0]], r.Class[t.rows[0]]) {
					habit.at(o.try).refused--
				}
			}
		}
	}
	slices.SortFunc(wanted, func(x, y int32) int { return r.before(x, y) })
	if how != Learned {
		h = stated(how)
	}
	return wanted, h
}

// learn takes in the requests of a client. It returns the wanted ones behind those of others, and by path the refusals
// that no request came after.
func (r *Requests) learn(h *Habits, t *timeline, before []int32) (wanted []int32, open map[int32]refusal) {
	wanted, open = before, map[int32]refusal{}
	client, own := r.Client[t.rows[0]], r.repeats(t)
	for j, row := range t.rows {
		path, at := r.Path[row], t.at[j]
		former, again := open[path]
		if again = again && path >= 0 && !own && at-former.at <= horizon; again {
			for _, habit := range h.of(client, r.Class[row]) {
				habit.at(former.try).after = append(habit.at(former.try).after, at-former.at)
			}
		} else {
			wanted = append(wanted, row)
			former.try = -1
		}
		delete(open, path)
		if t.verdict[j] != Refused {
			continue
		}
		open[path] = refusal{at, former.try + 1}
		for _, habit := range h.of(client, r.Class[row]) {
			habit.at(former.try+1).refused++
		}
	}
	return wanted, open
}

// repeats reports whether a client asks for the same path again after it was admitted nearly as often as after a refusal:
// then that is what it wants.
func (r *Requests) repeats(t *timeline) bool {
	var again, of [2]int
	type seen struct {
		at      limit.Time
		refused int
	}
	last := map[int32]seen{}
	for j, row := range t.rows {
		path, refused := r.Path[row], 0
		if s, known := last[path]; known && t.at[j]-s.at <= horizon {
			again[s.refused]++
		}
		if t.verdict[j] == Refused {
			refused = 1
		}
		of[refused]++
		last[path] = seen{t.at[j], refused}
	}
	const nearly = 2
	return nearly*again[0]*of[1] > again[1]*of[0]
}

// of are the habits that a request of a client is one more case of.
func (h *Habits) of(client int32, class request.Class) [2]*Habit {
	if h.clients[client] == nil {
		h.clients[client] = new(Habit)
	}
	if h.classes[class] == nil {
		h.classes[class] = new(Habit)
	}
	return [2]*Habit{h.clients[client], h.classes[class]}
}

func (h *Habit) at(n int) *try {
	for len(h.tries) <= n {
		h.tries = append(h.tries, try{})
	}
	return &h.tries[n]
}

// enough is the number of known refusals of a client from which its own habit counts, rather than that of its class;
// and of a try, rather than the try before it.
const enough = 10

// again draws whether a request comes again that was refused for the nth time, from 0, and after how long.
func (h *Habits) again(client int32, class request.Class, n int, random *rand.Rand) (after limit.Time, again bool) {
	habit := h.fixed
	if habit != nil && n >= len(habit.tries) {
		return 0, false
	}
	if n >= mostLearned {
		return 0, false
	}
	if habit == nil {
		habit = h.clients[client]
		if habit == nil || len(habit.tries) == 0 || habit.tries[0].refused < enough {
			habit = h.classes[class]
		}
		if habit == nil || len(habit.tries) == 0 {
			return 0, false
		}
		n = min(n, len(habit.tries)-1)
		for n > 0 && habit.tries[n].refused == 0 {
			n--
		}
	}
	t := &habit.tries[n]
	i := random.Int64N(max(t.refused, 1))
	if i >= int64(len(t.after)) {
		return 0, false
	}
	return t.after[i], true
}

// A Load is what a limit has to bear where refused requests come back.
type Load struct {
	Requests int64 // all of them
	Refused  int64
	Lost     int64 // wanted requests that were never admitted
}

// A coming is a request that comes again.
type coming struct {
	at  limit.Time
	row int32
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

// Simulate judges what is wanted by a policy that counts by a column of keys, and has refused requests come back until the
// log ends.
func (r *Requests) Simulate(wanted []int32, h *Habits, p *policy.Policy, keys []int32, seed uint64) (l Load) {
	if len(wanted) == 0 {
		return l
	}
	random := rand.New(rand.NewPCG(seed, 1))
	states := map[int32][]limit.State{}
	var again comings
	end := r.At[wanted[len(wanted)-1]]
	for i := 0; i < len(wanted) || len(again) > 0; {
		var now coming
		if i < len(wanted) && (len(again) == 0 || r.At[wanted[i]] <= again[0].at) {
			now = coming{r.At[wanted[i]], wanted[i], 0}
			i++
		} else {
			now = heap.Pop(&again).(coming)
		}
		state := states[keys[now.row]]
		if state == nil {
			state = make([]limit.State, len(p.Parts))
			states[keys[now.row]] = state
		}
		refused := false
		for k := range p.Parts {
			refused = refused || p.Parts[k].Limiter.Wait(&state[k], now.at) > 0
		}
		for k := range p.Parts {
			p.Parts[k].Limiter.Charge(&state[k], now.at, refused)
		}
		l.Requests++
		if !refused {
			continue
		}
		l.Refused++
		after, comes := h.again(r.Client[now.row], r.Class[now.row], now.try, random)
		if !comes {
			l.Lost++
			continue
		}
		if now.at+after <= end {
			heap.Push(&again, coming{now.at + after, now.row, now.try + 1})
		}
	}
	return l
}
