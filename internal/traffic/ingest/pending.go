package ingest

import (
	"slices"

	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
	"shadow/limit"
)

// Lines of a busy log are out of order, because a server writes a line when it is done with the request, and several
// files have to be merged. So requests wait here until nothing older can come.
//
//	read ──▶ ………………………………│──────────── pending ────────────│
//	                  watermark = reached − lateness       reached
//
// Each input has reached the highest time that two successive lines of it have. A single stamp far in the future, with
// ordinary lines around it, does not count, nor do several that are a day or more ahead of the present, as those of a machine
// that has started with a wrong clock, in an input that does not begin with such. A request that lies more than the lateness behind what its own input has
// reached is late: its sequence time is the time at which it is let in. So the sequence times depend on the inputs alone,
// not on how they are cut into blocks, how fast each is read or in which order they were named.
//
// What lies before the watermark, the lowest time that an input has reached less the lateness, can be judged: whatever
// comes from now on has a sequence time at the watermark or later. So requests of one sequence time are handed out together.

// A progress follows the time of one input.
type progress struct {
	reached limit.Time // the highest time that two successive requests have reached
	last    limit.Time // of the latest request
	top     limit.Time // what lies beyond it counts as this; see Stream.Take
	future  limit.Time // what lies beyond it moves nothing
}

func newProgress() *progress {
	return &progress{reached: traffic.MinTime, last: traffic.MinTime, top: traffic.MaxTime, future: traffic.MaxTime}
}

// pass lets a request through at t and returns its sequence time.
func (w *progress) pass(t, lateness limit.Time) limit.Time {
	seq := max(t, w.reached-lateness)
	if next := min(w.last, t, w.top); next <= w.future {
		w.reached = max(w.reached, next)
	}
	w.last = t
	return seq
}

// pending holds the requests that wait for older ones.
type pending struct {
	traffic.Batch
	lateness  limit.Time
	since     limit.Time  // requests from here on are counted, those before it only warm the limiters
	watermark limit.Time  // requests before it have been handed out
	load      *match.Load // nil: no scope asks for it
	held      uint64      // scopes that do, which some request was in
}

// added counts the requests of one block, by what became of them.
type added struct {
	late, warm, dropped int64
	lateBy              limit.Time // the lateness that would have put the latest of them in order
	first, last         limit.Time // of the requests that count
}

// add takes in the rows of one block of the input that w belongs to.
func (p *pending) add(b *traffic.Batch, w *progress) added {
	sum := added{first: traffic.MaxTime, last: traffic.MinTime}
	row := p.Len()
	p.Take(b, 0, b.Len())
	for i := row; i < p.Len(); i++ {
		at := p.At[i]
		// A request may be too late twice: for its input, and because too many waited and its time was handed out.
		seq := max(w.pass(at, p.lateness), p.watermark)
		if seq != at {
			sum.late++
			sum.lateBy = max(sum.lateBy, seq+p.lateness-at)
			p.setSeq(i, seq)
		}
		if at >= p.since {
			sum.first, sum.last = min(sum.first, at), max(sum.last, at)
		} else if seq < p.since {
			sum.warm++
		} else { // too late to warm anything
			sum.dropped++
			continue
		}
		p.Move(row, i, i+1)
		row++
	}
	p.Truncate(row)
	return sum
}

// setSeq notes a sequence time that differs from the row's time.
func (p *pending) setSeq(row int, seq limit.Time) {
	p.NeedSeq()
	p.Seq[row] = seq
}

// lateAt reports whether a late request waits with a sequence time.
func (p *pending) lateAt(seq limit.Time) bool {
	for i, at := range p.Seq {
		if at == seq && p.At[i] != at {
			return true
		}
	}
	return false
}

// release makes out, which is empty, the rows whose sequence time is before the watermark. Most rows are, so when there
// are at most few of them it is the others that are copied, and the two batches are exchanged.
func (p *pending) release(watermark limit.Time, out *traffic.Batch, few int) {
	p.watermark = max(p.watermark, watermark)
	copyOthers := p.Len() <= few
	seq := p.Sequence()
	kept, i := 0, 0
	for i < len(seq) {
		start := i
		for i < len(seq) && seq[i] < watermark != copyOthers {
			i++
		}
		out.Take(&p.Batch, start, i)
		start = i
		for i < len(seq) && seq[i] < watermark == copyOthers {
			i++
		}
		p.Move(kept, start, i)
		kept += i - start
	}
	p.Truncate(kept)
	if copyOthers {
		p.Batch, *out = *out, p.Batch
	}
	if p.load != nil {
		p.held |= p.load.Mark(out, p.since)
	}
	p.DropSeq()
	out.DropSeq()
}

// oldest returns a watermark that lets about a quarter of the waiting requests go, and at least one. There must be
// some.
func (p *pending) oldest() limit.Time { return p.oldestOf(p.Len() / 4) }

// oldestOf returns a watermark that lets about n of the waiting requests go, more than n, and at least those of one
// sequence time. It is taken from a sample of every so many rows.
func (p *pending) oldestOf(n int) limit.Time {
	const sample = 4096
	step := max(p.Len()/sample, 1)
	var seqs []limit.Time
	for i := 0; i < p.Len(); i += step {
		seqs = append(seqs, p.Sequence()[i])
	}
	slices.Sort(seqs)
	return seqs[min(n/step, len(seqs)-1)] + 1
}
