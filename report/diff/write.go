package diff

import (
	"fmt"
	"io"

	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/request"
)

// sections are the tables of the comparison, apart from empty ones.
func (d *Report) sections() []document.Section {
	all := []document.Section{{Table: d.requestsTable()}, {Table: d.clientsTable()}}
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
		all = append(all, document.Section{Title: title + format.MoreThan(len(d.TopActionsHit), n), Table: actionTable(d.TopActionsHit)})
	}
	return all
}

// Text writes the comparison for people.
func (d *Report) Text(w document.Writer) {
	w.Title("Two rate limits, compared")
	w.Facts(report.Facts(d.model)...)
	w.Warnings(d.Warnings)
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
	w.Space()
	for i, p := range policies {
		w.Facts(document.Same("AB"[i:i+1]+" means", p.Meanings()...)...)
	}
}

// The comparison as one rectangular table: a row of level "total", one for each class, then the clients of all the
// lists, each once, and the actions. A cell that makes no sense at its level is empty.
var csvHead = []string{
	"a", "b", "level", "name", "class", "agent", "change", "requests", "refused_a", "refused_b", "difference",
	"only_a", "only_b", "both", "neither", "clients_only_a", "clients_only_b", "clients_both", "clients_neither",
	"evidence",
}

// CSV writes the comparison for programs.
func (d *Report) CSV() ([]byte, error) {
	rows := []table.Record{changeCells("total", "", d.Requests, d.Clients)}
	for class, c := range d.ByClass {
		rows = append(rows, changeCells("class", request.Class(class).String(), c.Requests, c.Clients))
	}
	if e := d.ByEvidence; e != nil {
		rows = append(rows, e.People.cells("people"), e.Disguised.cells("disguised"))
	}
	for _, c := range d.listed() {
		cells := c.cells("client", c.Client, c.Requests)
		cells["class"], cells["agent"] = table.Text(c.Class), table.Text(c.Agent)
		if c.Evidence != nil {
			cells["evidence"] = table.Text(c.Evidence.Verdict)
		}
		rows = append(rows, cells)
	}
	for _, a := range d.TopActionsHit {
		rows = append(rows, a.cells("action", a.Action, a.Requests))
	}
	for _, cells := range rows {
		cells["a"], cells["b"] = table.Text(d.A.Policy), table.Text(d.B.Policy)
	}
	return table.Records(csvHead, rows)
}

// cells are those of browsers that are or are not disguised.
func (c *ClassChange) cells(name string) table.Record {
	cells := changeCells("evidence", name, c.Requests, c.Clients)
	cells["class"] = table.Text(request.Browser.String())
	return cells
}

// listed are the clients of all lists, each once.
func (d *Report) listed() (all []Client) {
	seen := map[string]bool{}
	for _, list := range [][]Client{d.TopMovers, d.TopNewlyHit, d.TopReleased, d.TopHitByBoth} {
		for _, c := range list {
			if !seen[c.Client] {
				seen[c.Client] = true
				all = append(all, c)
			}
		}
	}
	return all
}

func changeCells(level, name string, requests, clients Change) table.Record {
	return table.Record{
		"level": table.Text(level), "name": table.Text(name), "class": table.Text(name),
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
		"level": table.Text(level), "name": table.Text(name), "change": table.Text(c.Change), "requests": table.Count(requests),
		"refused_a": table.Count(c.RefusedA), "refused_b": table.Count(c.RefusedB), "difference": table.Count(c.Difference),
		"only_a": table.Count(c.OnlyA), "only_b": table.Count(c.OnlyB), "both": table.Count(c.Both),
		"neither": table.Count(requests - c.OnlyA - c.OnlyB - c.Both),
	}
}

// Write writes the comparison in one of Formats, all of it or nothing.
func (d *Report) Write(w io.Writer, output string) error {
	return document.Write(w, d, d.model.View, output, format.Outputs())
}
