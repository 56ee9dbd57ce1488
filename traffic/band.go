package traffic

import (
	"slices"

	"shadow/limit"
	"shadow/parse"
)

// A log in whole seconds does not tell how requests lay inside a second. The band is what lies between two placements:
//
//	as logged   all of a second at its start          ||||·········
//	spread      each client's evenly over the second  |··|··|··|··
//
// n requests of one client that are stamped S lie at S, S + 1/n s, S + 2/n s …, in the order of the log. Where the stamp is
// the end of a request, the request time comes off afterwards, so that what moves is whether the stamp is a whole
// second, and not whether the beginning is.
//
// How many share a second is known once nothing that is stamped S can come any more. As no request begins after its
// stamp, this is so when the floor of what waits has passed S, however far back the beginning lies. So a request is not
// handed out before the floor has passed its stamp. A request that came too late, or took longer than the lateness, stays
// where it is and counts for none of the n: then what is moved depends on the inputs alone, not on how they are cut.

// A Stamp is what it takes to move a request to the spread placement.
type Stamp struct {
	Second limit.Time // that the line names, request time or not; fixed: the request does not move
	Read   int64      // place in the order of reading
	Shift  limit.Time // by how much the request comes later in the spread placement, less than a second
}

// Fixed is the Second of requests that do not move.
const fixed = dawn

// Moves tells whether the request is stamped in whole seconds, and so one that a spread may move.
func (s *Stamp) Moves() bool { return s.Second != fixed }

// stampOf is the stamp of a record.
func stampOf(r *parse.Record) Stamp {
	if r.Stamp%limit.Second != 0 {
		return Stamp{Second: fixed}
	}
	return Stamp{Second: r.Stamp}
}

// wholeSeconds tells whether no stamp at the beginning of an input has a fraction of a second. In an input that has some,
// a stamp without is no whole second but a fraction of zero.
func wholeSeconds(sample []byte, parser parse.Parser) bool {
	var record parse.Record
	for len(sample) > 0 {
		var line []byte
		line, sample = cutLine(sample)
		if parser.Parse(line, &record).OK() && record.Stamp%limit.Second != 0 {
			return false
		}
	}
	return true
}

// fix makes all requests stay where they are.
func (b *Batch) fix() {
	for i := range b.Stamps {
		b.Stamps[i].Second = fixed
	}
}

// number gives a row its place in the order of reading, and fixes it if its second cannot be known to be complete in time.
func (p *pending) number(row int, place limit.Time) {
	s := &p.Stamps[row]
	s.Read = p.read
	p.read++
	if took := s.Second - p.At[row]; place != p.At[row] || took < 0 || took > p.lateness {
		s.Second = fixed
	}
}

// A spreader spreads the seconds of what waits, each as soon as it is complete.
type spreader struct {
	from   limit.Time // seconds before it have been spread
	rows   []int32    // of what waits, whose seconds have become complete
	batch  Batch      // the same rows, with their seconds as times
	groups Group      // by client
}

// settle spreads the seconds before floor, and returns a floor before which no request has a later stamp.
func (p *pending) settle(floor limit.Time, clients int) limit.Time {
	if p.Stamps == nil {
		return floor
	}
	p.spread(floor, clients)
	places, settled := p.Places(), floor
	for i := range p.Stamps {
		if p.Stamps[i].Second >= floor {
			settled = min(settled, places[i])
		}
	}
	return settled
}

// spread spreads the seconds before floor that have not been spread yet.
func (p *pending) spread(floor limit.Time, clients int) {
	s := &p.spreader
	s.rows = s.rows[:0]
	s.batch.truncate(0)
	for i := range p.Stamps {
		if second := p.Stamps[i].Second; second >= s.from && second < floor && second != fixed {
			s.rows = append(s.rows, int32(i))
			s.batch.At = append(s.batch.At, second)
			s.batch.Client = append(s.batch.Client, p.Client[i])
			if p.Source != nil {
				s.batch.Source = append(s.batch.Source, p.Source[i])
			}
		}
	}
	s.from = max(s.from, floor)
	s.groups.Sort(&s.batch, s.batch.Client, clients)
	var start int32
	for _, end := range s.groups.Ends {
		p.spreadTimeline(s.groups.Rows[start:end], s.groups.At[start:end])
		start = end
	}
}

// spreadTimeline spreads the seconds of one client.
func (p *pending) spreadTimeline(rows []int32, seconds []limit.Time) {
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && seconds[n] == seconds[0] {
			n++
		}
		for i, row := range rows[:n] {
			p.Stamps[p.spreader.rows[row]].Shift = limit.Time(i) * limit.Second / limit.Time(n)
		}
		rows, seconds = rows[n:], seconds[n:]
	}
}

// A Spread makes the batches of the spread placement from those as logged. The requests are the same, warm ones too; only
// their times differ.
type Spread struct {
	Movable int64 // counted requests that a spread may move: stamped in whole seconds, neither too late nor too long
	Moved   int64 // counted requests that it moves

	held pending // requests that may still have to let others pass
	room Batch
	out  Batch
}

// Take takes in the next batch, which must have Stamps, and hands out those of the spread placement that are complete by
// then, one or two. What it hands out is valid until do returns.
func (s *Spread) Take(b *Batch, do func(*Batch) error) error {
	if s.held.Len() > 0 && s.held.Warm != b.Warm {
		if err := s.Flush(do); err != nil {
			return err
		}
	}
	s.count(b)
	s.merge(b)
	return s.hand(slices.Max(b.Places())+1, do)
}

// Flush hands out the rest.
func (s *Spread) Flush(do func(*Batch) error) error { return s.hand(limit.Never, do) }

// count counts the requests that may move, and those that do.
func (s *Spread) count(b *Batch) {
	if b.Warm {
		return
	}
	for i := range b.Stamps {
		if b.Stamps[i].Moves() {
			s.Movable++
		}
		if b.Stamps[i].Shift > 0 {
			s.Moved++
		}
	}
}

// merge adds a batch to the requests held, in the order in which all were read, and moves its requests.
func (s *Spread) merge(b *Batch) {
	held := &s.held.Batch
	if held.Len() > 0 {
		s.room.reset()
		s.room.mergeRead(held, b)
		*held, s.room = s.room, *held
	} else {
		held.take(b, 0, b.Len())
	}
	held.Warm = b.Warm
	for i := range held.Stamps {
		shift := &held.Stamps[i].Shift
		held.At[i] += *shift
		if held.Order != nil {
			held.Order[i] += *shift
		}
		*shift = 0
	}
}

// mergeRead appends the rows of two batches, each in the order of reading, in that order.
func (b *Batch) mergeRead(x, y *Batch) {
	i, j := 0, 0
	for i < x.Len() && j < y.Len() {
		from := i
		for i < x.Len() && x.Stamps[i].Read < y.Stamps[j].Read {
			i++
		}
		b.take(x, from, i)
		if i == x.Len() {
			break
		}
		from = j
		for j < y.Len() && y.Stamps[j].Read < x.Stamps[i].Read {
			j++
		}
		b.take(y, from, j)
	}
	b.take(x, i, x.Len())
	b.take(y, j, y.Len())
}

// hand hands out what lies before the floor, if anything does.
func (s *Spread) hand(floor limit.Time, do func(*Batch) error) error {
	warm := s.held.Warm
	s.out.reset()
	s.held.release(floor, &s.out, s.held.Len())
	s.held.Warm, s.out.Warm = warm, warm
	if s.out.Len() == 0 {
		return nil
	}
	return do(&s.out)
}
