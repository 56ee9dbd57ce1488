// Package advice reports on what a limit should be: a suggest.Advice comes in; text, JSON, CSV or Markdown goes out.
package advice

import (
	"cmp"

	"shadow/replay"
	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/suggest"
	"shadow/sweep"
)

// A Report is the report on what a limit should be. Its JSON is an interface for other programs, as that of Model;
// docs/suggest.md defines every word.
type Report struct {
	Version  string       `json:"version"` // of shadow
	Command  string       `json:"command"` // as typed
	Input    report.Input `json:"input"`
	Warnings []string     `json:"warnings"`
	Answers  []Answer     `json:"answers"` // one, or one for each action

	view document.View
}

// An Answer is about the requests of one action, or all. Of those fields that are for JSON all but Next and the lines
// of Nginx are filled in by NewSuggest.
type Answer struct {
	Action      string    `json:"action"` // "" for all
	Spare       []Spare   `json:"spare"`
	Stop        []string  `json:"stop"`
	Scale       float64   `json:"scale"`
	Band        bool      `json:"band"`  // whether limits keep the promise wherever in its second each request came
	First       Part      `json:"first"` // on which limits are chosen
	Rest        *Part     `json:"rest"`  // on which they are proven; nil: nothing was held out
	PageLoads   PageLoads `json:"page_loads"`
	Findings    []string  `json:"findings"` // in plain sentences
	Best        []string  `json:"best"`     // limits, at most one of a kind, the best first
	Suggestions []Limit   `json:"suggestions"`
	Whole       *Whole    `json:"whole"`  // the answer over the whole log; nil without one
	Bounds      []Bound   `json:"bounds"` // limits by what they leave, where there is nobody to spare
	Nginx       *Nginx    `json:"nginx"`  // what nginx is to be told; nil: it has none of the limits
	Next        []string  `json:"next"`   // what to try, line by line

	Advice *suggest.Advice `json:"-"`
}

// Spare is a promise, and what it takes.
type Spare struct {
	Who         string  `json:"who"`
	Percent     float64 `json:"percent"`
	Clients     int64   `json:"clients"`          // in the first part
	MayHit      int64   `json:"may_hit"`          // of these
	Sample      *int64  `json:"sample"`           // clients that it takes to promise as much; nil: no number does
	ProvablePct float64 `json:"provable_percent"` // that so many clients can promise at best
}

// A Part is a part of the log.
type Part struct {
	From     format.Moment `json:"from"`
	To       format.Moment `json:"to"`
	Requests int64         `json:"requests"`
	Clients  int64         `json:"clients"`
	ByGroup  groups        `json:"by_group"`
}

// PageLoads is how many requests the page loads of browsers took.
type PageLoads struct {
	Count int64 `json:"count"`
	P50   int64 `json:"p50"`
	P95   int64 `json:"p95"`
	P99   int64 `json:"p99"`
}

// A Limit is the limit of one shape, or why there is none.
type Limit struct {
	Kind   string  `json:"limit_kind"`
	Per    *string `json:"per"`    // of windows
	Rate   *string `json:"rate"`   // of token buckets
	Reason string  `json:"reason"` // why there is no limit; "" if there is one
	Proof  string  `json:"proof"`
	Chosen *Price  `json:"chosen"`
	Both   *Price  `json:"both"`       // the strictest that keeps the promise on both parts; nil if there is none, or no rest
	Beside []Price `json:"runners_up"` // from the strictest to the kindest; of the best of each kind only
	Others []Price `json:"-"`          // the same of each
	Knee   *Price  `json:"knee"`       // nil if the curve has none
	of     *suggest.Suggestion
}

// A Price is a limit, and what it would refuse.
type Price struct {
	Limit string   `json:"limit"` // as --limit takes it, with the scale in it; "" if its numbers do not fit
	N     int64    `json:"n"`     // without the scale: that which the figures are about
	First Figures  `json:"first"`
	Rest  *Figures `json:"rest"` // nil: nothing was held out
}

// Figures are what a limit would refuse of a part of the log.
type Figures struct {
	Keeps   bool          `json:"keeps_promise"`
	Refused *int64        `json:"refused"` // nil: not known
	Hit     int64         `json:"clients_hit"`
	ByGroup groupsFigures `json:"by_group"`
}

type (
	groups        [suggest.GroupCount]report.ClassTotal
	groupsFigures [suggest.GroupCount]groupFigures
)

type groupFigures struct {
	Refused *int64 `json:"refused"` // nil: not known
	Hit     int64  `json:"clients_hit"`
}

// MarshalJSON writes an object with a key per group, in their order.
func (g groups) MarshalJSON() ([]byte, error) { return format.EachJSON[suggest.Group](g[:]) }

// MarshalJSON writes an object with a key per group, in their order.
func (g groupsFigures) MarshalJSON() ([]byte, error) { return format.EachJSON[suggest.Group](g[:]) }

// New makes the report. The survey is a replay of the whole log, with evidence if any was gathered; of each answer
// Advice and Next must be there.
func New(survey *replay.Result, answers []Answer, o report.Options) *Report {
	who := report.Census(survey.Clients)
	s := &Report{
		Version: o.Version, Command: o.Command, Input: report.NewInput(&survey.Stats, who, cmp.Or(o.Timezone, "UTC")),
		Warnings: append([]string{}, o.Warnings...), Answers: answers, view: document.View{Width: o.Width, Color: o.Color},
	}
	s.Input.Evidence = report.NewJury(survey, who, o).All(survey.Clients)
	for i := range answers {
		answers[i].fill(&s.Input)
	}
	return s
}

// fill computes what JSON shows of the advice.
func (s *Answer) fill(in *report.Input) {
	a := s.Advice
	s.Action, s.Scale, s.Stop = a.Action, a.Scale.Float(), []string{}
	for g := range suggest.GroupCount {
		if a.Stop.Has(g) {
			s.Stop = append(s.Stop, g.String())
		}
	}
	for _, p := range a.Promises {
		s.Spare = append(s.Spare, spareModel(p, a.First.Clients.Of(p.Who)))
	}
	s.First, s.Band = partOf(a.First), a.Banded()
	if a.Rest != nil {
		rest := partOf(a.Rest)
		s.Rest = &rest
	}
	s.PageLoads = PageLoads(a.Loads)
	for i := range a.Suggestions {
		s.Suggestions = append(s.Suggestions, limitOf(a, &a.Suggestions[i]))
	}
	s.Best, s.Next = []string{}, append([]string{}, s.Next...)
	for _, best := range a.BestOfAll() {
		text, _ := a.Text(best, best.Chosen.Limit)
		s.Best = append(s.Best, text)
		m := s.modelOf(best)
		m.Beside = append(m.Beside, m.Others...)
	}
	s.Whole, s.Bounds = wholeOf(a.Whole), boundsOf(a)
	if s.Nginx != nil {
		s.Nginx.fill(a)
	}
	s.Findings = findings(a, in)
}

func spareModel(p suggest.Promise, clients int64) Spare {
	m := Spare{
		Who: p.Who.String(), Percent: p.Share.Percent(), Clients: clients, MayHit: p.MayHit(clients),
		ProvablePct: suggest.Provable(clients).Percent(),
	}
	if n := p.Sample(); n > 0 {
		m.Sample = &n
	}
	return m
}

func partOf(p *suggest.Part) Part {
	part := Part{From: format.Moment(p.First), To: format.Moment(p.Last)}
	for g := range suggest.GroupCount {
		part.ByGroup[g] = report.ClassTotal{Requests: p.Requests[g], Clients: p.Clients[g]}
		part.Requests += p.Requests[g]
		part.Clients += p.Clients[g]
	}
	return part
}

func limitOf(a *suggest.Advice, s *suggest.Suggestion) Limit {
	m := Limit{Kind: s.Kind.String(), Proof: s.Proof.String(), Reason: whyTexts[s.Why], Beside: []Price{}, of: s}
	if text := s.PerText(); text != "" {
		m.Per = &text
	}
	if text := s.RateText(); s.Kind == sweep.Token {
		m.Rate = &text
	}
	if s.Why != suggest.Found {
		m.Proof = suggest.NotTried.String()
		return m
	}
	m.Chosen = priceOf(a, s, &s.Chosen)
	if s.Both.Limit > 0 {
		m.Both = priceOf(a, s, &s.Both)
	}
	for i := range s.Others {
		m.Others = append(m.Others, *priceOf(a, s, &s.Others[i]))
	}
	if s.Knee.Limit > 0 {
		m.Knee = priceOf(a, s, &s.Knee)
	}
	return m
}

var whyTexts = [...]string{
	suggest.Found:   "",
	suggest.TooLong: "the log is too short to judge it",
	suggest.Nobody:  "there is nobody to spare",
	suggest.Broken:  "every limit breaks the promise",
}

func priceOf(a *suggest.Advice, s *suggest.Suggestion, c *suggest.Candidate) *Price {
	text, _ := a.Text(s, c.Limit)
	p := &Price{Limit: text, N: c.Limit, First: figuresOf(a, &c.First, a.First)}
	if a.Rest != nil {
		rest := figuresOf(a, &c.Rest, a.Rest)
		p.Rest = &rest
	}
	return p
}

func figuresOf(a *suggest.Advice, f *suggest.Figures, part *suggest.Part) Figures {
	m := Figures{Keeps: a.Keeps(f, &part.Clients), Hit: f.Hit.Of(suggest.Everybody)}
	refused := func(n int64) *int64 {
		if !f.Counted {
			return nil
		}
		return &n
	}
	m.Refused = refused(f.Refused.Of(suggest.Everybody))
	for g := range m.ByGroup {
		m.ByGroup[g] = groupFigures{refused(f.Refused[g]), f.Hit[g]}
	}
	return m
}
