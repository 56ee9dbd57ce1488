package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"

	"shadow/suggest"
)

// answerFacts say what is asked, and the answer.
func (s *SuggestAnswer) answerFacts() []fact {
	a := s.Advice
	var all []fact
	if s.Action != "" {
		all = append(all, fact{label: "action", text: s.Action})
	}
	for _, p := range a.Promises {
		n := a.First.Clients.Of(p.Who)
		all = append(all, fact{label: "spare", text: fmt.Sprintf("%s: at most %s of %s may be hit", p, thousands(p.MayHit(n)), count(n, "client"))})
	}
	all = append(all, fact{label: "stop", text: a.Stop.String()}, fact{label: "chosen on", text: partText(&s.First)})
	if s.Rest != nil {
		all = append(all, fact{label: "proven on", text: partText(s.Rest)})
	}
	if s.Band {
		all = append(all, fact{label: "band", text: "stamps are whole seconds: limits keep the promise wherever in its second each request came"})
	}
	if text := s.answerText(); text != "" {
		all = append(all, fact{label: "answer", text: text})
	}
	if text := s.leavesText(); text != "" {
		all = append(all, fact{label: "leaves", text: text})
	}
	if text := s.nginxText(); text != "" {
		all = append(all, fact{label: "nginx", text: text})
	}
	for i, text := range s.Findings {
		all = append(all, fact{label: onlyFirst(i, "mind"), text: text})
	}
	return all
}

func partText(p *SuggestPart) string {
	const layout = "2006-01-02 15:04:05"
	if p.Requests == 0 {
		return "no requests"
	}
	return fmt.Sprintf("%s to %s UTC: %s from %s", p.From.format(layout), p.To.format(layout), count(p.Requests, "request"), count(p.Clients, "client"))
}

// answerText names the best limit and its price, "" if there is none.
func (s *SuggestAnswer) answerText() string {
	best := s.Advice.BestOfAll()
	if len(best) == 0 {
		return ""
	}
	b := best[0]
	text, _ := s.Advice.Text(b, b.Chosen.Limit)
	cells := s.priceCells(&b.Chosen)
	text += fmt.Sprintf(", by client: hits %s of %s to spare (%s%%), and refuses %s%% of the requests of %s (%s clients)",
		cells[0], count(s.sparedClients(s.Advice.First), "client"), cells[1], cells[2], s.Advice.Stop, strings.Replace(cells[3], "/", " of ", 1))
	switch b.Proof {
	case suggest.Holds, suggest.Fails:
		verb := "It holds on the rest"
		if b.Proof == suggest.Fails {
			verb = "It does NOT hold on the rest"
		}
		text += fmt.Sprintf(". %s: %s of %s hit (%s%%), and %s%% refused (%s clients)",
			verb, cells[4], thousands(s.sparedClients(s.Advice.Rest)), cells[5], cells[6], strings.Replace(cells[7], "/", " of ", 1))
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

func (s *SuggestAnswer) sparedClients(p *suggest.Part) int64 {
	spared := suggest.Set(0)
	for _, promise := range s.Advice.Promises {
		spared |= promise.Who
	}
	return p.Clients.Of(spared)
}

func (s *Suggest) table() []byte {
	t := &terminal{view: s.view}
	for _, f := range facts(&Model{Input: s.Input}) {
		t.fact(f)
	}
	for _, w := range s.Warnings {
		t.entry("warning", w, yellow)
	}
	for i := range s.Answers {
		t.answer(&s.Answers[i])
	}
	return t.Bytes()
}

func (t *terminal) answer(s *SuggestAnswer) {
	t.WriteByte('\n')
	for _, f := range s.answerFacts() {
		c := dim
		if f.label == "answer" {
			c = bold
		}
		t.entry(f.label, f.text, c)
	}
	for _, section := range s.sections() {
		fmt.Fprintf(t, "\n%s\n", t.paint(bold, section.title))
		t.grid(section.grid)
		for _, note := range section.notes {
			t.note(note)
		}
	}
	if len(s.Next) > 0 {
		fmt.Fprintf(t, "\n%s\n\n", t.paint(bold, "To try next"))
		for _, line := range s.Next {
			fmt.Fprintf(t, "  %s\n", visible(line))
		}
	}
}

// note writes a sentence about a table.
func (t *terminal) note(text string) {
	lines := []string{visible(text)}
	if t.width > 0 {
		lines = wrap(lines[0], t.width)
	}
	for _, line := range lines {
		fmt.Fprintf(t, "%s\n", t.paint(dim, line))
	}
}

func (s *Suggest) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, "# What should the limit be?\n\n")
	for _, f := range facts(&Model{Input: s.Input}) {
		fmt.Fprintf(&b, "- **%s**: %s\n", f.label, markdownText(f.text))
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(&b, "\n> **Warning**: %s\n", markdownText(w))
	}
	for i := range s.Answers {
		s.Answers[i].markdown(&b)
	}
	return b.Bytes()
}

func (s *SuggestAnswer) markdown(b *bytes.Buffer) {
	title := "All requests"
	if s.Action != "" {
		title = s.Action
	}
	fmt.Fprintf(b, "\n## %s\n\n", markdownText(title))
	label := ""
	for _, f := range s.answerFacts() {
		if f.label != "" {
			label = f.label
		}
		fmt.Fprintf(b, "- **%s**: %s\n", label, markdownText(f.text))
	}
	for _, section := range s.sections() {
		fmt.Fprintf(b, "\n### %s\n", markdownText(section.title))
		section.grid.markdown(b)
		for _, note := range section.notes {
			fmt.Fprintf(b, "\n%s\n", markdownText(note))
		}
	}
	if len(s.Next) > 0 {
		fmt.Fprint(b, "\n### To try next\n\n")
		for _, line := range s.Next {
			fmt.Fprintf(b, "    %s\n", visible(line))
		}
	}
}

// The suggestions as one rectangular table: a row for each limit, be it chosen, a runner-up or a knee, and for each part
// of the log and group.
var suggestHead = []string{
	"action", "limit_kind", "per", "rate", "role", "limit", "n", "proof", "part", "keeps_promise", "group", "clients", "clients_hit", "requests", "refused",
}

func (s *Suggest) csv() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(suggestHead) // into memory
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
func (s *SuggestAnswer) csvRows(w *csv.Writer, m *SuggestLimit, p *SuggestPrice, role string) {
	parts, figures := []*SuggestPart{&s.First, s.Rest}, []*SuggestFigures{&p.First, p.Rest}
	refused := func(n *int64) string {
		if n == nil {
			return ""
		}
		return plain(*n)
	}
	proof := ""
	if role == "chosen" {
		proof = m.Proof
	}
	for i := range s.partCount() {
		for g := range suggest.GroupCount {
			total, f := parts[i].ByGroup[g], figures[i].ByGroup[g]
			_ = w.Write([]string{ // into memory
				csvText(s.Action), m.Kind, perText(&m.of.Shape), rateOf(&m.of.Shape), role, p.Limit, plain(p.N), proof,
				[]string{"first", "rest"}[i], fmt.Sprint(figures[i].Keeps), g.String(),
				plain(total.Clients), plain(f.Hit), plain(total.Requests), refused(f.Refused),
			})
		}
	}
}
