package report

import (
	"fmt"
	"io"
	"slices"

	"shadow/report/document"
	"shadow/report/format"
)

// Write writes the report in one of format.Outputs, all of it or nothing.
func (m *Model) Write(w io.Writer, output string) error {
	return document.Write(w, m, m.View, output, format.PageOutputs())
}

// Begin writes a title, and what is known of the input.
func (h *Head) Begin(w *document.Writer, title string, more ...document.Fact) {
	w.Title(title)
	w.Facts(append(h.Facts(), more...)...)
	h.alert(w)
}

// Schema implements document.Report.
func (m *Model) Schema() format.Schema { return format.ReportSchema }

// Text writes the report for people.
func (m *Model) Text(w *document.Writer) {
	m.Begin(w, "Rate limits, replayed")
	if len(m.Policies) > 0 && m.Input.Requests > 0 {
		m.writePolicies(w)
	}
	m.WriteEnd(w)
}

// WriteEnd writes what has changed, and where the run is stored.
func (m *Model) WriteEnd(w *document.Writer) {
	if m.History != nil {
		m.writeHistory(w)
	}
	if m.Stored != nil {
		w.Stored(m.Stored.String())
	}
}

func (m *Model) writePolicies(w *document.Writer) {
	w.Table(PolicyTable(m, false))
	if m.Banded() {
		w.Table(BandTable(m))
	}
	if m.Sample != nil {
		w.Table(SampleTable(m))
	}
	explained := map[string]bool{} // kinds of limits: of those without a section, one of each kind is explained
	for i := range m.Policies {
		p := &m.Policies[i]
		if i >= m.Detailed && !explained[p.Kind] {
			w.Name(p.Policy)
			w.Facts(append(p.RetryFacts(), p.MeaningFacts()...)...)
		}
		explained[p.Kind] = true
	}
	for i := range m.Policies[:m.Detailed] {
		m.Policies[i].write(w, m)
	}
	m.writeCompared(w)
	if n := len(m.Policies); m.Detailed < n {
		w.Remark(fmt.Sprintf("Details of %d of %d policies; --top %d shows all.", m.Detailed, n, n))
	}
}

func (p *Policy) write(w *document.Writer, m *Model) {
	w.Heading(2, p.Policy, Headline(p))
	if text := p.HitEvidence.Text("hit addresses"); text != "" {
		w.Facts(document.Fact{Label: "hit", Text: text})
	}
	if m.Detailed == 1 {
		if shown := int64(len(p.TopClients)); shown > 0 {
			w.Table(ClientTable(m, p))
			if all := p.Listed(); shown < all {
				w.Note(fmt.Sprintf("%s more%s (--top %d)", format.Thousands(all-shown), m.inSample(), all))
			}
		}
		if len(p.TopActions) > 0 {
			w.Table(ActionTable(p))
		}
		w.Space()
	}
	w.Facts(slices.Concat(p.RetryFacts(), p.HarmFacts(m.Input.Span.Layouts()), p.MeaningFacts())...)
}

// MeaningFacts say what the policy means, and how nginx is told.
func (p *Policy) MeaningFacts() (facts document.Facts) {
	facts.Add("means", p.Meanings()...)
	facts.Add("nginx", p.NginxTexts()...)
	return facts
}

// writeHistory writes what has changed.
func (m *Model) writeHistory(w *document.Writer) {
	w.Part(2, "What has changed")
	w.Facts(m.History.Facts()...)
	for i := range m.Policies[:m.Detailed] {
		p := &m.History.Policies[i]
		sections := p.Sections(m.History, m.Input.AgentsLogged)
		if len(m.History.Base) == 0 && len(sections) == 0 {
			continue
		}
		w.Heading(3, p.Policy, p.Headline(m.History, m.Policies[i].RefusedPercent))
		for _, s := range sections {
			s.Write(w, 0)
		}
	}
}

// String says where the run is stored.
func (s *Stored) String() string {
	if s.Run == "" {
		return s.Database
	}
	return s.Database + ", run " + s.Run
}
