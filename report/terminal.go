package report

import (
	"fmt"
	"shadow/escape"
	"shadow/report/document"
	"shadow/report/table"
)

const fewDetails = 3 // policies in detail when there are more than --top

func viewOf(m *Model, o Options) document.View {
	m.Detailed = len(m.Policies)
	if len(m.Policies) > o.Top {
		m.Detailed = max(0, min(fewDetails, o.Top))
	}
	return document.View{Width: o.Width, Color: o.Color}
}

// table writes the report as text for people.
func (m *Model) Terminal() []byte {
	t := &document.Terminal{View: m.View}
	for _, f := range Facts(m) {
		t.Fact(f)
	}
	for _, w := range m.Warnings {
		t.Entry("warning", w, document.Yellow)
	}
	if len(m.Policies) > 0 && m.Input.Requests > 0 {
		m.writePolicies(t)
	}
	if m.History != nil {
		m.WriteHistory(t)
	}
	if m.Stored != nil {
		t.WriteByte('\n')
		t.Entry("stored", StoredText(m.Stored), document.Dim)
	}
	return t.Bytes()
}

func (m *Model) writePolicies(t *document.Terminal) {
	width, most := t.Tables()
	if t.Width == 0 && m.Detailed < len(m.Policies) {
		width = table.Unbounded // long enough as it is
	}
	t.Blocks(policyGrid(m).Blocks(width, most))
	if m.Banded() {
		t.Blocks(bandGrid(m).Blocks(width, most))
	}
	for _, p := range m.untold() {
		fmt.Fprintf(t, "\n%s\n", escape.Visible(p.Policy))
		p.WriteMeaning(t)
	}
	for i := range m.Policies[:m.Detailed] {
		m.Policies[i].writeDetail(t, m)
	}
	if more := m.moreDetails(); more != "" {
		fmt.Fprintf(t, "\n%s\n", t.Paint(document.Dim, more))
	}
}

// untold are the policies of which something must be said though they have no section of their own: what their kind of
// limit means, if no section says it.
func (m *Model) untold() (policies []*Policy) {
	told := map[string]bool{}
	for i := range m.Policies {
		p := &m.Policies[i]
		if i >= m.Detailed && !told[p.Kind] {
			policies = append(policies, p)
		}
		told[p.Kind] = true
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

func (p *Policy) writeDetail(t *document.Terminal, m *Model) {
	t.WriteByte('\n')
	t.Heading(escape.Visible(p.Policy), escape.Visible(Headline(p)))
	if text := p.HitEvidence.Text("hit addresses"); text != "" {
		t.Entry("hit", text, document.Dim)
	}
	if len(p.TopClients) > 0 {
		t.Grid(clientGrid(m, p))
	}
	if len(p.TopActions) > 0 {
		t.Grid(actionGrid(p))
	}
	t.WriteByte('\n')
	for _, f := range p.HarmFacts(LayoutsFor(m.Input.Span)) {
		t.Fact(f)
	}
	p.WriteMeaning(t)
}

func (p *Policy) WriteMeaning(t *document.Terminal) {
	for i, text := range p.Meanings() {
		t.Entry(document.OnlyFirst(i, "means"), text, document.Dim)
	}
	for i, text := range p.Told(func(part *Part) string { return part.Nginx }) {
		t.Entry(document.OnlyFirst(i, "nginx"), text, document.Dim)
	}
}

func StoredText(s *Stored) string {
	if s.Run == "" {
		return s.Database
	}
	return s.Database + ", run " + s.Run
}
