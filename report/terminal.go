package report

import (
	"bytes"
	"fmt"
	"strings"
)

// A view is how a report meets its reader.
type view struct {
	width    int  // of the terminal; 0 when it is none
	color    bool // whether the terminal may be told to change colour
	detailed int  // policies shown with their clients and actions
}

const (
	pageWidth  = 120 // columns of tables that do not go to a terminal
	pageAgent  = 60  // columns of an agent there
	fewDetails = 3   // policies in detail when there are more than --top
	labelWidth = 12
)

func viewOf(m *Model, o Options) view {
	v := view{width: o.Width, color: o.Color, detailed: len(m.Policies)}
	if len(m.Policies) > o.Top {
		v.detailed = max(0, min(fewDetails, o.Top))
	}
	return v
}

// tables are the width of tables and the most that a cell may have of it.
func (v view) tables() (width, most int) {
	if v.width == 0 {
		return pageWidth, pageAgent
	}
	return v.width, 0
}

// A terminal collects the text of a report.
type terminal struct {
	bytes.Buffer
	view
}

// table writes the report as text for people.
func (m *Model) table() []byte {
	t := &terminal{view: m.view}
	for _, f := range facts(m) {
		t.fact(f)
	}
	for _, w := range m.Warnings {
		t.entry("warning", w, yellow)
	}
	if len(m.Policies) > 0 && m.Input.Requests > 0 {
		t.policies(m)
	}
	if m.History != nil {
		t.history(m)
	}
	if m.Stored != nil {
		t.WriteByte('\n')
		t.entry("stored", storedText(m.Stored), dim)
	}
	return t.Bytes()
}

func (t *terminal) fact(f fact) {
	t.entry(f.label, f.text, dim)
	for _, line := range f.details {
		for _, line := range t.detailLines(visible(line), f.prose) {
			fmt.Fprintf(t, "%*s%s\n", labelWidth, "", line)
		}
	}
}

// detailLines are a detail of a fact as the terminal has room for it.
func (t *terminal) detailLines(line string, prose bool) []string {
	switch {
	case t.width == 0:
		return []string{line}
	case prose:
		return wrap(line, t.width-labelWidth)
	}
	return []string{cut(line, t.width-labelWidth)}
}

// entry writes a label and a text beside it, which is wrapped at the width of a terminal.
func (t *terminal) entry(label, text string, c color) {
	lines := []string{visible(text)}
	if t.width > 0 {
		lines = wrap(lines[0], t.width-labelWidth)
	}
	for _, line := range lines {
		t.WriteString(t.paint(c, label))
		if line != "" {
			fmt.Fprintf(t, "%*s%s", labelWidth-len(label), "", line)
		}
		t.WriteByte('\n')
		label = ""
	}
}

func (t *terminal) policies(m *Model) {
	width, most := t.tables()
	if t.width == 0 && t.detailed < len(m.Policies) {
		width = unbounded // long enough as it is
	}
	t.blocks(policyGrid(m).blocks(width, most))
	if m.banded() {
		t.blocks(bandGrid(m).blocks(width, most))
	}
	for _, p := range m.untold() {
		fmt.Fprintf(t, "\n%s\n", visible(p.Policy))
		t.meaning(p)
	}
	for i := range m.Policies[:t.detailed] {
		t.detail(m, &m.Policies[i])
	}
	if more := m.moreDetails(); more != "" {
		fmt.Fprintf(t, "\n%s\n", t.paint(dim, more))
	}
}

// untold are the policies of which something must be said though they have no section of their own: what their kind of
// limit means, if no section says it.
func (m *Model) untold() (policies []*Policy) {
	told := map[string]bool{}
	for i := range m.Policies {
		p := &m.Policies[i]
		if i >= m.view.detailed && !told[p.kind] {
			policies = append(policies, p)
		}
		told[p.kind] = true
	}
	return policies
}

// moreDetails says how to see the sections that are left out, "" if none is.
func (m *Model) moreDetails() string {
	n := len(m.Policies)
	if m.view.detailed == n {
		return ""
	}
	return fmt.Sprintf("Details of %d of %d policies; --top %d shows all.", m.view.detailed, n, n)
}

func (t *terminal) detail(m *Model, p *Policy) {
	t.WriteByte('\n')
	t.heading(visible(p.Policy), visible(headline(p)))
	if text := p.HitEvidence.text("hit addresses"); text != "" {
		t.entry("hit", text, dim)
	}
	if len(p.TopClients) > 0 {
		t.grid(clientGrid(m, p))
	}
	if len(p.TopActions) > 0 {
		t.grid(actionGrid(p))
	}
	t.WriteByte('\n')
	for _, f := range p.harmFacts(layoutsFor(m.Input.Span)) {
		t.fact(f)
	}
	t.meaning(p)
}

// heading writes a name and what there is to say of it.
func (t *terminal) heading(name, text string) {
	lines := []string{name + " " + text}
	if t.width > 0 {
		lines = wrap(lines[0], t.width)
	}
	rest, whole := strings.CutPrefix(lines[0], name)
	if whole {
		lines[0] = t.paint(bold, name) + rest
	}
	t.WriteString(strings.Join(lines, "\n") + "\n")
}

func (t *terminal) meaning(p *Policy) {
	for i, text := range p.meanings() {
		t.entry(onlyFirst(i, "means"), text, dim)
	}
	for i, text := range p.told(func(part *Part) string { return part.Nginx }) {
		t.entry(onlyFirst(i, "nginx"), text, dim)
	}
}

// onlyFirst labels the first of several texts.
func onlyFirst(i int, label string) string {
	if i > 0 {
		return ""
	}
	return label
}

func (t *terminal) grid(g *grid) { t.blocks(g.blocks(t.tables())) }

// blocks writes those of a table with an empty line above each.
func (t *terminal) blocks(blocks [][]string) {
	for _, lines := range blocks {
		fmt.Fprintf(t, "\n%s\n", t.paint(dim, lines[0]))
		for _, line := range lines[1:] {
			t.WriteString(line + "\n")
		}
	}
}

func storedText(s *Stored) string {
	if s.Run == "" {
		return s.Database
	}
	return s.Database + ", run " + s.Run
}

// wrap breaks a text between words into lines of at most width columns, but for words that are longer.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case columnsOf(line)+1+columnsOf(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// A color is the number of a Select Graphic Rendition sequence.
type color int

const (
	bold   color = 1
	dim    color = 2
	yellow color = 33
)

func (v view) paint(c color, s string) string {
	if !v.color || s == "" {
		return s
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", c, s)
}
