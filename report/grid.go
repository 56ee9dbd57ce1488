package report

import "fmt"

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
	at := layoutsFor(m.Input.Span)
	g := &grid{}
	keyed := !countsByClient(m)
	g.columns = append(g.columns, column{head: "limit", least: leastName})
	if keyed {
		g.columns = append(g.columns, with(text("counted by"))...)
	}
	g.columns = append(g.columns, number("refused"))
	g.columns = append(g.columns, with(number("%"), number("clients hit"), number("%"))...)
	if m.Input.AgentsLogged {
		g.columns = append(g.columns, number("browser"))
		g.columns = append(g.columns, with(number("crawler"), number("tool"), number("monitor"), number("unknown"))...)
	}
	g.columns = append(g.columns, text("worst minute"))
	g.columns = append(g.columns, with(number("in it"), number("saved"))...)
	if m.Input.UpstreamLogged {
		g.columns = append(g.columns, number("upstream saved"))
	}
	for i := range m.Policies {
		g.rows = append(g.rows, policyRow(m, &m.Policies[i], keyed, at))
	}
	return g
}

func countsByClient(m *Model) bool {
	for i := range m.Policies {
		if m.Policies[i].By != "client" {
			return false
		}
	}
	return true
}

func policyRow(m *Model, p *Policy, keyed bool, at layouts) []string {
	row := []string{p.Policy}
	if keyed {
		row = append(row, p.By)
	}
	row = append(row, thousands(p.Refused), percent(p.RefusedPercent), thousands(p.ClientsHit), percent(p.ClientsHitPercent))
	if m.Input.AgentsLogged {
		for _, f := range p.ByClass {
			row = append(row, thousands(f.ClientsHit))
		}
	}
	if w := p.WorstMinute; w != nil {
		row = append(row, w.Start.format(at.minute), thousands(w.Refused))
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
	for _, c := range p.TopClients {
		row := []string{
			c.Client, thousands(c.Requests), thousands(c.Refused), percent(c.RefusedPercent),
			c.First.format(at.second), c.Last.format(at.second),
		}
		if m.Input.AgentsLogged {
			row = append(row, c.Class, c.Agent)
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

// headline says in a sentence what a policy did.
func headline(p *Policy) string {
	if p.Refused == 0 {
		return fmt.Sprintf("by %s, refuses none of %s", p.By, count(p.Requests, "request"))
	}
	return fmt.Sprintf("by %s, refuses %s of %s (%s%%) and hits %s of %s (%s%%)", p.By,
		thousands(p.Refused), count(p.Requests, "request"), percent(p.RefusedPercent),
		thousands(p.ClientsHit), count(p.Clients, "client"), percent(p.ClientsHitPercent))
}
