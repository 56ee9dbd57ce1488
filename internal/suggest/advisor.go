package suggest

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/replay"
)

// An Advisor answers a question about a log. It goes through the requests several times:
//
//	survey   who each client is, and from when to when the log goes
//	curves   of each part of the log, and page loads; then what windows refuse from the chosen limits on
//	refused  by the token buckets that were chosen, which their curves do not tell, and by a server's own limits; then by
//	         those beside the best; then by limits that hit none, unless one separates; and by the answer over the whole
//	         log
type Advisor struct {
	Question
	Shapes     sweep.Options // kinds, periods and rates to choose from
	HeldOut    Percent       // of the requests: the rest, which validates the answer; 0 for none
	Band       bool
	Action     string        // the requests of this action only; "" for all
	EachAction bool          // one answer for each of those with most requests, and for Action
	Keys       []request.Key // by which limits may reach more than by client
	AllKeys    bool          // whether that is looked at in any case, rather than where no limit by client can
	Explore    bool          // whether to find out what many limits do to the whole log, if there is one answer
	Tables     *traffic.Tables
	Lateness   limit.Time

	// Read reads the log, and hands each batch to do. Again hands over the same batches once more; nil: only the survey is
	// wanted, and no parts.
	Read  func(do func(*traffic.Batch) error) (ingest.Stats, error)
	Again func(do func(*traffic.Batch) error) error

	Who func() *who.Register // who the clients are, once the log was read

	Found *replay.Result // by the survey
	Split bool           // whether there is a rest

	cuts   cuts
	labels who.Identities
	tracks []*track
	only   []string // actions that an answer is wanted for; nil: as Action and EachAction say

	chosenOn int64 // requests on the parts that limits are chosen on
}

// A track is what is found out about the requests of one action, or all.
type track struct {
	action string
	parts  [PartCount]curves
	bounds *sweep.Bounds // of the whole log
	whole  *sweep.Sweep  // of the whole log; nil: not asked for
	loads  LoadCounter
	advice *Advice
}

// MostActions is the most actions that EachAction looks at.
const MostActions = 10

// Survey finds out who each client is, and where to split the log.
func (d *Advisor) Survey() error {
	o := replay.Options{Tables: d.Tables, Lateness: d.Lateness}
	clock := new(Clock)
	if d.Again != nil { // else no parts are asked for
		o.Observer = clock
	}
	engine := replay.New(o)
	stats, err := d.Read(engine.Judge)
	if err != nil {
		return err
	}
	d.Found = engine.Result(stats)
	d.Found.Who = d.Who()
	d.labels = d.Found.Who.Identities
	if d.Again == nil {
		return nil
	}
	c := &d.cuts
	c.at[Rest], c.there[Rest] = clock.Cut(d.HeldOut)
	c.at[Second], c.there[Second] = clock.Cut(d.HeldOut + (whole-d.HeldOut)/2)
	c.there[Second] = c.there[Second] && c.there[Rest] && c.at[Second] < c.at[Rest]
	d.Split = c.there[Rest]
	*clock = Clock{} // which what was found holds on to
	return nil
}

// Advise chooses limits, and finds out what they refuse: an answer for each action. The survey must have been made.
func (d *Advisor) Advise(ctx context.Context) (answers []*Advice, err error) {
	if err := d.draw(); err != nil {
		return nil, err
	}
	d.choose()
	if err := d.drawRefused(); err != nil {
		return nil, err
	}
	answers = d.choose()
	if d.bounded() {
		if err := d.findBounds(); err != nil {
			return nil, err
		}
		for _, t := range d.tracks {
			t.advice.Reach = &Reached(t.bounds, clientOnly)[0].Reach
		}
	}
	if err := d.countAll(ctx); err != nil {
		return nil, err
	}
	if d.Explore {
		if err := d.explore(ctx, d.tracks[0]); err != nil {
			return nil, err
		}
	}
	return answers, d.findOthers()
}

// Only finds the answers for the requests of some actions. The survey must have been made.
func (d *Advisor) Only(ctx context.Context, actions []string) ([]*Advice, error) {
	beside := *d
	beside.tracks, beside.Explore, beside.AllKeys, beside.Keys, beside.only = nil, false, false, nil, actions
	return beside.Advise(ctx)
}

// Bounds begin to look for how much of the target any limit by some keys can reach, in requests of an action, "" for all.
// The survey must have been made.
func (d *Advisor) Bounds(action string, keys []request.Key) *sweep.Bounds {
	o := sweep.BoundOptions{
		Tables: d.Tables, Action: action, Lateness: d.Lateness, Target: uint16(d.Target),
		Group: func(client int32) uint8 { return uint8(d.labels.Of(client)) },
	}
	for _, goal := range d.Goals {
		o.Goals = append(o.Goals, sweep.BoundGoal{Who: uint16(goal.Who), MayHit: goal.MayHit})
	}
	return sweep.NewBounds(o, keys)
}

// begunBounds are Bounds that need not count what the survey has counted.
func (d *Advisor) begunBounds(action string, keys []request.Key) *sweep.Bounds {
	bounds := d.Bounds(action, keys)
	if action == "" {
		clients := d.Found.Clients
		bounds.Sent(clients.Len(), func(client int32) int64 { return clients.At(client).Requests() })
		bounds.Next()
	}
	return bounds
}

// bounded reports whether there are bounds of all limits that are tried.
func (d *Advisor) bounded() bool { return !slices.Contains(d.Shapes.Kinds, sweep.UnderWay) }

// findBounds has the bounds of all tracks take in the requests as often as they want.
func (d *Advisor) findBounds() error {
	for more := true; more; {
		if err := d.Again(func(b *traffic.Batch) error {
			for _, t := range d.tracks {
				t.bounds.Take(b)
			}
			return nil
		}); err != nil {
			return err
		}
		more = false
		for _, t := range d.tracks {
			more = t.bounds.Next() || more
		}
	}
	return nil
}

// Reached returns what bounds for some keys have found.
func Reached(bounds *sweep.Bounds, keys []request.Key) (all []KeyReach) {
	for i, r := range bounds.Results() {
		all = append(all, KeyReach{keys[i], Reach{
			Requests: r.Most.Requests, OfRequests: r.Of.Requests, Clients: r.Most.Clients, OfClients: r.Of.Clients,
		}, r.Fullest})
	}
	return all
}

// clientOnly holds the key that suggested limits count by.
var clientOnly = []request.Key{request.ByClient}

// findOthers looks for another key by which limits can reach the target: where none by client can, or a flag asks for
// it.
func (d *Advisor) findOthers() error {
	for _, t := range d.tracks {
		a := t.advice
		if !d.bounded() || !d.AllKeys && a.Answer.Verdict != NoLimitCan {
			continue
		}
		var keys []request.Key
		for _, key := range d.Keys {
			if key != request.ByClient && (t.action == "" || !key.ByActions()) {
				keys = append(keys, key)
			}
		}
		if len(keys) == 0 {
			continue
		}
		others := Advisor{Again: d.Again, tracks: []*track{{bounds: d.begunBounds(t.action, keys)}}}
		if err := others.findBounds(); err != nil {
			return err
		}
		a.ByKey = Reached(others.tracks[0].bounds, keys)
	}
	return nil
}

// actions returns the actions to suggest limits for, "" for all together.
func (d *Advisor) actions() []string {
	if d.only != nil {
		return d.only
	}
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
	names := mapped.Of(ids[:min(len(ids), MostActions)], name)
	if d.Action != "" && !slices.Contains(names, d.Action) {
		names = append(names, d.Action)
	}
	return names
}
