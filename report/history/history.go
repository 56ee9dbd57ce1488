// Package history is the part of a report that tells what has changed since other runs.
package history

import (
	"shadow/internal/request"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/report/format"
)

// A History is what has changed since other runs: the part of a report that only a database can tell. docs/nightly.md
// defines every figure.
type History struct {
	Compare string  `json:"compare"` // as asked: previous or 7d
	Runs    []int32 `json:"runs"`    // that the report is about
	Base    []int32 `json:"base_runs"`

	Degraded []int32 `json:"degraded_runs"` // those with degraded verdicts among all that the report is compared with

	Policies      []Policy    `json:"policies"` // in the order of those of the report
	NewActions    int64       `json:"new_actions"`
	TopNewActions []NewAction `json:"top_new_actions"`
	SafeLimits    *SafeLimits `json:"safe_limits"` // nil: no two runs have the same curves
	Repeat        Repeat      `json:"repeat"`
}

// Repeat says what a repeat offender is.
type Repeat struct {
	HitDays int `json:"hit_days"` // hit on at least so many …
	OfDays  int `json:"of_days"`  // … of the last so many days
}

// A Policy is that of one policy.
type Policy struct {
	Policy  string  `json:"policy"`
	By      string  `json:"by"`
	Changed bool    `json:"limits_changed"` // the name stood for other limits in some of the runs
	Before  *Totals `json:"before"`         // sums of the base runs; nil: none of them has the policy
	Trend   []Trend `json:"trend"`

	NewlyHit     Moved   `json:"newly_hit"`
	Released     Moved   `json:"released"`
	Repeating    Moved   `json:"repeat_offenders"`
	TopNewlyHit  []Mover `json:"top_newly_hit"`
	TopReleased  []Mover `json:"top_released"`
	TopRepeating []Mover `json:"top_repeat_offenders"`
}

// Totals counts what a policy did. In sums over several runs a client counts in each run that it is in.
type Totals struct {
	Requests          int64   `json:"requests"`
	Refused           int64   `json:"refused"`
	RefusedPercent    float64 `json:"refused_percent"` // of the requests
	Clients           int64   `json:"clients"`
	ClientsHit        int64   `json:"clients_hit"`         // with at least one refused request
	ClientsHitPercent float64 `json:"clients_hit_percent"` // of the clients
}

// A Trend is what one run found of a policy.
type Trend struct {
	Run   int32          `json:"run"`
	First *format.Moment `json:"first"` // request; nil without any
	Last  *format.Moment `json:"last"`
	Totals
	ByClass HitClasses `json:"clients_hit_by_class"`
}

// Moved counts clients.
type Moved struct {
	Clients    int64         `json:"clients"`
	ByClass    HitClasses    `json:"by_class"`
	ByIdentity HitIdentities `json:"by_identity"` // of those that it is known of
}

// Identified reports whether it is known who they are.
func (c *Moved) Identified() bool {
	sum := int64(0)
	for _, n := range c.ByIdentity {
		sum += n
	}
	return sum == c.Clients
}

// HitIdentities are numbers of clients by who they are.
type HitIdentities [who.Count]int64

// MarshalJSON writes an object with a key per identity, in their order.
func (c HitIdentities) MarshalJSON() ([]byte, error) { return format.EachJSON[who.Identity](c[:]) }

// HitClasses are numbers of clients by class.
type HitClasses [request.ClassCount]int64

// MarshalJSON writes an object with a key per class, in their order.
func (c HitClasses) MarshalJSON() ([]byte, error) { return format.EachJSON[request.Class](c[:]) }

// Sum returns the sum of all classes.
func (c HitClasses) Sum() (sum int64) {
	for _, n := range c {
		sum += n
	}
	return sum
}

// A Mover is a client that is newly hit, released, or hit again and again.
type Mover struct {
	Client   string `json:"client"`
	Class    string `json:"class"`
	Identity string `json:"identity"` // "": not known
	Requests int64  `json:"requests"` // in the runs of the report; 0: it did not come
	Refused  int64  `json:"refused"`  // of a released client before, of a repeat offender on all those days
	Known    bool   `json:"known"`    // it had requests in the base runs
	Days     int64  `json:"days"`     // on which a repeat offender was hit
}

// A NewAction is one that none of the base runs has.
type NewAction struct {
	Action   string `json:"action"`
	Requests int64  `json:"requests"`
}

// SafeLimits are the strictest limits that spare a class, before and now.
type SafeLimits struct {
	Class   string      `json:"class"`
	Percent float64     `json:"spared_percent"` // of its clients
	People  bool        `json:"by_evidence"`    // whether these are the clients that behave like browsers, not all that claim to be one
	Before  int32       `json:"before_run"`
	Now     int32       `json:"now_run"`
	Limits  []SafeLimit `json:"limits"`
}

// A SafeLimit is one of them.
type SafeLimit struct {
	By     string `json:"by"`
	Action string `json:"action"` // "" for all
	Before string `json:"before"`
	Now    string `json:"now"`
	Change int64  `json:"change"` // in requests, or in tokens that the bucket holds
}

// Changed returns the limits that are not what they were.
func (s *SafeLimits) Changed() (changed []SafeLimit) {
	if s == nil {
		return nil
	}
	for _, l := range s.Limits {
		if l.Change != 0 {
			changed = append(changed, l)
		}
	}
	return changed
}

// NewTotals works out the shares.
func NewTotals(requests, refused, clients, hit int64) Totals {
	return Totals{
		Requests: requests, Refused: refused, RefusedPercent: format.PercentOf(refused, requests),
		Clients: clients, ClientsHit: hit, ClientsHitPercent: format.PercentOf(hit, clients),
	}
}

// NewTrend is a run with its requests from one moment to another.
func NewTrend(run int32, first, last limit.Time, totals Totals, hit HitClasses) Trend {
	r := Trend{Run: run, Totals: totals, ByClass: hit}
	if totals.Requests > 0 {
		from, to := format.Moment(first), format.Moment(last)
		r.First, r.Last = &from, &to
	}
	return r
}

// Sums are the figures of the base runs, added up; all 0 without any.
func (p *Policy) Sums() Totals {
	if p.Before == nil {
		return Totals{}
	}
	return *p.Before
}
