package report

import (
	"fmt"
	"io"
	"slices"

	"shadow/internal/traffic/who"
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
	w.Input(h.Facts()...)
	w.Facts(more...)
	h.alert(w.Alert)
}

// ShowsIdentities reports whether people read who the clients are, and why.
func (h *Head) ShowsIdentities() bool { return h.identities }

// Schema implements document.Report.
func (m *Model) Schema() format.Schema { return format.ReportSchema }

// Text writes the report for people.
func (m *Model) Text(w *document.Writer) {
	if m.tellsNews() && w.Page == nil {
		m.writeNews(w)
		return
	}
	m.Begin(w, "Rate limits, replayed")
	if m.judged() {
		m.writePolicies(w)
	}
	m.WriteEnd(w)
}

func (m *Model) judged() bool { return len(m.Policies) > 0 && m.Input.Requests > 0 }

// WriteEnd writes what has changed, and where the run is stored.
func (m *Model) WriteEnd(w *document.Writer) {
	if m.History != nil && (w.Page == nil || !m.judged()) {
		m.writeHistory(w)
	}
	if m.Stored != nil {
		w.Stored(m.Stored.String())
	}
}

func (m *Model) writePolicies(w *document.Writer) {
	w.Facts(m.whoIsHit()...)
	w.Table(PolicyTable(m))
	if m.Banded() {
		w.Table(BandTable(m))
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
	clear(explained)
	if m.History != nil && w.Page != nil { // what is new comes first
		m.writeHistory(w)
	}
	for i := range m.Policies[:m.Detailed] {
		p := &m.Policies[i]
		p.write(w, m, !explained[p.Kind])
		explained[p.Kind] = true
	}
	n, all := len(m.Policies), "--output json has all"
	if w.Page == nil {
		m.writeCompared(w)
		all = fmt.Sprintf("--top %d shows all", n)
	}
	if m.Detailed < n {
		w.Remark(fmt.Sprintf("Details of %d of %d policies; %s.", m.Detailed, n, all))
	}
}

// whoIsHit tells, if people read it, of the clients of each identity how many are hit, first of people.
func (m *Model) whoIsHit() (facts document.Facts) {
	if !m.identities {
		return nil
	}
	for i := range m.Policies[:m.Detailed] {
		p := &m.Policies[i]
		texts := p.whoIsHit()
		if m.Detailed > 1 && texts != nil {
			facts.Add(p.Policy, "hits "+texts[0]) // the table has the others
		} else {
			facts.Add("hits", texts...)
		}
	}
	return facts
}

func (p *Policy) whoIsHit() (texts []string) {
	if p.ByIdentity == nil {
		return nil
	}
	others := int64(0)
	for i, f := range p.ByIdentity {
		is := who.Identity(i)
		what := countedText(f.Clients, is)
		switch {
		case f.Clients == 0:
			continue
		case is == who.Person && f.Clients == 1:
			what = "1 client that behaves like a person"
		case is == who.Person:
			what = format.Thousands(f.Clients) + " clients that behave like people"
		case f.ClientsHit == 0:
			others += f.Clients
			continue
		}
		texts = append(texts, fmt.Sprintf("%s of %s: %s of %s refused", format.Thousands(f.ClientsHit), what,
			format.Thousands(f.Refused), format.Count(f.Requests, "request")))
	}
	switch {
	case others == 0:
	case texts == nil:
		texts = append(texts, "0 of "+format.Count(others, "client"))
	default:
		texts = append(texts, fmt.Sprintf("0 of %s others", format.Thousands(others)))
	}
	return texts
}

// write writes what a policy does, and how nginx is told; what it means, unless that was written of another one of its
// kind.
func (p *Policy) write(w *document.Writer, m *Model, means bool) {
	w.Heading(2, p.Policy, Headline(p))
	if m.Detailed == 1 || w.Page != nil {
		if shown := int64(len(p.TopClients)); shown > 0 {
			w.Table(ClientTable(m, p))
			if shown < p.ClientsHit {
				w.Note(fmt.Sprintf("%s more (--top %d)", format.Thousands(p.ClientsHit-shown), p.ClientsHit))
			}
		}
		if len(p.TopActions) > 0 {
			w.Table(ActionTable(p))
		}
		w.Space()
	}
	facts := slices.Concat(p.RetryFacts(), p.HarmFacts(m.Input.Span.Layouts()))
	if means {
		facts.Add("means", p.Meanings()...)
	}
	facts.Add("nginx", p.NginxTexts()...)
	w.Facts(facts...)
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
