package calibrate

import (
	"cmp"
	"slices"

	"shadow/internal/mapped"
	"shadow/limit"
)

// Refused requests that come back. A log of a server that refuses has two kinds of requests: those that clients wanted
// by themselves, and those that are there since others were refused. A job is a wanted request with all that follows:
//
//	wanted      /a ✗            /b ✓     /c ✗
//	again          └▶ /a ✗ ─▶ /a ✓          └▶ (given up)
//	jobs        ├──────────────┤  ┤        ┤
//
// A request is one again if its client was refused one for the same path within the horizon, and not admitted since.
//
// Clients differ in two ways: in what they do with a refused request (a Habit), and in when they want something else.
// Some want it at its time, whatever became of the job before; others once that is done, after a pause: a queue's
// worker, a script. The log tells them apart where there were delays: of the first kind jobs begin while others wait.

// The kinds of habits, as --retries names them.
const (
	NoRetries = "none"
	Immediate = "immediate"
	Backoff   = "backoff"
	Learned   = "learned"
)

// RetryWords are the kinds.
var RetryWords = []string{NoRetries, Immediate, Backoff, Learned}

// mostTries is the most times that a refused request comes back where that is not learned.
const mostTries = 5

// stated is the habit that needs no log: at once, or after 1, 2, 4, 8 and 16 seconds, a quarter more or less.
func stated(how string) *Habit {
	h := &Habit{}
	for n := range mostTries {
		one := try{refused: 1, after: []limit.Time{10 * limit.Millisecond}}
		if how == Backoff {
			wait := limit.Second << n
			one = try{refused: 3, after: []limit.Time{wait * 3 / 4, wait, wait * 5 / 4}}
		}
		h.tries = append(h.tries, one)
	}
	return h
}

// horizon is the time after a refusal in which a request for the same path still counts as the same one, come again.
const horizon = 5 * limit.Minute

// A job is something that a client wanted.
type job struct {
	row   int32      // its first request
	opens bool       // whether the client did more at a time than before
	pause limit.Time // else: from the end of the job that made way for it
	end   limit.Time // when it was admitted, or given up
}

// A client is what the log shows of one client.
type client struct {
	habit   Habit
	like    *pool
	jobs    []job
	overlap overlap
	paths   int  // different ones
	endless bool // it wanted things until the log ended
}

// Demand holds the jobs of the clients of a log, and what they do with refused requests.
type Demand struct {
	requests *Requests
	end      limit.Time // of the log
	clients  []client
	pools    []*pool
	wishes   []wish // what is wanted, in the order of time
	fixed    *Habit // of everybody; nil: learned
}

// A wish is a job of a client.
type wish struct{ client, job, row int32 }

// Wanted returns the number of requests that clients want by themselves.
func (d *Demand) Wanted() int { return len(d.wishes) }

// Learn finds what is wanted, and how refused requests come back.
func (r *Requests) Learn(how string) *Demand {
	d := &Demand{requests: r, end: r.last()}
	d.clients = mapped.Of(r.timelines(r.Client, nil), func(t timeline) client { return r.watch(&t, d.end) })
	for i, c := range d.clients {
		for n := range c.jobs {
			d.wishes = append(d.wishes, wish{int32(i), int32(n), c.jobs[n].row})
		}
	}
	d.gather()
	slices.SortFunc(d.wishes, func(x, y wish) int { return cmp.Or(r.before(x.row, y.row), cmp.Compare(x.row, y.row)) })
	if how != Learned {
		d.fixed = stated(how)
	}
	return d
}

// An open job waits for its next try.
type open struct {
	job int
	at  limit.Time
	try int
}

// watch goes through the requests of a client, in a log that ends at a moment.
func (r *Requests) watch(t *timeline, end limit.Time) (c client) {
	waiting, paths := map[int32]open{}, map[int32]bool{}
	within := r.within(t)
	var longest limit.Time
	for j, row := range t.rows {
		path, at := r.Path[row], t.at[j]
		o, again := waiting[path]
		if again = again && path >= 0 && at-o.at <= within; again {
			known := c.habit.at(o.try)
			known.after = append(known.after, at-o.at)
			longest = max(longest, at-o.at)
			o.try++
		} else {
			c.jobs = append(c.jobs, job{row: row})
			o, paths[path] = open{job: len(c.jobs) - 1}, true
		}
		delete(waiting, path)
		c.jobs[o.job].end = at
		if t.verdict[j] == Refused {
			c.habit.at(o.try).refused++
			o.at = at
			waiting[path] = o
		}
	}
	// Whether requests refused at the end of the log would have come again is unknown.
	if longest == 0 {
		longest = min(patience, (end-t.at[0])/20)
	}
	for _, o := range waiting {
		if end-o.at < 2*longest {
			c.habit.at(o.try).refused--
		}
	}
	last, n := t.at[len(t.at)-1], limit.Time(len(c.jobs))
	c.endless = n >= few && last > t.at[0] && end-last <= 3*(last-t.at[0])/n
	c.paths = len(paths)
	c.pauses(r)
	return c
}

// within returns how long after a refusal a request of the client for the same path is taken for the same one, come
// again: up to where most more of them come than after an admission. A client that asks for a path as soon after it was
// admitted has none, one that waits longer after refusals goes slower by them.
func (r *Requests) within(t *timeline) limit.Time {
	type seen struct {
		at      limit.Time
		verdict Verdict
	}
	var gaps [2][]limit.Time // after admissions, refusals
	var of [2]float64
	last := map[int32]seen{}
	for j, row := range t.rows {
		path, which := r.Path[row], 0
		if s, known := last[path]; known && t.at[j]-s.at <= horizon {
			if s.verdict == Refused {
				which = 1
			}
			gaps[which] = append(gaps[which], t.at[j]-s.at)
		}
		which = 0
		if t.verdict[j] == Refused {
			which = 1
		}
		of[which]++
		last[path] = seen{t.at[j], t.verdict[j]}
	}
	slices.Sort(gaps[0])
	slices.Sort(gaps[1])
	more, less, cut := 0.0, 0.0, limit.Time(0)
	all := slices.Concat(gaps[0], gaps[1], []limit.Time{horizon})
	slices.Sort(all)
	for _, gap := range slices.Compact(all) {
		d := part(gaps[1], gap, of[1]) - part(gaps[0], gap, of[0])
		if less = max(less, -d); d > more {
			more, cut = d, gap
		}
	}
	const reacts = 0.15
	switch {
	case more >= less && more > reacts:
		return cut
	case less > reacts:
		return horizon
	}
	return 0
}

// part is the share of some that sorted gaps up to a length are.
func part(gaps []limit.Time, length limit.Time, of float64) float64 {
	n, _ := slices.BinarySearch(gaps, length+1)
	return float64(n) / max(1, of)
}
