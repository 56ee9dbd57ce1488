package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"shadow/traffic"
)

// Tables of a page. Each stands there whole, without any script; tables.js makes their heads into buttons that sort and puts
// a field for searching above them. What a cell is sorted by stands beside its text where the two differ.

// A htmlTable is a table of a page. The first column names what a row is about.
type htmlTable struct {
	Title   string // what the table is called for those who cannot see it
	Columns []htmlColumn
	Rows    [][]htmlCell
	Search  string // what is searched for; "" where that is not worth it
	Note    string // below it: what is left out
}

type htmlColumn struct {
	Head  string
	Right bool // numbers
}

type htmlCell struct {
	Text  string
	Key   string // what to sort by; "" is the text
	Right bool
	Long  bool // may be broken into lines
	Bar   int  // length of a bar below it, from 1 to 20; 0: none
	Heat  int  // how dark it is, from 1 to 20
}

func textCell(s string, most int) htmlCell {
	return htmlCell{Text: clipped(s, most), Long: utf8.RuneCountInString(s) > htmlName/2}
}

func countCell(n int64) htmlCell {
	return htmlCell{Text: thousands(n), Key: plain(n), Right: true}
}

// shareCell is a percentage with a bar.
func shareCell(p float64) htmlCell {
	return htmlCell{Text: percent(p), Key: strconv.FormatFloat(p, 'g', -1, 64), Right: true, Bar: twentieths(p)}
}

// twentieths is a percentage in steps of five, rounded up, so that nothing is lost but nothing.
func twentieths(p float64) int {
	switch {
	case p <= 0:
		return 0
	case p >= 100:
		return 20
	}
	return int(p/5) + 1
}

func momentCell(m Moment, layout string) htmlCell {
	return htmlCell{Text: m.format(layout), Key: m.String()}
}

// searchable is from how many rows on searching is worth a field.
const searchable = 8

func (t *htmlTable) finish(noun string, left int64) *htmlTable {
	if len(t.Rows) >= searchable {
		t.Search = "Search " + noun
	}
	if left > 0 {
		t.Note = fmt.Sprintf("The first %s of %s.", thousands(int64(len(t.Rows))), thousands(int64(len(t.Rows))+left))
	}
	return t
}

// policyTable has a row per candidate.
func policyTable(m *Model, most int) *htmlTable {
	shown := shownOf(m)
	t := &htmlTable{Title: "All candidates", Columns: []htmlColumn{{Head: "limit"}}}
	add := func(heads ...string) {
		for _, head := range heads {
			t.Columns = append(t.Columns, htmlColumn{head, true})
		}
	}
	if shown.keys {
		t.Columns = append(t.Columns, htmlColumn{Head: "counted by"})
	}
	add("refused", "% of requests", "clients hit", "% of clients")
	if m.banded() {
		add("refused, band", "clients hit, band")
	}
	if shown.delays {
		add("delayed", "p99 delay")
	}
	classes := classesOf(m)
	for _, class := range classes {
		add(classTitle(class) + " hit")
		if shown.evidence && class == traffic.Browser {
			add("of them disguised")
		}
	}
	t.Columns = append(t.Columns, htmlColumn{Head: "worst minute"})
	add("in it", "saved")
	for i := range m.Policies[:min(len(m.Policies), most)] {
		t.Rows = append(t.Rows, policyCells(&m.Policies[i], classes, shown))
	}
	return t.finish("candidates", int64(len(m.Policies)-len(t.Rows)))
}

// classesOf are the classes that the log has clients of, if it tells.
func classesOf(m *Model) (classes []traffic.Class) {
	for class := range traffic.ClassCount {
		if m.Input.AgentsLogged && len(m.Policies) > 0 && m.Policies[0].ByClass[class].Clients > 0 {
			classes = append(classes, class)
		}
	}
	return classes
}

func policyCells(p *Policy, classes []traffic.Class, shown shown) []htmlCell {
	row := []htmlCell{textCell(p.Policy, htmlName)}
	if shown.keys {
		row = append(row, textCell(p.By, htmlName))
	}
	refused, hit := countCell(p.Refused), countCell(p.ClientsHit)
	refused.Text, hit.Text = p.counts()
	row = append(row, refused, shareCell(p.RefusedPercent), hit, shareCell(p.ClientsHitPercent))
	if p.Band != nil {
		row = append(row, rangeCell(p.Band.Refused), rangeCell(p.Band.ClientsHit))
	}
	if shown.delays {
		row = append(row, countCell(p.Delayed), delayCell(p))
	}
	for _, class := range classes {
		row = append(row, countCell(p.ByClass[class].ClientsHit))
		if shown.evidence && class == traffic.Browser {
			row = append(row, countCell(p.ByEvidence.Disguised.ClientsHit))
		}
	}
	if w := p.WorstMinute; w != nil {
		row = append(row, momentCell(w.Start, shown.at.minute), countCell(w.Refused))
	} else {
		row = append(row, htmlCell{Text: "–"}, htmlCell{Text: "–", Key: "0", Right: true})
	}
	return append(row, htmlCell{Text: size(p.BytesSaved), Key: plain(p.BytesSaved), Right: true})
}

// rangeCell is sorted by the most that the figure may be.
func rangeCell(r [2]int64) htmlCell {
	return htmlCell{Text: fromTo(r), Key: plain(r[1]), Right: true}
}

func delayCell(p *Policy) htmlCell {
	if p.Delay == nil || p.Delayed == 0 {
		return htmlCell{Text: "–", Key: "0", Right: true}
	}
	return htmlCell{Text: wait(p.Delay.P99), Key: strconv.FormatFloat(p.Delay.P99, 'g', -1, 64), Right: true}
}

// clientTable has a row per client that a policy refused.
func clientTable(m *Model, p *Policy, most int) *htmlTable {
	at := layoutsFor(m.Input.Span)
	t := &htmlTable{Title: "Clients hit by " + clipped(p.Policy, htmlName)}
	t.Columns = []htmlColumn{{"client", false}, {"requests", true}, {"refused", true}, {"% refused", true}, {"first refused", false}, {"last refused", false}}
	if m.Input.AgentsLogged {
		t.Columns = append(t.Columns, htmlColumn{Head: "class"}, htmlColumn{Head: "agent"})
	}
	if m.Input.Evidence != nil {
		t.Columns = append(t.Columns, htmlColumn{Head: "evidence"})
	}
	for i := range p.TopClients[:min(len(p.TopClients), most)] {
		c := &p.TopClients[i]
		row := []htmlCell{
			textCell(c.Client, htmlName), countCell(c.Requests), countCell(c.Refused), shareCell(c.RefusedPercent),
			momentCell(c.First, at.second), momentCell(c.Last, at.second),
		}
		if m.Input.AgentsLogged {
			row = append(row, htmlCell{Text: c.Class}, textCell(c.Agent, htmlLong))
		}
		if m.Input.Evidence != nil {
			row = append(row, htmlCell{Text: c.Evidence.short()})
		}
		t.Rows = append(t.Rows, row)
	}
	return t.finish("clients", p.ClientsHit-int64(len(t.Rows)))
}

// actionTable has a row per action of which a policy refused requests. How many there are in all is not known.
func actionTable(p *Policy, most int) *htmlTable {
	t := &htmlTable{Title: "Actions refused by " + clipped(p.Policy, htmlName)}
	t.Columns = []htmlColumn{{"action", false}, {"requests", true}, {"refused", true}, {"% refused", true}, {"% of all refused", true}}
	for i := range p.TopActions[:min(len(p.TopActions), most)] {
		a := &p.TopActions[i]
		t.Rows = append(t.Rows, []htmlCell{
			textCell(a.Action, htmlName), countCell(a.Requests), countCell(a.Refused), shareCell(a.RefusedPercent), shareCell(a.SharePercent),
		})
	}
	return t.finish("actions", 0)
}

// sectionTable is that of a Section. Columns of numbers are found by what is in them.
func sectionTable(s *Section, most int) *htmlTable {
	t := &htmlTable{Title: clipped(s.Title, htmlName)}
	for j, head := range s.Head {
		t.Columns = append(t.Columns, htmlColumn{clipped(head, htmlName), numeric(s.Rows, j)})
	}
	for _, texts := range s.Rows[:min(len(s.Rows), most)] {
		row := make([]htmlCell, len(t.Columns))
		for j := range row {
			if j < len(texts) {
				row[j] = textCell(texts[j], htmlLong)
			}
			row[j].Right = t.Columns[j].Right
		}
		t.Rows = append(t.Rows, row)
	}
	return t.finish("rows", int64(len(s.Rows)-len(t.Rows)))
}

// numeric tells whether all cells of a column are numbers, or nothing.
func numeric(rows [][]string, j int) bool {
	for _, row := range rows {
		if j < len(row) && strings.Trim(row[j], "0123456789,.%+-−–< ") != "" {
			return false
		}
	}
	return j > 0
}

// Class is that of the cell's element.
func (c htmlCell) Class() string {
	var words []string
	if c.Right {
		words = append(words, "num")
	}
	if c.Long {
		words = append(words, "long")
	}
	if c.Bar > 0 {
		words = append(words, "bar", fmt.Sprintf("b%d", c.Bar))
	}
	if c.Heat > 0 {
		words = append(words, fmt.Sprintf("h%d", c.Heat))
	}
	return strings.Join(words, " ")
}
