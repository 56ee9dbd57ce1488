package report

import (
	"testing"

	"shadow/report/reporttest"
	"shadow/request"
	"shadow/traffic/evidence"
)

// The thresholds are those that were asked for, and what is counted is what is listed.
func TestEvidenceRules(t *testing.T) {
	lenient := evidence.DefaultRules
	lenient.Haste, lenient.Agents = 90, 9
	for _, c := range []struct {
		rules *evidence.Rules
		want  Verdicts
	}{
		{nil, Verdicts{Human: 2, Bot: 6, Undecided: 2, Shared: 1, Disguised: 1}},
		{&lenient, Verdicts{Human: 3, Bot: 5, Undecided: 2}},
	} {
		o := townOptions
		o.Evidence = c.rules
		o.Top = 100
		m := New(reporttest.Witnessed(), o)
		if *m.Input.Evidence != c.want {
			t.Errorf("%+v, want %+v", *m.Input.Evidence, c.want)
		}
		for _, p := range m.Policies {
			var listed Verdicts
			for _, client := range p.TopClients {
				e := client.Evidence
				*map[string]*int64{"human": &listed.Human, "bot": &listed.Bot, "undecided": &listed.Undecided}[e.Verdict]++
				if e.Shared {
					listed.Shared++
				}
				if e.Verdict == "bot" && client.Class == "browser" {
					listed.Disguised++
				}
			}
			if *p.HitEvidence != listed {
				t.Errorf("%s: hit %+v, listed %+v", p.Policy, *p.HitEvidence, listed)
			}
			d, browsers := p.ByEvidence, p.ByClass[request.Browser]
			if d.Disguised.ClientsHit != listed.Disguised || d.Disguised.Clients != c.want.Disguised {
				t.Errorf("%s: %+v of the disguised, listed %+v", p.Policy, d.Disguised, listed)
			}
			if sum := d.People.plus(d.Disguised); sum != browsers {
				t.Errorf("%s: people and disguised are %+v together, browsers %+v", p.Policy, sum, browsers)
			}
		}
	}
}

func (f ClassFigures) plus(g ClassFigures) ClassFigures {
	return ClassFigures{f.Requests + g.Requests, f.Refused + g.Refused, f.Clients + g.Clients, f.ClientsHit + g.ClientsHit}
}
