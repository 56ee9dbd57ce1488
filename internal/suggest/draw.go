package suggest

import (
	"math"

	"shadow/internal/sweep"
	"shadow/internal/traffic"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

// curves draws those of one part of the log: a *sweep.ClientCurves, or for limits on requests under way a *sweep.Sweep.
type curves interface {
	Take(b *traffic.Batch)
	Finish()
	Needs(shapes []int, do func(shape int, client int32, need int64))
}

// mostGathered is about how many requests are put together by client at once. A longer log takes more passes.
const mostGathered = 12 << 20

// draw draws the curves: which clients each limit hits.
func (d *Advisor) draw() error {
	loading := who.Browsers
	if !d.Found.Stats.HasAgents {
		loading = who.Users
	}
	for _, action := range d.actions() {
		t := &track{action: action, loads: LoadCounter{Tables: d.Tables, Labels: d.labels, Who: loading, Action: action}}
		for i := range t.parts {
			t.parts[i] = d.newCurves(action)
		}
		if d.Explore {
			o := d.Shapes
			o.Action, o.Tables, o.Lateness, o.Bursts = action, d.Tables, d.Lateness, nil
			t.whole = sweep.New(o)
		}
		t.bounds = d.begunBounds(action, clientOnly)
		d.tracks = append(d.tracks, t)
	}
	d.chosenOn = 0
	err := d.eachShard(func(shard int, wanted func(client int32) bool) error {
		return d.drawSome(func(_ *track, c curves) {
			if c, is := c.(*sweep.ClientCurves); is {
				c.Begin(wanted)
			}
		}, func(t *track, part int, b *traffic.Batch) {
			if shard > 0 {
				return
			}
			t.loads.Take(b)
			if t == d.tracks[0] && part < Rest {
				d.chosenOn += int64(b.Len())
			}
		})
	})
	if err != nil || !d.Explore {
		return err
	}
	whole := d.tracks[0].whole
	if err := d.Again(func(b *traffic.Batch) error {
		cold := *b
		cold.Warm = false
		whole.Take(&cold)
		return nil
	}); err != nil {
		return err
	}
	whole.Finish() // the replays that follow need the room
	return nil
}

// newCurves returns curves of a part that have seen nothing.
func (d *Advisor) newCurves(action string) curves {
	group := func(client int32) uint8 { return uint8(d.labels.Of(client)) }
	if !d.bounded() {
		o := d.Shapes
		o.Action, o.Tables, o.Lateness, o.Bursts, o.Group = action, d.Tables, d.Lateness, nil, group
		return sweep.New(o)
	}
	chosenFor := d.Found.Stats.LastAt - d.Found.Stats.FirstAt
	if d.cuts.there[Rest] {
		chosenFor = d.cuts.at[Rest] - d.Found.Stats.FirstAt
	}
	return sweep.NewClientCurves(sweep.ClientOptions{
		Tables: d.Tables, Kinds: d.Shapes.Kinds, Periods: d.Shapes.Periods, Rates: d.Shapes.Rates,
		Action: action, Lateness: d.Lateness, Band: d.Band, Group: group,
		TooLong: func(per limit.Time) bool { return !fits(per, chosenFor) },
	})
}

// eachShard has do make a pass for each share of the clients, nil for all of them.
func (d *Advisor) eachShard(do func(shard int, wanted func(client int32) bool) error) error {
	shards := int32(1 + d.Found.Stats.Taken()/mostGathered)
	if shards == 1 || !d.bounded() {
		return do(0, nil)
	}
	for shard := range shards {
		if err := do(int(shard), func(client int32) bool { return client%shards == shard }); err != nil {
			return err
		}
	}
	return nil
}

// drawSome has the curves of all parts take in the requests once more, after begin. Beside shows them to others.
func (d *Advisor) drawSome(begin func(*track, curves), beside func(t *track, part int, b *traffic.Batch)) error {
	for _, t := range d.tracks {
		for _, c := range t.parts {
			begin(t, c)
		}
	}
	reached := 0 // the part
	err := d.Again(func(b *traffic.Batch) error {
		return d.cuts.divide(b, func(part int, b *traffic.Batch) error {
			for _, t := range d.tracks {
				if part > reached {
					t.parts[reached].Finish()
				}
				t.parts[part].Take(b)
				beside(t, part, b)
			}
			reached = part
			return nil
		})
	})
	for _, t := range d.tracks {
		t.parts[reached].Finish()
	}
	return err
}

// drawRefused draws what windows refuse, from the limits on that were chosen. Below, replays tell.
func (d *Advisor) drawRefused() error {
	if !d.bounded() {
		return nil
	}
	from := map[*track][]int64{}
	for _, t := range d.tracks {
		from[t] = t.advice.refusedFrom()
	}
	return d.eachShard(func(_ int, wanted func(client int32) bool) error {
		return d.drawSome(func(t *track, c curves) {
			c.(*sweep.ClientCurves).BeginRefused(from[t], wanted)
		}, func(*track, int, *traffic.Batch) {})
	})
}

// refusedFrom returns by curve the smallest limit whose refusals matter: the chosen one, or else one that hits no client
// to protect.
func (a *Advice) refusedFrom() (from []int64) {
	for i := range a.Suggestions {
		s := &a.Suggestions[i]
		n := s.Chosen.Limit
		if s.Why != Found {
			n, _ = a.smallest(s, func(f *Figures, _ *who.Groups) bool { return a.hitsNone(f) })
		}
		if n == 0 {
			n = math.MaxInt64
		}
		from = append(from, n)
	}
	return from
}

// choose chooses limits by what the curves tell so far.
func (d *Advisor) choose() (answers []*Advice) {
	s := &d.Found.Stats
	for _, t := range d.tracks {
		var parts [PartCount]*Part
		end := s.LastAt
		for i := PartCount - 1; i >= First; i-- {
			begin := d.cuts.at[i]
			if i == First {
				begin = s.FirstAt
			} else if !d.cuts.there[i] {
				continue
			}
			parts[i] = partOf(t.parts[i], d.labels)
			parts[i].First, parts[i].Last = begin, end
			end = begin
		}
		t.advice = Advise(d.Question, t.action, parts, t.loads.Result())
		t.advice.all = d.chosenOn
		answers = append(answers, t.advice)
	}
	return answers
}

// partOf returns a part of the log with its curves.
func partOf(drawn curves, labels who.Identities) *Part {
	p := new(Part)
	if s, is := drawn.(*sweep.Sweep); is {
		p.Placements, p.Clients, p.Requests = Curves(s, labels)
		return p
	}
	c := drawn.(*sweep.ClientCurves)
	groups := c.Groups()
	copy(p.Clients[:], groups.Clients[:])
	copy(p.Requests[:], groups.Requests[:])
	logged, high := c.Curves()
	p.Placements = append(p.Placements, curvesOf(logged))
	if high != nil {
		p.Placements = append(p.Placements, curvesOf(high))
	}
	return p
}

func curvesOf(drawn []sweep.ClientCurve) (curves []Curve) {
	for _, c := range drawn {
		curve := Curve{Shape: c.Shape, Points: make([]Point, len(c.Points))}
		for i := range c.Points {
			from, to := &c.Points[i], &curve.Points[i]
			to.Limit, to.Counted = from.Limit, from.Counted
			copy(to.Refused[:], from.Refused[:])
			copy(to.Hit[:], from.Hit[:])
		}
		curves = append(curves, curve)
	}
	return curves
}
