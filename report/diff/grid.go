package diff

import (
	"shadow/report/format"
	"shadow/report/table"
	"shadow/traffic/useragent"
)

// requestsGrid has a row for each of the four things that can become of requests.
func (d *Report) requestsGrid() *table.Table {
	return d.changeGrid("requests refused by", d.Requests, func(c *ClassChange) Change { return c.Requests })
}

// clientsGrid is the same for clients.
func (d *Report) clientsGrid() *table.Table {
	return d.changeGrid("clients hit by", d.Clients, func(c *ClassChange) Change { return c.Clients })
}

func (d *Report) changeGrid(head string, all Change, of func(*ClassChange) Change) *table.Table {
	g := &table.Table{Columns: []table.Column{table.Text(head), table.Number("all")}}
	if d.Input.AgentsLogged {
		for class := range useragent.ClassCount {
			g.Columns = append(g.Columns, table.Number(class.String()))
			if d.ByEvidence != nil && class == useragent.Browser {
				g.Columns = append(g.Columns, table.With(table.Number("(disguised)"))...)
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
		row := []string{kind.name, format.Thousands(kind.count(all))}
		if d.Input.AgentsLogged {
			for i := range d.ByClass {
				row = append(row, format.Thousands(kind.count(of(&d.ByClass[i]))))
				if d.ByEvidence != nil && useragent.Class(i) == useragent.Browser {
					row = append(row, format.Thousands(kind.count(of(&d.ByEvidence.Disguised))))
				}
			}
		}
		g.Add(row...)
	}
	return g
}

// refusedColumns stay together: "by B" means nothing without the one before.
var refusedColumns = append([]table.Column{table.Number("refused by A")}, table.With(table.Number("by B"), table.Number("difference"), table.Number("by both"))...)

// clientGrid has a row per client.
func (d *Report) clientGrid(clients []Client) *table.Table {
	g := &table.Table{Columns: []table.Column{{Head: "client", Least: table.LeastName}, table.Number("requests")}}
	g.Columns = append(g.Columns, refusedColumns...)
	g.Columns = append(g.Columns, table.Text("change"))
	if d.Input.AgentsLogged {
		g.Columns = append(g.Columns, table.Text("class"))
		g.Columns = append(g.Columns, table.With(table.Column{Head: "agent", Least: table.LeastAgent})...)
	}
	if d.Input.Evidence != nil {
		g.Columns = append(g.Columns, table.Text("evidence"))
	}
	for _, c := range clients {
		row := append([]string{c.Client, format.Thousands(c.Requests)}, c.row()...)
		if d.Input.AgentsLogged {
			row = append(row, c.Class, c.Agent)
		}
		if d.Input.Evidence != nil {
			row = append(row, c.Evidence.Short())
		}
		g.Add(row...)
	}
	return g
}

func actionGrid(actions []Action) *table.Table {
	g := &table.Table{Columns: []table.Column{{Head: "action", Least: table.LeastName}, table.Number("requests")}}
	g.Columns = append(g.Columns, refusedColumns...)
	g.Columns = append(g.Columns, table.Text("change"))
	for _, a := range actions {
		g.Add(append([]string{a.Action, format.Thousands(a.Requests)}, a.row()...)...)
	}
	return g
}

func (c *Counts) row() []string {
	return []string{format.Thousands(c.RefusedA), format.Thousands(c.RefusedB), format.Signed(c.Difference), format.Thousands(c.Both), c.Change}
}
