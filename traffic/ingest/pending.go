package ingest

import (
	"slices"

	"shadow/limit"
	"shadow/traffic"
)

// Lines of a busy log are out of order, because a server writes a line when it is done with the request, and several
// files have to be merged. So requests wait here until nothing older can come.
//
//	read ──▶ ………………………………│──────────── pending ────────────│
//	                      floor = watermark − lateness    watermark
//
// Each input has a watermark: the highest moment that two successive lines of it have reached. A single stamp far in
// the future, with ordinary lines around it, does not move it. A request that lies more than the lateness behind the
// watermark of its own input is late: it takes its place at the moment when it is let in. So a request's place depends
// on the inputs alone, not on how they are cut into blocks, how fast each is read or in which order they were named.
//
// What lies before the floor, the lowest watermark of all inputs less the lateness, can be judged: whatever comes from
// now on has its place at the floor or later. So requests of one moment are handed out together.

// A watermark follows the time of one input.
type watermark struct {
	mark limit.Time // the highest moment that two successive requests have reached
	last limit.Time // of the latest request
	top  limit.Time // what lies beyond it moves nothing; see Stream.Take
}

func newWatermark() *watermark {
	return &watermark{mark: traffic.MinTime, last: traffic.MinTime, top: traffic.MaxTime}
}

// pass lets a request through at t and returns its place in time.
func (w *watermark) pass(t, lateness limit.Time) limit.Time {
	place := max(t, w.mark-lateness)
	w.mark = max(w.mark, min(w.last, t, w.top))
	w.last = t
	return place
}

// pending holds the requests that wait for older ones.
type pending struct {
	traffic.Batch
	lateness limit.Time
	since    limit.Time // requests from here on are counted, those before it only warm the limiters
	floor    limit.Time // requests before it have been handed out
}

// added is what taking in one block came to.
type added struct {
	late, warm, dropped int64
	first, last         limit.Time // of the requests that count
}

// add takes in the rows of one block of the input that w belongs to.
func (p *pending) add(b *traffic.Batch, w *watermark) added {
	sum := added{first: traffic.MaxTime, last: traffic.MinTime}
	row := p.Len()
	p.Take(b, 0, b.Len())
	for i := row; i < p.Len(); i++ {
		at := p.At[i]
		// A request may be too late twice: for its input, and because too many waited and its moment was handed out.
		place := max(w.pass(at, p.lateness), p.floor)
		if place != at {
			sum.late++
			p.setOrder(i, place)
		}
		if at >= p.since {
			sum.first, sum.last = min(sum.first, at), max(sum.last, at)
		} else if place < p.since {
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

// setOrder notes a place that differs from the row's time.
func (p *pending) setOrder(row int, place limit.Time) {
	p.NeedSeq()
	p.Seq[row] = place
}

// lateAt reports whether a late request waits at a place.
func (p *pending) lateAt(place limit.Time) bool {
	for i, at := range p.Seq {
		if at == place && p.At[i] != at {
			return true
		}
	}
	return false
}

// release makes out, which is empty, the rows whose place is before the floor. Most rows are, so when there are at most
// few of them it is the others that are copied, and the two batches change places.
func (p *pending) release(floor limit.Time, out *traffic.Batch, few int) {
	p.floor = max(p.floor, floor)
	change := p.Len() <= few
	p.part(floor, out, change)
	if change {
		p.Batch, *out = *out, p.Batch
	}
	p.DropSeq()
	out.DropSeq()
}

// part moves the rows before the floor into out, or the others.
func (p *pending) part(floor limit.Time, out *traffic.Batch, others bool) {
	place := p.Sequence()
	kept, i := 0, 0
	for i < len(place) {
		start := i
		for i < len(place) && place[i] < floor != others {
			i++
		}
		out.Take(&p.Batch, start, i)
		start = i
		for i < len(place) && place[i] < floor == others {
			i++
		}
		p.Move(kept, start, i)
		kept += i - start
	}
	p.Truncate(kept)
}

// latest is the place of the last request that waits, or the floor.
func (p *pending) latest() limit.Time {
	last := p.floor
	for _, place := range p.Sequence() {
		last = max(last, place)
	}
	return last
}

// oldest is a floor that lets about a quarter of the waiting requests go, and at least one, of which there must be some.
func (p *pending) oldest() limit.Time { return p.oldestOf(p.Len() / 4) }

// oldestOf is a floor that lets about n of the waiting requests go, more than n, and at least those of one moment. It is
// taken from a sample of every so many rows.
func (p *pending) oldestOf(n int) limit.Time {
	const sample = 4096
	step := max(p.Len()/sample, 1)
	var places []limit.Time
	for i := 0; i < p.Len(); i += step {
		places = append(places, p.Sequence()[i])
	}
	slices.Sort(places)
	return places[min(n/step, len(places)-1)] + 1
}
