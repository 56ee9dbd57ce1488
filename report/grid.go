package report

import "shadow/traffic"

// A grid is a table before anyone writes it: raw texts, and what each column is like. Terminal and Markdown share it.
type grid struct {
	columns []column
	rows    [][]string
}

// A column of a grid.
type column struct {
	head   string
	right  bool // numbers
	joined bool // belongs to the column before it, and stays with it when a table is folded
	least  int  // may be cut to so many columns of a terminal; 0: never
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

func text(head string) column   { return column{head: head} }
func number(head string) column { return column{head: head, right: true} }

// with joins columns to the one before them.
func with(columns ...column) []column {
	for i := range columns {
		columns[i].joined = true
	}
	return columns
}

const (
	leastName  = 45 // columns: room for any IPv6 address
	leastAgent = 24
)

// policyGrid has a row per policy.
func policyGrid(m *Model) *grid {
	g := &grid{}
	shown := shownOf(m)
	g.columns = append(g.columns, column{head: "limit", least: leastName})
	if shown.keys {
		g.columns = append(g.columns, with(text("counted by"))...)
	}
	g.columns = append(g.columns, number("refused"))
	g.columns = append(g.columns, with(number("%"), number("clients hit"), number("%"))...)
	if shown.delays {
		g.columns = append(g.columns, number("delayed"))
		g.columns = append(g.columns, with(number("p50 delay"), number("p99 delay"), number("delay in all"))...)
	}
	if m.Input.AgentsLogged {
		g.columns = append(g.columns, number("browser"))
		if shown.evidence {
			g.columns = append(g.columns, with(number("(disguised)"))...)
		}
		g.columns = append(g.columns, with(number("crawler"), number("tool"), number("monitor"), number("unknown"))...)
	}
	g.columns = append(g.columns, text("worst minute"))
	g.columns = append(g.columns, with(number("in it"), number("saved"))...)
	if m.Input.UpstreamLogged {
		g.columns = append(g.columns, number("upstream saved"))
	}
	for i := range m.Policies {
		g.rows = append(g.rows, policyRow(m, &m.Policies[i], shown))
	}
	return g
}

// shown is what the table of policies shows where some policy gives reason to, and how it writes times.
type shown struct {
	keys, delays bool
	evidence     bool // which browsers are disguised
	at           layouts
}

func shownOf(m *Model) shown {
	s := shown{at: layoutsFor(m.Input.Span)}
	for i := range m.Policies {
		p := &m.Policies[i]
		s.keys = s.keys || p.By != "client"
		s.delays = s.delays || p.Delay != nil
		s.evidence = s.evidence || p.ByEvidence != nil && m.Input.AgentsLogged
	}
	return s
}

func policyRow(m *Model, p *Policy, shown shown) []string {
	row := []string{p.Policy}
	if shown.keys {
		row = append(row, p.By)
	}
	refused, hit := p.counts()
	row = append(row, refused, percent(p.RefusedPercent), hit, percent(p.ClientsHitPercent))
	if shown.delays {
		row = append(row, delayCells(p)...)
	}
	if m.Input.AgentsLogged {
		for class, f := range p.ByClass {
			row = append(row, thousands(f.ClientsHit))
			if shown.evidence && traffic.Class(class) == traffic.Browser {
				row = append(row, thousands(p.ByEvidence.Disguised.ClientsHit))
			}
		}
	}
	if w := p.WorstMinute; w != nil {
		row = append(row, w.Start.format(shown.at.minute), thousands(w.Refused))
	} else {
		row = append(row, "–", "–")
	}
	row = append(row, size(p.BytesSaved))
	if m.Input.UpstreamLogged {
		row = append(row, span(seconds(p.UpstreamSecondsSaved)))
	}
	return row
}

// clientGrid has a row per client that a policy refused.
func clientGrid(m *Model, p *Policy) *grid {
	at := layoutsFor(m.Input.Span)
	g := &grid{columns: []column{{head: "client", least: leastName}, number("requests")}}
	g.columns = append(g.columns, with(number("refused"), number("%"))...)
	g.columns = append(g.columns, text("first refused"))
	g.columns = append(g.columns, with(text("last refused"))...)
	if m.Input.AgentsLogged {
		g.columns = append(g.columns, text("class"))
		g.columns = append(g.columns, with(column{head: "agent", least: leastAgent})...)
	}
	if m.Input.Evidence != nil {
		g.columns = append(g.columns, text("evidence"))
	}
	for _, c := range p.TopClients {
		row := []string{
			c.Client, thousands(c.Requests), thousands(c.Refused), percent(c.RefusedPercent),
			c.First.format(at.second), c.Last.format(at.second),
		}
		if m.Input.AgentsLogged {
			row = append(row, c.Class, c.Agent)
		}
		if m.Input.Evidence != nil {
			row = append(row, c.Evidence.short())
		}
		g.add(row...)
	}
	return g
}

// actionGrid has a row per action of which a policy refused requests.
func actionGrid(p *Policy) *grid {
	g := &grid{columns: []column{{head: "action", least: leastName}, number("requests")}}
	g.columns = append(g.columns, with(number("refused"), number("%"), number("% of all refused"))...)
	for _, a := range p.TopActions {
		g.add(a.Action, thousands(a.Requests), thousands(a.Refused), percent(a.RefusedPercent), percent(a.SharePercent))
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
	return []string{thousands(p.Delayed), wait(p.Delay.P50), wait(p.Delay.P99), wait(p.Delay.Total)}
}

// counts are the requests refused and the clients hit, with what they may also be if the policy is an approximation.
func (p *Policy) counts() (refused, hit string) {
	refused, hit = thousands(p.Refused), thousands(p.ClientsHit)
	if p.Range != nil {
		refused += between(p.Range.Refused)
		hit += between(p.Range.ClientsHit)
	}
	return refused, hit
}

// between writes a range. Also one without any length tells that the figure is an approximation's.
func between(r [2]int64) string {
	return " (" + thousands(r[0]) + "–" + thousands(r[1]) + ")"
}
