package diff

import (
	"fmt"
	"io"
	"slices"

	"shadow/internal/mapped"
	"shadow/internal/request"
	"shadow/internal/traffic/who"
	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/html"
	"shadow/report/table"
)

// sections are the tables of the comparison, apart from empty ones.
func (d *Report) sections() []document.Section {
	all := []document.Section{
		{Table: d.changeTable("requests refused by", d.Requests, func(c *ClassChange) Change { return c.Requests })},
		{Table: d.changeTable("clients hit by", d.Clients, func(c *ClassChange) Change { return c.Clients })},
	}
	for _, l := range []struct {
		title   string
		clients []Client
		of      int64
	}{
		{"Clients whose refused requests differ most", d.TopMovers, d.ClientsMoved},
		{"Clients newly hit: by B, not by A", d.TopNewlyHit, d.Clients.OnlyB},
		{"Clients released: hit by A, not by B", d.TopReleased, d.Clients.OnlyA},
	} {
		if len(l.clients) > 0 {
			title := l.title + format.MoreThan(len(l.clients), l.of)
			all = append(all, document.Section{Title: title, Table: d.clientTable(l.clients)})
		}
	}
	if n := d.Actions.OnlyA + d.Actions.OnlyB + d.Actions.Both; n > 0 {
		title := fmt.Sprintf("Actions: %s newly hit, %s released, %s hit by both",
			format.Thousands(d.Actions.OnlyB), format.Thousands(d.Actions.OnlyA), format.Thousands(d.Actions.Both))
		t := countTable("action", func(a *Action) string { return a.Action }, func(a *Action) int64 { return a.Requests },
			func(a *Action) *Counts { return &a.Counts })
		all = append(all, document.Section{
			Title: title + format.MoreThan(len(d.TopActionsHit), n),
			Table: t.Fill(d.TopActionsHit),
		})
	}
	return all
}

// changeTable has a row for each of the four things that can become of requests or clients.
func (d *Report) changeTable(head string, all Change, of func(*ClassChange) Change) *table.Table {
	t := table.New(table.Words(head), table.Number("all"))
	changes := []Change{all}
	for class := range request.ClassCount {
		if !d.Input.AgentsLogged || d.ShowsIdentities() {
			break
		}
		t.Head(table.Number(class.String()))
		changes = append(changes, of(&d.ByClass[class]))
	}
	if d.ShowsIdentities() {
		for is := range d.ByIdentity {
			if d.Input.Identities[is].Clients > 0 {
				t.Head(table.Number(who.Identity(is).String()))
				changes = append(changes, of(&d.ByIdentity[is]))
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
		row := table.Texts(kind.name)
		row = mapped.Add(row, changes, func(c Change) table.Cell { return table.Count(kind.count(c)) })
		t.Add(row...)
	}
	return t
}

// countTable begins a table of clients or actions.
func countTable[T any](
	what string, name func(*T) string, requests func(*T) int64, counts func(*T) *Counts,
) *table.Of[T] {
	t := &table.Of[T]{}
	number := func(n func(*Counts) int64) func(*T) table.Cell {
		return func(of *T) table.Cell { return table.Count(n(counts(of))) }
	}
	t.Head(table.Name(what), func(of *T) table.Cell { return table.Text(name(of)) })
	t.Head(table.Number("requests"), func(of *T) table.Cell { return table.Count(requests(of)) })
	t.Head(table.Number("refused by A"), number(func(c *Counts) int64 { return c.RefusedA }))
	t.Join(table.Number("by B"), number(func(c *Counts) int64 { return c.RefusedB }))
	t.Join(table.Number("difference"), func(of *T) table.Cell {
		n := counts(of).Difference
		return table.Shown(format.Signed(n), format.Plain(n))
	})
	t.Join(table.Number("by both"), number(func(c *Counts) int64 { return c.Both }))
	t.Head(table.Words("change"), func(of *T) table.Cell { return table.Text(counts(of).Change) })
	return t
}

func (d *Report) clientTable(clients []Client) *table.Table {
	t := countTable("client", func(c *Client) string { return c.Client }, func(c *Client) int64 { return c.Requests },
		func(c *Client) *Counts { return &c.Counts })
	report.WhoColumns(&d.Head, t, func(c *Client) (class, agent string, is *report.Identity) {
		return c.Class, c.Agent, c.Identity
	})
	return t.Fill(clients)
}

// Schema implements document.Report.
func (d *Report) Schema() format.Schema { return format.DiffSchema }

// Text writes the comparison for people.
func (d *Report) Text(w *document.Writer) {
	d.Begin(w, "Two rate limits, compared")
	w.Space()
	policies := [2]*report.Policy{&d.model.Policies[0], &d.model.Policies[1]}
	for i, p := range policies {
		w.Facts(document.Strong("AB"[i:i+1], p.Policy+", "+report.Headline(p)))
	}
	if d.Input.Requests == 0 {
		return
	}
	for _, s := range d.sections() {
		s.Write(w, 2)
	}
	w.Part(2, "What the limits mean")
	for i, p := range policies {
		var means document.Facts
		means.Add("AB"[i:i+1]+" means", p.Meanings()...)
		w.Facts(means...)
	}
}

// The comparison as one rectangular table: a row of level "total", one for each class and each identity, then the
// clients of all the lists, each once, and the actions. A cell that makes no sense at its level is empty.
var csvHead = []string{
	"a", "b", "level", "name", "class", "agent", "change", "requests", "refused_a", "refused_b", "difference",
	"only_a", "only_b", "both", "neither", "clients_only_a", "clients_only_b", "clients_both", "clients_neither",
	"identity",
}

// CSV writes the comparison for programs.
func (d *Report) CSV(w io.Writer) error {
	rows := []table.Record{changeCells("total", "", d.Requests, d.Clients)}
	for class, c := range d.ByClass {
		name := request.Class(class).String()
		cells := changeCells("class", name, c.Requests, c.Clients)
		cells["class"] = table.Text(name)
		rows = append(rows, cells)
	}
	if d.ByIdentity != nil {
		for is, c := range d.ByIdentity {
			rows = append(rows, changeCells("identity", who.Identity(is).String(), c.Requests, c.Clients))
		}
	}
	seen := map[string]bool{}
	for _, c := range slices.Concat(d.TopMovers, d.TopNewlyHit, d.TopReleased, d.TopHitByBoth) {
		if seen[c.Client] {
			continue
		}
		seen[c.Client] = true
		cells := c.cells("client", c.Client, c.Requests)
		cells["class"], cells["agent"] = table.Text(c.Class), table.Text(c.Agent)
		if c.Identity != nil {
			cells["identity"] = table.Text(c.Identity.Identity)
		}
		rows = append(rows, cells)
	}
	for _, a := range d.TopActionsHit {
		rows = append(rows, a.cells("action", a.Action, a.Requests))
	}
	for _, cells := range rows {
		cells["a"], cells["b"] = table.Text(d.A.Policy), table.Text(d.B.Policy)
	}
	return table.Records(w, csvHead, rows)
}

func changeCells(level, name string, requests, clients Change) table.Record {
	return table.Record{
		"level": table.Text(level), "name": table.Text(name),
		"requests":  table.Count(requests.OnlyA + requests.OnlyB + requests.Both + requests.Neither),
		"refused_a": table.Count(requests.OnlyA + requests.Both), "refused_b": table.Count(requests.OnlyB + requests.Both),
		"difference": table.Count(requests.OnlyB - requests.OnlyA),
		"only_a":     table.Count(requests.OnlyA), "only_b": table.Count(requests.OnlyB),
		"both": table.Count(requests.Both), "neither": table.Count(requests.Neither),
		"clients_only_a": table.Count(clients.OnlyA), "clients_only_b": table.Count(clients.OnlyB),
		"clients_both": table.Count(clients.Both), "clients_neither": table.Count(clients.Neither),
	}
}

func (c *Counts) cells(level, name string, requests int64) table.Record {
	return table.Record{
		"level": table.Text(level), "name": table.Text(name), "change": table.Text(c.Change),
		"requests":  table.Count(requests),
		"refused_a": table.Count(c.RefusedA), "refused_b": table.Count(c.RefusedB), "difference": table.Count(c.Difference),
		"only_a": table.Count(c.OnlyA), "only_b": table.Count(c.OnlyB), "both": table.Count(c.Both),
		"neither": table.Count(requests - c.OnlyA - c.OnlyB - c.Both),
	}
}

// Write writes the comparison in one of format.PageOutputs, all of it or nothing.
func (d *Report) Write(w io.Writer, output string) error {
	return html.WriteReport(w, d, &d.Head, "", output)
}
