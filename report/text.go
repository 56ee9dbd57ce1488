package report

import (
	"fmt"
	"io"

	"shadow/report/document"
	"shadow/report/format"
)

const fewDetails = 3 // policies in detail when there are more than --top

func viewOf(m *Model, o Options) document.View {
	m.Detailed = len(m.Policies)
	if len(m.Policies) > o.Top {
		m.Detailed = max(0, min(fewDetails, o.Top))
	}
	return o.View()
}

// View returns how a report meets its reader.
func (o Options) View() document.View { return document.View{Width: o.Width, Color: o.Color} }

// Write writes the report in one of format.Outputs, all of it or nothing.
func (m *Model) Write(w io.Writer, output string) error {
	return document.Write(w, m, m.View, output, format.PageOutputs())
}

// Text writes the report for people.
func (m *Model) Text(w document.Writer) {
	w.Title("Rate limits, replayed")
	w.Facts(Facts(m)...)
	w.Warnings(m.Warnings)
	if len(m.Policies) > 0 && m.Input.Requests > 0 {
		m.writePolicies(w)
	}
	m.WriteEnd(w)
}

// WriteEnd writes what has changed, and where the run is stored.
func (m *Model) WriteEnd(w document.Writer) {
	if m.History != nil {
		m.writeHistory(w)
	}
	if m.Stored != nil {
		w.Stored(StoredText(m.Stored))
	}
}

func (m *Model) writePolicies(w document.Writer) {
	w.Table(PolicyTable(m, false))
	if m.Banded() {
		w.Table(BandTable(m))
	}
	for _, p := range m.unexplained() {
		w.Name(p.Policy)
		w.Facts(p.MeaningFacts()...)
	}
	for i := range m.Policies[:m.Detailed] {
		m.Policies[i].write(w, m)
	}
	if more := m.moreDetails(); more != "" {
		w.Remark(more)
	}
}

// unexplained returns the policies whose kind of limit no section explains, one of each kind.
func (m *Model) unexplained() (policies []*Policy) {
	explained := map[string]bool{}
	for i := range m.Policies {
		p := &m.Policies[i]
		if i >= m.Detailed && !explained[p.Kind] {
			policies = append(policies, p)
		}
		explained[p.Kind] = true
	}
	return policies
}

// moreDetails says how to see the sections that are left out, "" if none is.
func (m *Model) moreDetails() string {
	n := len(m.Policies)
	if m.Detailed == n {
		return ""
	}
	return fmt.Sprintf("Details of %d of %d policies; --top %d shows all.", m.Detailed, n, n)
}

func (p *Policy) write(w document.Writer, m *Model) {
	w.Heading(2, p.Policy, Headline(p))
	if text := p.HitEvidence.Text("hit addresses"); text != "" {
		w.Facts(document.Fact{Label: "hit", Text: text})
	}
	if len(p.TopClients) > 0 {
		w.Table(ClientTable(m, p))
	}
	if len(p.TopActions) > 0 {
		w.Table(ActionTable(p))
	}
	w.Space()
	w.Facts(append(p.HarmFacts(LayoutsFor(m.Input.Span)), p.MeaningFacts()...)...)
}

// MeaningFacts say what the policy means, and how nginx is told.
func (p *Policy) MeaningFacts() []document.Fact {
	return append(document.Same("means", p.Meanings()...), document.Same("nginx", p.NginxTexts()...)...)
}

// writeHistory writes what has changed.
func (m *Model) writeHistory(w document.Writer) {
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

// StoredText says where the run is stored.
func StoredText(s *Stored) string {
	if s.Run == "" {
		return s.Database
	}
	return s.Database + ", run " + s.Run
}
