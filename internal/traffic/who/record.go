package who

import (
	"math/bits"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/limit"
)

// A record counts what one client does. It does not grow with what the client sends.
type record struct {
	// What nearly each request changes.
	classes  [request.ClassCount]uint32 // requests by the class of their agent
	files    uint32                     // requests for files of pages
	steps    uint32                     // requests for anything else
	kinds    uint64                     // of browsers: a set of useragent.Kinds
	pages    uint64                     // of what was asked for: a set of hashes
	agent    majority                   // of its requests
	action   majority                   // of its requests
	rhythm   rhythm
	together Together

	nameless uint32             // requests without an agent, or with a URL in its place
	refused  uint32             // steps that the server turned away, which say nothing of what they ask for
	errors   uint32             // steps that were answered with 400, 401, 403, 404 or 410
	missing  uint32             // of these: 404 or 410; the others say who may ask, and how
	barred   uint32             // likewise: 400 or 401, but of passwords that were tried
	probes   uint32             // steps that only scanners take
	got      uint32             // of these, answered with what must not be public
	tries    [triesCount]uint32 // passwords, by what they were answered
	worked   uint32             // requests for what a site asks of itself
	declared uint32             // requests whose agent says that it is the site's own
	posts    uint32             // steps that send something
	unpaid   uint32             // of these, answered with 402
	asks     uint32             // steps that ask whether a page of another host may send something, and were told so
	checked  uint32             // requests for what says whether the site is up
	later    uint32             // other steps since the last of them
	forms    uint32             // steps that ask for the page at which they are tried
	used     uint32             // tries right behind which another step was answered with 2xx or 3xx
	open     bool               // whether the step before was a try
	managed  uint32             // pages of the administration that it was given
	scans    uint32             // requests whose agent says that it scans
	delivers uint32             // requests whose agent is that of a delivery network
	failed   uint64             // of what is missing: a set of hashes
	lost     majority           // the action of what is missing
	found    uint32             // steps of that action that were answered with 2xx
	form     majority           // the action of those that send something
	asked    majority           // the action of the other steps
	taken    uint32             // of those that send something, answered with 2xx
	early    bool               // whether a password was accepted before the first that was rejected
	late     bool               // likewise, after the last
	told     Identity           // who the log says that it is, from 1; 0: it does not
}

// The outcomes of a try of a password.
const (
	denied    = iota // 4xx: 401 or 403 of a login, others of a firewall before it
	answered         // 2xx: right where a wrong one is denied, else wrong
	moved            // 3xx: right where a wrong one is answered
	ambiguous        // 2xx of what answers right and wrong ones alike: XML-RPC
	rejected         // 4xx of HTTP authentication, and of what renews tokens as well: wrong
	accepted         // 2xx or 3xx of either: right, and no try, since each request has it, or renews what it had
	triesCount
)

// requests returns how many the client sent.
func (r *record) requests() (n int64) {
	for _, k := range r.classes {
		n += int64(k)
	}
	return n
}

// answered returns how many steps tell what the client is after: all that were not turned away.
func (r *record) answered() uint32 { return r.steps - r.refused }

// tried returns how many passwords the client tried.
func (r *record) tried() uint32 {
	return r.tries[denied] + r.tries[answered] + r.tries[moved] + r.tries[ambiguous] + r.tries[rejected]
}

// is reports whether a part is at least so many percent of the client's requests.
func (r *record) is(part uint32, percent int64) bool {
	n := r.requests()
	return n > 0 && 100*int64(part) >= percent*n
}

// A majority holds the value that most of some values are, if one is (R. S. Boyer and J S. Moore, 1981).
type majority struct {
	value uint16
	votes uint32
}

func (m *majority) add(value uint16) {
	switch {
	case m.votes == 0:
		*m = majority{value, 1}
	case m.value == value:
		m.votes++
	default:
		m.votes--
	}
}

// A rhythm holds the gap that most gaps between requests are, by the same vote.
type rhythm struct {
	last  limit.Time
	every uint32 // seconds
	votes uint32
	gaps  uint32
	begun bool
}

// burst is the gap below which requests are one look: a page and what it is redirected to.
const burst = 2 * limit.Second

func (r *rhythm) add(at limit.Time) {
	if !r.begun {
		r.last, r.begun = at, true
		return
	}
	gap := at - r.last
	if gap < burst {
		return
	}
	r.last = at
	r.gaps++
	seconds := uint32((gap + limit.Second/2) / limit.Second)
	switch near := max(1, r.every/20); {
	case r.votes == 0:
		r.every, r.votes = seconds, 1
	case r.every-near <= seconds && seconds <= r.every+near:
		r.votes++
	default:
		r.votes--
	}
}

// fixed reports whether nearly all gaps are the same: more than four of five, which the vote holds at least three fifths of.
func (r *rhythm) fixed() bool { return r.gaps >= leastGaps && 5*r.votes >= 3*r.gaps }

// atFixedTimes reports whether a client comes at a fixed interval, with one request or a few. In a stream or a crowd some
// request always lies the same time behind another.
func (r *record) atFixedTimes() bool {
	return r.rhythm.fixed() && r.requests() <= 3*int64(r.rhythm.gaps+1)
}

// Together counts the minutes in which several kinds of browsers come: behind a proxy they come at once, and one person
// has one after the other.
type Together struct {
	pages, files uint64 // in the minute: kinds that ask for each
	minute       uint32
	mixed        uint32 // minutes with officeKinds of them or more
	Active       uint32 // minutes with a request
	Shown        uint32 // minutes in which so many ask for pages
	Crowded      uint32 // minutes in which so many ask for pages and for files
	Most         uint32 // kinds that ask for pages in one minute, of these
}

func (t *Together) add(at limit.Time, kind uint64, file bool) {
	if minute := uint32(at / limit.Minute); minute != t.minute || t.Active == 0 {
		t.minute, t.pages, t.files = minute, 0, 0
		t.Active++
	}
	of := &t.pages
	if file {
		of = &t.files
	}
	if *of&kind == kind {
		return
	}
	all, pages, both := some(t.pages|t.files), some(t.pages), some(t.pages&t.files)
	*of |= kind
	reached := func(before int, now uint64, minutes *uint32) {
		if before < officeKinds && some(now) == officeKinds {
			*minutes++
		}
	}
	reached(all, t.pages|t.files, &t.mixed)
	reached(pages, t.pages, &t.Shown)
	reached(both, t.pages&t.files, &t.Crowded)
	if n := uint32(some(t.pages)); n >= officeKinds {
		t.Most = max(t.Most, n)
	}
}

// leastGaps is the number of gaps that show an interval.
const leastGaps = 12

// some returns how many things a set of hashes holds at least.
func some(set uint64) int { return bits.OnesCount64(set) }

func hashed(page uint16) uint64 { return 1 << (page * 40503 >> 10) } // Fibonacci hashing of 16 bits to 6

// add takes in a request, in the order of the client's time.
func (r *record) add(at limit.Time, status, agent, action uint16, a *agentFacts, t traffic.Clue) {
	r.classes[a.class]++
	r.kinds |= a.kind
	if a.says {
		r.nameless += a.nameless
		r.declared += a.own
		r.scans += a.scans
		r.delivers += a.delivers
	}
	r.agent.add(agent)
	r.action.add(action)
	r.rhythm.add(at)
	r.together.add(at, a.kind, t.Traits.Has(traffic.FetchedAsset))
	if t.Traits.Has(traffic.Worked) && !t.Traits.Has(traffic.TriedPassword) {
		r.worked++
	}
	if t.Traits&(traffic.Checked|traffic.FetchedRobots) != 0 {
		r.checked++
	}
	switch {
	case t.Traits.Has(traffic.FetchedAsset):
		r.files++
	case t.Traits.Has(traffic.Stepped):
		r.step(status, action, t)
	}
}

func (r *record) step(status, action uint16, t traffic.Clue) {
	r.steps++
	if traffic.Refusal(int32(status)) {
		r.refused++
	}
	page := hashed(t.Page)
	r.pages |= page
	r.send(status, action, t)
	if t.Traits.AsksForm() {
		r.forms++
	} else if r.try(status, t) {
		r.later, r.open = 0, true
		return // whether it failed is known once all of the log is read
	} else if r.open && (status/100 == 2 || status/100 == 3) {
		r.used++
	}
	r.open = false
	if t.Traits.Has(traffic.SignedIn) || t.Traits.Has(traffic.TriedPassword) && !t.Traits.AsksForm() && (status/100 == 2 || status/100 == 3) {
		r.tries[accepted]++
		r.late = true
	}
	r.later++
	if t.Traits.Has(traffic.Managed) && status == 200 {
		r.managed++
	}
	if t.Traits.Has(traffic.Probed) {
		r.probes++
		if t.Traits.Has(traffic.Pried) && status/100 == 2 {
			r.got++
		}
	}
	if status != 401 || r.told == 0 { // a trace does not tell what for: a password may have been wrong
		r.seek(status, action, page)
	}
}

// seek notes whether what a step asks for is there.
func (r *record) seek(status, action uint16, page uint64) {
	switch status {
	case 400, 401:
		r.barred++
		r.errors++
	case 403:
		r.errors++
	case 404, 410:
		r.errors++
		r.missing++
		r.failed |= page
		if r.lost.votes == 0 && r.lost.value != action {
			r.found = 0
		}
		r.lost.add(action)
	}
	if status/100 == 2 {
		if r.missing == 0 && action != r.lost.value { // what is missed first may be of this one
			r.lost.value, r.found = action, 0
		}
		if action == r.lost.value {
			r.found++
		}
	}
}

// send notes what a step asks for, or sends.
func (r *record) send(status, action uint16, t traffic.Clue) {
	if t.Traits&(traffic.Asked|traffic.Peeked) == 0 {
		r.posts++
		r.form.add(action)
		if status == 402 {
			r.unpaid++
		}
		if status/100 == 2 {
			r.taken++
		}
	} else {
		r.asked.add(action)
	}
	if t.Traits.Preflighted() && status/100 == 2 {
		r.asks++
	}
}

// try notes a password that was tried, and reports whether the answer alone does not tell if it was right.
func (r *record) try(status uint16, t traffic.Clue) bool {
	rejects := status/100 == 4 && !traffic.Refusal(int32(status))
	if !t.Traits.Has(traffic.TriedPassword) || !rejects && t.Traits.Has(traffic.Deniable) {
		return false
	}
	switch {
	case rejects && t.Traits.Has(traffic.Deniable):
		if r.tries[rejected]++; r.tries[rejected] == 1 {
			r.early = r.tries[accepted] > 0
		}
		r.late = false
	case rejects:
		r.tries[denied]++
	case status/100 == 2 && t.Traits.Has(traffic.Ambiguous):
		r.tries[ambiguous]++
	case status/100 == 2:
		r.tries[answered]++
	case status/100 == 3:
		r.tries[moved]++
	}
	return true
}
