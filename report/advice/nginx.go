package advice

import (
	"fmt"
	"strings"

	"shadow/report/format"
	"shadow/suggest"
	"shadow/sweep"
)

// What nginx is to be told, and what that does: nginx has no windows, and its buckets count in milliseconds and in
// whole thousandths of a request per second.

// Nginx is what nginx is to be told. Key, Note, HTTP and Place must be there; NewSuggest fills in the rest.
type Nginx struct {
	Limit     string   `json:"limit"`     // the bucket, as --limit takes it
	Answer    bool     `json:"is_answer"` // whether that is the answer itself
	Replay    string   `json:"replay_as"` // the same as nginx counts, as --limit takes it
	Rate      string   `json:"rate"`      // 6r/m
	Burst     int64    `json:"burst"`
	Deviation string   `json:"deviation"`
	Key       string   `json:"key"`      // a variable of nginx; "": which one is not known
	Note      string   `json:"note"`     // about the key
	HTTP      []string `json:"http"`     // lines of the http block
	Place     []string `json:"location"` // lines of the place that serves the requests
	First     *Figures `json:"first"`    // as nginx counts; nil: not measured
	Rest      *Figures `json:"rest"`
}

func (m *Nginx) fill(a *suggest.Advice) {
	n := a.Nginx
	m.Limit, m.Answer, m.Replay, m.Deviation = n.Limit, n.Answer, n.Twin.Limit(), n.Twin.Deviation
	m.Rate, m.Burst = n.Twin.Rate, n.Twin.Burst
	if n.Measured.Limit == 0 {
		return
	}
	first := figuresOf(a, &n.Measured.First, a.First)
	m.First = &first
	if a.Rest != nil {
		rest := figuresOf(a, &n.Measured.Rest, a.Rest)
		m.Rest = &rest
	}
}

// nginxText says whether nginx has the answer, or which bucket it has; "" without an answer.
func (s *Answer) nginxText() string {
	a := s.Advice
	best := a.BestOfAll()
	if len(best) == 0 {
		return ""
	}
	answer, _ := a.Text(best[0], best[0].Steady())
	n := a.Nginx
	if n == nil {
		return fmt.Sprintf("has nothing like %s (%s), and none of the other limits that were tried. Its slowest rate is 1 a minute, in buckets: "+
			"`--kind token --rate 1/m,6/m,1/s` tells what those would do", answer, nginxLack(best[0]))
	}
	text := fmt.Sprintf("%s is this limit", n.Twin.Setting())
	if !n.Answer {
		text = fmt.Sprintf("has nothing like %s (%s); the best bucket that it has is %s: %s", answer, nginxLack(best[0]), n.Limit, n.Twin.Setting())
	}
	text += " (" + n.Twin.Deviation + ")"
	if n.Measured.Limit == 0 {
		return text
	}
	return text + ". As nginx counts, it " + s.priceText(&n.Measured)
}

// nginxLack is why nginx does not have a limit.
func nginxLack(s *suggest.Suggestion) string {
	if s.Kind == sweep.Token {
		return "its rates are whole requests per second or minute"
	}
	return "it does not count in windows"
}

// priceText is what a limit does on both parts.
func (s *Answer) priceText(c *suggest.Candidate) string {
	cells := s.priceCells(c)
	text := fmt.Sprintf("hits %s of %s to spare (%s%%), and refuses %s%% of the requests of %s (%s clients)",
		cells[0], format.Count(s.sparedClients(s.Advice.First), "client"), cells[1], cells[2], s.Advice.Stop, strings.Replace(cells[3], "/", " of ", 1))
	if s.Rest != nil {
		text += fmt.Sprintf("; on the rest %s of %s (%s%%), and %s%% (%s clients)",
			cells[4], format.Thousands(s.sparedClients(s.Advice.Rest)), cells[5], cells[6], strings.Replace(cells[7], "/", " of ", 1))
	}
	return text
}
