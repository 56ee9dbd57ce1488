package shard

import (
	"cmp"
	"container/heap"
	"io"
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// From the blocks, requests come in the order of time, as from a Reader of the logs:
//
//	chain   access.log.1   part 1 │frame│frame│frame│ part 2 │frame│ …    each in the order of the lines
//	chain   access.log     part 1 │frame│ …
//	            │ the frame that is furthest back in time comes next
//	            ▼
//	        rows that wait ──▶ those before the watermark, in the order of inputs and lines ──▶ a batch
//
// A frame says how far its input had come, so nothing behind it was let in before that less the lateness: see ingest.
// Rows of one moment stand in the order of the lines.

// A Source hands out the requests of a set. It is a replay.Source.
type Source struct {
	Late   int64      // requests so far that came too late
	LateBy limit.Time // the lateness that would have put all of these in order

	set      *Set
	lateness limit.Time
	columns  traffic.Columns // that are wanted
	values   []int           // which of the packed Values each wanted one is
	chains   chains
	frame    traffic.Batch // that was read last
	wait     *traffic.Batch
	rest     *traffic.Batch
	out      *traffic.Batch
	until    limit.Time // what was let in from here on is for the next slice, see Slices
	floor    limit.Time // what was let go before its time: nothing may come before it
	rows     []int32
	others   []int32
	room     []byte
	batch    int
	err      error
}

// A chain is the frames of one input.
type chain struct {
	input int
	part  int
	next  int        // frame of the part
	bound limit.Time // nothing that follows was let in before it
}

type chains []*chain

func (c chains) Len() int           { return len(c) }
func (c chains) Less(i, j int) bool { return c[i].bound < c[j].bound }
func (c chains) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *chains) Push(x any)        { *c = append(*c, x.(*chain)) }
func (c *chains) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

const (
	batchRows = 256 << 10
	mostWait  = 4 << 20 // rows that may wait for older ones
)

// Source takes the names of the set into the tables of o, and hands out what o wants of the requests.
func (s *Set) Source(o *ingest.Options) (*Source, error) {
	stats, err := s.Stats(0)
	if err != nil {
		return nil, err
	}
	c := &Source{
		set: s, lateness: o.Lateness, columns: o.Columns(len(stats.Inputs), stats.HasUpstream, stats.ForwardedBy != ""),
		wait: new(traffic.Batch), rest: new(traffic.Batch), out: new(traffic.Batch), batch: batchRows,
		floor: traffic.MinTime, until: traffic.MaxTime,
	}
	for _, part := range o.Tables.Parts {
		c.values = append(c.values, slices.Index(s.Values, part.String()))
	}
	for _, r := range s.readers {
		if err := r.takeNames(o); err != nil {
			return nil, err
		}
	}
	for input := range s.fronts {
		one := &chain{input: input, next: -1}
		if one.advance(s) {
			c.chains = append(c.chains, one)
		}
	}
	heap.Init(&c.chains)
	return c, nil
}

// advance goes on to the next frame, and reports whether there is one.
func (c *chain) advance(s *Set) bool {
	for c.next++; c.part < len(s.readers); c.part, c.next = c.part+1, 0 {
		frames := s.readers[c.part].Frames
		for c.next < len(frames) && frames[c.next].Input != c.input {
			c.next++
		}
		if c.next < len(frames) {
			c.bound = max(frames[c.next].Reached, s.fronts[c.input][c.part].Next)
			return true
		}
	}
	return false
}

// Next returns the next batch, or io.EOF. The batch is valid until the next call of Next.
func (c *Source) Next() (*traffic.Batch, error) {
	if c.err != nil {
		return nil, c.err
	}
	for {
		for len(c.chains) > 0 && c.wait.Len() < c.batch {
			if c.err = c.read(); c.err != nil {
				return nil, c.err
			}
		}
		watermark := traffic.MaxTime
		if len(c.chains) > 0 {
			watermark = max(traffic.MinTime, c.chains[0].bound-c.lateness)
			if c.wait.Len() > mostWait {
				watermark = max(watermark, c.oldest())
			}
		} else if c.wait.Len() == 0 {
			c.err = io.EOF
			return nil, c.err
		}
		if b := c.release(min(watermark, c.until)); b.Len() > 0 {
			c.batch = c.wait.Len() + batchRows
			return b, nil
		}
		if len(c.chains) == 0 {
			c.err = io.EOF // what waits is of the next slice
			return nil, c.err
		}
		c.batch = c.wait.Len() + batchRows
	}
}

// read takes in the frame that is furthest back in time.
func (c *Source) read() error {
	one := c.chains[0]
	r, front := c.set.readers[one.part], c.set.fronts[one.input][one.part]
	b := &c.frame // with the columns of the frame
	b.Reset()
	if err := r.rows(b, one.next, &c.room); err != nil {
		return err
	}
	if err := r.known.Translate(b); err != nil {
		return err
	}
	if c.columns.Source {
		b.Source = slices.Grow(b.Source[:0], b.Len())[:b.Len()]
		for i := range b.Source {
			b.Source[i] = uint32(one.input)
		}
	}
	for i := range b.Line {
		b.Line[i] += front.Lines
	}
	packed := b.Values
	b.Values = [traffic.MaxValues][]int32{}
	for i, from := range c.values {
		b.Values[i] = packed[from]
	}
	earliest := max(c.floor, front.Next-c.lateness)
	for i, at := range b.At {
		seq := max(b.Sequence()[i], earliest)
		if seq == at {
			continue
		}
		c.Late, c.LateBy = c.Late+1, max(c.LateBy, seq+c.lateness-at)
		b.NeedSeq()
		b.Seq[i] = seq
	}
	if c.wait.Len() == 0 {
		wanted := c.columns
		wanted.Lines = true
		c.wait.Refit(int(min(c.set.Rows(), batchRows+frameRows)), wanted)
	}
	if err := c.wait.Adopt(b, nil); err != nil {
		return err
	}
	if one.advance(c.set) {
		heap.Fix(&c.chains, 0)
	} else {
		heap.Pop(&c.chains)
	}
	return nil
}

// release returns what waits and lies before the watermark.
func (c *Source) release(watermark limit.Time) *traffic.Batch {
	w := c.wait
	c.rows, c.others = slices.Grow(c.rows[:0], w.Len()), c.others[:0]
	for row, seq := range w.Sequence() {
		if seq < watermark {
			c.rows = append(c.rows, int32(row))
		} else {
			c.others = append(c.others, int32(row))
		}
	}
	if len(c.rows) == 0 {
		return new(traffic.Batch)
	}
	inOrder := func(x, y int32) int {
		if w.Source != nil && w.Source[x] != w.Source[y] {
			return cmp.Compare(w.Source[x], w.Source[y])
		}
		return cmp.Compare(w.Line[x], w.Line[y])
	}
	sorted := slices.IsSortedFunc(c.rows, inOrder)
	if !sorted {
		slices.SortFunc(c.rows, inOrder)
	}
	c.out.Truncate(0)
	if len(c.others) == 0 && sorted { // all of it goes
		c.out, c.wait = w, c.out
		w = c.wait
	} else {
		c.out.Append(w, c.rows)
	}
	c.out.DropSeq()
	c.out.Stamps = c.set.Stamps
	c.rest.Truncate(0)
	if len(c.others) > 0 || !sorted {
		c.rest.Append(w, c.others)
		c.wait, c.rest = c.rest, w
	}
	c.rows = c.rows[:0]
	if !c.columns.Lines {
		out := *c.out
		out.Line = nil
		return &out
	}
	return c.out
}

// oldest returns a watermark that lets about a quarter of what waits go.
func (c *Source) oldest() limit.Time {
	var seqs []limit.Time
	for i := 0; i < c.wait.Len(); i += 1024 {
		seqs = append(seqs, c.wait.Sequence()[i])
	}
	slices.Sort(seqs)
	c.floor = max(c.floor, seqs[len(seqs)/4]+1)
	return c.floor
}

// Refines reports whether requests that are alike by a key are alike by another one, by which shards are divided: then
// each of its timelines is whole in one shard.
func Refines(key, by request.Key) bool {
	for _, p := range by.Parts() {
		if !slices.ContainsFunc(key.Parts(), func(k request.Part) bool { return tells(k, p) }) {
			return false
		}
	}
	return true
}

// tells reports whether one part of a key says what another is.
func tells(k, p request.Part) bool {
	if k == p {
		return true
	}
	switch p.Kind {
	case request.PartSite:
		return true
	case request.PartNetwork:
		if k.Kind == request.PartClient {
			return true
		}
		narrower := func(four bool) bool {
			n, m := k.Bits(four), p.Bits(four)
			return n == m || n == 0 || m > 0 && n >= m // of 0 bits, each is alone
		}
		return k.Kind == request.PartNetwork && narrower(true) && narrower(false)
	case request.PartASN, request.PartCountry, request.PartOwner:
		return k.Kind == request.PartClient
	}
	return false
}
