package findings

import (
	"fmt"

	"shadow/internal/request"
	"shadow/internal/traffic/who"
	"shadow/report/format"
)

// A Site is what a log is the log of, by those who use it.
type Site uint8

// The kinds of sites.
const (
	Unclear Site = iota // no client uses it, or most users say nothing of themselves
	People              // browsers use it
	API                 // tools, libraries or an app do
)

var siteNames = [...]string{Unclear: "unknown", People: "people", API: "api"}

// String is the kind as JSON has it.
func (s Site) String() string { return siteNames[s] }

// Text is the kind in words.
func (s Site) Text() string {
	return [...]string{Unclear: "clients unknown", People: "a site for people", API: "an API or app"}[s]
}

// MarshalText writes the kind as JSON has it.
func (s Site) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A party is some of those who use a site.
type party struct{ clients, requests int64 }

// add counts a client.
func (p *party) add(requests int64) { p.clients++; p.requests += requests }

// most reports whether a party is most of itself and others together: of the clients and of the requests, or nearly all
// of either.
func (p party) most(others party) bool {
	clients, requests := p.clients+others.clients, p.requests+others.requests
	return 2*p.clients > clients && 2*p.requests > requests ||
		10*p.clients > 9*clients || 10*p.requests > 9*requests && 4*p.clients > clients
}

// users counts the clients of a site: browsers, tools and apps, and clients that do not say what they are.
type users struct{ browsers, programs, silent party }

// site says whose site it is. Of programs there must be some, unless there are no other users.
func (u *users) site() Site {
	speaking := party{u.browsers.clients + u.programs.clients, u.browsers.requests + u.programs.requests}
	switch {
	case speaking.clients == 0, u.silent.most(speaking):
		return Unclear
	case u.browsers.clients == 0, u.programs.clients >= leastPrograms && u.programs.most(u.browsers):
		return API
	}
	return People
}

// leastOfUse is the number of requests that show that a program uses a site that people read.
const leastOfUse = 3

// leastPrograms is the number of clients that must be programs for a site to be theirs.
const leastPrograms = 3

// users counts those that are answered. No client counts for more than a hundredth of all requests, so that none
// decides alone. Crawlers and monitors use no site.
func (l *clients) users() (u users) {
	most, readers := max(1, l.total/heavyShare), l.census.Tally()[who.Person].Clients
	for id := range int32(l.all.Len()) {
		c := l.all.At(id)
		if is := l.is(id); c.is(c.errors, 50) || is == who.Attacker || is == who.Own || is == who.Monitor {
			continue
		}
		browser, silent := int64(c.classes[request.Browser]), int64(c.nameless)
		program := int64(c.classes[request.Tool]+c.classes[request.Unknown]) - silent
		switch n := max(browser, program, silent); {
		case n == 0:
		case n == browser:
			u.browsers.add(min(n, most))
		case n == program && n < leastOfUse && readers >= mustClients: // who looks in once is no user of an API beside a site
		case n == program:
			u.programs.add(min(n, most))
		default:
			u.silent.add(min(n, most))
		}
	}
	return u
}

// site tells of one that is none for people.
func (l *clients) site() []Finding {
	u := l.users()
	if l.kind = u.site(); l.kind == API && l.census.Scraped() {
		l.kind = People
	}
	if l.kind != API {
		return nil
	}
	programs, requests := u.programs, u.programs.requests+u.browsers.requests
	return []Finding{{
		Code: "api_or_app", Severity: Info, Share: ShareOf(programs.requests, requests),
		Evidence: fmt.Sprintf("%s of %s clients are tools, libraries or an app, and %s of what both send is theirs: "+
			"this is no site for people",
			format.Thousands(programs.clients), format.Thousands(programs.clients+u.browsers.clients),
			format.Percentage(format.PercentOf(programs.requests, requests))),
	}}
}

// Site says what the log is of. Findings must have been called.
func (l *Look) Site() Site { return l.byClient().kind }

// byClient is the looker for single clients.
func (l *Look) byClient() *clients {
	for _, looker := range l.lookers {
		if c, ok := looker.(*clients); ok {
			return c
		}
	}
	panic("findings: no looker for clients")
}
