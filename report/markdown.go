package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// markdown writes the report for a wiki or a pull request. Nothing is folded; agents are cut as on a page.
func (m *Model) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, "# Rate limits, replayed\n\n")
	for _, f := range facts(m) {
		fmt.Fprintf(&b, "- **%s**: %s\n", f.label, markdownText(f.text))
		for _, line := range f.details {
			fmt.Fprintf(&b, "  - %s\n", markdownText(strings.TrimSpace(line)))
		}
	}
	for _, w := range m.Warnings {
		fmt.Fprintf(&b, "\n> **Warning**: %s\n", markdownText(w))
	}
	if len(m.Policies) > 0 && m.Input.Requests > 0 {
		policyGrid(m).markdown(&b)
		if m.banded() {
			bandGrid(m).markdown(&b)
		}
		for _, p := range m.untold() {
			fmt.Fprintf(&b, "\n%s\n", markdownText(p.Policy))
			p.markdownMeaning(&b)
		}
		for i := range m.Policies[:m.view.detailed] {
			m.Policies[i].markdown(&b, m)
		}
		if more := m.moreDetails(); more != "" {
			fmt.Fprintf(&b, "\n%s\n", markdownText(more))
		}
	}
	if m.History != nil {
		m.markdownHistory(&b)
	}
	if m.Stored != nil {
		fmt.Fprintf(&b, "\nStored in %s.\n", markdownText(storedText(m.Stored)))
	}
	return b.Bytes()
}

func (p *Policy) markdown(b *bytes.Buffer, m *Model) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n", markdownText(p.Policy), markdownText(sentence(headline(p))))
	if text := p.HitEvidence.text("hit addresses"); text != "" {
		fmt.Fprintf(b, "\n- **hit**: %s\n", markdownText(text))
	}
	if len(p.TopClients) > 0 {
		clientGrid(m, p).markdown(b)
	}
	if len(p.TopActions) > 0 {
		actionGrid(p).markdown(b)
	}
	b.WriteByte('\n')
	for _, f := range p.harmFacts(layoutsFor(m.Input.Span)) {
		fmt.Fprintf(b, "- **%s**: %s\n", f.label, markdownText(f.text))
	}
	p.markdownTexts(b)
}

func (p *Policy) markdownMeaning(b *bytes.Buffer) {
	b.WriteByte('\n')
	p.markdownTexts(b)
}

// markdownTexts say what the policy means.
func (p *Policy) markdownTexts(b *bytes.Buffer) {
	for _, text := range p.meanings() {
		fmt.Fprintf(b, "- **means**: %s\n", markdownText(text))
	}
	for _, text := range p.told(func(part *Part) string { return part.Nginx }) {
		fmt.Fprintf(b, "- **nginx**: %s\n", markdownText(text))
	}
}

// sentence begins with a capital letter; s does with an ASCII one.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (g *grid) markdown(b io.Writer) {
	heads, rules := make([]string, len(g.columns)), make([]string, len(g.columns))
	for i, c := range g.columns {
		heads[i] = markdownText(c.head)
		if rules[i] = ":--"; c.right {
			rules[i] = "--:"
		}
	}
	fmt.Fprintf(b, "\n| %s |\n| %s |\n", strings.Join(heads, " | "), strings.Join(rules, " | "))
	for _, row := range g.rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = markdownText(cut(visible(cell), markdownCell))
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}

// markdownCell is the most that one cell shows, in columns.
const markdownCell = 100
