package share

import (
	"encoding/json"
	"maps"
	"slices"

	"shadow/limit"
	"shadow/traffic"
)

// Requests have numbers, so that Redis charges none twice. Each key has numbers of its own: its requests count one by one
// from a base, which is above all numbers that were given before it.
//
// Who may stop without notice saves the base from time to time, with all else that it remembers, and goes on from there. Then
// requests that come again have the numbers that they had, however they are cut into batches the second time, and also
// if a line that came late for another key the first time does not now. Where a late one is among a key's own, they may be
// answered in another order, but none is charged twice. So a base may only move when it is saved, or when nobody saves.

// numbers gives numbers.
type numbers struct {
	base  int64 // the first number of each key
	next  int64 // no number up to here was given, apart from those below
	kept  int64 // answers to requests from this number on are kept
	saves bool  // whether they may come again
	epoch int32 // how often the base has moved
}

// mostNumbered is how many requests may come until the base moves though nobody has saved it, because a disk is full perhaps.
// After a crash, those that had been charged are then decided locally.
const mostNumbered = 4 << 20

// take makes room for the requests of a batch.
func (n *numbers) take(requests int) {
	if !n.saves || n.next-n.base >= mostNumbered {
		n.move()
	}
	n.next += int64(requests)
}

// move moves the base.
func (n *numbers) move() {
	n.base, n.kept = n.next, n.next
	n.epoch++
}

// given is how many numbers a key was given, in which epoch.
type given struct{ epoch, n int32 }

// number gives numbers to a policy's requests of a batch, whether Redis will be asked or not, and notes the first of each
// timeline.
func (r *Referee) number(p *refereed, b *traffic.Batch, l *traffic.Timelines) {
	p.given.Grow(l.Len)
	r.first = r.first[:0]
	start := int32(0)
	for i, end := range l.Ends {
		g := p.given.At(l.Keys[i])
		if g.epoch != r.numbers.epoch {
			*g = given{epoch: r.numbers.epoch}
		}
		r.first = append(r.first, r.numbers.base+int64(g.n))
		g.n += p.concerned(b, l.Rows[start:end])
		start = end
	}
}

// concerned counts the rows that the policy is about.
func (p *refereed) concerned(b *traffic.Batch, rows []int32) (n int32) {
	if p.scope == 0 {
		return int32(len(rows))
	}
	for _, row := range rows {
		if b.Marks[row]&p.scope != 0 {
			n++
		}
	}
	return n
}

// Saved is what a Referee has to know to go on where another one stopped.
type Saved struct {
	Host     string                `json:"host"`               // under which it has counted; "": it has not begun
	Next     int64                 `json:"next"`               // the number of the next request
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
func (r *Referee) Save() (json.RawMessage, error) {
	s := Saved{Host: r.redis.host, Next: r.numbers.next, Degraded: map[string]limit.Time{}}
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
func (r *Referee) Kept() {
	r.numbers.saves = true
	r.numbers.move()
}

// restore goes on from what was saved.
func (r *Referee) restore(s Saved) {
	r.numbers = numbers{base: s.Next, next: s.Next, kept: s.Next, saves: s.Host != ""}
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
