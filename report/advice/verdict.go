package advice

import (
	"cmp"

	"shadow/internal/findings"
	"shadow/internal/servers"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/report/format"
	"shadow/report/keys"
)

// A Verdict is the answer to the question: whether to deploy a limit, which, and what it does. Figures are those of the
// whole log unless they say otherwise.
type Verdict struct {
	Verdict   string        `json:"verdict"` // deploy, deploy_unproven, ceiling, no_limit_can or not_judgeable
	Reason    string        `json:"reason"`  // in a sentence
	Site      findings.Site `json:"site"`    // people, api or unknown
	For       string        `json:"for"`     // the server that has the limit; any: none was asked for
	Limit     *string       `json:"limit"`   // as --limit takes it; nil: there is none
	Protects  Affected      `json:"protects"`
	Targets   Affected      `json:"targets"`
	MostHit   *float64      `json:"most_hit_percent"` // of the protected clients, with 95 % confidence; nil: nothing shows it
	AtRisk    *AtRisk       `json:"at_risk"`          // nil without a limit
	Most      []RefusedMost `json:"refused_most"`     // the clients that lose most
	Harmed    *RefusedMost  `json:"harmed"`           // the protected client that loses most; nil: none is hit
	Heavy     *Heavy        `json:"heavy"`            // nil: no single client is most of what the limit refuses, or it attacks
	OfAction  *OfAction     `json:"of_action"`        // nil: a limit for all requests will do, or none for one action does
	Validated *Validated    `json:"validated"`        // nil: no part chose nothing
	Reach     *keys.Reach   `json:"bound"`            // nil: not computed
	ByKey     []keys.Bound  `json:"bound_by_key"`     // the same by other keys; empty unless no limit can, or --details
	Allows    *Allows       `json:"allows"`           // nil without a limit, and of one on requests under way
	Best      *string       `json:"best_of_any"`      // a limit of any algorithm that stops at least half as much again; nil: none
	Broke     *string       `json:"broke"`            // the limit that broke its promise where it was validated; nil: none did
	BrokeOn   *RefusedMost  `json:"broke_on"`         // the protected client that it refused most; nil: not known

	Search []suggest.CrawlerHit `json:"search_engines"`

	Exempt *Exempt         `json:"exempt"` // nil: the limit refuses nothing of those that the answer leaves out
	Key    string          `json:"key"`    // what the server counts by, in its own words; "": only the operator knows
	Note   string          `json:"note"`   // about the key, and whatever is not quite as judged
	Paste  []servers.Block `json:"paste"`  // for the server's configuration
	Next   []string        `json:"next"`   // commands to try
}

// Exempt holds what the limit would refuse of the site's own work, of health checks and of other monitors, which
// nothing else counts, and who should be exempt.
type Exempt struct {
	Requests  int64    `json:"requests"` // that would be refused, of the whole log
	Clients   int64    `json:"clients"`
	Addresses []string `json:"addresses"` // of findings, and of --exclude
	Pasted    bool     `json:"pasted"`    // whether the lines to paste let them through
	Passed    int64    `json:"-"`         // of Requests, those of the addresses
	Through   int      `json:"-"`         // of Addresses, the first ones: those that the limit would hit
	Others    int64    `json:"-"`         // of the clients: those that only say that they are such, and stay limited
	Claimed   int64    `json:"-"`         // of Requests, theirs
}

// AtRisk are the protected clients that sent more requests than the limit admits at once: no other can be hit.
type AtRisk struct {
	AtOnce    int64    `json:"at_once"` // requests that the limit admits at once
	Clients   int64    `json:"clients"`
	Hit       int64    `json:"clients_hit"`
	Validated int64    `json:"validated_clients"` // the same of the part that validates
	LateHit   int64    `json:"validated_clients_hit"`
	MostHit   *float64 `json:"most_hit_percent"` // of such clients, with 95 % confidence, by that part; nil: nothing shows it
}

// RefusedMost is a client that the limit refuses most.
type RefusedMost struct {
	Client   string   `json:"client"`
	Identity string   `json:"identity"`
	Agent    string   `json:"agent"`  // of most of its requests
	Action   string   `json:"action"` // likewise
	Requests int64    `json:"requests"`
	Refused  int64    `json:"refused"`
	Reasons  []string `json:"reasons"` // of the identity
}

// Heavy is a client that is more than half of what the limit refuses, and does nothing hostile.
type Heavy struct {
	RefusedMost
	RefusedOfAll int64 `json:"refused_of_all"`
}

// OfAction is the answer for the one action for which the target asks most, where no limit for all requests stops much.
type OfAction struct {
	Action         string  `json:"action"`
	Verdict        string  `json:"verdict"`
	Limit          string  `json:"limit"`
	Requests       int64   `json:"requests"` // of the target there
	Refused        int64   `json:"refused"`  // of these
	RefusedPercent float64 `json:"refused_percent"`
	Over           bool    `json:"-"` // whether it refuses none of these in the last part
}

// OfActionBy returns what an answer says about one action, which people call so.
func OfActionBy(a *suggest.Advice, action string) *OfAction {
	n := &a.Answer
	o := &OfAction{
		Action: action, Verdict: n.Verdict.String(), Limit: n.Limit,
		Requests: a.Whole.Requests.Of(a.Target), Refused: n.Whole.Refused.Of(a.Target),
	}
	o.RefusedPercent = format.PercentOf(o.Refused, o.Requests)
	return o
}

// Affected holds what the limit does to some clients.
type Affected struct {
	Who            string  `json:"who"`
	Clients        int64   `json:"clients"`
	Hit            int64   `json:"clients_hit"`
	Requests       int64   `json:"requests"`
	Refused        int64   `json:"refused"`
	RefusedPercent float64 `json:"refused_percent"` // of the requests
}

// Validated holds what the limit does on the part of the log that had no say in choosing it.
type Validated struct {
	Holds    bool     `json:"holds"`
	Protects Affected `json:"protects"`
	Targets  Affected `json:"targets"`
}

// Allows counts the requests that the limit admits of one client that sends flat out, from its first on.
type Allows struct {
	Minute int64 `json:"minute"`
	Hour   int64 `json:"hour"`
	Day    int64 `json:"day"`
}

// affected are the figures of a limit for some groups.
func affected(some who.Set, clients, requests *who.Groups, f *suggest.Figures) Affected {
	a := Affected{
		Who: some.String(), Clients: clients.Of(some), Hit: f.Hit.Of(some), Requests: requests.Of(some), Refused: f.Refused.Of(some),
	}
	a.RefusedPercent = format.PercentOf(a.Refused, a.Requests)
	return a
}

// fillVerdict computes the verdict. Site, For, Next and what to paste must be there.
func (s *Answer) fillVerdict() {
	if s.Verdict == nil {
		s.Verdict = &Verdict{}
	}
	v, a, n := s.Verdict, s.Advice, &s.Advice.Answer
	v.Verdict, v.Reason = n.Verdict.String(), cmp.Or(v.Reason, s.reason())
	v.Paste, v.Next, v.Search = append([]servers.Block{}, v.Paste...), append([]string{}, v.Next...), []suggest.CrawlerHit{}
	v.Most = append([]RefusedMost{}, v.Most...)
	w := a.Whole
	v.Protects = affected(a.Protected(), &w.Groups, &w.Requests, &n.Whole)
	v.Targets = affected(a.Target, &w.Groups, &w.Requests, &n.Whole)
	for _, c := range w.Crawlers {
		if c.Search {
			v.Search = append(v.Search, c)
		}
	}
	if a.Reach != nil {
		r := keys.NewReach(a.Reach)
		v.Reach = &r
	}
	v.ByKey = keys.NewBounds(a.ByKey)
	if n.Broke != "" {
		v.Broke = &n.Broke
	}
	if n.Of == nil {
		return
	}
	v.Limit = &n.Limit
	if n.MostHit > 0 {
		percent := n.MostHit.Float()
		v.MostHit = &percent
	}
	if n.Any != nil {
		text, _ := a.Text(n.Any, n.Any.Chosen.Limit)
		v.Best = &text
	}
	if rest := a.Parts[suggest.Rest]; rest != nil && (n.Proof == suggest.Holds || n.Proof == suggest.Fails) {
		f := &n.Chosen.On[suggest.Rest]
		v.Validated = &Validated{
			n.Proof == suggest.Holds, affected(a.Protected(), &rest.Clients, &rest.Requests, f),
			affected(a.Target, &rest.Clients, &rest.Requests, f),
		}
	}
	v.AtRisk = s.atRisk()
	if n.Of.Kind != sweep.UnderWay {
		v.Allows = &Allows{a.Admits(limit.Minute), a.Admits(limit.Hour), a.Admits(limit.Day)}
	}
}

// atRisk counts those who may be hit at all.
func (s *Answer) atRisk() *AtRisk {
	a, n := s.Advice, &s.Advice.Answer
	r := &AtRisk{AtOnce: a.Scale.Up(n.Chosen.Limit), Clients: a.Whole.AtRisk.Of(a.Protected()), Hit: n.Whole.Hit.Of(a.Protected())}
	if a.Parts[suggest.Rest] == nil {
		return r
	}
	r.Validated, r.LateHit = a.AtRisk()
	if r.Validated > 0 {
		most := suggest.MostHit(r.Validated, r.LateHit).Float()
		r.MostHit = &most
	}
	return r
}
