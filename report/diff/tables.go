package diff

import (
	"shadow/report/format"
	"shadow/report/table"
	"shadow/request"
)

// requestsTable has a row for each of the four things that can become of requests.
func (d *Report) requestsTable() *table.Table {
	return d.changeTable("requests refused by", d.Requests, func(c *ClassChange) Change { return c.Requests })
}

// clientsTable is the same for clients.
func (d *Report) clientsTable() *table.Table {
	return d.changeTable("clients hit by", d.Clients, func(c *ClassChange) Change { return c.Clients })
}

func (d *Report) changeTable(head string, all Change, of func(*ClassChange) Change) *table.Table {
	t := table.New(table.Words(head), table.Number("all"))
	changes := []Change{all}
	for class := range request.ClassCount {
		if !d.Input.AgentsLogged {
			break
		}
		t.Head(table.Number(class.String()))
		changes = append(changes, of(&d.ByClass[class]))
		if d.ByEvidence != nil && class == request.Browser {
			t.Join(table.Number("(disguised)"))
			changes = append(changes, of(&d.ByEvidence.Disguised))
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
		row := table.Texts(kind.name)
		for _, c := range changes {
			row = append(row, table.Count(kind.count(c)))
		}
		t.Add(row...)
	}
	return t
}

// newTable begins a table of clients or actions.
func newTable(what string) *table.Table {
	t := table.New(table.Name(what), table.Number("requests"), table.Number("refused by A"))
	t.Join(table.Numbers("by B", "difference", "by both")...)
	t.Head(table.Words("change"))
	return t
}

func (d *Report) clientTable(clients []Client) *table.Table {
	t := newTable("client")
	d.Input.WhoColumns(t)
	for _, c := range clients {
		t.Add(append(c.row(c.Client, c.Requests), d.Input.Who(c.Class, c.Agent, c.Evidence)...)...)
	}
	return t
}

func actionTable(actions []Action) *table.Table {
	t := newTable("action")
	for _, a := range actions {
		t.Add(a.row(a.Action, a.Requests)...)
	}
	return t
}

func (c *Counts) row(name string, requests int64) []table.Cell {
	return []table.Cell{
		table.Text(name), table.Count(requests), table.Count(c.RefusedA), table.Count(c.RefusedB),
		table.Shown(format.Signed(c.Difference), format.Plain(c.Difference)), table.Count(c.Both), table.Text(c.Change),
	}
}
