package advice

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"shadow/escape"
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
		all = append(all, document.Fact{Label: "spare", Text: fmt.Sprintf("%s: at most %s of %s may be hit", p, format.Thousands(p.MayHit(n)), format.Count(n, "client"))})
	}
	all = append(all, document.Fact{Label: "stop", Text: a.Stop.String()}, document.Fact{Label: "chosen on", Text: partText(&s.First)})
	if s.Rest != nil {
		all = append(all, document.Fact{Label: "proven on", Text: partText(s.Rest)})
	}
	if s.Band {
		all = append(all, document.Fact{Label: "band", Text: "stamps are whole seconds: limits keep the promise wherever in its second each request came"})
	}
	if text := s.answerText(); text != "" {
		all = append(all, document.Fact{Label: "answer", Text: text})
	}
	if text := s.leavesText(); text != "" {
		all = append(all, document.Fact{Label: "leaves", Text: text})
	}
	if text := s.nginxText(); text != "" {
		all = append(all, document.Fact{Label: "nginx", Text: text})
	}
	for i, text := range s.Findings {
		all = append(all, document.Fact{Label: document.OnlyFirst(i, "mind"), Text: text})
	}
	return all
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

func (s *Report) Terminal() []byte {
	t := &document.Terminal{View: s.view}
	for _, f := range report.Facts(&report.Model{Input: s.Input}) {
		t.Fact(f)
	}
	for _, w := range s.Warnings {
		t.Entry("warning", w, document.Yellow)
	}
	for i := range s.Answers {
		s.Answers[i].writeTo(t)
	}
	return t.Bytes()
}

func (s *Answer) writeTo(t *document.Terminal) {
	t.WriteByte('\n')
	for _, f := range s.answerFacts() {
		c := document.Dim
		if f.Label == "answer" {
			c = document.Bold
		}
		t.Entry(f.Label, f.Text, c)
	}
	for _, section := range s.sections() {
		fmt.Fprintf(t, "\n%s\n", t.Paint(document.Bold, section.title))
		t.Grid(section.grid)
		for _, note := range section.notes {
			t.Note(note)
		}
	}
	if len(s.Next) > 0 {
		fmt.Fprintf(t, "\n%s\n\n", t.Paint(document.Bold, "To try next"))
		for _, line := range s.Next {
			fmt.Fprintf(t, "  %s\n", escape.Visible(line))
		}
	}
}

func (s *Report) Markdown() []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, "# What should the limit be?\n\n")
	for _, f := range report.Facts(&report.Model{Input: s.Input}) {
		fmt.Fprintf(&b, "- **%s**: %s\n", f.Label, table.MarkdownText(f.Text))
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(&b, "\n> **Warning**: %s\n", table.MarkdownText(w))
	}
	for i := range s.Answers {
		s.Answers[i].markdown(&b)
	}
	return b.Bytes()
}

func (s *Answer) markdown(b *bytes.Buffer) {
	title := "All requests"
	if s.Action != "" {
		title = s.Action
	}
	fmt.Fprintf(b, "\n## %s\n\n", table.MarkdownText(title))
	label := ""
	for _, f := range s.answerFacts() {
		if f.Label != "" {
			label = f.Label
		}
		fmt.Fprintf(b, "- **%s**: %s\n", label, table.MarkdownText(f.Text))
	}
	for _, section := range s.sections() {
		fmt.Fprintf(b, "\n### %s\n", table.MarkdownText(section.title))
		section.grid.Markdown(b)
		for _, note := range section.notes {
			fmt.Fprintf(b, "\n%s\n", table.MarkdownText(note))
		}
	}
	if len(s.Next) > 0 {
		fmt.Fprint(b, "\n### To try next\n\n")
		for _, line := range s.Next {
			fmt.Fprintf(b, "    %s\n", escape.Visible(line))
		}
	}
}

// The suggestions as one rectangular table: a row for each limit, be it chosen, a runner-up or a knee, and for each part
// of the log and group.
var csvHead = []string{
	"action", "limit_kind", "per", "rate", "role", "limit", "n", "proof", "part", "keeps_promise", "group", "clients", "clients_hit", "requests", "refused",
}

func (s *Report) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(csvHead) // into memory
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
	w.Flush()
	return b.Bytes(), w.Error()
}

// csvRows are those of one limit.
func (s *Answer) csvRows(w *csv.Writer, m *Limit, p *Price, role string) {
	parts, figures := []*Part{&s.First, s.Rest}, []*Figures{&p.First, p.Rest}
	refused := func(n *int64) string {
		if n == nil {
			return ""
		}
		return format.Plain(*n)
	}
	proof := ""
	if role == "chosen" {
		proof = m.Proof
	}
	for i := range s.partCount() {
		for g := range suggest.GroupCount {
			total, f := parts[i].ByGroup[g], figures[i].ByGroup[g]
			_ = w.Write([]string{ // into memory
				table.CsvText(s.Action), m.Kind, m.of.PerText(), m.of.RateText(), role, p.Limit, format.Plain(p.N), proof,
				[]string{"first", "rest"}[i], fmt.Sprint(figures[i].Keeps), g.String(),
				format.Plain(total.Clients), format.Plain(f.Hit), format.Plain(total.Requests), refused(f.Refused),
			})
		}
	}
}

// Write writes the report in one of Formats, all of it or nothing.
func (s *Report) Write(w io.Writer, output string) error {
	return document.Write(w, s, output, format.Outputs())
}
