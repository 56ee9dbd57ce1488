package advice

import (
	"fmt"
	"io"
	"time"

	"shadow/internal/traffic/who"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
)

// facts say what was asked, and what is notable.
func (s *Answer) facts() (f document.Facts) {
	a := s.Advice
	for _, p := range a.Goals {
		for _, part := range s.parts()[:min(2, len(s.parts()))] {
			n := part.of.Clients.Of(p.Who)
			f.Add("protect", fmt.Sprintf("%s: of the %s part at most %s of %s may be hit", p, part.name,
				format.Thousands(p.MayHit(n)), format.Count(n, "client")))
		}
	}
	f.Add("target", a.Target.String())
	f.Add("chosen on", s.First.text(), s.Second.text())
	f.Add("validated on", s.Rest.text())
	if s.Band {
		f.Add("band", "timestamps are whole seconds: limits keep the promise wherever in its second each request came")
	}
	f.Add("notes", s.Notes...)
	return f
}

// text returns "" for no part.
func (p *Part) text() string {
	if p == nil {
		return ""
	}
	if p.Requests == 0 {
		return "no requests"
	}
	return fmt.Sprintf("%s to %s UTC: %s from %s", p.From.Format(time.DateTime), p.To.Format(time.DateTime),
		format.Count(p.Requests, "request"), format.Count(p.Clients, "client"))
}

// Schema implements document.Report.
func (s *Report) Schema() format.Schema { return format.SuggestSchema }

// Text writes the report for people: the answer in short and, if wanted, all that was tried.
func (s *Report) Text(w *document.Writer) {
	w.Title("What should the limit be?")
	if s.Details {
		s.Begin(w, "")
	}
	for i := range s.Answers {
		a := &s.Answers[i]
		s.brief(w, a)
		if !s.Details {
			continue
		}
		w.Space()
		w.Facts(a.facts()...)
		for _, section := range a.sections() {
			section.Write(w, 3)
		}
	}
}

// The suggestions as one rectangular table: a row for each limit, be it chosen, a runner-up or a knee, and for each
// part of the log and group.
var csvHead = []string{
	"action", "limit_kind", "per", "rate", "role", "limit", "n", "proof", "part", "keeps_promise", "group", "clients",
	"clients_hit", "requests", "refused",
}

// CSV writes the suggestions for programs.
func (s *Report) CSV(w io.Writer) error {
	c := table.NewCSV(w, csvHead...)
	for i := range s.Answers {
		answer := &s.Answers[i]
		for j := range answer.Suggestions {
			m := &answer.Suggestions[j]
			if m.Chosen == nil {
				continue
			}
			for k := range m.Others {
				role := "stricter"
				if m.Others[k].N > m.Chosen.N {
					role = "kinder"
				}
				answer.csvRows(c, m, &m.Others[k], role, "")
			}
			answer.csvRows(c, m, m.Chosen, "chosen", m.Proof)
			if m.Knee != nil {
				answer.csvRows(c, m, m.Knee, "knee", "")
			}
		}
	}
	return c.Flush()
}

// csvRows writes those of one limit.
func (s *Answer) csvRows(c *table.CSV, m *Limit, p *Price, role, proof string) {
	for _, part := range s.parts() {
		figures := p.of(part.index)
		for g := range who.Count {
			f := figures.ByGroup[g]
			row := append(table.Texts(s.Action, m.Kind, m.of.PerText(), m.of.RateText(), role, p.Limit), table.Count(p.N))
			row = append(row, table.Texts(proof, part.name, fmt.Sprint(figures.Keeps), g.String())...)
			row = append(row, table.Counts(part.of.Clients[g], f.Hit, part.of.Requests[g])...)
			refused := table.Cell{}
			if f.Refused != nil {
				refused = table.Count(*f.Refused)
			}
			c.Add(append(row, refused)...)
		}
	}
}

// Write writes the report in one of format.PageOutputs, all of it or nothing.
func (s *Report) Write(w io.Writer, output string) error {
	if output == "html" {
		return s.page().Write(w)
	}
	return document.Write(w, s, s.View, output, format.PageOutputs())
}
