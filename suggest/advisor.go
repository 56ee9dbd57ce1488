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

// An Advisor answers a question about a log. It goes through the requests three or four times:
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
	Tables     *traffic.Tables
	Lateness   limit.Time
	Rules      *evidence.Rules // nil: no evidence is gathered

	// Read reads the log, and hands each batch to do. Again hands over the same batches once more.
	Read  func(do func(*traffic.Batch) error) (ingest.Stats, error)
	Again func(do func(*traffic.Batch) error) error

	Found *replay.Result // by the survey
	Split bool           // whether there is a rest

	halves halves
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
		Tables: d.Tables, Lateness: d.Lateness, Evidence: d.Rules != nil, Observer: clock,
	})
	stats, err := d.Read(engine.Judge)
	if err != nil {
		return err
	}
	d.Found = engine.Result(stats)
	d.labels = Label(d.Found, d.Rules)
	d.halves.cut, d.Split = clock.Cut(d.HeldOut)
	d.halves.split = d.Split
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
			first.Last = d.halves.cut
			rest = d.partOf(t.parts[1], d.halves.cut, s.LastAt)
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

// draw draws the curves.
func (d *Advisor) draw(ctx context.Context) error {
	who := Single
	if !d.Found.Stats.HasAgents {
		who = Everybody
	}
	for _, action := range d.actions() {
		t := &track{action: action, loads: LoadCounter{Tables: d.Tables, Labels: d.labels, Who: who, Action: action}}
		for i := range t.parts {
			o := d.Shapes
			o.High, o.Group = true, func(client int32) uint8 { return uint8(d.labels.Of(client)) }
			o.Action, o.Tables, o.Lateness, o.Bursts, o.Band, o.Stop = action, d.Tables, d.Lateness, nil, d.Band, ctx.Err
			t.parts[i] = sweep.New(o)
		}
		d.tracks = append(d.tracks, t)
	}
	reached := 0 // the part
	return d.Again(func(b *traffic.Batch) error {
		return d.halves.divide(b, func(part int, b *traffic.Batch) error {
			for _, t := range d.tracks {
				if part > reached {
					t.parts[reached].Finish()
				}
				t.parts[part].Take(b)
				t.loads.Take(b)
			}
			reached = part
			return nil
		})
	})
}

// actions are those to suggest limits for, "" for all together.
func (d *Advisor) actions() []string {
	if !d.EachAction {
		return []string{d.Action}
	}
	requests, name := d.Found.Actions, d.Tables.Actions.Name
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
