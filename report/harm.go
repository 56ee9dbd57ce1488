package report

import (
	"fmt"

	"shadow/replay"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/request"
	"shadow/traffic/intern"
)

// Harm is what a policy would do to people, and what it would leave to those who abuse. docs/report.md defines it.
type Harm struct {
	Pages
	ByClass Pagewise `json:"by_class"`
	People  *Pages   `json:"people,omitempty"`         // of browsers that are not disguised; nil: no evidence was gathered
	Lockout *Stretch `json:"longest_lockout"`          // nil when nothing was refused
	Busiest *Stretch `json:"most_admitted_in_an_hour"` // nil when nothing was admitted
	Taken   *Taken   `json:"taken"`                    // of the requests of one action; nil unless asked for
}

// Pages are page views, and those that the policy breaks.
type Pages struct {
	PageViews     int64   `json:"page_views"`
	Broken        int64   `json:"page_views_broken"`
	BrokenPercent float64 `json:"page_views_broken_percent"` // of the page views
}

// Pagewise has the classes of clients in their order.
type Pagewise [request.ClassCount]Pages

// MarshalJSON writes an object with a key per class, in their order.
func (p Pagewise) MarshalJSON() ([]byte, error) { return format.EachJSON[request.Class](p[:]) }

// A Stretch is some requests of one client in a row.
type Stretch struct {
	Client   string        `json:"client"`
	Requests int64         `json:"requests"`
	First    format.Moment `json:"first"`
	Last     format.Moment `json:"last"`
	Seconds  float64       `json:"seconds"`
}

// harmOf is the harm that policy i does, nil if nobody looked.
func harmOf(h *replay.Harm, i int, clients *intern.Dict, who *Population, b *Jury) *Harm {
	if h == nil {
		return nil
	}
	p := &h.Policies[i]
	harm := &Harm{Lockout: stretchOf(p.Lockout, clients), Busiest: stretchOf(p.Busiest, clients), Taken: takenOf(h.Taken, i, clients)}
	for client := range int32(h.Clients()) {
		if who.Class[client] != request.Monitor { // nobody looks at what it asks for
			harm.ByClass[who.Class[client]].add(h, i, client)
		}
	}
	for class := range harm.ByClass {
		pages := &harm.ByClass[class]
		harm.PageViews += pages.PageViews
		harm.Broken += pages.Broken
		pages.BrokenPercent = format.PercentOf(pages.Broken, pages.PageViews)
	}
	harm.BrokenPercent = format.PercentOf(harm.Broken, harm.PageViews)
	harm.People = peopleHarmed(h, i, who, b)
	return harm
}

// peopleHarmed are the page views of browsers that are not disguised, nil where nobody knows.
func peopleHarmed(h *replay.Harm, i int, who *Population, b *Jury) *Pages {
	if b == nil {
		return nil
	}
	p := new(Pages)
	for client := range int32(h.Clients()) {
		if who.Class[client] == request.Browser && !b.Disguised[client] {
			p.add(h, i, client)
		}
	}
	p.BrokenPercent = format.PercentOf(p.Broken, p.PageViews)
	return p
}

// add counts the page views of a client, and those that policy i breaks.
func (p *Pages) add(h *replay.Harm, i int, client int32) {
	p.PageViews += h.PageViews(client)
	p.Broken += h.Broken(i, client)
}

func stretchOf(s replay.Stretch, clients *intern.Dict) *Stretch {
	if s.Requests == 0 {
		return nil
	}
	return &Stretch{
		Client: clients.Name(s.Client), Requests: s.Requests, First: format.Moment(s.First), Last: format.Moment(s.Last), Seconds: format.InSeconds(s.Last - s.First),
	}
}

// HarmFacts say it in words.
func (p *Policy) HarmFacts(at Layouts) (facts []document.Fact) {
	h := p.Harm
	if h == nil {
		return nil
	}
	facts = append(facts, document.Fact{Label: "pages", Text: h.pagesText()})
	if s := h.Lockout; s != nil {
		facts = append(facts, document.Fact{Label: "locked out", Text: s.lockoutText(at)})
	}
	if s := h.Busiest; s != nil {
		facts = append(facts, document.Fact{Label: "still gets", Text: fmt.Sprintf("%s %s in an hour, from %s, the most of all clients",
			s.Client, format.Count(s.Requests, "request"), s.First.Format(at.Second))})
	}
	if h.Taken != nil {
		facts = append(facts, document.Fact{Label: "guesses", Text: h.Taken.text(at)})
	}
	return facts
}

// pagesText tells of page views broken, first of those that matter: of people, if evidence tells who they are.
func (h *Harm) pagesText() string {
	if h.People != nil {
		return fmt.Sprintf("%s of browsers that are not disguised broken; of all clients %s", h.People.text("page view"), h.Pages.text(""))
	}
	text := h.Pages.text("page view") + " broken"
	if browsers := h.ByClass[request.Browser]; browsers.PageViews < h.PageViews {
		text += "; of clients that claim to be browsers " + browsers.text("")
	}
	return text
}

// lockoutText says how long the longest lock-out was, if it was longer than a moment.
func (s *Stretch) lockoutText(at Layouts) string {
	switch first := s.First.Format(at.Second); {
	case s.Requests == 1:
		return fmt.Sprintf("nobody for longer than one request; the first such is of %s at %s", s.Client, first)
	case s.First == s.Last:
		return fmt.Sprintf("%s at %s, %s in a row, all with that time stamp", s.Client, first, format.Count(s.Requests, "request"))
	default:
		return fmt.Sprintf("%s for %s from %s, %s in a row", s.Client, format.Span(format.OfSeconds(&s.Seconds)), first, format.Count(s.Requests, "request"))
	}
}

func (p *Pages) text(noun string) string {
	of := format.Thousands(p.PageViews)
	if noun != "" {
		of = format.Count(p.PageViews, noun)
	}
	return fmt.Sprintf("%s of %s (%s%%)", format.Thousands(p.Broken), of, format.Percent(p.BrokenPercent))
}
