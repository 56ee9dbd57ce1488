package report

import (
	"fmt"

	"shadow/replay"
	"shadow/traffic"
)

// Harm is what a policy would do to people, and what it would leave to those who abuse. docs/report.md defines it.
type Harm struct {
	Pages
	ByClass Pagewise `json:"by_class"`
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
type Pagewise [traffic.ClassCount]Pages

// MarshalJSON writes an object with a key per class, in their order.
func (p Pagewise) MarshalJSON() ([]byte, error) { return marshalClasses(p[:]) }

// A Stretch is some requests of one client in a row.
type Stretch struct {
	Client   string  `json:"client"`
	Requests int64   `json:"requests"`
	First    Moment  `json:"first"`
	Last     Moment  `json:"last"`
	Seconds  float64 `json:"seconds"`
}

// harmOf is the harm that policy i does, nil if nobody looked.
func harmOf(h *replay.Harm, i int, clients *traffic.Dict, who *population) *Harm {
	if h == nil {
		return nil
	}
	p := &h.Policies[i]
	harm := &Harm{Lockout: stretchOf(p.Lockout, clients), Busiest: stretchOf(p.Busiest, clients), Taken: takenOf(h.Taken, i, clients)}
	for client := range int32(h.Clients()) {
		class := &harm.ByClass[who.class[client]]
		class.PageViews += h.PageViews(client)
		class.Broken += h.Broken(i, client)
	}
	for class := range harm.ByClass {
		pages := &harm.ByClass[class]
		harm.PageViews += pages.PageViews
		harm.Broken += pages.Broken
		pages.BrokenPercent = percentOf(pages.Broken, pages.PageViews)
	}
	harm.BrokenPercent = percentOf(harm.Broken, harm.PageViews)
	return harm
}

func stretchOf(s replay.Stretch, clients *traffic.Dict) *Stretch {
	if s.Requests == 0 {
		return nil
	}
	return &Stretch{
		Client: clients.Name(s.Client), Requests: s.Requests, First: Moment(s.First), Last: Moment(s.Last), Seconds: inSeconds(s.Last - s.First),
	}
}

// harmFacts say it in words.
func (p *Policy) harmFacts(at layouts) (facts []fact) {
	h := p.Harm
	if h == nil {
		return nil
	}
	text := h.Pages.text("page view") + " broken"
	if browsers := h.ByClass[traffic.Browser]; browsers.PageViews < h.PageViews {
		text += "; of browsers " + browsers.text("")
	}
	facts = append(facts, fact{label: "pages", text: text})
	if s := h.Lockout; s != nil {
		facts = append(facts, fact{label: "locked out", text: s.lockoutText(at)})
	}
	if s := h.Busiest; s != nil {
		facts = append(facts, fact{label: "still gets", text: fmt.Sprintf("%s %s in an hour, from %s, the most of all clients",
			s.Client, count(s.Requests, "request"), s.First.format(at.second))})
	}
	if h.Taken != nil {
		facts = append(facts, fact{label: "guesses", text: h.Taken.text(at)})
	}
	return facts
}

// lockoutText says how long the longest lock-out was, if it was longer than a moment.
func (s *Stretch) lockoutText(at layouts) string {
	switch first := s.First.format(at.second); {
	case s.Requests == 1:
		return fmt.Sprintf("nobody for longer than one request; the first such is of %s at %s", s.Client, first)
	case s.First == s.Last:
		return fmt.Sprintf("%s at %s, %s in a row, all with that time stamp", s.Client, first, count(s.Requests, "request"))
	default:
		return fmt.Sprintf("%s for %s from %s, %s in a row", s.Client, span(seconds(&s.Seconds)), first, count(s.Requests, "request"))
	}
}

func (p *Pages) text(noun string) string {
	of := thousands(p.PageViews)
	if noun != "" {
		of = count(p.PageViews, noun)
	}
	return fmt.Sprintf("%s of %s (%s%%)", thousands(p.Broken), of, percent(p.BrokenPercent))
}
