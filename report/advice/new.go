package advice

import (
	"shadow/replay"
	"shadow/report"
	"shadow/report/format"
	"shadow/suggest"
	"shadow/sweep"
)

// New makes the report. The survey is a replay of the whole log, with evidence if any was gathered; of each answer
// Advice and Next must be there.
func New(survey *replay.Result, answers []Answer, o report.Options) *Report {
	who := report.NewPopulation(survey.Clients)
	s := &Report{Head: report.NewHead(&survey.Stats, who, o), Answers: answers}
	s.Input.Evidence = report.NewAssessor(survey, who, o).All(survey.Clients)
	for i := range answers {
		answers[i].fill(&s.Input)
	}
	return s
}

// fill computes what JSON shows of the advice.
func (s *Answer) fill(in *report.Input) {
	a := s.Advice
	s.Action, s.Scale, s.Target = a.Action, a.Scale.Float(), []string{}
	for g := range suggest.GroupCount {
		if a.Target.Has(g) {
			s.Target = append(s.Target, g.String())
		}
	}
	for _, p := range a.Goals {
		n := a.First.Clients.Of(p.Who)
		m := Promise{Who: p.Who.String(), Percent: p.Percent.Float(), Clients: n, MayHit: p.MayHit(n), ProvablePct: suggest.Provable(n).Float()}
		if sample := p.Sample(); sample > 0 {
			m.Sample = &sample
		}
		s.Protect = append(s.Protect, m)
	}
	s.First, s.Rest, s.Band, s.PageLoads = *partOf(a.First), partOf(a.Rest), a.Banded(), PageLoads(a.Loads)
	for i := range a.Suggestions {
		s.Suggestions = append(s.Suggestions, limitOf(a, &a.Suggestions[i]))
	}
	s.Best, s.Next, s.best = []string{}, append([]string{}, s.Next...), a.BestOfAll()
	for _, best := range s.best {
		m := s.modelOf(best)
		s.Best = append(s.Best, m.Chosen.Limit)
		m.Beside = append(m.Beside, m.Others...)
	}
	s.Whole, s.Bounds = wholeOf(a.Whole), boundsOf(a)
	if m, n := s.Nginx, a.Nginx; m != nil {
		m.Limit, m.Answer, m.Replay, m.Deviation = n.Limit, n.Answer, n.Twin.Limit(), n.Twin.Deviation
		m.Rate, m.Burst = n.Twin.Rate, n.Twin.Burst
		if n.Measured.Limit > 0 {
			m.First, m.Rest = figuresOf(a, &n.Measured.First, a.First), figuresOf(a, &n.Measured.Rest, a.Rest)
		}
	}
	s.Findings = findingsOf(a, in)
}

// partOf returns nil for nil.
func partOf(p *suggest.Part) *Part {
	if p == nil {
		return nil
	}
	part := &Part{From: format.Moment(p.First), To: format.Moment(p.Last)}
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
	m.Chosen, m.Both, m.Knee = priceOf(a, s, &s.Chosen), priceOf(a, s, &s.Both), priceOf(a, s, &s.Knee)
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
}

// priceOf returns nil for no limit.
func priceOf(a *suggest.Advice, s *suggest.Suggestion, c *suggest.Candidate) *Price {
	if c.Limit == 0 {
		return nil
	}
	text, _ := a.Text(s, c.Limit)
	return &Price{Limit: text, N: c.Limit, First: figuresOf(a, &c.First, a.First), Rest: figuresOf(a, &c.Rest, a.Rest)}
}

// figuresOf returns nil for no part.
func figuresOf(a *suggest.Advice, f *suggest.Figures, part *suggest.Part) *Figures {
	if part == nil {
		return nil
	}
	m := &Figures{Keeps: a.Keeps(f, &part.Clients), Hit: f.Hit.Of(suggest.Everybody), ByGroup: byGroup(f)}
	if n := f.Refused.Of(suggest.Everybody); f.Counted {
		m.Refused = &n
	}
	return m
}

func byGroup(f *suggest.Figures) (all groupsFigures) {
	for g := range all {
		if all[g].Hit = f.Hit[g]; f.Counted {
			all[g].Refused = &f.Refused[g]
		}
	}
	return all
}

// wholeOf is what JSON shows, nil without an answer.
func wholeOf(w *suggest.Whole) *Whole {
	if w == nil || w.Limit == "" {
		return nil
	}
	m := &Whole{
		Limit: w.Limit, Refused: w.Answer.Refused.Of(suggest.Everybody), Hit: w.Answer.Hit.Of(suggest.Everybody),
		ByGroup: byGroup(&w.Answer), Crawlers: []Crawler{},
	}
	for _, c := range w.Crawlers {
		m.Crawlers = append(m.Crawlers, Crawler(c))
	}
	return m
}

func boundsOf(a *suggest.Advice) []Bound {
	all := []Bound{}
	for i := range a.Ceilings {
		b := &a.Ceilings[i]
		leaves := leavesOf(b.Shape, b.N)
		m := Bound{
			Limit: b.Limit(), Minute: leaves[0], Hour: leaves[1], Day: leaves[2],
			Refused: b.Whole.Refused.Of(suggest.Everybody), Hit: b.Whole.Hit.Of(suggest.Everybody),
		}
		if twin, ok := b.Nginx(); ok {
			m.Nginx = twin.Setting()
		}
		all = append(all, m)
	}
	return all
}

// leavesOf is what a limit leaves in each of suggest.Times.
func leavesOf(s sweep.Shape, n int64) (leaves [3]int64) {
	for i, time := range suggest.Times {
		leaves[i] = suggest.Admits(s, n, time)
	}
	return leaves
}
