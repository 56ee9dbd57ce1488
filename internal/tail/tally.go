package tail

import (
	"slices"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
)

// A Tally is the running numbers: what was read, and what each policy would have refused. It is part of the checkpoint, so
// every line counts once, however often the tail is started again.
type Tally struct {
	ingest.Counts       // Lines = Requests + Waiting + Excluded + NotHTTP (where these are not judged) + Unreadable
	Requests      int64 `json:"requests"`  // judged
	Forgotten     int64 `json:"forgotten"` // keys that were forgotten before their time, for want of room

	Truncated int64 `json:"truncated,omitempty"` // times that a log was truncated: what was written to it since it was copied is in no file
	Lost      int64 `json:"lost,omitempty"`      // files of which the rest was never read

	Policies []PolicyTally `json:"policies"`
}

// A PolicyTally is what one policy would have done.
type PolicyTally struct {
	Name     string     `json:"name"`
	Refused  int64      `json:"refused"`
	Delayed  int64      `json:"delayed"`            // admitted, and kept waiting
	Degraded int64      `json:"degraded,omitempty"` // judged while the hosts that share the limit might have decided otherwise
	By       []Refusals `json:"by"`

	IsDegraded bool `json:"-"` // whether the last ones were

	places map[pair]int // in By
}

// Refusals are the refused requests of one action and class.
type Refusals struct {
	Action  string `json:"action"`
	Class   string `json:"class"` // what the agent of the request claims to be
	Refused int64  `json:"refused"`
}

type pair struct{ action, class string }

// newTally counts for some policies from what earlier has counted: a policy by its name, the others being gone.
func newTally(policies []policy.Policy, earlier *Tally) *Tally {
	t := *earlier
	t.Policies = nil
	for _, p := range policies {
		own := PolicyTally{Name: p.Name}
		for _, old := range earlier.Policies {
			if old.Name == p.Name {
				own = old
			}
		}
		own.begin()
		t.Policies = append(t.Policies, own)
	}
	return &t
}

// begin finds the places of what was refused earlier.
func (p *PolicyTally) begin() {
	p.places = map[pair]int{}
	for i, r := range p.By {
		p.places[pair{r.Action, r.Class}] = i
	}
}

// count counts a refused request.
func (p *PolicyTally) count(action uint16, class request.Class, t *traffic.Tables) {
	p.Refused++
	p.By[p.place(pair{label(t.ShownAction(int32(action))), class.String()})].Refused++
}

// place is the place of an action and a class, which is made if there is none.
func (p *PolicyTally) place(key pair) int {
	i, known := p.places[key]
	if !known {
		i = len(p.By)
		p.places[key] = i
		p.By = append(p.By, Refusals{Action: key.action, Class: key.class})
	}
	return i
}

// take counts what was taken in.
func (t *Tally) take(taken *ingest.BlockStats) {
	t.Counts.Add(&taken.Counts)
}

// copy is a Tally that does not change, and cannot count.
func (t *Tally) copy() Tally {
	c := *t
	c.NotHTTP = slices.Clone(t.NotHTTP)
	c.Policies = slices.Clone(t.Policies)
	for i := range c.Policies {
		c.Policies[i].By = slices.Clone(c.Policies[i].By)
		c.Policies[i].places = nil
	}
	return c
}
