package replay

import (
	"math"
	"slices"

	"shadow/internal/policy"
	"shadow/limit"
)

// A ClientTimeline shows how the requests of one client went through the limits of one policy. It is walked again with
// the verdicts known: each limit that counts by the client is asked and charged as in the run, so what it remembers is
// what it remembered there. Limits that count by something else see other clients as well; of them a ClientTimeline
// tells nothing.
type ClientTimeline struct {
	Limits []LimitTimeline // by limit of the policy
}

// A LimitTimeline holds the timeline of one limit.
type LimitTimeline struct {
	// Wait is, by row, how long the request would have had to wait to be admitted by this limit, had nothing else come
	// meanwhile; 0 where the limit had room, may not refuse the request, or was not asked. Nil: the limit is shared, or is
	// asked in turn behind one that is.
	Wait []limit.Time

	// Levels tell how full the limit was (see limit.Leveler) at moments spread evenly from the first counted request to
	// the last; of a limit with several keys, the fullest. Each is the highest since the moment before, so that no peak is
	// lost. Nil: as Wait, or the limit does not tell.
	Levels []float64
}

// Follow walks the requests through policy i of policies, those of the run. levels is how many are told, at least 2.
func (g *ClientLog) Follow(policies []policy.Policy, i int, lateness limit.Time, levels int) *ClientTimeline {
	e := New(Options{Tables: g.Tables, Policies: policies, Lateness: lateness})
	c := e.candidates[i]
	b := g.batch(g.Batch.Len())
	var keyGroups []*keyGroup
	for _, part := range c.policy.Parts {
		k := e.keyGroup(part.By)
		if !slices.Contains(keyGroups, k) { // sorting twice would take the second time for later requests
			k.crossed = true
			k.sort(b, g.Tables, nil)
		}
		keyGroups = append(keyGroups, k)
	}
	f := &follower{ClientLog: g, crossKey: newCrossKey(c, keyGroups), refused: g.Outcomes[i].Refused}
	f.start(levels)
	for row := range int32(b.Len()) {
		f.tell(b.At[row])
		f.step(row)
	}
	f.tell(limit.Never)
	return &f.ClientTimeline
}

// A follower is on its way along a trail.
type follower struct {
	*ClientLog
	*crossKey
	ClientTimeline
	refused []bool
	ends    bool // whether limits that are asked in turn are not asked any more

	first, length limit.Time // of what levels are told
	levels        int        // how many are wanted
	told          int        // how many have been told
	levelers      []limit.Leveler
	peaks         []float64 // by limit: the highest level since the one told last
}

func (f *follower) start(levels int) {
	first, last := f.Span()
	f.first, f.length, f.levels = first, last-first, levels
	f.Limits = make([]LimitTimeline, len(f.active))
	f.levelers = make([]limit.Leveler, len(f.active))
	f.peaks = make([]float64, len(f.active))
	hidden := false
	for j := range f.active {
		if hidden = f.policy.Parts[j].By.Shared() || hidden && f.policy.Combine == policy.InTurn; hidden {
			continue
		}
		f.Limits[j].Wait = make([]limit.Time, f.Batch.Len())
		f.levelers[j], _ = f.active[j].limiter.(limit.Leveler)
		f.peaks[j] = math.Inf(-1)
	}
}

// tell tells the levels at the moments before t. Without any length of time there is none.
func (f *follower) tell(t limit.Time) {
	for f.length > 0 && f.told < f.levels && f.moment(f.told) < t {
		now := f.moment(f.told)
		for j, leveler := range f.levelers {
			if leveler == nil {
				continue
			}
			peak := f.peaks[j]
			for key := range f.active[j].states.Len() {
				peak = max(peak, leveler.Level(f.active[j].states.At(int32(key)), now))
			}
			f.Limits[j].Levels = append(f.Limits[j].Levels, peak)
			f.peaks[j] = math.Inf(-1)
		}
		f.told++
	}
}

// moment returns the time of level i. It lies i parts of levels−1 behind the first; multiplied so, nothing overflows.
func (f *follower) moment(i int) limit.Time {
	n, limits := limit.Time(i), limit.Time(f.levels-1)
	return f.first + f.length/limits*n + f.length%limits*n/limits
}

// step asks and charges the limits for a request, as decide does, with the verdict that is known.
func (f *follower) step(row int32) {
	t := f.Batch.At[row]
	var marks uint64
	if f.scoped {
		marks = f.Batch.Marks[row]
	}
	f.ends = false
	for j := range f.active {
		if f.Limits[j].Wait == nil {
			continue
		}
		f.sit(j, row)
		s := &f.active[j]
		weigh(f.active[j:j+1], &f.Batch, row, marks)
		if !f.ends {
			f.ask(j, row, t, marks)
		}
		if f.levelers[j] != nil && row >= int32(f.Warm) {
			f.peaks[j] = max(f.peaks[j], f.levelers[j].Level(s.state, t))
		}
	}
}

// ask asks and charges limit j.
func (f *follower) ask(j int, row int32, t limit.Time, marks uint64) {
	s, together := &f.active[j], f.policy.Combine == policy.Together
	matches, counts := holds(s.match, marks), holds(s.count, marks)
	var wait limit.Time
	if matches || counts {
		wait = s.wait(t)
	}
	if matches {
		f.Limits[j].Wait[row] = wait
		f.ends = wait > 0 && f.policy.Combine == policy.InTurn
	}
	if counts {
		s.charge(t, wait > 0 || together && f.refused[row])
	} else if wait > 0 || together && f.refused[row] {
		s.bar(t, marks)
	}
}
