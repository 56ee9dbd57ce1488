package html

import (
	"fmt"

	"shadow/internal/request"
	"shadow/internal/traffic/who"
	"shadow/report"
	"shadow/report/format"
	"shadow/report/table"
)

// A verdict is a policy in a sentence, for who knows nothing of rate limits.
type verdict struct {
	Name, Text string
	Percent    string
	Hit        *table.Page // clients, by what they are; nil: not known
	Tag        string      // loosest, strictest
}

// fewVerdicts is the most candidates that the summary speaks of.
const fewVerdicts = 4

// verdicts returns the first few candidates; of many, also the loosest and the strictest of all.
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
			v.Hit = hitTable(p)
		}
		switch {
		case loosest == strictest:
		case i == loosest:
			v.Tag = "loosest"
		case i == strictest:
			v.Tag = "strictest"
		}
		all = append(all, v)
	}
	return all
}

// hitTable returns a table of how many of each class, or identity, are hit, of those that are there.
func hitTable(p *report.Policy) *table.Page {
	t := table.New(table.Words("kind"), table.Words("clients hit"), table.Number("share in %"))
	t.Title = "Clients hit, of each kind"
	add := func(whose string, f *report.ClassFigures) {
		if f.Clients > 0 {
			hit := format.Thousands(f.ClientsHit) + " of " + format.Thousands(f.Clients)
			t.Add(table.Text(whose), table.Text(hit), table.Share(format.PercentOf(f.ClientsHit, f.Clients)))
		}
	}
	if p.ByIdentity != nil {
		for is, f := range p.ByIdentity {
			add(who.Identity(is).String(), &f)
		}
	} else {
		for class, f := range p.ByClass {
			add(report.ClassTitle(request.Class(class)), &f)
		}
	}
	page := t.Page(len(t.Rows), "", 0)
	page.Class = "bars"
	return page
}

// verdictText returns the policy for those who have never heard of one.
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
		text += fmt.Sprintf(" %s would have had to wait, half of them for %s at most.", format.Count(p.Delayed, "request"),
			format.Wait(p.Delay.P50))
	}
	return text
}
