package advice

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/suggest"
)

// answerFacts say what is asked, and the answer.
func (s *Answer) answerFacts() []document.Fact {
	a := s.Advice
	var all []document.Fact
	if s.Action != "" {
		all = append(all, document.Fact{Label: "action", Text: s.Action})
	}
	for _, p := range a.Promises {
		n := a.First.Clients.Of(p.Who)
		all = append(all, document.Fact{Label: "protect", Text: fmt.Sprintf("%s: at most %s of %s may be hit", p, format.Thousands(p.MayHit(n)), format.Count(n, "client"))})
	}
	all = append(all, document.Fact{Label: "target", Text: a.Stop.String()}, document.Fact{Label: "chosen on", Text: partText(&s.First)})
	if s.Rest != nil {
		all = append(all, document.Fact{Label: "proven on", Text: partText(s.Rest)})
	}
	if s.Band {
		all = append(all, document.Fact{Label: "band", Text: "stamps are whole seconds: limits keep the promise wherever in its second each request came"})
	}
	if text := s.answerText(); text != "" {
		all = append(all, document.Strong("answer", text))
	}
	if text := s.leavesText(); text != "" {
		all = append(all, document.Fact{Label: "leaves", Text: text})
	}
	if text := s.nginxText(); text != "" {
		all = append(all, document.Fact{Label: "nginx", Text: text})
	}
	return append(all, document.Same("mind", s.Findings...)...)
}

func partText(p *Part) string {
	const layout = "2006-01-02 15:04:05"
	if p.Requests == 0 {
		return "no requests"
	}
	return fmt.Sprintf("%s to %s UTC: %s from %s", p.From.Format(layout), p.To.Format(layout), format.Count(p.Requests, "request"), format.Count(p.Clients, "client"))
}

// answerText names the best limit and its price, "" if there is none.
func (s *Answer) answerText() string {
	best := s.Advice.BestOfAll()
	if len(best) == 0 {
		return ""
	}
	b := best[0]
	text, _ := s.Advice.Text(b, b.Chosen.Limit)
	cells := s.priceCells(&b.Chosen)
	text += fmt.Sprintf(", by client: hits %s of %s to spare (%s%%), and refuses %s%% of the requests of %s (%s clients)",
		cells[0], format.Count(s.sparedClients(s.Advice.First), "client"), cells[1], cells[2], s.Advice.Stop, strings.Replace(cells[3], "/", " of ", 1))
	switch b.Proof {
	case suggest.Holds, suggest.Fails:
		verb := "It holds on the rest"
		if b.Proof == suggest.Fails {
			verb = "It does NOT hold on the rest"
		}
		text += fmt.Sprintf(". %s: %s of %s hit (%s%%), and %s%% refused (%s clients)",
			verb, cells[4], format.Thousands(s.sparedClients(s.Advice.Rest)), cells[5], cells[6], strings.Replace(cells[7], "/", " of ", 1))
	}
	if b.Proof == suggest.Fails && s.Advice.Keeps(&b.Chosen.Rest, &s.Advice.Rest.Clients) {
		text += " as logged; where requests came at other moments of their seconds there may be more"
	}
	if b.Proof == suggest.Fails && b.Both.Limit > 0 {
		both, _ := s.Advice.Text(b, b.Both.Limit)
		text += "; " + both + " keeps the promise on both parts"
	}
	return text
}

func (s *Answer) sparedClients(p *suggest.Part) int64 {
	spared := suggest.Set(0)
	for _, promise := range s.Advice.Promises {
		spared |= promise.Who
	}
	return p.Clients.Of(spared)
}

// Text writes the report for people.
func (s *Report) Text(w document.Writer) {
	w.Title("What should the limit be?")
	w.Facts(report.Facts(&report.Model{Input: s.Input})...)
	w.Warnings(s.Warnings)
	for i := range s.Answers {
		s.Answers[i].text(w)
	}
}

func (s *Answer) text(w document.Writer) {
	w.Part(2, cmp.Or(s.Action, "All requests"))
	w.Facts(s.answerFacts()...)
	for _, section := range s.sections() {
		section.Write(w, 3)
	}
	if len(s.Next) > 0 {
		w.Section(3, "To try next")
		w.Lines(s.Next)
	}
}

// The suggestions as one rectangular table: a row for each limit, be it chosen, a runner-up or a knee, and for each
// part of the log and group.
var csvHead = []string{
	"action", "limit_kind", "per", "rate", "role", "limit", "n", "proof", "part", "keeps_promise", "group", "clients", "clients_hit", "requests", "refused",
}

// CSV writes the suggestions for programs.
func (s *Report) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := table.NewCSV(&b, csvHead...)
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
				answer.csvRows(w, m, &m.Others[k], role)
			}
			answer.csvRows(w, m, m.Chosen, "chosen")
			if m.Knee != nil {
				answer.csvRows(w, m, m.Knee, "knee")
			}
		}
	}
	err := w.Flush()
	return b.Bytes(), err
}

// csvRows writes those of one limit.
func (s *Answer) csvRows(w *table.CSV, m *Limit, p *Price, role string) {
	parts, figures := []*Part{&s.First, s.Rest}, []*Figures{&p.First, p.Rest}
	proof := ""
	if role == "chosen" {
		proof = m.Proof
	}
	for i := range s.partCount() {
		for g := range suggest.GroupCount {
			total, f := parts[i].ByGroup[g], figures[i].ByGroup[g]
			row := append(table.Texts(s.Action, m.Kind, m.of.PerText(), m.of.RateText(), role, p.Limit), table.Count(p.N))
			row = append(row, table.Texts(proof, []string{"first", "rest"}[i], fmt.Sprint(figures[i].Keeps), g.String())...)
			row = append(row, table.Counts(total.Clients, f.Hit, total.Requests)...)
			refused := table.Cell{}
			if f.Refused != nil {
				refused = table.Count(*f.Refused)
			}
			w.Add(append(row, refused)...)
		}
	}
}

// Write writes the report in one of Formats, all of it or nothing.
func (s *Report) Write(w io.Writer, output string) error {
	return document.Write(w, s, s.view, output, format.Outputs())
}
