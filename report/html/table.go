package html

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"shadow/report"
	"shadow/report/format"
	"shadow/traffic/useragent"
)

// Tables of a page. Each stands there whole, without any script; tables.js makes their heads into buttons that sort and puts
// a field for searching above them. What a cell is sorted by stands beside its text where the two differ.

// A grid is a table of a page. The first column names what a row is about.
type grid struct {
	Title   string // what the table is called for those who cannot see it
	Columns []column
	Rows    [][]cell
	Search  string // what is searched for; "" where that is not worth it
	Note    string // below it: what is left out
}

type column struct {
	Head  string
	Right bool // numbers
}

type cell struct {
	Text  string
	Key   string // what to sort by; "" is the text
	Right bool
	Long  bool // may be broken into lines
	Bar   int  // length of a bar below it, from 1 to 20; 0: none
	Heat  int  // how dark it is, from 1 to 20
}

func textCell(s string, most int) cell {
	return cell{Text: clipped(s, most), Long: utf8.RuneCountInString(s) > nameLength/2}
}

func countCell(n int64) cell {
	return cell{Text: format.Thousands(n), Key: format.Plain(n), Right: true}
}

// shareCell is a percentage with a bar.
func shareCell(p float64) cell {
	return cell{Text: format.Percent(p), Key: strconv.FormatFloat(p, 'g', -1, 64), Right: true, Bar: twentieths(p)}
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

func momentCell(m format.Moment, layout string) cell {
	return cell{Text: m.Format(layout), Key: m.String()}
}

// searchable is from how many rows on searching is worth a field.
const searchable = 8

func (t *grid) finish(noun string, left int64) *grid {
	if len(t.Rows) >= searchable {
		t.Search = "Search " + noun
	}
	if left > 0 {
		t.Note = fmt.Sprintf("The first %s of %s.", format.Thousands(int64(len(t.Rows))), format.Thousands(int64(len(t.Rows))+left))
	}
	return t
}

// policyTable has a row per candidate.
func policyTable(m *report.Model, most int) *grid {
	shown := report.ShownOf(m)
	t := &grid{Title: "All candidates", Columns: []column{{Head: "limit"}}}
	add := func(heads ...string) {
		for _, head := range heads {
			t.Columns = append(t.Columns, column{head, true})
		}
	}
	if shown.Keys {
		t.Columns = append(t.Columns, column{Head: "counted by"})
	}
	add("refused", "% of requests", "clients hit", "% of clients")
	if m.Banded() {
		add("refused, band", "clients hit, band")
	}
	if shown.Delays {
		add("delayed", "p99 delay")
	}
	classes := classesOf(m)
	for _, class := range classes {
		add(classTitle(class) + " hit")
		if shown.Evidence && class == useragent.Browser {
			add("of them disguised")
		}
	}
	t.Columns = append(t.Columns, column{Head: "worst minute"})
	add("in it", "saved")
	for i := range m.Policies[:min(len(m.Policies), most)] {
		t.Rows = append(t.Rows, policyCells(&m.Policies[i], classes, shown))
	}
	return t.finish("candidates", int64(len(m.Policies)-len(t.Rows)))
}

// classesOf are the classes that the log has clients of, if it tells.
func classesOf(m *report.Model) (classes []useragent.Class) {
	for class := range useragent.ClassCount {
		if m.Input.AgentsLogged && len(m.Policies) > 0 && m.Policies[0].ByClass[class].Clients > 0 {
			classes = append(classes, class)
		}
	}
	return classes
}

func policyCells(p *report.Policy, classes []useragent.Class, shown report.Shown) []cell {
	row := []cell{textCell(p.Policy, nameLength)}
	if shown.Keys {
		row = append(row, textCell(p.By, nameLength))
	}
	refused, hit := countCell(p.Refused), countCell(p.ClientsHit)
	refused.Text, hit.Text = p.Counts()
	row = append(row, refused, shareCell(p.RefusedPercent), hit, shareCell(p.ClientsHitPercent))
	if p.Band != nil {
		row = append(row, rangeCell(p.Band.Refused), rangeCell(p.Band.ClientsHit))
	}
	if shown.Delays {
		row = append(row, countCell(p.Delayed), delayCell(p))
	}
	for _, class := range classes {
		row = append(row, countCell(p.ByClass[class].ClientsHit))
		if shown.Evidence && class == useragent.Browser {
			row = append(row, countCell(p.ByEvidence.Disguised.ClientsHit))
		}
	}
	if w := p.WorstMinute; w != nil {
		row = append(row, momentCell(w.Start, shown.At.Minute), countCell(w.Refused))
	} else {
		row = append(row, cell{Text: "–"}, cell{Text: "–", Key: "0", Right: true})
	}
	return append(row, cell{Text: format.Size(p.BytesSaved), Key: format.Plain(p.BytesSaved), Right: true})
}

// rangeCell is sorted by the most that the figure may be.
func rangeCell(r [2]int64) cell {
	return cell{Text: format.FromTo(r), Key: format.Plain(r[1]), Right: true}
}

func delayCell(p *report.Policy) cell {
	if p.Delay == nil || p.Delayed == 0 {
		return cell{Text: "–", Key: "0", Right: true}
	}
	return cell{Text: format.Wait(p.Delay.P99), Key: strconv.FormatFloat(p.Delay.P99, 'g', -1, 64), Right: true}
}

// clientTable has a row per client that a policy refused.
func clientTable(m *report.Model, p *report.Policy, most int) *grid {
	at := report.LayoutsFor(m.Input.Span)
	t := &grid{Title: "Clients hit by " + clipped(p.Policy, nameLength)}
	t.Columns = []column{{"client", false}, {"requests", true}, {"refused", true}, {"% refused", true}, {"first refused", false}, {"last refused", false}}
	if m.Input.AgentsLogged {
		t.Columns = append(t.Columns, column{Head: "class"}, column{Head: "agent"})
	}
	if m.Input.Evidence != nil {
		t.Columns = append(t.Columns, column{Head: "evidence"})
	}
	for i := range p.TopClients[:min(len(p.TopClients), most)] {
		c := &p.TopClients[i]
		row := []cell{
			textCell(c.Client, nameLength), countCell(c.Requests), countCell(c.Refused), shareCell(c.RefusedPercent),
			momentCell(c.First, at.Second), momentCell(c.Last, at.Second),
		}
		if m.Input.AgentsLogged {
			row = append(row, cell{Text: c.Class}, textCell(c.Agent, longLength))
		}
		if m.Input.Evidence != nil {
			row = append(row, cell{Text: c.Evidence.Short()})
		}
		t.Rows = append(t.Rows, row)
	}
	return t.finish("clients", p.ClientsHit-int64(len(t.Rows)))
}

// actionTable has a row per action of which a policy refused requests. How many there are in all is not known.
func actionTable(p *report.Policy, most int) *grid {
	t := &grid{Title: "Actions refused by " + clipped(p.Policy, nameLength)}
	t.Columns = []column{{"action", false}, {"requests", true}, {"refused", true}, {"% refused", true}, {"% of all refused", true}}
	for i := range p.TopActions[:min(len(p.TopActions), most)] {
		a := &p.TopActions[i]
		t.Rows = append(t.Rows, []cell{
			textCell(a.Action, nameLength), countCell(a.Requests), countCell(a.Refused), shareCell(a.RefusedPercent), shareCell(a.SharePercent),
		})
	}
	return t.finish("actions", 0)
}

// sectionTable is that of a Section. Columns of numbers are found by what is in them.
func sectionTable(s *Section, most int) *grid {
	t := &grid{Title: clipped(s.Title, nameLength)}
	for j, head := range s.Head {
		t.Columns = append(t.Columns, column{clipped(head, nameLength), numeric(s.Rows, j)})
	}
	for _, texts := range s.Rows[:min(len(s.Rows), most)] {
		row := make([]cell, len(t.Columns))
		for j := range row {
			if j < len(texts) {
				row[j] = textCell(texts[j], longLength)
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
func (c cell) Class() string {
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
