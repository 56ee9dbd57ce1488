// Package calibrate reports on which limit a server had: locations with the limits that explain its verdicts come in;
// text, JSON, CSV or Markdown goes out.
package calibrate

import (
	"shadow/internal/calibrate"
	"shadow/internal/mapped"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/report"
	"shadow/report/format"
)

// A Source is what was found, and what the names of it are.
type Source struct {
	Requests  *calibrate.Requests
	Locations []calibrate.Location
	From      string // where the verdicts come from
	Enforced  bool   // whether the server did refuse
	Whole     bool   // whether stamps are whole seconds
	Read      int64  // requests, those without a verdict as well
	Sampled   int64  // one client in so many was looked at
	Top       int
	By        []request.Key
	Tables    *traffic.Tables
	Inputs    []ingest.InputStats
	Place     func(way int, id int32) string
}

// A Report says which limit explains what a server refused. docs/calibrate.md defines every figure.
type Report struct {
	report.Head
	Verdicts  Verdicts   `json:"verdicts"`
	Locations []Location `json:"locations"`
	Reactions []Reaction `json:"reactions"` // none in a log of verdicts that clients were not told
}

// A Reaction is what the clients of a class did after a refusal.
type Reaction struct {
	Class    string `json:"class"`
	Clients  int64  `json:"clients"` // refused
	Refusals int64  `json:"refusals"`

	SilentPercent   float64  `json:"silent_percent"`
	SamePathPercent float64  `json:"same_path_percent"`
	Median          float64  `json:"seconds_to_next_median"`
	P90             float64  `json:"seconds_to_next_p90"`
	HonouredPercent *float64 `json:"honoured_percent"` // nil: nothing is known of how long to stay away
}

// Verdicts holds what the server decided.
type Verdicts struct {
	From      string `json:"from"`
	Enforced  bool   `json:"enforced"`
	Spread    bool   `json:"spread"` // whole seconds: requests are taken to lie evenly in theirs
	OneIn     int64  `json:"one_client_in"`
	Requests  int64  `json:"requests"` // with a verdict
	Refused   int64  `json:"refused"`
	Delayed   int64  `json:"delayed"`
	Unlimited int64  `json:"unlimited"` // without one
}

// A Location is requests with a limit of their own.
type Location struct {
	Place    []string `json:"place"` // hosts or beginnings of paths; none: all requests
	By       string   `json:"by"`
	Requests int64    `json:"requests"`
	Keys     int64    `json:"keys"`
	Refused  int64    `json:"refused"`

	Best   *calibrate.Fit  `json:"best"` // nil: nothing was refused, or everything
	Equal  []calibrate.Fit `json:"equal"`
	AsGood []calibrate.Fit `json:"as_good"`

	AllEqual  int `json:"all_equal"` // how many there are
	AllAsGood int `json:"all_as_good"`

	AgreementPercent float64    `json:"agreement_percent"`
	Interval         [2]float64 `json:"agreement_interval"`
	UnseenPercent    float64    `json:"unseen_percent"`

	ContradictedKeys int64           `json:"contradicted_keys"`
	Contradictions   []Contradiction `json:"contradictions"`

	whole bool // whether stamps are whole seconds
	alone bool // whether no other limit was judged
}

// A Contradiction is the first request of a key on which the limit decides otherwise.
type Contradiction struct {
	File       string        `json:"file"`
	Line       int64         `json:"line"`
	Time       format.Moment `json:"time"`
	Client     string        `json:"client"`
	Server     string        `json:"server"`
	Limit      string        `json:"limit"`
	Contradict int64         `json:"contradict"` // requests of the key
}

// words are verdicts as reports call them.
var words = [...]string{calibrate.Passed: "passed", calibrate.Delayed: "delayed", calibrate.Refused: "refused"}

// New makes the report.
func New(head report.Head, s *Source) *Report {
	r := &Report{Head: head, Locations: []Location{}}
	v := &r.Verdicts
	*v = Verdicts{From: s.From, Enforced: s.Enforced, Spread: s.Whole, OneIn: s.Sampled, Requests: int64(s.Requests.Len())}
	v.Unlimited = s.Read - v.Requests
	for _, verdict := range s.Requests.Verdict {
		switch verdict {
		case calibrate.Refused:
			v.Refused++
		case calibrate.Delayed:
			v.Delayed++
		}
	}
	for i := range s.Locations {
		r.Locations = append(r.Locations, s.location(&s.Locations[i]))
	}
	r.Reactions = []Reaction{}
	if s.Enforced {
		r.Reactions = mapped.Add(r.Reactions, s.Requests.Reactions(s.Requests.Waits(s.Locations)), newReaction)
	}
	return r
}

func newReaction(c calibrate.Reaction) Reaction {
	r := Reaction{
		Class: c.Class.String(), Clients: c.Clients, Refusals: c.Refusals,
		SilentPercent: format.PercentOf(c.Silent, c.Refusals), SamePathPercent: format.PercentOf(c.SamePath, c.Refusals),
		Median: format.InSeconds(c.Median), P90: format.InSeconds(c.P90),
	}
	if c.Asked > 0 {
		percent := format.PercentOf(c.Honoured, c.Asked)
		r.HonouredPercent = &percent
	}
	return r
}

func (s *Source) location(found *calibrate.Location) Location {
	l := Location{
		Place: []string{}, By: s.By[found.Key].String(), Requests: found.Requests, Keys: found.Clients, Refused: found.Refused,
		Equal: fits(found.Equal, s.Top), AsGood: fits(found.AsGood, s.Top), AllEqual: len(found.Equal), AllAsGood: len(found.AsGood), whole: s.Whole, Contradictions: []Contradiction{},
	}
	l.Place = mapped.Add(l.Place, found.Places, func(id int32) string { return s.Place(found.Way, id) })
	if found.Best == nil {
		return l
	}
	l.Best, l.AgreementPercent, l.Interval, l.UnseenPercent = found.Best, found.Percent, [2]float64{found.Low, found.High}, found.Unseen
	l.alone = found.Judged == 1
	l.ContradictedKeys = found.Contradicted
	for _, c := range found.Contradictions[:min(s.Top, len(found.Contradictions))] {
		l.Contradictions = append(l.Contradictions, s.contradiction(c))
	}
	return l
}

func fits(all []*calibrate.Fit, most int) []calibrate.Fit {
	return mapped.Of(all[:min(most, len(all))], func(f *calibrate.Fit) calibrate.Fit { return *f })
}

func (s *Source) contradiction(c calibrate.Contradiction) Contradiction {
	r := s.Requests
	at := r.At[c.Row]
	if s.Whole { // the place in its second is made up
		at -= at % limit.Second
	}
	return Contradiction{
		File: s.Inputs[r.Input[c.Row]].Name, Line: r.Line[c.Row], Time: format.Moment(at),
		Client: s.Tables.ShownClient(r.Client[c.Row]),
		Server: words[c.Verdict], Limit: words[c.Limit], Contradict: c.Wrong,
	}
}

// explains reports whether a limit explains the refusals: it is wrong on fewer requests than no limit at all, or one that
// refuses everything, by far.
func (l *Location) explains() bool {
	const part = 2
	return l.Best != nil && part*l.Best.Wrong < min(l.Refused, l.Requests-l.Refused)
}

// couldBe reports whether whole seconds hide if a limit explains the refusals: it decides otherwise mostly within a second.
// A request of a busy client then changes place with the next one, and so on.
func (l *Location) couldBe() bool {
	const part = 5
	return l.whole && part*l.Best.WrongBySecond < min(l.Refused, l.Requests-l.Refused)
}
