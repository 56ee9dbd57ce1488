package drill

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"shadow/internal/traffic"
	"shadow/limit"
	shown "shadow/report/drill"
)

// A server decides on a request at some moment between its writing and the answer. Of two requests that come nearly
// at once it may take either first, and a limit that has room for one at a certain moment may see a request just
// before or behind it. So its verdicts are as foreseen if there are moments in these spans at which the policy
// decides as it did, on all requests of a client together. They are looked for from the moments of writing on: of
// each client with a verdict that does not fit, one of these requests and some before it are moved, and stay so
// unless fewer verdicts fit.

// An explanation looks for moments that explain the verdicts of a server.
type explanation struct {
	drill    *Drill
	all      []shown.Request
	batch    *traffic.Batch // with a row for each
	moments  []limit.Time   // when it was written, then the best that were found
	first    []limit.Time   // the earliest moment at which it may have been judged
	last     []limit.Time   // the latest one
	together bool           // whether clients share what limits count by
}

const (
	clockStep    = limit.Millisecond // how much older the clock of a server may be: nginx's has milliseconds
	leastUnknown = 20 * limit.Millisecond
	soon         = 3 * limit.Millisecond // in which most requests are judged
	tries        = 3000
	farthest     = 8               // bits of how many requests before the one that does not fit may be moved
	moved        = 4               // of these, about
	patient      = 3 * time.Second // that the search may take
	hurried      = time.Second / 5 // after an interruption
)

// A part is the requests that limits count together.
type part struct {
	rows []int32 // in the order in which they were written
	odd  []int   // of these, those whose verdicts do not fit, by their places
}

// find sets which verdicts fit.
func (e *explanation) find(ctx context.Context) error {
	v, err := e.drill.judge(e.batch, e.moments)
	if err != nil {
		return err
	}
	for i := range e.all {
		e.all[i].ByMoments = v.is[i]
	}
	var odd []*part
	for _, p := range e.parts() {
		if e.note(p, p.rows, v.is); len(p.odd) > 0 {
			odd = append(odd, p)
		}
	}
	end := time.Now().Add(patient)
	if ctx.Err() != nil {
		end = time.Now().Add(hurried)
	}
	rng := rand.New(rand.NewPCG(1, 2)) // the same answers are explained in the same way
	for n := 0; n < tries && len(odd) > 0 && time.Now().Before(end); n++ {
		if err := e.try(rng, odd); err != nil {
			return err
		}
		odd = slices.DeleteFunc(odd, func(p *part) bool { return len(p.odd) == 0 })
	}
	return nil
}

// parts returns the requests by what limits count together.
func (e *explanation) parts() (all []*part) {
	byClient := map[int32]*part{}
	for _, row := range inOrder(e.moments, func(int32, int32) int { return 0 }) {
		client := e.batch.Client[row]
		if e.together {
			client = 0
		}
		if byClient[client] == nil {
			byClient[client] = new(part)
			all = append(all, byClient[client])
		}
		byClient[client].rows = append(byClient[client].rows, row)
	}
	return all
}

// note sets which requests of a part fit verdicts, which stand at some rows.
func (e *explanation) note(p *part, at []int32, refused []bool) {
	p.odd = p.odd[:0]
	for i, row := range p.rows {
		q := &e.all[row]
		if q.Explained = q.Status != 0 && q.Refused == refused[at[i]]; !q.Explained && q.Status != 0 {
			p.odd = append(p.odd, i)
		}
	}
}

// try moves requests of each part, and keeps the new moments of parts in which no fewer verdicts fit.
func (e *explanation) try(rng *rand.Rand, odd []*part) error {
	var rows []int32
	var moments []limit.Time
	places := make([][]int32, len(odd)) // of the rows of each part among these
	for i, p := range odd {
		last, reach := p.odd[rng.IntN(len(p.odd))], 1<<rng.IntN(farthest)
		move := e.mover(rng)
		for j, row := range p.rows {
			at := e.moments[row]
			if j == last || j < last && j >= last-reach && (move.share >= 0 || rng.IntN(max(2, reach/moved)) == 0) {
				at = move.moment(row)
			}
			places[i] = append(places[i], int32(len(rows)))
			rows, moments = append(rows, row), append(moments, at)
		}
	}
	b := new(traffic.Batch)
	b.Append(e.batch, rows)
	v, err := e.drill.judge(b, moments)
	if err != nil {
		return err
	}
	for i, p := range odd {
		n := 0
		for j, row := range p.rows {
			if q := &e.all[row]; q.Status != 0 && q.Refused != v.is[places[i][j]] {
				n++
			}
		}
		if n > len(p.odd) {
			continue
		}
		for j, row := range p.rows {
			e.moments[row] = moments[places[i][j]]
		}
		e.note(p, places[i], v.is)
	}
	return nil
}

// A mover draws moments: each by itself, most of them soon after the writing; or, as where this machine or the server
// was held up for a while, all at the same share of what is possible.
type mover struct {
	*explanation
	rng   *rand.Rand
	share float64 // of the span; below 0: each by itself
}

func (e *explanation) mover(rng *rand.Rand) mover {
	m := mover{e, rng, -1}
	if rng.IntN(3) == 0 {
		m.share = min(1, 1.5*rng.Float64())
	}
	return m
}

// moment returns one at which the request of a row may have been judged.
func (m *mover) moment(row int32) limit.Time {
	first, span := m.first[row], max(0, m.last[row]-m.first[row])
	switch {
	case m.share >= 0:
		return first + limit.Time(m.share*float64(span))
	case m.rng.IntN(2) == 0:
		span = min(span, soon)
	}
	return first + limit.Time(m.rng.Int64N(int64(span)+1))
}
