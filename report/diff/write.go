package diff

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"

	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/traffic/useragent"
)

// A section is a table with a title; terminal and Markdown show the same ones.
type section struct {
	title string
	grid  *table.Table
}

// sections are the tables of the comparison, apart from empty ones.
func (d *Report) sections() []section {
	all := []section{{"", d.requestsGrid()}, {"", d.clientsGrid()}}
	lists := []struct {
		title   string
		clients []Client
		of      int64
	}{
		{"Clients whose refused requests differ most", d.TopMovers, d.ClientsMoved},
		{"Clients newly hit: by B, not by A", d.TopNewlyHit, d.Clients.OnlyB},
		{"Clients released: hit by A, not by B", d.TopReleased, d.Clients.OnlyA},
	}
	for _, l := range lists {
		if len(l.clients) > 0 {
			all = append(all, section{l.title + format.MoreThan(len(l.clients), l.of), d.clientGrid(l.clients)})
		}
	}
	if n := d.Actions.OnlyA + d.Actions.OnlyB + d.Actions.Both; n > 0 {
		title := fmt.Sprintf("Actions: %s newly hit, %s released, %s hit by both",
			format.Thousands(d.Actions.OnlyB), format.Thousands(d.Actions.OnlyA), format.Thousands(d.Actions.Both))
		all = append(all, section{title + format.MoreThan(len(d.TopActionsHit), n), actionGrid(d.TopActionsHit)})
	}
	return all
}

// policyFacts say what A and B are.
func (d *Report) policyFacts() []document.Fact {
	facts := make([]document.Fact, 2)
	for i, label := range []string{"A", "B"} {
		p := &d.model.Policies[i]
		facts[i] = document.Fact{Label: label, Text: p.Policy + ", " + report.Headline(p)}
	}
	return facts
}

func (d *Report) Terminal() []byte {
	t := &document.Terminal{View: d.model.View}
	for _, f := range report.Facts(d.model) {
		t.Fact(f)
	}
	for _, w := range d.Warnings {
		t.Entry("warning", w, document.Yellow)
	}
	t.WriteByte('\n')
	for _, f := range d.policyFacts() {
		t.Entry(f.Label, f.Text, document.Bold)
	}
	if d.Input.Requests == 0 {
		return t.Bytes()
	}
	for _, s := range d.sections() {
		if s.title != "" {
			fmt.Fprintf(t, "\n%s\n", t.Paint(document.Bold, s.title))
		}
		t.Grid(s.grid)
	}
	t.WriteByte('\n')
	for i, label := range []string{"A means", "B means"} {
		for j, text := range d.model.Policies[i].Meanings() {
			t.Entry(document.OnlyFirst(j, label), text, document.Dim)
		}
	}
	return t.Bytes()
}

func (d *Report) Markdown() []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, "# Two rate limits, compared\n\n")
	for _, f := range append(report.Facts(d.model), d.policyFacts()...) {
		fmt.Fprintf(&b, "- **%s**: %s\n", f.Label, table.MarkdownText(f.Text))
	}
	for _, w := range d.Warnings {
		fmt.Fprintf(&b, "\n> **Warning**: %s\n", table.MarkdownText(w))
	}
	if d.Input.Requests == 0 {
		return b.Bytes()
	}
	for _, s := range d.sections() {
		if s.title != "" {
			fmt.Fprintf(&b, "\n## %s\n", table.MarkdownText(s.title))
		}
		s.grid.Markdown(&b)
	}
	b.WriteByte('\n')
	for i, label := range []string{"A", "B"} {
		for _, text := range d.model.Policies[i].Meanings() {
			fmt.Fprintf(&b, "- **%s means**: %s\n", label, table.MarkdownText(text))
		}
	}
	return b.Bytes()
}

// The comparison as one rectangular table: a row of level "total", one for each class, then the clients of all the lists,
// each once, and the actions. A cell that makes no sense at its level is empty.
var csvHead = []string{
	"a", "b", "level", "name", "class", "agent", "change", "requests", "refused_a", "refused_b", "difference",
	"only_a", "only_b", "both", "neither", "clients_only_a", "clients_only_b", "clients_both", "clients_neither",
	"evidence",
}

func (d *Report) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := []map[string]string{changeCells("total", "", d.Requests, d.Clients)}
	for class, c := range d.ByClass {
		rows = append(rows, changeCells("class", useragent.Class(class).String(), c.Requests, c.Clients))
	}
	if e := d.ByEvidence; e != nil {
		rows = append(rows, e.People.cells("people"), e.Disguised.cells("disguised"))
	}
	for _, c := range d.listed() {
		cells := c.cells("client", c.Client, c.Requests)
		cells["class"], cells["agent"] = c.Class, table.CsvText(c.Agent)
		if c.Evidence != nil {
			cells["evidence"] = c.Evidence.Verdict
		}
		rows = append(rows, cells)
	}
	for _, a := range d.TopActionsHit {
		rows = append(rows, a.cells("action", a.Action, a.Requests))
	}
	_ = w.Write(csvHead) // into memory
	for _, cells := range rows {
		cells["a"], cells["b"] = table.CsvText(d.A.Policy), table.CsvText(d.B.Policy)
		row := make([]string, len(csvHead))
		for i, name := range csvHead {
			row[i] = cells[name]
		}
		_ = w.Write(row)
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// cells are those of browsers that are or are not disguised.
func (c *ClassChange) cells(name string) map[string]string {
	cells := changeCells("evidence", name, c.Requests, c.Clients)
	cells["class"] = useragent.Browser.String()
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

func changeCells(level, name string, requests, clients Change) map[string]string {
	return map[string]string{
		"level": level, "name": name, "class": name,
		"requests":  format.Plain(requests.OnlyA + requests.OnlyB + requests.Both + requests.Neither),
		"refused_a": format.Plain(requests.OnlyA + requests.Both), "refused_b": format.Plain(requests.OnlyB + requests.Both),
		"difference": format.Plain(requests.OnlyB - requests.OnlyA),
		"only_a":     format.Plain(requests.OnlyA), "only_b": format.Plain(requests.OnlyB),
		"both": format.Plain(requests.Both), "neither": format.Plain(requests.Neither),
		"clients_only_a": format.Plain(clients.OnlyA), "clients_only_b": format.Plain(clients.OnlyB),
		"clients_both": format.Plain(clients.Both), "clients_neither": format.Plain(clients.Neither),
	}
}

func (c *Counts) cells(level, name string, requests int64) map[string]string {
	return map[string]string{
		"level": level, "name": table.CsvText(name), "change": c.Change, "requests": format.Plain(requests),
		"refused_a": format.Plain(c.RefusedA), "refused_b": format.Plain(c.RefusedB), "difference": format.Plain(c.Difference),
		"only_a": format.Plain(c.OnlyA), "only_b": format.Plain(c.OnlyB), "both": format.Plain(c.Both), "neither": format.Plain(requests - c.OnlyA - c.OnlyB - c.Both),
	}
}

// Write writes the comparison in one of Formats, all of it or nothing.
func (d *Report) Write(w io.Writer, output string) error {
	return document.Write(w, d, output, format.Outputs())
}
