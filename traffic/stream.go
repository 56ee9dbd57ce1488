package traffic

import (
	"cmp"
	"fmt"

	"shadow/limit"
	"shadow/parse"
)

// A Stream is a Reader for logs that grow: whoever follows them hands over blocks of lines as they come, and asks for
// what nothing older can come before. It parses, looks up and orders as a Reader does, with the same parts, but on the
// goroutine of the caller, and it has no end.
//
//	lines ──▶ Take ──▶ intake ──▶ pending ──▶ Release(floor) ──▶ a batch
//
// What waits, and how far each source has come, can be written to a checkpoint.
type Stream struct {
	options Options
	columns columns
	intake  *intake
	rows    rows
	pending pending
	out     *Batch
	sources []*watermark
}

// Taken is what taking in one block came to.
type Taken struct {
	Lines, Parsed, Unreadable, Excluded, Late int64
	Faults                                    []FaultAt // the first few, with the line counted from the start of the block

	Resolution limit.Time // of the finest stamp; 0: there was none
}

// NewStream returns one that nothing has come to. several says whether it will have more than one source.
func NewStream(o Options, several bool) *Stream {
	o.Batch, o.Waiting = cmp.Or(o.Batch, defaultBatch), cmp.Or(o.Waiting, defaultWaiting)
	s := &Stream{options: o}
	s.columns = columns{source: several, host: o.Hosts || o.Scopes.byHost(), user: o.Users, marks: o.Scopes != nil}
	s.begin()
	return s
}

// begin makes what waits empty, for the tables of the options.
func (s *Stream) begin() {
	o := &s.options
	s.intake = newIntake(o, o.span(), s.columns)
	s.rows = rows{Batch: *newBatch(0, s.columns)}
	s.out = newBatch(0, s.columns)
	s.pending = pending{Batch: *newBatch(0, s.columns), lateness: o.Lateness, since: dawn, floor: dawn, spreader: spreader{from: dawn}}
}

// Format chooses the format for a source from the beginning of its log, with what is odd about it.
func (s *Stream) Format(sample []byte) (*parse.Format, []string, error) {
	found, err := s.options.Format.For(sample)
	if err != nil {
		return nil, nil, err
	}
	if what := s.options.lacks(found.Format); what != "" {
		return nil, nil, fmt.Errorf("the format %s does not tell %s; if the log does, state the whole of its format: %s …",
			found.Format.Name, what, found.Format.Text)
	}
	return found.Format, append(found.Warnings, s.options.Scopes.lacks(found.Format)...), nil
}

// Sources makes room for so many sources. Of two requests at one moment that of the lower source comes first.
func (s *Stream) Sources(n int) {
	for len(s.sources) < n {
		s.sources = append(s.sources, newWatermark())
	}
}

// Take takes in whole lines of a source. block is not kept.
func (s *Stream) Take(source int, block *parse.Block, format *parse.Format) Taken {
	r := &s.rows
	s.intake.fill(r, block, format)
	if s.columns.source {
		for i := range extend(&r.Source, r.Len()) {
			r.Source[i] = uint16(source)
		}
	}
	sum := s.pending.add(&r.Batch, s.sources[source])
	if n := s.pending.Len(); n > s.options.Waiting {
		s.pending.floor = max(s.pending.floor, s.pending.oldest())
	}
	return Taken{
		Lines: r.lines, Parsed: r.parsed, Unreadable: r.unreadable, Excluded: r.excluded, Late: sum.late, Faults: r.faults,
		Resolution: r.resolution(),
	}
}

// Mark is the highest moment that two successive requests of a source have reached. sure is false before there were two:
// then it is that of the only one, or Dawn.
func (s *Stream) Mark(source int) (mark limit.Time, sure bool) {
	w := s.sources[source]
	if w.mark == dawn {
		return w.last, false
	}
	return w.mark, true
}

// Waiting is how many requests wait.
func (s *Stream) Waiting() int { return s.pending.Len() }

// Release returns requests that have their place before the floor, or before where too many waiting ones had put it: the
// earliest of them, as many as make a batch. more says that there are others, which the next call returns. Whatever comes
// after the last of them has its place at the floor or later; after End, where the latest of all was. The batch is valid
// until the next call.
func (s *Stream) Release(floor limit.Time) (b *Batch, more bool) {
	s.out.reset()
	before := s.pending.floor
	floor = max(floor, before)
	part := floor
	if n := s.options.Batch; s.pending.Len() > 2*n {
		part = min(floor, s.pending.oldestOf(n))
	}
	next := part
	if floor == End {
		next = min(part, s.pending.latest())
	}
	s.pending.release(part, s.out, 2*s.options.Batch)
	s.pending.floor = max(before, next)
	return s.out, part < floor
}

// Dawn is a floor before every request, and End one behind.
const (
	Dawn = dawn
	End  = dusk
)
