package report

import (
	"bytes"
	"encoding/csv"
	"fmt"

	"shadow/traffic"
)

// A diffSection is a table with a title; terminal and Markdown show the same ones.
type diffSection struct {
	title string
	grid  *grid
}

// sections are the tables of the comparison, apart from empty ones.
func (d *Diff) sections() []diffSection {
	all := []diffSection{{"", d.requestsGrid()}, {"", d.clientsGrid()}}
	lists := []struct {
		title   string
		clients []DiffClient
		of      int64
	}{
		{"Clients whose refused requests differ most", d.TopMovers, d.ClientsMoved},
		{"Clients newly hit: by B, not by A", d.TopNewlyHit, d.Clients.OnlyB},
		{"Clients released: hit by A, not by B", d.TopReleased, d.Clients.OnlyA},
	}
	for _, l := range lists {
		if len(l.clients) > 0 {
			all = append(all, diffSection{l.title + moreThan(len(l.clients), l.of), d.clientGrid(l.clients)})
		}
	}
	if n := d.Actions.OnlyA + d.Actions.OnlyB + d.Actions.Both; n > 0 {
		title := fmt.Sprintf("Actions: %s newly hit, %s released, %s hit by both",
			thousands(d.Actions.OnlyB), thousands(d.Actions.OnlyA), thousands(d.Actions.Both))
		all = append(all, diffSection{title + moreThan(len(d.TopActionsHit), n), diffActionGrid(d.TopActionsHit)})
	}
	return all
}

// moreThan says how long a list would be that shows only its first rows.
func moreThan(shown int, all int64) string {
	if int64(shown) == all {
		return ""
	}
	return fmt.Sprintf(" (the first %s of %s)", thousands(int64(shown)), thousands(all))
}

// policyFacts say what A and B are.
func (d *Diff) policyFacts() []fact {
	facts := make([]fact, 2)
	for i, label := range []string{"A", "B"} {
		p := &d.model.Policies[i]
		facts[i] = fact{label: label, text: p.Policy + ", " + headline(p)}
	}
	return facts
}

func (d *Diff) table() []byte {
	t := &terminal{view: d.model.view}
	for _, f := range facts(d.model) {
		t.fact(f)
	}
	for _, w := range d.Warnings {
		t.entry("warning", w, yellow)
	}
	t.WriteByte('\n')
	for _, f := range d.policyFacts() {
		t.entry(f.label, f.text, bold)
	}
	if d.Input.Requests == 0 {
		return t.Bytes()
	}
	for _, s := range d.sections() {
		if s.title != "" {
			fmt.Fprintf(t, "\n%s\n", t.paint(bold, s.title))
		}
		t.grid(s.grid)
	}
	t.WriteByte('\n')
	for i, label := range []string{"A means", "B means"} {
		for j, text := range d.model.Policies[i].meanings() {
			t.entry(onlyFirst(j, label), text, dim)
		}
	}
	return t.Bytes()
}

func (d *Diff) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, "# Two rate limits, compared\n\n")
	for _, f := range append(facts(d.model), d.policyFacts()...) {
		fmt.Fprintf(&b, "- **%s**: %s\n", f.label, markdownText(f.text))
	}
	for _, w := range d.Warnings {
		fmt.Fprintf(&b, "\n> **Warning**: %s\n", markdownText(w))
	}
	if d.Input.Requests == 0 {
		return b.Bytes()
	}
	for _, s := range d.sections() {
		if s.title != "" {
			fmt.Fprintf(&b, "\n## %s\n", markdownText(s.title))
		}
		s.grid.markdown(&b)
	}
	b.WriteByte('\n')
	for i, label := range []string{"A", "B"} {
		for _, text := range d.model.Policies[i].meanings() {
			fmt.Fprintf(&b, "- **%s means**: %s\n", label, markdownText(text))
		}
	}
	return b.Bytes()
}

// The comparison as one rectangular table: a row of level "total", one for each class, then the clients of all the lists,
// each once, and the actions. A cell that makes no sense at its level is empty.
var diffHead = []string{
	"a", "b", "level", "name", "class", "agent", "change", "requests", "refused_a", "refused_b", "difference",
	"only_a", "only_b", "both", "neither", "clients_only_a", "clients_only_b", "clients_both", "clients_neither",
	"evidence",
}

func (d *Diff) csv() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := []map[string]string{changeCells("total", "", d.Requests, d.Clients)}
	for class, c := range d.ByClass {
		rows = append(rows, changeCells("class", traffic.Class(class).String(), c.Requests, c.Clients))
	}
	if e := d.ByEvidence; e != nil {
		rows = append(rows, e.People.cells("people"), e.Disguised.cells("disguised"))
	}
	for _, c := range d.listed() {
		cells := c.cells("client", c.Client, c.Requests)
		cells["class"], cells["agent"] = c.Class, csvText(c.Agent)
		if c.Evidence != nil {
			cells["evidence"] = c.Evidence.Verdict
		}
		rows = append(rows, cells)
	}
	for _, a := range d.TopActionsHit {
		rows = append(rows, a.cells("action", a.Action, a.Requests))
	}
	_ = w.Write(diffHead) // into memory
	for _, cells := range rows {
		cells["a"], cells["b"] = csvText(d.A.Policy), csvText(d.B.Policy)
		row := make([]string, len(diffHead))
		for i, name := range diffHead {
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
	cells["class"] = traffic.Browser.String()
	return cells
}

// listed are the clients of all lists, each once.
func (d *Diff) listed() (all []DiffClient) {
	seen := map[string]bool{}
	for _, list := range [][]DiffClient{d.TopMovers, d.TopNewlyHit, d.TopReleased, d.TopHitByBoth} {
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
		"requests":  plain(requests.OnlyA + requests.OnlyB + requests.Both + requests.Neither),
		"refused_a": plain(requests.OnlyA + requests.Both), "refused_b": plain(requests.OnlyB + requests.Both),
		"difference": plain(requests.OnlyB - requests.OnlyA),
		"only_a":     plain(requests.OnlyA), "only_b": plain(requests.OnlyB),
		"both": plain(requests.Both), "neither": plain(requests.Neither),
		"clients_only_a": plain(clients.OnlyA), "clients_only_b": plain(clients.OnlyB),
		"clients_both": plain(clients.Both), "clients_neither": plain(clients.Neither),
	}
}

func (c *DiffCounts) cells(level, name string, requests int64) map[string]string {
	return map[string]string{
		"level": level, "name": csvText(name), "change": c.Change, "requests": plain(requests),
		"refused_a": plain(c.RefusedA), "refused_b": plain(c.RefusedB), "difference": plain(c.Difference),
		"only_a": plain(c.OnlyA), "only_b": plain(c.OnlyB), "both": plain(c.Both), "neither": plain(requests - c.OnlyA - c.OnlyB - c.Both),
	}
}
