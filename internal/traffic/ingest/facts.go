package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"shadow/internal/logfile"
	"shadow/internal/mapped"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/parse"
)

// Several processes may read parts of the same inputs, none of which knows what the others find. What one tells of its
// part are Facts. Those of all parts, put together in the order of the bytes, are the Stats of a Reader of it all:
//
//	part 1 |lines, faults, times ──┐
//	part 2 |lines, faults, times ──┼──▶ Stats
//	part 3 |lines, faults, times ──┘
//
// What depends on the line above, a step back of the clock or a late request, depends across the border between parts
// on how far the part before it has come: that is among the facts.

// Facts counts what a Reader found in the part of its inputs that it has read.
type Facts struct {
	Stats               // all but Late, Inputs and Faults
	Inputs []InputFacts // by rank
	Passed []string
}

// InputFacts holds the facts of one input.
type InputFacts struct {
	Index int // among the names: parts follow each other in that order
	Span  logfile.Span
	Size  int64 // on disk
	Stats InputStats
	Zones keptZones

	Faults   []FaultAt // their lines are counted from the first of the part
	Comments int64
	Looked   bool // whether a request has taken part

	Reached, Last       limit.Time // see progress; MinTime: of nothing
	Future              limit.Time // what lies beyond it moved nothing
	FirstAt             limit.Time // of the first request that took part; MinTime: there is none
	FirstStamp, Stamped limit.Time // of the first line that could be read and of the last
	Head, Tail          uint32     // hashes of these lines
}

// keptZones are Zones as they are written down.
type keptZones struct {
	Zones
	Begin       limit.Time
	First, Last parse.Zone
}

// Facts tells of the part that was read. It must be called after Next has returned io.EOF.
func (r *Reader) Facts() *Facts {
	f := &Facts{Stats: r.stats}
	f.Late, f.Stats.Inputs, f.Faults = 0, nil, nil
	f.Passed = mapped.Add(f.Passed, r.stats.Passed, error.Error)
	f.Inputs = mapped.Add(f.Inputs, r.feeds, (*feed).facts)
	return f
}

func (f *feed) facts() InputFacts {
	z := &f.stats.Zones
	size, _, _ := f.input.Identity()
	return InputFacts{
		Index: f.index, Span: f.span, Size: size, Stats: f.stats, Faults: f.faults, Comments: f.comments, Looked: f.looked,
		Zones:   keptZones{*z, z.begin, z.first, z.last},
		Reached: f.progress.reached, Last: f.progress.last, Future: f.progress.future, FirstAt: f.firstAt, FirstStamp: f.firstStamp, Stamped: f.stamp, Head: f.head, Tail: f.tail,
	}
}

// A Front says how far an input has come in time before some part of it: see progress.
type Front struct {
	Reached limit.Time // before the first request of the part
	Next    limit.Time // before the second one and all that follow
	Lines   int64      // before the part, comments too
}

// Fronts returns the fronts of an input before each of its parts, which are in order.
func Fronts(parts []*InputFacts) []Front {
	fronts := make([]Front, len(parts))
	w, lines := newProgress(), int64(0)
	for i, p := range parts {
		fronts[i] = Front{Reached: w.reached, Next: w.reached, Lines: lines}
		lines += p.Stats.Lines + p.Comments
		if p.FirstAt == traffic.MinTime {
			continue
		}
		w.future = p.Future
		w.pass(p.FirstAt, 0)
		fronts[i].Next = w.reached
		w.reached, w.last = max(w.reached, p.Reached), p.Last
	}
	return fronts
}

var errFacts = errors.New("parts of different inputs")

// Join puts the facts of all parts together, in order. late is the number of late requests, which judging them has
// found.
func Join(parts []*Facts, late int64) (*Stats, error) {
	s := &Stats{FirstAt: traffic.MaxTime, LastAt: traffic.MinTime}
	s.Late = late
	for _, p := range parts {
		if len(p.Inputs) != len(parts[0].Inputs) {
			return nil, errFacts
		}
		s.Add(&p.Counts)
		s.Refusals += p.Refusals
		s.Whole += p.Whole
		s.Untimed += p.Untimed
		s.JudgesNotHTTP, s.Marked = p.JudgesNotHTTP, s.Marked|p.Marked
		s.Resolution = Finer(s.Resolution, p.Resolution)
		s.HasAgents, s.HasUpstream = s.HasAgents || p.HasAgents, s.HasUpstream || p.HasUpstream
		s.ForwardedBy = max(s.ForwardedBy, p.ForwardedBy)
		if p.Parsed > p.Excluded && (p.FirstAt != 0 || p.LastAt != 0) {
			s.FirstAt, s.LastAt = min(s.FirstAt, p.FirstAt), max(s.LastAt, p.LastAt)
		}
	}
	empty(&s.FirstAt, &s.LastAt)
	s.SiteHosts = parts[0].SiteHosts
	for i := range parts[0].Inputs {
		in, faults, err := joinInput(parts, i)
		if err != nil {
			return nil, err
		}
		s.Inputs = append(s.Inputs, in)
		s.Faults = append(s.Faults, faults[:min(len(faults), faultsShown-len(s.Faults))]...)
	}
	s.Passed = mapped.Add(s.Passed, parts[0].Passed, errors.New)
	return s, nil
}

// joinInput puts together what the parts tell of one input.
func joinInput(parts []*Facts, i int) (in InputStats, faults []FaultAt, err error) {
	in = parts[0].Inputs[i].Stats
	in.Lines, in.Parsed, in.Unreadable, in.Steps, in.Twins, in.Zones = 0, 0, 0, Steps{}, 0, Zones{}
	in.FirstAt, in.LastAt, in.Problem = traffic.MaxTime, traffic.MinTime, ""
	lines, stamp, tail := int64(0), limit.Time(0), uint32(0)
	looked := slices.ContainsFunc(parts, func(p *Facts) bool { return p.Inputs[i].Looked })
	first := true
	for _, p := range parts {
		f := &p.Inputs[i]
		if f.Stats.Name != in.Name || f.Size != parts[0].Inputs[i].Size || f.Stats.Head != in.Head || f.Stats.Tail != in.Tail {
			return in, nil, fmt.Errorf("%w: %s has changed between them, or is another file", errFacts, in.Name)
		}
		in.SeenFrom, in.SeenTo = min(in.SeenFrom, f.Stats.SeenFrom), max(in.SeenTo, f.Stats.SeenTo)
		in.Compression, in.Problem = cmp.Or(in.Compression, f.Stats.Compression), cmp.Or(in.Problem, f.Stats.Problem)
		if f.Stats.Parsed > 0 && in.Parsed > 0 {
			in.follow(stamp, f.FirstStamp, tail, f.Head)
		}
		in.Steps.Add(f.Stats.Steps)
		in.Twins += f.Stats.Twins
		in.Zones.add(f.Zones.restore())
		for _, fault := range f.Faults[:min(len(f.Faults), faultsShown-len(faults))] {
			fault.Line += lines
			faults = append(faults, fault)
		}
		lines += f.Stats.Lines + f.Comments
		if f.Stats.Parsed > 0 {
			stamp, tail = f.Stamped, f.Tail
		}
		in.Lines += f.Stats.Lines
		in.Parsed += f.Stats.Parsed
		in.Unreadable += f.Stats.Unreadable
		if f.FirstAt != traffic.MinTime {
			in.FirstAt, in.LastAt = min(in.FirstAt, f.Stats.FirstAt), max(in.LastAt, f.Stats.LastAt)
		}
		// What a part lacks a request for another may have: of warnings about requests those of all parts hold.
		if f.Looked == looked {
			if first {
				in.Warnings, first = f.Stats.Warnings, false
			} else {
				in.Warnings = common(in.Warnings, f.Stats.Warnings)
			}
		}
	}
	empty(&in.FirstAt, &in.LastAt)
	empty(&in.SeenFrom, &in.SeenTo)
	return in, faults, nil
}

// common returns the texts of a that b has as well.
func common(a, b []string) (both []string) {
	for _, text := range a {
		if slices.Contains(b, text) {
			both = append(both, text)
		}
	}
	return both
}

func (k *keptZones) restore() *Zones {
	z := k.Zones
	z.begin, z.first, z.last = k.Begin, k.First, k.Last
	return &z
}
