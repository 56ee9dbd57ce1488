package who

import (
	"strings"

	"shadow/internal/request"
)

// What works with a site is no person, and no limit is meant for it.

// sends reports whether hardly a step of a client asks for a page. Of one that gives an address to read about it half may:
// servers that work together ask each other who wrote what they were sent, and crawlers send nothing.
func (r *record) sends() bool {
	least := uint32(9)
	if r.is(r.classes[request.Crawler], 90) {
		least = 5
	}
	return r.steps >= leastRequests && 10*r.posts >= least*r.steps && r.files == 0
}

// reports reports whether a client sends what browsers tell a site by themselves, without a referer: what its policies forbade,
// and what of the network failed.
func (c *Census) reports(r *record) bool {
	return r.posts > 0 && r.posts == r.steps && holdsAny(c.observer.path(int32(r.form.value)), []string{"/csp", "/_csp", "csp-report", "csp_report", "/nel", "/reports"})
}

// callsBack reports whether a client only sends to one place of a site for people, which takes it, and says what it is: so
// do payment services and others that the site works with.
func (c *Census) callsBack(r *record) bool {
	says := r.classes[request.Crawler] + r.classes[request.Unknown] - min(r.nameless, r.classes[request.Unknown])
	return !c.programs && !c.isMuch(r) && r.sends() && r.is(says, 90) && r.tried() == 0 && 10*r.errors < r.steps &&
		10*r.form.votes >= 8*r.posts && c.observer.path(int32(r.form.value)) != "/"
}

// isMuch reports whether a client sends more than a tenth of the log, which no service needs to.
func (c *Census) isMuch(r *record) bool { return 10*r.requests() > c.observer.total }

// proves reports whether a client only asks for what the site shows to those who must know whose it is (RFC 8615).
func (c *Census) proves(r *record) bool {
	return !c.isMuch(r) && 10*int64(r.action.votes) >= 8*r.requests() && 10*r.errors <= r.steps && strings.HasPrefix(c.observer.path(int32(r.action.value)), "/.well-known/")
}
