// Package advice reports on what a limit should be: a suggest.Advice comes in; text, JSON, CSV or Markdown goes out.
package advice

import (
	"shadow/internal/servers"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/replay"
	"shadow/report"
	"shadow/report/format"
)

// A Report is the report on what a limit should be. Its JSON is an interface for other programs, as that of Model;
// docs/suggest.md defines every word.
type Report struct {
	report.Head
	Answer  *Verdict `json:"answer"`  // what to deploy; nil: there are several answers, and each has its own
	Answers []Answer `json:"answers"` // one, or one for each action

	Details bool   `json:"-"` // whether to show all that was tried
	Doctor  string `json:"-"` // the command that shows all findings
}

// An Answer is about the requests of one action, or all. New fills in all that is for JSON but what Verdict says of the
// site, the server, its lines and what to try next.
type Answer struct {
	Action      string    `json:"action"` // "" for all
	Protect     []Promise `json:"spare"`
	Target      []string  `json:"stop"`
	Scale       float64   `json:"scale"`
	Band        bool      `json:"band"` // whether limits keep the promise wherever in its second each request came
	Verdict     *Verdict  `json:"answer"`
	First       *Part     `json:"first"`  // on which limits are chosen
	Second      *Part     `json:"second"` // on which they are chosen as well; nil: the log cannot be cut
	Rest        *Part     `json:"rest"`   // on which the answer is validated; nil: nothing was held out
	PageLoads   PageLoads `json:"page_loads"`
	Notes       notes     `json:"notes"`
	Best        []string  `json:"best"` // limits, at most one of a kind, the best first
	Suggestions []Limit   `json:"suggestions"`
	Whole       *Whole    `json:"whole"`  // the answer over the whole log; nil without one
	Bounds      []Bound   `json:"bounds"` // limits by what they leave, where there is no one to protect

	Advice *suggest.Advice `json:"-"`
	Key    string          `json:"-"` // what clients are
	Watch  Watch           `json:"-"` // how to watch what the lines do
	Server string          `json:"-"` // what the server is called whose lines they are; "": none
	ByLog  bool            `json:"-"` // whether the log says so, and no flag

	// Lines returns what to paste for another limit of the answer's kind; nil: no server is asked for.
	Lines func(limit string) ([]servers.Block, error) `json:"-"`

	best []*suggest.Suggestion
}

// A Watch is how to begin with lines: in a mode that refuses nothing if Count is there.
type Watch struct {
	How   string   // a sentence without its end
	Count string   // a command that counts what would be refused
	Log   []string // lines that have each such request logged

	Front  string // what stands before the server and wrote the log
	Partly bool   // whether some places do not get the lines, so that fewer may be counted
	With   int64  // what is counted with what --exclude leaves out and lines do not exempt; 0: no such thing, -1: not known
}

// A Promise is how many clients are protected, and what it takes.
type Promise struct {
	Who         string  `json:"who"`
	Percent     float64 `json:"percent"`
	Clients     int64   `json:"clients"`          // in the first part
	MayHit      int64   `json:"may_hit"`          // of these: one of 10 to 99 by the default of an API, whatever the percentage
	Sample      *int64  `json:"sample"`           // clients that it takes to promise as much; nil: no number does
	ProvablePct float64 `json:"provable_percent"` // that so many clients can promise at best
}

// A Part is a part of the log.
type Part struct {
	From     format.Moment                         `json:"from"`
	To       format.Moment                         `json:"to"`
	Requests int64                                 `json:"requests"`
	Clients  int64                                 `json:"clients"`
	ByGroup  report.PerIdentity[report.ClassTotal] `json:"by_group"`
}

// PageLoads counts the requests that page loads of browsers took.
type PageLoads struct {
	Count int64 `json:"count"`
	P50   int64 `json:"p50"`
	P95   int64 `json:"p95"`
	P99   int64 `json:"p99"`

	Gap float64 `json:"p50_gap_seconds"` // between page loads of one visit
}

// A Limit is the limit of one shape, or why there is none.
type Limit struct {
	Kind   string  `json:"limit_kind"`
	Per    *string `json:"per"`    // of windows
	Rate   *string `json:"rate"`   // of token buckets
	Reason string  `json:"reason"` // why there is no limit; "" if there is one
	Proof  string  `json:"proof"`
	Chosen *Price  `json:"chosen"`
	Beside []Price `json:"runners_up"` // from the strictest to the loosest; of the best of each kind only
	Others []Price `json:"-"`          // the same of each
	Knee   *Price  `json:"knee"`       // nil if the curve has none
	of     *suggest.Suggestion
}

// A Price is a limit, and what it would refuse.
type Price struct {
	Limit string `json:"limit"` // as --limit takes it, with the scale in it; "" if its numbers do not fit
	N     int64  `json:"n"`     // without the scale: that which the figures are about
	OnParts
}

// OnParts holds what a limit does on each part of the log; nil: there is no such part, or it was not measured.
type OnParts struct {
	First  *Figures `json:"first"`
	Second *Figures `json:"second"`
	Rest   *Figures `json:"rest"`
}

// of returns the figures of a part.
func (p *OnParts) of(part int) *Figures { return [...]*Figures{p.First, p.Second, p.Rest}[part] }

// Figures holds what a limit would refuse of a part of the log.
type Figures struct {
	Keeps   bool                             `json:"keeps_promise"`
	Refused *int64                           `json:"refused"` // nil: not known
	Hit     int64                            `json:"clients_hit"`
	ByGroup report.PerIdentity[groupFigures] `json:"by_group"`
}

type groupFigures struct {
	Refused *int64 `json:"refused"` // nil: not known
	Hit     int64  `json:"clients_hit"`
}

// A Bound is a limit with what it leaves to a client that takes all it can get: the only measure where no client to
// protect is seen.
type Bound struct {
	Limit   string `json:"limit"`
	Minute  int64  `json:"first_minute"` // requests that one client is admitted in less than that time, at most
	Hour    int64  `json:"first_hour"`
	Day     int64  `json:"first_day"`
	Refused int64  `json:"refused"` // of the log's
	Hit     int64  `json:"clients_hit"`
}

// Whole holds what a replay of the whole log finds of the answer: nothing is cut in two there.
type Whole struct {
	Limit    string                           `json:"limit"` // without the scale
	Refused  int64                            `json:"refused"`
	Hit      int64                            `json:"clients_hit"`
	ByGroup  report.PerIdentity[groupFigures] `json:"by_group"`
	Crawlers []suggest.CrawlerHit             `json:"crawlers"`
}

// New makes the report. The survey is a replay of the whole log, with evidence if any was gathered; of each answer
// Advice must be there.
func New(survey *replay.Result, answers []Answer, o report.Options) *Report {
	s := &Report{Head: report.NewHead(&survey.Stats, report.NewPopulation(survey.Clients, survey.Who), o), Answers: answers}
	for i := range answers {
		answers[i].fill(&s.Input)
	}
	if len(answers) == 1 {
		s.Answer = answers[0].Verdict
	}
	return s
}

// fill computes what JSON shows of the advice.
func (s *Answer) fill(in *report.Input) {
	a := s.Advice
	s.Action, s.Scale, s.Target = a.Action, a.Scale.Float(), []string{}
	for g := range who.Count {
		if a.Target.Has(g) {
			s.Target = append(s.Target, g.String())
		}
	}
	for _, p := range a.Goals {
		n := a.Parts[suggest.First].Clients.Of(p.Who)
		m := Promise{
			Who: p.Who.String(), Percent: p.Percent.Float(), Clients: n, MayHit: p.MayHit(n),
			ProvablePct: suggest.Provable(n).Float(),
		}
		if sample := p.Sample(); sample > 0 {
			m.Sample = &sample
		}
		s.Protect = append(s.Protect, m)
	}
	s.First, s.Second, s.Rest = partOf(a.Parts[suggest.First]), partOf(a.Parts[suggest.Second]), partOf(a.Parts[suggest.Rest])
	s.Band = a.Banded()
	s.PageLoads = PageLoads{a.Loads.Count, a.Loads.P50, a.Loads.P95, a.Loads.P99, format.InSeconds(a.Loads.Gap)}
	for i := range a.Suggestions {
		s.Suggestions = append(s.Suggestions, limitOf(a, &a.Suggestions[i]))
	}
	s.Best, s.best = []string{}, a.BestOfAll()
	for _, best := range s.best {
		m := s.modelOf(best)
		s.Best = append(s.Best, m.Chosen.Limit)
		m.Beside = append(m.Beside, m.Others...)
	}
	s.Whole, s.Bounds = wholeOf(a.Whole), boundsOf(a)
	s.Notes = notesOf(a, in)
	s.fillVerdict()
}

// partOf returns nil for nil.
func partOf(p *suggest.Part) *Part {
	if p == nil {
		return nil
	}
	part := &Part{From: format.Moment(p.First), To: format.Moment(p.Last)}
	for g := range who.Count {
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
	m.Chosen, m.Knee = priceOf(a, s, &s.Chosen), priceOf(a, s, &s.Knee)
	for i := range s.Others {
		m.Others = append(m.Others, *priceOf(a, s, &s.Others[i]))
	}
	return m
}

var whyTexts = [...]string{
	suggest.Found:   "",
	suggest.TooLong: "the log is too short to judge it",
	suggest.Nobody:  "there is no one to protect",
	suggest.Broken:  "every limit breaks the promise",
	suggest.TooFew:  "it would admit fewer than 20 requests in an hour",

	suggest.SlowToForget: "it would take longer to forget than --recover",
	suggest.BelowPace:    "people who load one page after the other take more",
}

// priceOf returns nil for no limit.
func priceOf(a *suggest.Advice, s *suggest.Suggestion, c *suggest.Candidate) *Price {
	if c.Limit == 0 {
		return nil
	}
	text, _ := a.Text(s, c.Limit)
	return &Price{Limit: text, N: c.Limit, OnParts: onParts(a, c)}
}

func onParts(a *suggest.Advice, c *suggest.Candidate) (p OnParts) {
	for i, figures := range []**Figures{&p.First, &p.Second, &p.Rest} {
		*figures = figuresOf(a, &c.On[i], a.Parts[i])
	}
	return p
}

// figuresOf returns nil for no part.
func figuresOf(a *suggest.Advice, f *suggest.Figures, part *suggest.Part) *Figures {
	if part == nil {
		return nil
	}
	m := &Figures{Keeps: a.Keeps(f, &part.Clients), Hit: f.Hit.Of(who.Everybody), ByGroup: byGroup(f)}
	if n := f.Refused.Of(who.Everybody); f.Counted {
		m.Refused = &n
	}
	return m
}

func byGroup(f *suggest.Figures) (all report.PerIdentity[groupFigures]) {
	for g := range all {
		if all[g].Hit = f.Hit[g]; f.Counted {
			all[g].Refused = &f.Refused[g]
		}
	}
	return all
}

// wholeOf returns what JSON shows, nil without an answer.
func wholeOf(w *suggest.Whole) *Whole {
	if w == nil || w.Limit == "" {
		return nil
	}
	return &Whole{
		Limit: w.Limit, Refused: w.Answer.Refused.Of(who.Everybody), Hit: w.Answer.Hit.Of(who.Everybody),
		ByGroup: byGroup(&w.Answer), Crawlers: append([]suggest.CrawlerHit{}, w.Crawlers...),
	}
}

func boundsOf(a *suggest.Advice) []Bound {
	all := []Bound{}
	for i := range a.Ceilings {
		b := &a.Ceilings[i]
		admits := func(time limit.Time) int64 { return suggest.Admits(b.Shape, b.N, time) }
		all = append(all, Bound{
			Limit: b.Limit(), Minute: admits(limit.Minute), Hour: admits(limit.Hour), Day: admits(limit.Day),
			Refused: b.Whole.Refused.Of(who.Everybody), Hit: b.Whole.Hit.Of(who.Everybody),
		})
	}
	return all
}
