package redis

import (
	"encoding/json"
	"math"

	"shadow/internal/traffic"
	"shadow/limit"
)

// Redis must not charge a request twice. A batch is sent again if its answer is lost. A host that was killed judges
// again what came since its last checkpoint, in other batches. So each request of a key has a number, by which the
// host asks:
//
//	its place in time, and how many requests of the key in the batch were there before it
//
// Places never go back from one batch to the next, and requests of one place come in one batch (see ingest.Stream). So
// numbers ascend, and a line that is judged again has its old number, though nothing is kept for that. Only a line that
// came too late the first time has another place then. If that is before the last charged request of the key, it is not
// charged again. Sources must keep to that order: a place before the last is taken for the last.

// A number is that of a request, or of the next one to come.
type number struct {
	place limit.Time
	index int64 // how many requests were there before
}

// numbers hold the places of requests so far.
type numbers struct {
	previous number     // behind earlier batches
	next     number     // behind the batch at hand, too
	kept     limit.Time // answers to requests from this place on are kept
	judged   int        // requests since that place was set
}

var noNumbers = numbers{previous: number{place: math.MinInt64}, next: number{place: math.MinInt64}, kept: math.MaxInt64}

// mostKept is the number of requests after which answers are no longer kept while the place of the host is not saved: a
// disk may be full. After a crash, those that had been charged are then decided locally.
const mostKept = 4 << 20

// take takes in a batch.
func (n *numbers) take(b *traffic.Batch) {
	if n.judged += b.Len(); n.judged > mostKept && n.keeps() {
		n.keep()
	}
	n.previous = n.next
	for _, p := range b.Sequence() {
		if p > n.next.place {
			n.next = number{place: p}
		}
		if p == n.next.place {
			n.next.index++
		}
	}
	if n.next.place == n.previous.place {
		n.next.index = n.previous.index + int64(b.Len())
	}
}

// keeps reports whether answers are kept for longer than a batch: not before the place of the host is saved.
func (n *numbers) keeps() bool { return n.kept != math.MaxInt64 }

// keep keeps the answers from here on only.
func (n *numbers) keep() { n.kept, n.judged = n.next.place, 0 }

// first is the number of the first request of a key in the batch at hand that has a place.
func (n *numbers) first(place limit.Time) number {
	if place > n.previous.place {
		return number{place: place}
	}
	return n.previous
}

// Saved holds what a SharedLimiter has to know to go on where another one stopped.
type Saved struct {
	Host     string                `json:"host"`               // under which it has counted; "": it has not begun
	Place    limit.Time            `json:"place"`              // the latest of a request
	There    int64                 `json:"there"`              // how many requests were there
	Runs     []string              `json:"runs,omitempty"`     // of servers that were met
	Relied   map[string]int64      `json:"relied,omitempty"`   // of a stream: up to where this host relies on it
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
	next := r.numbers.next
	s := Saved{Host: r.redis.host, Place: next.place, There: next.index, Degraded: map[string]limit.Time{}}
	if r.met {
		s.Runs, s.Relied = r.redis.servers.met()
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
	r.numbers.next = number{s.Place, s.There}
	r.numbers.keep()
	if len(s.Runs) > 0 {
		r.met = true
		r.redis.servers.settle(s.Relied, s.Runs...)
	}
	for i := range r.policies {
		p := &r.policies[i]
		if until, degraded := s.Degraded[p.name]; degraded {
			p.degraded, p.until = true, until
		}
	}
}
