package report

import (
	"shadow/report/format"
	"shadow/report/table"
	"shadow/traffic/useragent"
)

// policyGrid has a row per policy.
func policyGrid(m *Model) *table.Table {
	g := &table.Table{}
	shown := ShownOf(m)
	g.Columns = append(g.Columns, table.Column{Head: "limit", Least: table.LeastName})
	if shown.Keys {
		g.Columns = append(g.Columns, table.With(table.Text("counted by"))...)
	}
	g.Columns = append(g.Columns, table.Number("refused"))
	g.Columns = append(g.Columns, table.With(table.Number("%"), table.Number("clients hit"), table.Number("%"))...)
	if shown.Delays {
		g.Columns = append(g.Columns, table.Number("delayed"))
		g.Columns = append(g.Columns, table.With(table.Number("p50 delay"), table.Number("p99 delay"), table.Number("delay in all"))...)
	}
	if m.Input.AgentsLogged {
		g.Columns = append(g.Columns, table.Number("browser"))
		if shown.Evidence {
			g.Columns = append(g.Columns, table.With(table.Number("(disguised)"))...)
		}
		g.Columns = append(g.Columns, table.With(table.Number("crawler"), table.Number("tool"), table.Number("monitor"), table.Number("unknown"))...)
	}
	g.Columns = append(g.Columns, table.Text("worst minute"))
	g.Columns = append(g.Columns, table.With(table.Number("in it"), table.Number("saved"))...)
	if m.Input.UpstreamLogged {
		g.Columns = append(g.Columns, table.Number("upstream saved"))
	}
	for i := range m.Policies {
		g.Rows = append(g.Rows, policyRow(m, &m.Policies[i], shown))
	}
	return g
}

// Shown is what the table of policies shows where some policy gives reason to, and how it writes times.
type Shown struct {
	Keys, Delays bool
	Evidence     bool // which browsers are disguised
	At           layouts
}

func ShownOf(m *Model) Shown {
	s := Shown{At: LayoutsFor(m.Input.Span)}
	for i := range m.Policies {
		p := &m.Policies[i]
		s.Keys = s.Keys || p.By != "client"
		s.Delays = s.Delays || p.Delay != nil
		s.Evidence = s.Evidence || p.ByEvidence != nil && m.Input.AgentsLogged
	}
	return s
}

func policyRow(m *Model, p *Policy, shown Shown) []string {
	row := []string{p.Policy}
	if shown.Keys {
		row = append(row, p.By)
	}
	refused, hit := p.Counts()
	row = append(row, refused, format.Percent(p.RefusedPercent), hit, format.Percent(p.ClientsHitPercent))
	if shown.Delays {
		row = append(row, delayCells(p)...)
	}
	if m.Input.AgentsLogged {
		for class, f := range p.ByClass {
			row = append(row, format.Thousands(f.ClientsHit))
			if shown.Evidence && useragent.Class(class) == useragent.Browser {
				row = append(row, format.Thousands(p.ByEvidence.Disguised.ClientsHit))
			}
		}
	}
	if w := p.WorstMinute; w != nil {
		row = append(row, w.Start.Format(shown.At.Minute), format.Thousands(w.Refused))
	} else {
		row = append(row, "–", "–")
	}
	row = append(row, format.Size(p.BytesSaved))
	if m.Input.UpstreamLogged {
		row = append(row, format.Span(format.OfSeconds(p.UpstreamSecondsSaved)))
	}
	return row
}

// clientGrid has a row per client that a policy refused.
func clientGrid(m *Model, p *Policy) *table.Table {
	at := LayoutsFor(m.Input.Span)
	g := &table.Table{Columns: []table.Column{{Head: "client", Least: table.LeastName}, table.Number("requests")}}
	g.Columns = append(g.Columns, table.With(table.Number("refused"), table.Number("%"))...)
	g.Columns = append(g.Columns, table.Text("first refused"))
	g.Columns = append(g.Columns, table.With(table.Text("last refused"))...)
	if m.Input.AgentsLogged {
		g.Columns = append(g.Columns, table.Text("class"))
		g.Columns = append(g.Columns, table.With(table.Column{Head: "agent", Least: table.LeastAgent})...)
	}
	if m.Input.Evidence != nil {
		g.Columns = append(g.Columns, table.Text("evidence"))
	}
	for _, c := range p.TopClients {
		row := []string{
			c.Client, format.Thousands(c.Requests), format.Thousands(c.Refused), format.Percent(c.RefusedPercent),
			c.First.Format(at.Second), c.Last.Format(at.Second),
		}
		if m.Input.AgentsLogged {
			row = append(row, c.Class, c.Agent)
		}
		if m.Input.Evidence != nil {
			row = append(row, c.Evidence.Short())
		}
		g.Add(row...)
	}
	return g
}

// actionGrid has a row per action of which a policy refused requests.
func actionGrid(p *Policy) *table.Table {
	g := &table.Table{Columns: []table.Column{{Head: "action", Least: table.LeastName}, table.Number("requests")}}
	g.Columns = append(g.Columns, table.With(table.Number("refused"), table.Number("%"), table.Number("% of all refused"))...)
	for _, a := range p.TopActions {
		g.Add(a.Action, format.Thousands(a.Requests), format.Thousands(a.Refused), format.Percent(a.RefusedPercent), format.Percent(a.SharePercent))
	}
	return g
}

// delayCells tell how long the policy keeps requests waiting, if it does.
func delayCells(p *Policy) []string {
	switch {
	case p.Delay == nil:
		return []string{"–", "–", "–", "–"}
	case p.Delayed == 0:
		return []string{"0", "–", "–", "–"}
	}
	return []string{format.Thousands(p.Delayed), format.Wait(p.Delay.P50), format.Wait(p.Delay.P99), format.Wait(p.Delay.Total)}
}

// Counts are the requests refused and the clients hit, with what they may also be if the policy is an approximation.
func (p *Policy) Counts() (refused, hit string) {
	refused, hit = format.Thousands(p.Refused), format.Thousands(p.ClientsHit)
	if p.Range != nil {
		refused += format.Between(p.Range.Refused)
		hit += format.Between(p.Range.ClientsHit)
	}
	return refused, hit
}
