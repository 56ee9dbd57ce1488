package findings

import (
	"fmt"

	"shadow/report/format"
	"shadow/request"
)

// A Site is what a log is of, by those who use it.
type Site uint8

// What a site may be.
const (
	People Site = iota // browsers use it; so is one of which nothing is known
	API                // tools, libraries or an app do
)

// String says it in words.
func (s Site) String() string {
	if s == API {
		return "an API or app"
	}
	return "a site for people"
}

// MarshalText writes it as JSON has it: "people" or "api".
func (s Site) MarshalText() ([]byte, error) {
	if s == API {
		return []byte("api"), nil
	}
	return []byte("people"), nil
}

// users are who uses a site: its browsers, and its tools and apps.
type users struct{ browsers, programs, browserRequests, programRequests int64 }

// api reports whether most are programs: of the clients and of the requests, or nearly all of either.
func (u *users) api() bool {
	clients, requests := u.browsers+u.programs, u.browserRequests+u.programRequests
	if u.programs < leastPrograms {
		return false
	}
	return 2*u.programs > clients && 2*u.programRequests > requests ||
		10*u.programs > 9*clients || 10*u.programRequests > 9*requests && 4*u.programs > clients
}

// leastPrograms is how many clients must be programs for a site to be theirs.
const leastPrograms = 3

// users counts those that are answered. No client counts for more than a hundredth of all requests, so that nobody decides
// alone. Crawlers and monitors use no site, and who says nothing of itself tells nothing.
func (l *clients) users() (u users) {
	most := max(1, l.total/heavyShare)
	for id := range int32(l.all.Len()) {
		c := l.all.At(id)
		if c.is(c.errors, 50) {
			continue
		}
		browser := int64(c.classes[request.Browser])
		program := int64(c.classes[request.Tool] + c.classes[request.Unknown] - c.nameless)
		if rank := l.ranks[id]; rank > 0 {
			if h := &l.heavy[rank-1]; l.isOwnServer(h, c) || l.isHealthCheck(h, c) || l.isAttacker(h, c) {
				continue
			}
		}
		switch {
		case browser == 0 && program == 0:
		case browser >= program:
			u.browsers++
			u.browserRequests += min(browser, most)
		default:
			u.programs++
			u.programRequests += min(program, most)
		}
	}
	return u
}

// Site says what the log is of.
func (l *clients) Site() Site {
	if u := l.users(); u.api() {
		return API
	}
	return People
}

// site tells of one that is none for people.
func (l *clients) site() []Finding {
	u := l.users()
	if !u.api() {
		return nil
	}
	return []Finding{{
		Code: "api_or_app", Severity: Info, Share: ShareOf(u.programRequests, u.programRequests+u.browserRequests),
		Evidence: fmt.Sprintf("%s of %s clients are tools, libraries or an app, and %s%% of what both send is theirs: this is no site for people",
			format.Thousands(u.programs), format.Thousands(u.programs+u.browsers),
			format.Percent(format.PercentOf(u.programRequests, u.programRequests+u.browserRequests))),
	}}
}

// Site says what the log is of. It must be called once the log has been read.
func (l *Look) Site() Site {
	for _, looker := range l.lookers {
		if c, ok := looker.(*clients); ok {
			return c.Site()
		}
	}
	return People
}
