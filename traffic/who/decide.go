package who

import (
	"fmt"
	"strings"

	"shadow/limit"
	"shadow/request"
	"shadow/traffic/evidence"
)

// The rules are asked one after the other; the first that says something decides:
//
//	own         the server's own address, agents and targets of its own work
//	monitor     says so, or asks for few pages at a fixed interval and fetches no file
//	crawler     most requests say so
//	attacker    scans, fails, guesses passwords
//	proxy       as many kinds of browsers as a site has
//	office      several kinds, each with pages, their files and steps that follow
//	person, disguised, undecided     a browser, by what it does and never by how fast
//	program     all others
const (
	leastRequests = 5       // of an attack: of one request or four nobody can say it
	fewPages      = 3       // of a monitor
	slowest       = 30 * 60 // seconds between its requests; who comes less often reads a feed
	officeKinds   = 3       // of browsers behind one address
	proxyKinds    = 12      // likewise
)

// An answer is an identity with what speaks for it, put into words where they are asked for; without a reason it says nothing.
type answer struct {
	identity Identity
	reason   func() string
}

// since returns an answer whose reason is a text with some figures.
func since(who Identity, format string, figures ...any) answer {
	return answer{who, func() string { return fmt.Sprintf(format, figures...) }}
}

// A Census is who the clients of a log are.
type Census struct {
	Identities []Identity // by client id
	Logins     Logins
	Swarms     []Swarm // the largest first

	observer *Observer
	baseline evidence.SiteBaseline
	hosts    [][]byte
	nameless bool            // hardly a request has an agent
	swarm    map[int32]int32 // by client: the index of its swarm
}

type rule func(c *Census, client int32, r *record) answer

var rules = []rule{isOwn, isMonitor, isCrawler, isAttacker, isProxy, isOffice, isBrowser}

// Identify decides who the clients are.
func (o *Observer) Identify() *Census {
	o.learn()
	c := &Census{Identities: make([]Identity, o.records.Len()), observer: o, swarm: map[int32]int32{}}
	if o.Hosts != nil {
		c.hosts = o.Hosts()
	}
	var nameless int64
	for id := range int32(o.records.Len()) {
		c.baseline.Add(o.browsing.At(id))
		c.Logins.add(o.records.At(id))
		nameless += int64(o.records.At(id).nameless)
	}
	c.nameless = 100*nameless >= 99*o.total
	for id := range c.Identities {
		c.Identities[id] = c.ask(int32(id)).identity
	}
	c.findSwarms()
	return c
}

// ask asks the rules about a client.
func (c *Census) ask(client int32) answer {
	r := c.observer.records.At(client)
	for _, rule := range rules {
		if a := rule(c, client, r); a.reason != nil {
			return a
		}
	}
	if c.nameless && r.is(r.nameless, 50) {
		return since(Undecided, "the log has no agents")
	}
	return since(Program, "its agents are no browsers")
}

// A Crowd is some clients and their requests.
type Crowd struct{ Clients, Requests int64 }

// Tally counts the clients that sent a request, by identity.
func (c *Census) Tally() (all [Count]Crowd) {
	for id, who := range c.Identities {
		if n := c.observer.records.At(int32(id)).requests(); n > 0 {
			all[who].Clients++
			all[who].Requests += n
		}
	}
	return all
}

// Reason returns why a client is who it is.
func (c *Census) Reason(client int32) string {
	if swarm, is := c.swarm[client]; is {
		return c.Swarms[swarm].Reason
	}
	return c.ask(client).reason()
}

func isOwn(c *Census, client int32, r *record) answer {
	address := c.observer.address(client)
	agent := c.observer.Tables.Agents.Name(int32(r.agent.value))
	switch {
	case r.requests() == 0:
	case r.is(r.declared, 10):
		return since(Own, "its agent names the site's own work")
	case r.worked > 0 && r.is(r.worked, 10) && !r.is(r.classes[request.Browser], 50):
		return since(Own, "%d of its requests are the site's own work", r.worked)
	case namesHost(agent, c.hosts) && r.classes[request.Browser] == 0:
		return since(Own, "its agent names a host of this site")
	case address.IsLoopback() && !r.is(r.classes[request.Browser], 5):
		return since(Own, "comes from the server itself")
	}
	return answer{}
}

func isMonitor(_ *Census, _ int32, r *record) answer {
	span := limit.Time(r.rhythm.every) * limit.Time(r.rhythm.gaps) * limit.Second
	switch {
	case r.is(r.classes[request.Monitor], 90):
		return since(Monitor, "says that it is one")
	case r.rhythm.fixed() && r.rhythm.every <= slowest && r.files == 0 && some(r.pages) <= fewPages && r.posts == 0 && span >= 10*limit.Minute && !r.is(r.errors, 50):
		return since(Monitor, "asks every %d s for %d pages, and for no file", r.rhythm.every, some(r.pages))
	}
	return answer{}
}

func isCrawler(_ *Census, _ int32, r *record) answer {
	if r.is(r.classes[request.Crawler], 50) {
		return since(Crawler, "says that it is one")
	}
	return answer{}
}

// isAttacker looks for what only somebody who attacks does: probes, failures on many targets, failed logins.
func isAttacker(c *Census, client int32, r *record) answer {
	wrong, right := c.Logins.of(r)
	browses := c.browses(client)
	switch tries := int64(wrong + right); {
	case r.is(r.scans, 10):
		return since(Attacker, "its agent says that it scans")
	case r.got > 0 && !browses:
		return since(Attacker, "got %d answers to what must not be public", r.got)
	case r.steps >= leastRequests && 2*r.probes >= r.steps, r.probes >= leastRequests && !browses:
		return since(Attacker, "%d of %d steps are those of a scanner", r.probes, r.steps)
	case int64(wrong) >= leastRequests && 5*int64(right) < int64(wrong) && 3*tries >= int64(r.steps) && !browses:
		return since(Attacker, "%d of %d passwords were wrong", wrong, tries)
	case r.steps >= leastRequests && 2*r.errors >= r.steps && some(r.failed) >= leastRequests && !browses:
		return since(Attacker, "%d of %d steps failed, on %d targets or more", r.errors, r.steps, some(r.failed))
	}
	return answer{}
}

// isProxy looks for one address that brings many kinds of browsers and half of all requests, or that is an inner one.
func isProxy(c *Census, client int32, r *record) answer {
	kinds := some(r.kinds)
	switch {
	case !c.observer.Addresses || !r.is(r.classes[request.Browser], 30):
	case kinds >= proxyKinds && 2*r.requests() >= c.observer.total:
		return since(Proxy, "%d kinds of browsers and half of all requests", kinds)
	case kinds >= officeKinds && c.observer.isPrivate(client) && 10*r.requests() >= c.observer.total:
		return since(Proxy, "%d kinds of browsers from an inner address", kinds)
	}
	return answer{}
}

func isOffice(c *Census, client int32, r *record) answer {
	e := c.observer.browsing.At(client)
	if kinds := some(r.kinds); kinds >= officeKinds && r.is(r.classes[request.Browser], 50) && c.browses(client) {
		return since(Office, "%d kinds of browsers; files came with %d of %d pages", kinds, e.WithAssets, e.Views)
	}
	return answer{}
}

// browses reports whether a client fetches files with its pages and follows from one to the next, as far as this site shows it.
func (c *Census) browses(client int32) bool {
	a := c.assess(client)
	return a.Votes[evidence.BeaconSignal] == evidence.VoteHuman ||
		a.Votes[evidence.AssetsSignal] == evidence.VoteHuman && a.Votes[evidence.RefererSignal] != evidence.VoteBot
}

func (c *Census) assess(client int32) evidence.Assessment {
	return c.observer.Rules.Assess(c.observer.browsing.At(client), request.Browser, &c.baseline)
}

// isBrowser judges who claims to be a browser by signs that have nothing to do with speed.
func isBrowser(c *Census, client int32, r *record) answer {
	if !r.is(r.classes[request.Browser], 50) {
		return answer{}
	}
	e, a := c.observer.browsing.At(client), c.assess(client)
	for _, s := range []evidence.Signal{evidence.HasteSignal, evidence.ErrorsSignal, evidence.RobotsSignal} {
		a.Votes[s] = evidence.Abstain
	}
	var n [evidence.Conclusive + 1]int
	for _, vote := range a.Votes {
		n[vote]++
	}
	text := func() string { return strings.Join(a.Reasons(e, request.Browser), "; ") }
	switch {
	case c.browses(client) && n[evidence.VoteBot] == 0:
		return answer{Person, text}
	case n[evidence.Conclusive] > 0 || n[evidence.VoteBot] >= 2 && n[evidence.VoteBot] > n[evidence.VoteHuman]:
		return answer{Disguised, text}
	case n[evidence.VoteHuman] >= 2 && n[evidence.VoteBot] == 0:
		return answer{Person, text}
	}
	return answer{Undecided, text}
}
