package who

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"shadow/internal/request"
)

// A swarm is one client with many addresses: each sends no more than a person does. What its members share gives it away,
// and what they do not do, in comparison with others who send as many requests:
//
//	one agent   7,475 addresses, once each, with the browser of 2011, and none has a file
//	one form      282 addresses, each the form and its answer, and nothing else
const (
	leastMembers  = 30 // of a swarm
	fewRequests   = 4
	leastExpected = 10 // members with a file, if they were people
)

// A Swarm is one client with many addresses.
type Swarm struct {
	Agent   int32 // that all have; −1: another sign
	Action  int32 // that all ask for; −1: likewise
	Members []int32
	Reason  string
}

// deeds are sums over members.
type deeds struct {
	count, fetchers           int64 // members, and those that fetched a file
	few                       int64 // members that sent fewRequests or less
	several                   int64 // members that come as several browsers
	outside                   int64 // members that come from pages of other sites
	requests, steps, referred int64
	idleSteps, idleReferred   int64                                 // of members that fetched no file
	errors                    int64                                 // of steps
	wrong, right, open        int64                                 // passwords
	posts, taken              int64                                 // steps that send something, and those answered with 2xx
	among                     int64                                 // members that ask for what readers ask for, or only send
	apart                     int64                                 // members that ask for what readers do not
	most                      int64                                 // requests of one member
	squares                   float64                               // of their numbers of requests
	alike                     [33]struct{ members, fetchers int64 } // with as many requests, by the power of two
}

func (c *Census) addTo(d *deeds, client int32) {
	r, e := c.observer.records.At(client), c.observer.browsing.At(client)
	n := r.requests()
	wrong, right, open := c.Logins.of(r)
	d.count++
	d.requests += n
	d.steps += int64(r.steps)
	d.referred += int64(e.Referred)
	d.errors += int64(r.errors)
	d.posts, d.taken = d.posts+int64(r.posts), d.taken+int64(r.taken)
	if r.posts == r.steps || c.isRead(r.asked.value) {
		d.among++
	}
	if c.apart(client, r).does > 0 {
		d.apart++
	}
	d.most = max(d.most, n)
	d.squares += float64(n) * float64(n)
	d.wrong, d.right, d.open = d.wrong+int64(wrong), d.right+int64(right), d.open+int64(open)
	if n <= fewRequests {
		d.few++
	}
	if some(r.kinds) >= officeKinds {
		d.several++
	}
	if e.Outside() {
		d.outside++
	}
	alike := &d.alike[min(bits.Len64(uint64(n)), len(d.alike)-1)]
	alike.members++
	if r.files > 0 {
		d.fetchers++
		alike.fetchers++
	} else {
		d.idleSteps, d.idleReferred = d.idleSteps+int64(r.steps), d.idleReferred+int64(e.Referred)
	}
}

// expected returns how many members of some would have fetched a file if they were like others with as many requests.
func (some *deeds) expected(all *deeds) int64 {
	sum := 0.0
	for i, alike := range some.alike {
		if others := all.alike[i].members - alike.members; others > 0 {
			sum += float64(alike.members) * float64(all.alike[i].fetchers-alike.fetchers) / float64(others)
		}
	}
	return int64(math.Round(sum))
}

// without returns the deeds of the others.
func (some *deeds) without(these *deeds) deeds {
	return deeds{
		count: some.count - these.count, fetchers: some.fetchers - these.fetchers, few: some.few - these.few,
		requests: some.requests - these.requests, steps: some.steps - these.steps, referred: some.referred - these.referred,
		errors: some.errors - these.errors, wrong: some.wrong - these.wrong, right: some.right - these.right, open: some.open - these.open,
	}
}

// tried returns how many passwords were tried.
func (some *deeds) tried() int64 { return some.wrong + some.right + some.open }

// claims reports whether a client may be one of a swarm: it claims to be a browser, and nothing has decided about it yet.
func (c *Census) claims(client int32) bool {
	r := c.observer.records.At(client)
	if client == c.missing || r.told > 0 || r.isElsewhere() || c.reports(r) {
		return false
	}
	switch c.Identities[client] {
	case Person, Undecided, Disguised:
		return r.is(r.classes[request.Browser], 50) || c.nameless && r.requests() > 0
	}
	return false
}

// findSwarms makes the members of swarms attackers.
func (c *Census) findSwarms() {
	var all deeds
	type key struct {
		form  bool
		value uint16
	}
	groups := map[key][]int32{}
	for id := range int32(len(c.Identities)) {
		if !c.claims(id) {
			continue
		}
		c.addTo(&all, id)
		r := c.observer.records.At(id)
		groups[key{false, r.agent.value}] = append(groups[key{false, r.agent.value}], id)
		if r.posts > 0 {
			groups[key{true, r.form.value}] = append(groups[key{true, r.form.value}], id)
		}
	}
	for k, members := range groups {
		if len(members) < leastMembers {
			continue
		}
		var d deeds
		for _, id := range members {
			c.addTo(&d, id)
		}
		s := Swarm{Agent: int32(k.value), Action: -1, Members: members}
		sign := ""
		if !k.form && !c.observer.agents[k.value].app {
			sign = c.oneAgent(&d, &all)
		} else if k.form {
			s.Agent, s.Action = -1, int32(k.value)
			sign = c.oneForm(&d, &all, k.value)
		}
		if sign != "" { // people may share the agent
			s.Members = slices.DeleteFunc(slices.Clone(members), func(id int32) bool { return c.observer.records.At(id).files != 0 })
			s.Reason = fmt.Sprintf("%d addresses", len(s.Members))
			if len(s.Members) != len(members) {
				s.Reason += fmt.Sprintf(" of %d", len(members))
			}
			s.Reason += fmt.Sprintf(" with one %s: %s", map[bool]string{true: "form", false: "agent"}[k.form], sign)
			c.Swarms = append(c.Swarms, s)
		}
	}
	c.findGuessers()
	slices.SortFunc(c.Swarms, func(x, y Swarm) int { // by names, as ids differ from run to run
		return cmp.Or(cmp.Compare(len(y.Members), len(x.Members)), strings.Compare(c.shared(&x), c.shared(&y)))
	})
	for i := range c.Swarms {
		for _, id := range c.Swarms[i].Members {
			if c.Identities[id] != Attacker {
				c.Identities[id] = Attacker
				c.swarm[id] = int32(i)
			}
		}
	}
}

// findGuessers makes attackers of those who scan from many addresses, with a few probes each, and of the clients, whatever
// they claim to be, that try passwords at one place, each a few, and do nothing else: users do something with a right one,
// and of wrong ones there are not so many at once.
func (c *Census) findGuessers() {
	known := map[int32]bool{}
	for _, s := range c.Swarms {
		for _, id := range s.Members {
			known[id] = true
		}
	}
	groups := map[uint16][]int32{}
	var probers []int32 // who ask mostly for what only scanners ask for, each for so little that it is not known alone
	var wrong, right int64
	for id, is := range c.Identities {
		r := c.observer.records.At(int32(id))
		w, g, _ := c.Logins.of(r)
		wrong, right = wrong+int64(w), right+int64(g)
		if w > 0 && g == 0 && r.onlyTries() && !c.retries(r) && r.files == 0 && !known[int32(id)] && (is == Undecided || is == Program || is == Disguised) {
			groups[r.form.value] = append(groups[r.form.value], int32(id))
		}
		if r.probes > 1 && 2*r.probes >= r.steps && r.files == 0 && !known[int32(id)] && (is == Undecided || is == Program || is == Disguised) {
			probers = append(probers, int32(id))
		}
	}
	if len(probers) >= leastMembers {
		c.Swarms = append(c.Swarms, Swarm{Agent: -1, Action: -1, Members: probers, Reason: fmt.Sprintf("%d addresses that ask for little but what scanners ask for", len(probers))})
	}
	for form, members := range groups {
		if len(members) < leastMembers || wrong < 3*right {
			continue
		}
		c.Swarms = append(c.Swarms, Swarm{
			Agent: -1, Action: int32(form), Members: members,
			Reason: fmt.Sprintf("%d addresses with one form: they try passwords, all wrong, and do nothing else", len(members)),
		})
	}
}

// onlyTries reports whether a client does nothing but try passwords. It may ask for the form before each, where a person who
// mistypes stays on it.
func (r *record) onlyTries() bool {
	return r.tried() == r.steps || r.tried() > 2 && r.tried()+r.forms == r.steps && 5*r.forms >= 4*r.tried()
}

// shared returns the name of what the members of a swarm share.
func (c *Census) shared(s *Swarm) string {
	if s.Action < 0 && s.Agent < 0 {
		return "probes"
	}
	if s.Agent >= 0 {
		return "agent " + c.observer.Tables.Agents.Name(s.Agent)
	}
	return "form " + c.observer.Tables.Actions.Name(s.Action)
}

// fetchesNothing reports whether hardly a member fetched a file, where of as many others many did.
func (some *deeds) fetchesNothing(all *deeds) (expected int64, nothing bool) {
	expected = some.expected(all)
	return expected, expected >= leastExpected && 10*some.fetchers <= expected
}

// oneAgent returns what shows that the addresses with an agent are one client; "" for nothing.
func (c *Census) oneAgent(d, all *deeds) string {
	others := all.without(d)
	if 20*d.idleReferred >= d.idleSteps || others.referred == 0 || 5*others.referred < others.steps || 2*d.apart > d.count {
		return ""
	}
	// An app with the agent of a browser fetches no file and sends no referer, either, but people use it.
	if expected, nothing := d.fetchesNothing(all); nothing && !d.peopleVary() {
		return fmt.Sprintf("%d fetched a file, where of as many others about %d would", d.fetchers, expected)
	}
	// Too few others send as little to tell how many of these fetch a file. But an agent with which nearly all send few
	// requests is none that people have, if people with other agents stay.
	if 100*d.few >= 95*d.count && 10*others.few <= 7*others.count && 20*d.fetchers <= d.count && 5*others.fetchers >= others.count {
		return fmt.Sprintf("%d sent %d requests at most and %d fetched a file, where of %d others %d did", d.few, fewRequests, d.fetchers, others.count, others.fetchers)
	}
	return ""
}

// isRead reports whether a good part of those that ask for an action fetch files.
func (c *Census) isRead(action uint16) bool {
	by := &c.observer.askers[action]
	return by.readers >= leastReads && 10*by.readers >= by.idlers
}

// imposes reports whether members send a form that is not how a part of the site works: what an app's users send is taken, and
// sent by no reader, and readers do not ask for what its users do.
func (c *Census) imposes(d *deeds, form uint16) bool {
	return 4*d.among >= d.count && (2*d.taken < d.posts || c.observer.askers[form].readers >= leastReads && 3*d.posts >= d.steps)
}

// oneForm returns what shows that the addresses that send a form are one client; "" for nothing.
func (c *Census) oneForm(d, all *deeds, form uint16) string {
	others, imposes := all.without(d), c.imposes(d, form)
	switch expected, nothing := d.fetchesNothing(all); {
	case d.open >= max(leastMembers, 6*d.count) && 10*d.fetchers <= d.count:
		return fmt.Sprintf("%d passwords were tried, and %d fetched a file", d.tried(), d.fetchers)
	case d.wrong >= leastMembers && d.wrong >= 5*d.right && 10*d.fetchers <= d.count:
		return fmt.Sprintf("%d of %d passwords were wrong, and %d fetched a file", d.wrong, d.wrong+d.right, d.fetchers)
	case d.tried() > 0 && (4*d.tried() >= d.steps || imposes) && 20*d.fetchers <= d.count && 5*others.fetchers >= others.count && others.count >= leastMembers:
		return fmt.Sprintf("%d passwords are tried and %d fetched a file, where of %d others %d did", d.tried(), d.fetchers, others.count, others.fetchers)
	case nothing && imposes && !c.nameless && 2*d.count <= all.count && 2*d.outside < d.count: // what most do is how the site works
		return fmt.Sprintf("%d fetched a file, where of as many others about %d would", d.fetchers, expected)
	}
	return ""
}
