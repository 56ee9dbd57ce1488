package html

import (
	"fmt"

	"shadow/report"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/request"
)

// The summary at the top of a page, for who knows nothing of rate limits: a few candidates in a sentence each, with
// bars that say how many clients of each class they hit, and which limits affect no people.

// A verdict is a policy in a sentence.
type verdict struct {
	Name, Text string
	Percent    string
	Parts      []bar
	Tag        string // loosest, strictest
}

// A bar is a class of clients in a verdict.
type bar struct {
	Class      string
	Hit        string // clients hit, of all
	Percent    string
	Twentieths int
}

// fewVerdicts is how many candidates the summary speaks of.
const fewVerdicts = 4

// verdicts are the first few candidates; of many, also the loosest and the strictest of all.
func verdicts(m *report.Model) (all []verdict) {
	loosest, strictest := 0, 0
	for i := range m.Policies {
		if m.Policies[i].Refused < m.Policies[loosest].Refused {
			loosest = i
		}
		if m.Policies[i].Refused > m.Policies[strictest].Refused {
			strictest = i
		}
	}
	for i := range m.Policies {
		if i >= fewVerdicts && i != loosest && i != strictest {
			continue
		}
		p := &m.Policies[i]
		v := verdict{Name: name(p.Policy), Percent: format.Percent(p.RefusedPercent), Text: verdictText(p)}
		if m.Input.AgentsLogged {
			v.addBars(p)
		}
		if loosest != strictest {
			switch i {
			case loosest:
				v.Tag = "loosest"
			case strictest:
				v.Tag = "strictest"
			}
		}
		all = append(all, v)
	}
	return all
}

// addBars tells how many of each class are hit, of the classes that are there.
func (v *verdict) addBars(p *report.Policy) {
	add := func(whose string, f report.ClassFigures) {
		if f.Clients == 0 {
			return
		}
		share := format.PercentOf(f.ClientsHit, f.Clients)
		v.Parts = append(v.Parts, bar{
			Class: whose, Percent: format.Percent(share), Twentieths: table.Twentieths(share),
			Hit: format.Thousands(f.ClientsHit) + " of " + format.Thousands(f.Clients),
		})
	}
	for class, f := range p.ByClass {
		if request.Class(class) == request.Browser && p.ByEvidence != nil {
			add("people", p.ByEvidence.People)
			add("disguised", p.ByEvidence.Disguised)
		} else {
			add(report.ClassTitle(request.Class(class)), f)
		}
	}
}

// verdictText is the policy for those who have never heard of one.
func verdictText(p *report.Policy) string {
	if p.Refused == 0 && p.Delayed == 0 && p.Range == nil {
		return "It would have refused nothing."
	}
	text := fmt.Sprintf("It would have refused %s of %s, of %s of %s.",
		p.RefusedText(), format.Count(p.Requests, "request"), p.HitText(), format.Count(p.Clients, "client"))
	if p.Range != nil {
		text += " An approximation: in brackets, what it may also be."
	}
	if p.Delayed > 0 {
		text += fmt.Sprintf(" %s would have had to wait, half of them for %s at most.", format.Count(p.Delayed, "request"), format.Wait(p.Delay.P50))
	}
	return text
}

// safe says which limits affect next to no people, by the curve that is looked at first.
func (p *Page) safe() (sentences []string) {
	c := p.Curves
	if c == nil || c.first() == nil {
		return nil
	}
	curve, last := c.first(), int64(0)
	clients, hit, who := c.protected()
	for _, share := range []int64{1000, 999, 990} {
		at := curve.Protecting(clients, share, hit)
		if at == nil || at.Limit == last {
			continue
		}
		last = at.Limit
		affects := "none"
		if share < 1000 {
			affects = "at most " + format.ShareText(1000-share)
		}
		sentences = append(sentences, fmt.Sprintf("%s affects %s of the %s, and refuses %s %% of all requests.",
			curve.Limit(at.Limit), affects, who, format.Percent(format.PercentOf(at.Refused.Sum(), c.judged()))))
	}
	if sentences == nil {
		return nil
	}
	for _, text := range []string{c.whoText(), c.From} {
		if text != "" {
			sentences = append(sentences, text)
		}
	}
	return sentences
}
