package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
)

// Markdown writes the report for a wiki or a pull request. Nothing is folded; agents are cut as on a page.
func (m *Model) Markdown() []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, "# Rate limits, replayed\n\n")
	for _, f := range Facts(m) {
		fmt.Fprintf(&b, "- **%s**: %s\n", f.Label, table.MarkdownText(f.Text))
		for _, line := range f.Details {
			fmt.Fprintf(&b, "  - %s\n", table.MarkdownText(strings.TrimSpace(line)))
		}
	}
	for _, w := range m.Warnings {
		fmt.Fprintf(&b, "\n> **Warning**: %s\n", table.MarkdownText(w))
	}
	if len(m.Policies) > 0 && m.Input.Requests > 0 {
		policyGrid(m).Markdown(&b)
		if m.Banded() {
			bandGrid(m).Markdown(&b)
		}
		for _, p := range m.untold() {
			fmt.Fprintf(&b, "\n%s\n", table.MarkdownText(p.Policy))
			p.markdownMeaning(&b)
		}
		for i := range m.Policies[:m.Detailed] {
			m.Policies[i].markdown(&b, m)
		}
		if more := m.moreDetails(); more != "" {
			fmt.Fprintf(&b, "\n%s\n", table.MarkdownText(more))
		}
	}
	if m.History != nil {
		m.MarkdownHistory(&b)
	}
	if m.Stored != nil {
		fmt.Fprintf(&b, "\nStored in %s.\n", table.MarkdownText(StoredText(m.Stored)))
	}
	return b.Bytes()
}

func (p *Policy) markdown(b *bytes.Buffer, m *Model) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n", table.MarkdownText(p.Policy), table.MarkdownText(format.Sentence(Headline(p))))
	if text := p.HitEvidence.Text("hit addresses"); text != "" {
		fmt.Fprintf(b, "\n- **hit**: %s\n", table.MarkdownText(text))
	}
	if len(p.TopClients) > 0 {
		clientGrid(m, p).Markdown(b)
	}
	if len(p.TopActions) > 0 {
		actionGrid(p).Markdown(b)
	}
	b.WriteByte('\n')
	for _, f := range p.HarmFacts(LayoutsFor(m.Input.Span)) {
		fmt.Fprintf(b, "- **%s**: %s\n", f.Label, table.MarkdownText(f.Text))
	}
	p.markdownTexts(b)
}

func (p *Policy) markdownMeaning(b *bytes.Buffer) {
	b.WriteByte('\n')
	p.markdownTexts(b)
}

// markdownTexts say what the policy means.
func (p *Policy) markdownTexts(b *bytes.Buffer) {
	for _, text := range p.Meanings() {
		fmt.Fprintf(b, "- **means**: %s\n", table.MarkdownText(text))
	}
	for _, text := range p.Told(func(part *Part) string { return part.Nginx }) {
		fmt.Fprintf(b, "- **nginx**: %s\n", table.MarkdownText(text))
	}
}

// Write writes the report in one of Formats, all of it or nothing.
func (m *Model) Write(w io.Writer, output string) error {
	return document.Write(w, m, output, format.PageOutputs())
}
