package advice

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"time"

	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/suggest"
	"shadow/sweep"
)

// facts say what is asked, and the answer.
func (s *Answer) facts() (f document.Facts) {
	a := s.Advice
	f.Add("action", s.Action)
	for _, p := range a.Goals {
		n := a.First.Clients.Of(p.Who)
		f.Add("protect", fmt.Sprintf("%s: at most %s of %s may be hit", p, format.Thousands(p.MayHit(n)),
			format.Count(n, "client")))
	}
	f.Add("target", a.Target.String())
	f.Add("chosen on", s.First.text())
	if s.Rest != nil {
		f.Add("validated on", s.Rest.text())
	}
	if s.Band {
		f.Add("band", "timestamps are whole seconds: limits keep the promise wherever in its second each request came")
	}
	if len(s.best) > 0 {
		f = append(f, document.Strong("answer", s.answerText()))
		if a.Scale.One() {
			n := leavesOf(s.best[0].Shape, s.best[0].Steady())
			f.Add("still allows", fmt.Sprintf("at most %s to one client in less than a minute, %s in an hour, %s in a day, "+
				"if it starts afresh and sends as fast as it can",
				format.Count(n[0], "request"), format.Thousands(n[1]), format.Thousands(n[2])))
		}
		f.Add("nginx", s.nginxText())
	}
	f.Add("notes", s.Findings...)
	return f
}

func (p *Part) text() string {
	if p.Requests == 0 {
		return "no requests"
	}
	return fmt.Sprintf("%s to %s UTC: %s from %s", p.From.Format(time.DateTime), p.To.Format(time.DateTime),
		format.Count(p.Requests, "request"), format.Count(p.Clients, "client"))
}

// firstText is what a limit does on the part that limits are chosen on.
func (s *Answer) firstText(c *suggest.Candidate) string {
	p := s.price(&s.parts()[0], c)
	return fmt.Sprintf("hits %s of %s to protect (%s%%), and refuses %s%% of the requests of %s (%s clients)",
		format.Thousands(p.hit), format.Count(p.protected, "client"), p.hitPercent(), p.refusedPercent(), s.Advice.Target,
		p.clients(" of "))
}

// answerText names the best limit and its price.
func (s *Answer) answerText() string {
	b := s.best[0]
	text := s.Best[0] + ", by client: " + s.firstText(&b.Chosen)
	verb := "It holds on the rest"
	switch b.Proof {
	default:
		return text
	case suggest.Fails:
		verb = "It does NOT hold on the rest"
	case suggest.Holds:
	}
	p := s.price(&s.parts()[1], &b.Chosen)
	text += fmt.Sprintf(". %s: %s of %s hit (%s%%), and %s%% refused (%s clients)",
		verb, format.Thousands(p.hit), format.Thousands(p.protected), p.hitPercent(), p.refusedPercent(), p.clients(" of "))
	if b.Proof == suggest.Fails && s.Advice.Keeps(&b.Chosen.Rest, &s.Advice.Rest.Clients) {
		text += " as logged; at other moments within their seconds there may be more"
	}
	if b.Proof == suggest.Fails && b.Both.Limit > 0 {
		both, _ := s.Advice.Text(b, b.Both.Limit)
		text += "; " + both + " keeps the promise on both parts"
	}
	return text
}

// nginxText says whether nginx has the answer, or which bucket it has.
func (s *Answer) nginxText() string {
	best, n := s.best[0], s.Advice.Nginx
	answer, _ := s.Advice.Text(best, best.Steady())
	lack := "nginx has buckets, not windows"
	if best.Kind == sweep.Token {
		lack = "its rates are whole requests per second or minute"
	}
	if n == nil {
		return fmt.Sprintf("no equivalent of %s (%s), nor of the other limits that were tried. Its slowest rate is 1 a "+
			"minute: "+
			"`--kind token --rate 1/m,6/m,1/s` shows what such buckets do", answer, lack)
	}
	text := fmt.Sprintf("%s is this limit", n.Twin.Setting())
	if !n.Answer {
		text = fmt.Sprintf("no equivalent of %s (%s); the best bucket for nginx is %s: %s", answer, lack, n.Limit,
			n.Twin.Setting())
	}
	text += " (" + n.Twin.Deviation + ")"
	if n.Measured.Limit == 0 {
		return text
	}
	text += ". As nginx counts, it " + s.firstText(&n.Measured)
	for _, rest := range s.parts()[1:] {
		p := s.price(&rest, &n.Measured)
		text += fmt.Sprintf("; on the rest %s of %s (%s%%), and %s%% (%s clients)",
			format.Thousands(p.hit), format.Thousands(p.protected), p.hitPercent(), p.refusedPercent(), p.clients(" of "))
	}
	return text
}

// Text writes the report for people.
func (s *Report) Text(w *document.Writer) {
	s.Begin(w, "What should the limit be?", "")
	for i := range s.Answers {
		a := &s.Answers[i]
		w.Part(2, cmp.Or(a.Action, "All requests"))
		w.Facts(a.facts()...)
		for _, section := range a.sections() {
			section.Write(w, 3)
		}
		if len(a.Next) > 0 {
			w.Section(3, "To try next")
			w.Lines(a.Next)
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
				answer.csvRows(w, m, &m.Others[k], role, "")
			}
			answer.csvRows(w, m, m.Chosen, "chosen", m.Proof)
			if m.Knee != nil {
				answer.csvRows(w, m, m.Knee, "knee", "")
			}
		}
	}
	err := w.Flush()
	return b.Bytes(), err
}

// csvRows writes those of one limit.
func (s *Answer) csvRows(w *table.CSV, m *Limit, p *Price, role, proof string) {
	for i, part := range s.parts() {
		figures := part.prices(p)
		for g := range suggest.GroupCount {
			total, f := part.model.ByGroup[g], figures.ByGroup[g]
			row := append(table.Texts(s.Action, m.Kind, m.of.PerText(), m.of.RateText(), role, p.Limit), table.Count(p.N))
			row = append(row, table.Texts(proof, []string{"first", "rest"}[i], fmt.Sprint(figures.Keeps), g.String())...)
			row = append(row, table.Counts(total.Clients, f.Hit, total.Requests)...)
			refused := table.Cell{}
			if f.Refused != nil {
				refused = table.Count(*f.Refused)
			}
			w.Add(append(row, refused)...)
		}
	}
}

// Write writes the report in one of format.Outputs, all of it or nothing.
func (s *Report) Write(w io.Writer, output string) error {
	return document.Write(w, s, s.View, output, format.Outputs())
}
