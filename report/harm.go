package report

import (
	"fmt"

	"shadow/internal/escape"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/who"
	"shadow/replay"
	"shadow/report/document"
	"shadow/report/format"
)

// Harm says what a policy would do to people, and what it would leave to those who abuse.
type Harm struct {
	Pages
	ByClass PerClass[Pages] `json:"by_class"`
	// of browsers that are not disguised; nil: no evidence was gathered
	People  *Pages       `json:"people,omitempty"`
	Lockout *Streak      `json:"longest_lockout"`          // nil when nothing was refused
	Busiest *Streak      `json:"most_admitted_in_an_hour"` // nil when nothing was admitted
	Usage   *ActionUsage `json:"taken"`                    // of the requests of one action; nil unless asked for
}

// Pages are page views, and those that the policy breaks.
type Pages struct {
	PageViews     int64   `json:"page_views"`
	Broken        int64   `json:"page_views_broken"`
	BrokenPercent float64 `json:"page_views_broken_percent"` // of the page views
}

// A Streak is some requests of one client in a row.
type Streak struct {
	Client   string `json:"client"`
	Requests int64  `json:"requests"`
	Span
}

// ActionUsage says what a policy leaves of the requests of one action: guesses at a login, say.
type ActionUsage struct {
	Action   string  `json:"action"`
	Requests int64   `json:"requests"`
	Admitted int64   `json:"admitted"`
	Hour     *Streak `json:"most_admitted_in_an_hour"` // to one client; nil when nothing was admitted
	Day      *Streak `json:"most_admitted_in_a_day"`
}

// harmOf returns the harm that policy i does, nil if it was not counted.
func harmOf(h *replay.Harm, i int, tables *traffic.Tables, p *Population) *Harm {
	if h == nil {
		return nil
	}
	harm := &Harm{Lockout: streakOf(h.Policies[i].Lockout, tables), Busiest: streakOf(h.Policies[i].Busiest, tables)}
	if h.ActionUsage != nil {
		usage := &h.ActionUsage.Policies[i]
		harm.Usage = &ActionUsage{
			Action: h.ActionUsage.Name(), Requests: usage.Requests, Admitted: usage.Admitted,
			Hour: streakOf(usage.Hour, tables), Day: streakOf(usage.Day, tables),
		}
	}
	if p.known != nil {
		harm.People = new(Pages)
	}
	for client := range int32(h.Clients()) {
		class, views, broken := p.Class[client], h.PageViews(client), h.Broken(i, client)
		if class == request.Monitor {
			continue // none reads what it asks for
		}
		harm.add(views, broken)
		harm.ByClass[class].add(views, broken)
		if p.known != nil && who.Browsers.Has(p.known.Of(client)) {
			harm.People.add(views, broken)
		}
	}
	return harm
}

// add adds page views, and those of them that are broken.
func (p *Pages) add(views, broken int64) {
	p.PageViews += views
	p.Broken += broken
	p.BrokenPercent = format.PercentOf(p.Broken, p.PageViews)
}

// streakOf returns nil for a streak without requests.
func streakOf(s replay.Streak, tables *traffic.Tables) *Streak {
	if s.Requests == 0 {
		return nil
	}
	return &Streak{Client: tables.ShownClient(s.Client), Requests: s.Requests, Span: *NewSpan(s.First, s.Last)}
}

// HarmFacts say it in words.
func (p *Policy) HarmFacts(at Layouts) (facts document.Facts) {
	h := p.Harm
	if h == nil {
		return nil
	}
	facts.Add("pages", h.pagesText())
	if s := h.Lockout; s != nil {
		facts.Add("locked out", s.lockoutText(at))
	}
	if s := h.Busiest; s != nil {
		facts.Add("still gets", fmt.Sprintf("%s %s in an hour, from %s, the most of all clients",
			s.Client, format.Count(s.Requests, "request"), s.First.Format(at.Second)))
	}
	if h.Usage != nil {
		facts.Add("guesses", h.Usage.text(at))
	}
	return facts
}

// pagesText tells of page views broken, first of those that matter: of people, if evidence tells who they are.
func (h *Harm) pagesText() string {
	if h.People != nil {
		return fmt.Sprintf("%s of clients that behave like browsers broken; of all clients %s", h.People.text(" page view"),
			h.Pages.text(""))
	}
	text := h.Pages.text(" page view") + " broken"
	if browsers := h.ByClass[request.Browser]; browsers.PageViews < h.PageViews {
		text += "; of clients that claim to be browsers " + browsers.text("")
	}
	return text
}

// text writes how many page views are broken, of how many; noun is "" or " page view".
func (p *Pages) text(noun string) string {
	if noun != "" {
		noun = format.Plural(int(p.PageViews), noun)
	}
	return fmt.Sprintf("%s of %s%s (%s)", format.Thousands(p.Broken), format.Thousands(p.PageViews), noun,
		format.Percentage(p.BrokenPercent))
}

// lockoutText says how long the longest lock-out was, if it was longer than a moment.
func (s *Streak) lockoutText(at Layouts) string {
	switch first := s.First.Format(at.Second); {
	case s.Requests == 1:
		return fmt.Sprintf("not longer than one request; the first such is of %s at %s", s.Client, first)
	case s.First == s.Last:
		return fmt.Sprintf("%s at %s, %s in a row, all with that timestamp", s.Client, first,
			format.Count(s.Requests, "request"))
	default:
		return fmt.Sprintf("%s for %s from %s, %s in a row", s.Client, format.Span(s.Length()), first,
			format.Count(s.Requests, "request"))
	}
}

func (t *ActionUsage) text(at Layouts) string {
	text := fmt.Sprintf("%s of %s of %s admitted", format.Thousands(t.Admitted), format.Count(t.Requests, "request"),
		escape.Visible(t.Action))
	if t.Hour == nil {
		return text
	}
	text += fmt.Sprintf("; the most to one client in an hour: %s to %s, from %s", format.Thousands(t.Hour.Requests),
		t.Hour.Client, t.Hour.First.Format(at.Second))
	if t.Day.Requests == t.Hour.Requests {
		return text + ", and no more in a day"
	}
	return text + fmt.Sprintf("; in a day: %s to %s", format.Thousands(t.Day.Requests), t.Day.Client)
}
