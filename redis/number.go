package redis

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"shadow/limit"
	"shadow/traffic"
)

// Redis must not charge a request twice: not when the answer to a batch is lost and it is sent again, nor when a host is killed
// and judges again what it has judged since its last checkpoint, in batches that are cut otherwise. So each request of a key has
// a number, by which the host asks for it:
//
//	its place in time, and how many requests of the key in the batch were there before it
//
// Places never go back from one batch to the next, and requests of one place come in one batch (see ingest.Stream), so numbers
// ascend, and who judges a line again finds the same number for it, with nothing to be kept for that. Only a line that came too
// late the first time has another place then: if its own is before the last request of the key that was charged, it is not
// charged again. A source that does not keep to that order is held to it: a place before the last is taken for the last.

// numbers are where requests have been so far.
type numbers struct {
	before limit.Time // the latest place of earlier batches
	there  int64      // how many requests were there
	latest limit.Time // the latest place, with the batch at hand
	now    int64      // how many requests are there
	kept   limit.Time // answers to requests from this place on are kept
	asked  int        // requests since that place was set
}

var noNumbers = numbers{before: math.MinInt64, latest: math.MinInt64, kept: math.MaxInt64}

// mostKept is how many requests may come until answers are no longer kept though nobody has saved where the host is, because a
// disk is full perhaps. After a crash, those that had been charged are then decided locally.
const mostKept = 4 << 20

// take takes in a batch.
func (n *numbers) take(b *traffic.Batch) {
	if n.asked += b.Len(); n.asked > mostKept && n.keeps() {
		n.keep()
	}
	n.before, n.there = n.latest, n.now
	for _, p := range b.Places() {
		if p > n.latest {
			n.latest, n.now = p, 0
		}
		if p == n.latest {
			n.now++
		}
	}
	if n.latest == n.before {
		n.now = n.there + int64(b.Len())
	}
}

// keeps reports whether answers are kept for longer than a batch: not before somebody has saved where the host is.
func (n *numbers) keeps() bool { return n.kept != math.MaxInt64 }

// keep keeps the answers from here on only.
func (n *numbers) keep() { n.kept, n.asked = n.latest, 0 }

// first is the number of the first request of a key in the batch at hand that has a place.
func (n *numbers) first(place limit.Time) (limit.Time, int64) {
	if place > n.before {
		return place, 0
	}
	return n.before, n.there
}

// numbered is the number of a request.
type numbered struct {
	place limit.Time
	index int64
	begun bool
}

// next is that of the next row of a timeline.
func (n *numbered) next(r *round, row int32) {
	place, index := r.limiter.numbers.first(r.batch.Places()[r.timelines.Rows[row]])
	if n.begun && place <= n.place {
		n.index++
		return
	}
	*n = numbered{place, index, true}
}

// Saved is what a SharedLimiter has to know to go on where another one stopped.
type Saved struct {
	Host     string                `json:"host"`               // under which it has counted; "": it has not begun
	Place    limit.Time            `json:"place"`              // the latest of a request
	There    int64                 `json:"there"`              // how many requests were there
	Runs     []string              `json:"runs,omitempty"`     // of servers that were met
	Degraded map[string]limit.Time `json:"degraded,omitempty"` // by policy: until when its verdicts are
}

// ReadSaved reads what Save has written. There may be nothing.
func ReadSaved(text json.RawMessage) (s Saved, err error) {
	if len(text) > 0 {
		err = json.Unmarshal(text, &s)
	}
	return s, err
}

// Save returns what to go on from.
func (r *SharedLimiter) Save() (json.RawMessage, error) {
	s := Saved{Host: r.redis.host, Place: r.numbers.latest, There: r.numbers.now, Degraded: map[string]limit.Time{}}
	if r.known {
		s.Runs = r.redis.nodes.met()
	}
	for i := range r.policies {
		if p := &r.policies[i]; p.degraded {
			s.Degraded[p.name] = p.until
		}
	}
	return json.Marshal(s)
}

// Kept says that what was last saved is where it will be found. Nothing may have been judged since.
func (r *SharedLimiter) Kept() {
	r.numbers.keep()
	for i := range r.policies {
		r.policies[i].lost = false
	}
}

// restore goes on from what was saved.
func (r *SharedLimiter) restore(s Saved) {
	if r.numbers = noNumbers; s.Host == "" {
		return
	}
	r.numbers.latest, r.numbers.now = s.Place, s.There
	r.numbers.keep()
	if len(s.Runs) > 0 {
		r.known = true
		r.redis.nodes.restore(s.Runs)
	}
	for i := range r.policies {
		p := &r.policies[i]
		if until, degraded := s.Degraded[p.name]; degraded {
			p.degraded, p.until = true, until
		}
	}
}

// met are the runs of servers that were met.
func (n *nodes) met() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Sorted(maps.Keys(n.runs))
}

// restore takes runs for ones that were met, and any other for a new one.
func (n *nodes) restore(runs []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.runs, n.known = map[string]bool{}, true
	for _, run := range runs {
		n.runs[run] = true
	}
}
