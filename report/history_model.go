package report

import (
	"bytes"
	"fmt"
	"shadow/escape"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/history"
	"shadow/report/table"
)

// SetHistory adds to a report what has changed. It renames clients as the report does.
func (m *Model) SetHistory(h *history.History, a *Anonymizer) {
	anonymizeHistory(h, a)
	m.History = h
	if len(h.Degraded) > 0 {
		m.Warnings = append(m.Warnings, "verdicts were degraded in runs that this is compared with: "+history.NumberList(h.Degraded))
	}
	for i := range h.Policies {
		if p := &h.Policies[i]; p.Changed {
			m.Warnings = append(m.Warnings, "policy "+p.Policy+" did not stand for the same limits in all runs that it is compared with")
		}
	}
}

// history writes what has changed for a terminal.
func (m *Model) WriteHistory(t *document.Terminal) {
	t.WriteByte('\n')
	for _, f := range m.History.Facts() {
		t.Fact(f)
	}
	for i := range m.Policies[:m.Detailed] {
		p := &m.History.Policies[i]
		sections := p.Sections(m.History, m.Input.AgentsLogged)
		if len(m.History.Base) == 0 && len(sections) == 0 {
			continue
		}
		t.WriteByte('\n')
		t.Heading(escape.Visible(p.Policy), escape.Visible(p.Headline(m.History, m.Policies[i].RefusedPercent)))
		for _, s := range sections {
			fmt.Fprintf(t, "\n%s\n", t.Paint(document.Bold, escape.Visible(s.Title)))
			t.Grid(s.Grid)
		}
	}
}

// MarkdownHistory is the same for a page.
func (m *Model) MarkdownHistory(b *bytes.Buffer) {
	fmt.Fprint(b, "\n## What has changed\n\n")
	for _, f := range m.History.Facts() {
		fmt.Fprintf(b, "- **%s**: %s\n", f.Label, table.MarkdownText(f.Text))
	}
	for i := range m.Policies[:m.Detailed] {
		p := &m.History.Policies[i]
		sections := p.Sections(m.History, m.Input.AgentsLogged)
		if len(m.History.Base) == 0 && len(sections) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n### %s\n\n%s.\n", table.MarkdownText(p.Policy), table.MarkdownText(format.Sentence(p.Headline(m.History, m.Policies[i].RefusedPercent))))
		for _, s := range sections {
			fmt.Fprintf(b, "\n%s\n", table.MarkdownText(s.Title))
			s.Grid.Markdown(b)
		}
	}
}
