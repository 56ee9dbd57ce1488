package suggest

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"shadow/limit"
	"shadow/replay"
	"shadow/sweep"
	"shadow/traffic"
	"shadow/traffic/evidence"
	"shadow/traffic/ingest"
)

// An Advisor answers a question about a log. It reads the log three or four times, always the same requests:
//
//	survey   who each client is, and from when to when the log goes
//	curves   of the first part of the log and of the rest, and page loads
//	refused  by the token buckets that were chosen, which their curves do not tell, and then by those beside the best and by
//	         the answer over the whole log
type Advisor struct {
	Question
	Shapes     sweep.Options // kinds, periods and rates to choose from
	HeldOut    Percent       // of the requests: the rest, on which limits are proven; 0 for none
	Band       bool
	Action     string // the requests of this action only; "" for all
	EachAction bool   // one answer for each of those with most requests
	Reading    ingest.Options
	Rules      *evidence.Rules // nil: no evidence is gathered
	// Read reads the log once, and hands each batch to do.
	Read func(o ingest.Options, do func(*traffic.Batch) error) (ingest.Stats, error)

	Found *replay.Result // by the survey
	Split bool           // whether there is a rest
	cut   limit.Time     // where it begins

	labels Labels
	tracks []*track
}

// A track is what is found out about the requests of one action, or all.
type track struct {
	action string
	parts  [2]*sweep.Sweep // of the first part and of the rest
	loads  LoadCounter
	advice *Advice
}

// MostActions is how many actions EachAction looks at.
const MostActions = 10

// Survey finds out who each client is, and where to split the log.
func (d *Advisor) Survey() error {
	clock := new(Clock)
	engine := replay.New(replay.Options{
		Tables: d.Reading.Tables, Lateness: d.Reading.Lateness, Evidence: d.Rules != nil, Observer: clock,
	})
	stats, err := d.Read(d.Reading, engine.Judge)
	if err != nil {
		return err
	}
	d.Found = engine.Result(stats)
	d.labels = Label(d.Found, d.Rules)
	d.cut, d.Split = clock.Cut(d.HeldOut)
	return nil
}

// Advise chooses limits, and finds out what they refuse: an answer for each action. The survey must have been made.
func (d *Advisor) Advise(ctx context.Context) (answers []*Advice, err error) {
	if err := d.draw(ctx); err != nil {
		return nil, err
	}
	s := &d.Found.Stats
	for _, t := range d.tracks {
		first, rest := d.partOf(t.parts[0], s.FirstAt, s.LastAt), (*Part)(nil)
		if d.Split {
			first.Last = d.cut
			rest = d.partOf(t.parts[1], d.cut, s.LastAt)
		}
		t.advice = Advise(d.Question, t.action, first, rest, t.loads.Result())
		answers = append(answers, t.advice)
	}
	return answers, d.countAll(ctx)
}

// partOf is what a sweep found.
func (d *Advisor) partOf(s *sweep.Sweep, first, last limit.Time) *Part {
	placements, clients, requests := Curves(s, d.labels)
	return &Part{First: first, Last: last, Clients: clients, Requests: requests, Placements: placements}
}

// again is how to read the same requests once more: those of the first part as if they were warming up for the rest.
func (d *Advisor) again() ingest.Options {
	o := d.Reading
	o.HasUntil, o.Until = true, d.Found.Stats.LastAt+1 // a log may have grown since
	if d.Split {
		o.Warmup = limit.Never
		if o.HasSince {
			o.Warmup = d.cut - o.Since
		}
		o.HasSince, o.Since = true, d.cut
	}
	return o
}

// part says in which part a batch lies, and has it count there.
func (d *Advisor) part(b *traffic.Batch) (part int, counted traffic.Batch) {
	counted = *b
	if counted.Warm = false; d.Split && !b.Warm {
		part = 1
	}
	return part, counted
}

// draw draws the curves.
func (d *Advisor) draw(ctx context.Context) error {
	who := Single
	if !d.Found.Stats.HasAgents {
		who = Everybody
	}
	tables := d.Reading.Tables
	for _, action := range d.actions() {
		t := &track{action: action, loads: LoadCounter{Tables: tables, Labels: d.labels, Who: who, Action: action}}
		for i := range t.parts {
			o := d.Shapes
			o.Action, o.Tables, o.Lateness, o.Bursts, o.Band, o.Stop = action, tables, d.Reading.Lateness, nil, d.Band, ctx.Err
			t.parts[i] = sweep.New(o)
		}
		d.tracks = append(d.tracks, t)
	}
	reading := d.again()
	reading.Band = d.Band
	_, err := d.Read(reading, func(b *traffic.Batch) error {
		part, counted := d.part(b)
		for _, t := range d.tracks {
			t.parts[part].Take(&counted)
			t.loads.Take(&counted)
		}
		return nil
	})
	return err
}

// actions are those to suggest limits for, "" for all together.
func (d *Advisor) actions() []string {
	if !d.EachAction {
		return []string{d.Action}
	}
	requests, name := d.Found.Actions, d.Reading.Tables.Actions.Name
	ids := make([]int32, 0, len(requests))
	for id, n := range requests {
		if n > 0 {
			ids = append(ids, int32(id))
		}
	}
	slices.SortFunc(ids, func(x, y int32) int {
		return cmp.Or(cmp.Compare(requests[y], requests[x]), strings.Compare(name(x), name(y)))
	})
	var names []string
	for _, id := range ids[:min(len(ids), MostActions)] {
		names = append(names, name(id))
	}
	return names
}
