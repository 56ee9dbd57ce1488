package report

import "shadow/traffic"

// requestsGrid has a row for each of the four things that can become of requests.
func (d *Diff) requestsGrid() *grid {
	return d.changeGrid("requests refused by", d.Requests, func(c *ClassChange) Change { return c.Requests })
}

// clientsGrid is the same for clients.
func (d *Diff) clientsGrid() *grid {
	return d.changeGrid("clients hit by", d.Clients, func(c *ClassChange) Change { return c.Clients })
}

func (d *Diff) changeGrid(head string, all Change, of func(*ClassChange) Change) *grid {
	g := &grid{columns: []column{text(head), number("all")}}
	if d.Input.AgentsLogged {
		for class := range traffic.ClassCount {
			g.columns = append(g.columns, number(class.String()))
			if d.ByEvidence != nil && class == traffic.Browser {
				g.columns = append(g.columns, with(number("(disguised)"))...)
			}
		}
	}
	for _, kind := range []struct {
		name  string
		count func(Change) int64
	}{
		{"A only: released", func(c Change) int64 { return c.OnlyA }},
		{"B only: new", func(c Change) int64 { return c.OnlyB }},
		{"both", func(c Change) int64 { return c.Both }},
		{"neither", func(c Change) int64 { return c.Neither }},
	} {
		row := []string{kind.name, thousands(kind.count(all))}
		if d.Input.AgentsLogged {
			for i := range d.ByClass {
				row = append(row, thousands(kind.count(of(&d.ByClass[i]))))
				if d.ByEvidence != nil && traffic.Class(i) == traffic.Browser {
					row = append(row, thousands(kind.count(of(&d.ByEvidence.Disguised))))
				}
			}
		}
		g.add(row...)
	}
	return g
}

// refusedColumns stay together: "by B" means nothing without the one before.
var refusedColumns = append([]column{number("refused by A")}, with(number("by B"), number("difference"), number("by both"))...)

// clientGrid has a row per client.
func (d *Diff) clientGrid(clients []DiffClient) *grid {
	g := &grid{columns: []column{{head: "client", least: leastName}, number("requests")}}
	g.columns = append(g.columns, refusedColumns...)
	g.columns = append(g.columns, text("change"))
	if d.Input.AgentsLogged {
		g.columns = append(g.columns, text("class"))
		g.columns = append(g.columns, with(column{head: "agent", least: leastAgent})...)
	}
	if d.Input.Evidence != nil {
		g.columns = append(g.columns, text("evidence"))
	}
	for _, c := range clients {
		row := append([]string{c.Client, thousands(c.Requests)}, c.row()...)
		if d.Input.AgentsLogged {
			row = append(row, c.Class, c.Agent)
		}
		if d.Input.Evidence != nil {
			row = append(row, c.Evidence.short())
		}
		g.add(row...)
	}
	return g
}

func diffActionGrid(actions []DiffAction) *grid {
	g := &grid{columns: []column{{head: "action", least: leastName}, number("requests")}}
	g.columns = append(g.columns, refusedColumns...)
	g.columns = append(g.columns, text("change"))
	for _, a := range actions {
		g.add(append([]string{a.Action, thousands(a.Requests)}, a.row()...)...)
	}
	return g
}

func (c *DiffCounts) row() []string {
	return []string{thousands(c.RefusedA), thousands(c.RefusedB), signed(c.Difference), thousands(c.Both), c.Change}
}

// signed writes a difference with its sign, 0 without one.
func signed(n int64) string {
	if n > 0 {
		return "+" + thousands(n)
	}
	return thousands(n)
}
