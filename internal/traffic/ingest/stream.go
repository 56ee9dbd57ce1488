package ingest

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"shadow/internal/logfile"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/parse"
)

// A Stream is a Reader for logs that grow: the caller hands over blocks of lines as they come, and asks for the
// requests before which no older one can come. It parses, looks up and orders as a Reader does, with the same parts,
// but on the goroutine of the caller, and it has no end.
//
//	lines ──▶ Take ──▶ intake ──▶ pending ──▶ Release(watermark) ──▶ a batch
//
// What waits, and how far each source has come, can be written to a checkpoint.
type Stream struct {
	options Options
	columns traffic.Columns
	intake  *intake
	rows    rows
	pending pending
	out     *traffic.Batch
	sources []*progress
}

// BlockStats counts what one block had.
type BlockStats struct {
	Counts           // NotHTTP is valid until the next call of Take
	Faults []FaultAt // the first few, with the line counted from the start of the block

	Resolution limit.Time // of the finest stamp; 0: there was none

	// Of the requests, MinTime where there is none:
	Reached limit.Time // the highest moment that two successive ones have reached
	Newest  limit.Time // the highest that is not in the future
	Last    limit.Time // that of the last one
}

// NewStream returns one that nothing has come to. several says whether it will have more than one source.
func NewStream(o Options, several bool) *Stream {
	o.Batch, o.Waiting = cmp.Or(o.Batch, defaultBatch), cmp.Or(o.Waiting, defaultWaiting)
	s := &Stream{options: o}
	s.columns = traffic.Columns{
		Source: several, Host: o.Hosts || o.Scopes.ByHost(), User: o.Users, Path: o.Paths, Took: o.Took,
		Marks: o.Scopes != nil, Values: len(o.Values.Parts()),
	}
	s.begin()
	return s
}

// begin makes what waits empty, for the tables of the options.
func (s *Stream) begin() {
	o := &s.options
	s.intake = newIntake(o, o.span(), s.columns)
	s.rows = rows{Batch: *traffic.NewBatch(0, s.columns)}
	s.out = traffic.NewBatch(0, s.columns)
	s.pending = pending{Batch: *traffic.NewBatch(0, s.columns), lateness: o.Lateness, since: traffic.MinTime, watermark: traffic.MinTime, load: o.Scopes.NewLoad()}
}

// Format chooses the format for a source from the beginning of its log, with what is odd about it.
func (s *Stream) Format(sample []byte) (*parse.Format, []string, error) {
	found, err := s.options.Format.For(sample)
	if err != nil {
		return nil, nil, err
	}
	missing := missingParts(s.options.Values, sample, found.Format)
	if what, text, _ := s.options.lack(found.Format, missing); what != "" {
		return nil, nil, errors.New(text)
	}
	for _, m := range missing {
		found.Warnings = append(found.Warnings, m.absent("no request at the beginning"))
	}
	if err := s.options.strangeIn(sample, found.Format); err != nil {
		return nil, nil, err
	}
	found.Warnings = append(found.Warnings, s.options.neverAbsent(sample, found.Format)...)
	return found.Format, append(found.Warnings, s.options.Scopes.Lacks(found.Format)...), nil
}

// Misread returns how many lines a format does not read.
func (s *Stream) Misread(lines []byte, format *parse.Format) (n int) {
	read := s.intake.lines(format)
	read.Begin(bytes.Clone(lines)) // it may change them
	var record parse.Record
	for read.More() {
		if _, fault := read.Next(&record); !fault.OK() && fault != parse.Comment {
			n++
		}
	}
	return n
}

// Sources makes room for so many sources. Of two requests at one moment that of the lower source comes first.
func (s *Stream) Sources(n int) {
	for len(s.sources) < n {
		s.sources = append(s.sources, newProgress())
	}
}

// Take takes in whole lines of a source that were read now. Times beyond top do not count as reached: the clock of a source
// must not make others late. block is not kept.
func (s *Stream) Take(source int, block *logfile.Block, format *parse.Format, now, top limit.Time) BlockStats {
	r := &s.rows
	s.intake.fill(r, block, format)
	if s.columns.Source {
		for i := range extend(&r.Source, r.Len()) {
			r.Source[i] = uint32(source)
		}
	}
	w := s.sources[source]
	w.top = top
	stats := BlockStats{Counts: r.counts, Faults: r.faults, Resolution: r.resolution()}
	stats.readTimes(r.At, w.last, now)
	stats.Late = s.pending.add(&r.Batch, w).late
	if n := s.pending.Len(); n > s.options.Waiting {
		s.pending.watermark = max(s.pending.watermark, s.pending.oldest())
	}
	return stats
}

// readTimes notes the moments of requests that were read now, behind one of last.
func (s *BlockStats) readTimes(at []limit.Time, last, now limit.Time) {
	s.Reached, s.Newest, s.Last = traffic.MinTime, traffic.MinTime, traffic.MinTime
	for _, moment := range at {
		s.Reached = max(s.Reached, min(last, moment))
		if moment <= now {
			s.Newest = max(s.Newest, moment)
		}
		last, s.Last = moment, moment
	}
}

// Progress returns the highest moment that two successive requests of a source have reached, and that of the last one:
// MinTime before there were two, or one.
func (s *Stream) Progress(source int) (reached, last limit.Time) {
	w := s.sources[source]
	return w.reached, w.last
}

// Waits reports whether a request of a source waits.
func (s *Stream) Waits(source int) bool { return slices.Contains(s.pending.Source, uint32(source)) }

// Renew makes a source one that nothing has come of. None of its requests may wait.
func (s *Stream) Renew(source int) { *s.sources[source] = *newProgress() }

// Waiting returns how many requests wait.
func (s *Stream) Waiting() int { return s.pending.Len() }

// Release returns requests whose sequence time is before the watermark, or before where too many waiting ones had put it:
// the earliest of them, as many as make a batch. more says that there are others, which the next call returns. Whatever
// comes after the last of them has a sequence time at the watermark or later; after MaxTime, at that of the latest of all.
// Late requests have the watermark as their sequence time, and would wait while it stands still: then it advances by a
// microsecond. The batch is valid until the next call.
func (s *Stream) Release(watermark limit.Time) (b *traffic.Batch, more bool) {
	s.out.Reset()
	before := s.pending.watermark
	if watermark <= before {
		if watermark = before; s.pending.lateAt(watermark) {
			watermark++
		}
	}
	part := watermark
	if n := s.options.Batch; s.pending.Len() > 2*n {
		part = min(watermark, s.pending.oldestOf(n))
	}
	next := part
	if watermark == traffic.MaxTime {
		latest := s.pending.watermark
		for _, seq := range s.pending.Sequence() {
			latest = max(latest, seq)
		}
		next = min(part, latest)
	}
	s.pending.release(part, s.out, 2*s.options.Batch)
	s.pending.watermark = max(before, next)
	return s.out, part < watermark
}
