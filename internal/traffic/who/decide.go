package who

import (
	"fmt"
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/evidence"
	"shadow/internal/traffic/network"
	"shadow/report/format"
)

// The rules are asked one after the other; the first that says something decides, first of all whether most is an attack:
//
//	own         the server's own address, agents and targets of its own work
//	monitor     says so, or asks at a fixed interval whether the site is up
//	crawler     most requests say so
//	attacker    scans, fails, guesses passwords
//	proxy       as many kinds of browsers as a site has
//	office      several kinds, each with pages, their files and steps that follow
//	person, disguised, undecided     a browser, by what it does and never by how fast
//	program     all others
const (
	leastRequests = 5       // of an attack: of one request or four it cannot be said
	leastWrong    = 10      // passwords of one client: people mistype some
	leastAnswered = 20      // steps of one that is refused mostly: of a client that is throttled few are left
	fewPages      = 3       // of a monitor
	longDocument  = 1000    // steps of who reads a document of many parts, maybe by another program than the browser
	fewPolls      = 8       // of what a page asks for by a timer
	manyBeats     = 20      // clients that ask whether the site is up, unknown to each other: an app does for each of its users
	quickest      = 5       // seconds between the requests of a monitor that does not show otherwise that it is one
	neverTyped    = 100     // wrong passwords of one browser, and none right
	manySteps     = 200     // that show a clock also where files come with pages, or a page that is never shown
	manyPages     = 32      // of a set of 64: about 45
	metronome     = 10      // percent by which the gaps of a clock vary
	manyGaps      = 20      // between views: of fewer, one person of a hundred looks even by chance
	renews        = 30      // seconds in which a page on a screen renews itself at the earliest: what does is no sign of a bot
	slowest       = 30 * 60 // seconds between its requests; who comes less often reads a feed
	officeKinds   = 3       // of browsers behind one address
	campusKinds   = 6       // likewise, where programs send more than these
	proxyKinds    = 12      // likewise
	mixedMinutes  = 3       // in which several kinds of browsers come from an inner address
)

// An answer is an identity with what speaks for it, put into words where they are asked for; without reasons it says nothing.
type answer struct {
	identity Identity
	reasons  func() []string
}

// since returns an answer with one reason, a text with some figures.
func since(who Identity, text string, figures ...any) answer {
	return answer{who, func() []string {
		shown := slices.Clone(figures)
		for i, figure := range shown {
			switch n := figure.(type) {
			case uint32:
				shown[i] = format.Thousands(int64(n))
			case int64:
				shown[i] = format.Thousands(n)
			}
		}
		return []string{fmt.Sprintf(text, shown...)}
	}}
}

// A Census says who the clients of a log are.
type Census struct {
	Identities Identities
	Logins     Logins
	Swarms     []Swarm                 // the largest first
	Networks   []Network               // that are one bot each, those with most requests first
	Owners     map[network.Owner]Whole // what their networks are

	observer *Observer
	baseline evidence.SiteBaseline
	hosts    [][]byte
	nameless bool // hardly a request has an agent
	programs bool // programs send more than browsers: what they ask for is often not there
	crowds   map[habit]*crowd
	users    map[uint16]int  // by agent: clients that the site lets in with it
	beats    map[uint16]int  // by action: clients that ask for it alone at fixed times, by the word of none that they are monitors
	missing  int32           // the client of requests that have none, who may be many; −1: there is none
	swarm    map[int32]int32 // by client: the index of its swarm
	network  map[int32]int32 // by client: the index of its network
}

type rule func(c *Census, client int32, r *record) answer

var rules = []rule{isHostile, isOwn, isMonitor, isCrawler, isAttacker, isProxy, isOffice, isBrowser}

// Identify decides who the clients are. The hosts are names of this site, as far as they are known.
func (o *Observer) Identify(hosts [][]byte) *Census {
	o.learn()
	c := &Census{
		Identities: make(Identities, o.records.Len()), Owners: map[network.Owner]Whole{},
		observer: o, hosts: hosts, swarm: map[int32]int32{}, network: map[int32]int32{}, missing: -1,
		beats: map[uint16]int{}, crowds: map[habit]*crowd{}, users: map[uint16]int{},
	}
	if id, known := o.Tables.Clients.Find([]byte("-")); known {
		c.missing = id
	}
	var nameless, browsers, programs int64
	most := o.total/100 + 1 // of one client, which says nothing of the others
	for id := range int32(o.records.Len()) {
		c.baseline.Add(o.browsing.At(id))
		r := o.records.At(id)
		c.Logins.add(r)
		if r.tries[accepted] > r.tries[rejected] {
			c.users[r.agent.value]++
		}
		if o.isRegular(id) && !r.is(r.classes[request.Monitor], 90) && !o.isPrivate(id) {
			c.beats[r.action.value]++
		}
		nameless += int64(r.nameless)
		browsers += min(int64(r.classes[request.Browser]), most)
		if 2*r.errors < r.answered() || r.answered() == 0 { // scanners use no site
			programs += min(int64(r.classes[request.Tool]+r.classes[request.Unknown])-int64(r.nameless), most)
		}
	}
	c.programs = programs > browsers
	c.nameless = o.total > 0 && 100*nameless >= 99*o.total
	c.findCrowds()
	for id := range c.Identities {
		c.Identities[id] = c.ask(int32(id)).identity
	}
	c.findSwarms()
	c.findNetworks()
	return c
}

// ask asks the rules about a client.
func (c *Census) ask(client int32) answer {
	r := c.observer.records.At(client)
	if r.requests() == 0 { // of one whose requests only warm limits, or are of another part of the log
		return since(Undecided, "sent no request that counts")
	}
	if r.told > 0 {
		return since(r.told-1, "the trace says so")
	}
	if client == c.missing {
		return since(Undecided, "requests without a client may be those of many")
	}
	for _, rule := range rules {
		if a := rule(c, client, r); a.reasons != nil {
			return a
		}
	}
	if c.nameless && r.is(r.nameless, 50) {
		return since(Undecided, "the log has no agents")
	}
	if c.callsBack(r) {
		return since(Undecided, "only sends to %s, as services do that the site works with", c.observer.Tables.Actions.Name(int32(r.form.value)))
	}
	if c.proves(r) {
		return since(Undecided, "only asks for what shows whose site it is, as those do who give it certificates")
	}
	if polls := r.polls(); polls != "" {
		return since(Program, polls)
	}
	if 20*r.tries[accepted] >= max(1, r.steps) { // beside what a token or two lets it ask for
		if c.isMuch(r) || r.tries[accepted] == 1 { // which is asked about; or one account from address to address
			return since(Program, "has the right password of a user: a customer?")
		}
		return since(Undecided, "has the right password of a user")
	}
	if c.browses(client) {
		return answer{Program, func() []string {
			return []string{"people as well?", "programs send most of it, and a browser shows pages"}
		}}
	}
	return since(Program, "its agents are no browsers")
}

// What makes a page: so many requests of readers; and what makes programs scrapers of a site for people: so many readers.
const (
	leastReads   = 10
	leastReaders = 20
)

// Scraped reports whether programs ask for the pages that people read, as scrapers of a site do, and not for an API.
func (c *Census) Scraped() bool {
	var same, all, readers int64
	for _, by := range c.observer.askers {
		if all += by.programs; by.readers >= leastReads {
			same += by.programs - by.installs
		}
	}
	for _, is := range c.Identities {
		if is == Person || is == Office {
			readers++
		}
	}
	return readers >= leastReaders && 2*same >= all
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

// Register returns who the clients are, for those who ask nothing else.
func (c *Census) Register() *Register {
	return &Register{c.Identities, c.Reasons, func(client int32) int32 { _, agent := c.Habits(client); return agent }}
}

// Reasons returns why a client is who it is. Of one that came after the census nothing is known.
func (c *Census) Reasons(client int32) []string {
	if int(client) >= len(c.Identities) {
		return nil
	}
	if swarm, is := c.swarm[client]; is {
		return []string{c.Swarms[swarm].Reason}
	}
	if i, is := c.network[client]; is {
		return append([]string{"belongs to " + c.Networks[i].Name + ", which is one bot"}, c.Networks[i].Signs...)
	}
	return c.ask(client).reasons()
}

func isCrawler(c *Census, client int32, r *record) answer {
	if !r.is(r.classes[request.Crawler], 50) || c.isCampus(client, r) {
		return answer{}
	}
	name := c.observer.crawlerName(r.agent.value)
	switch known := c.observer.Known.Crawlers; {
	case known.Knows(name) && known.Check(name, c.observer.address(client)) == network.Forged:
		return since(Disguised, "calls itself %s and comes from another address than it has", name)
	case SearchEngine(name) != "":
		return since(Search, "calls itself %s", name)
	case r.sends(): // a crawler reads
		return answer{}
	default:
		return since(Crawler, "calls itself %s", name)
	}
}

// isProxy looks for one address that brings many kinds of browsers and half of all requests, or that is an inner one.
func isProxy(c *Census, client int32, r *record) answer {
	kinds := some(r.kinds)
	switch {
	case r.is(r.delivers, 90):
		return since(Proxy, "its agent is that of a delivery network")
	case !c.observer.Addresses || !r.is(r.classes[request.Browser], 30):
	case kinds >= proxyKinds && 2*r.requests() >= c.observer.total:
		return since(Proxy, "%v kinds of browsers and half of all requests", kinds)
	case r.together.mixed >= mixedMinutes && c.observer.isPrivate(client) && 10*r.requests() >= c.observer.total:
		return since(Proxy, "%v kinds of browsers from an inner address", kinds)
	}
	return answer{}
}

func isOffice(c *Census, client int32, r *record) answer {
	e := c.observer.browsing.At(client)
	switch kinds, most := some(r.kinds), r.is(r.classes[request.Browser], 50); {
	case kinds >= officeKinds && most && c.browses(client):
		return since(Office, "%v kinds of browsers; files came with %v of %v pages", kinds, e.WithAssets, e.Views)
	case !most && c.isCampus(client, r):
		return since(Office, "%v kinds of browsers; files came with %v of %v pages, and programs send more than half", kinds, e.WithAssets, e.Views)
	}
	return answer{}
}

// isCampus reports whether so many people are behind an address that a program of one of them does not decide who it is,
// however much that sends.
func (c *Census) isCampus(client int32, r *record) bool {
	return some(r.kinds) >= campusKinds && r.is(r.classes[request.Browser], 20) && c.browses(client)
}

// browses reports whether a client fetches files with its pages and follows from one to the next, as far as this site shows it.
func (c *Census) browses(client int32) bool {
	a := c.assess(client)
	return a.Votes[evidence.BeaconSignal] == evidence.VoteHuman ||
		a.Votes[evidence.AssetsSignal] == evidence.VoteHuman && a.Votes[evidence.RefererSignal] != evidence.VoteBot
}

// follows reports whether most of what a browser asks for is linked from elsewhere. A person who follows links that
// lead nowhere looks for nothing, and scanners hardly ever say where they come from.
func (c *Census) follows(client int32) bool {
	e := c.observer.browsing.At(client)
	return e.Steps > 0 && 2*e.Referred >= e.Steps
}

func (c *Census) assess(client int32) evidence.Assessment {
	return c.observer.Rules.Assess(c.observer.browsing.At(client), request.Browser, &c.baseline)
}

// isClock reports whether gaps vary by less than chance makes of people's once in a thousand times.
func (c *Census) isClock(e *evidence.Summary) bool {
	least := c.observer.Rules.Rhythm
	short := least - e.Variation()
	return short > 0 && short*short*int64(e.Gaps) > 4*least*least
}

// excuse takes back votes against what something else explains.
func (c *Census) excuse(r *record, e *evidence.Summary, a *evidence.Assessment) {
	if c.observer.agents[r.agent.value].app || r.isElsewhere() { // it may ask for data alone, by a timer
		for _, s := range []evidence.Signal{evidence.AssetsSignal, evidence.RefererSignal, evidence.AgentsSignal, evidence.RhythmSignal} {
			if a.Votes[s] >= evidence.VoteBot {
				a.Votes[s] = evidence.Abstain
			}
		}
	}
	if r.files > 0 && (!e.Traits.Has(traffic.Referred) || e.Outside()) && some(r.pages) <= fewPolls { // a page asks by a timer
		a.Votes[evidence.RhythmSignal], a.Votes[evidence.HoursSignal] = evidence.Abstain, evidence.Abstain
	}
	if r.posts == r.steps && e.Outside() || c.reports(r) { // pages of other sites send what they tell, from a frame or a counter
		a.Votes[evidence.AssetsSignal], a.Votes[evidence.RefererSignal] = evidence.Abstain, evidence.Abstain
	}
	if a.Votes[evidence.RefererSignal] == evidence.VoteHuman && e.Traits.Has(traffic.FetchedAsset) && e.Steps <= longDocument ||
		e.WithAssets > 0 && 2*e.Referred >= e.Steps && some(r.kinds) == 1 {
		a.Votes[evidence.RangesSignal] = evidence.Abstain // its pages show documents and maps while they load them
	}
}

// isElsewhere reports whether browsers show pages of another host that ask this one for data: first whether they may (CORS), and
// most of the time then they send it.
func (r *record) isElsewhere() bool {
	return r.asks >= leastRequests && 10*r.asks >= r.steps && 5*r.asks <= 3*r.steps
}

// isBrowser judges who claims to be a browser by signs that have nothing to do with speed.
func isBrowser(c *Census, client int32, r *record) answer {
	if !r.is(r.classes[request.Browser], 50) {
		return answer{}
	}
	e, a := c.observer.browsing.At(client), c.assess(client)
	for _, s := range []evidence.Signal{evidence.HasteSignal, evidence.ErrorsSignal} {
		a.Votes[s] = evidence.Abstain
	}
	if !e.Traits.Has(traffic.Trespassed) { // people look at robots.txt as well
		a.Votes[evidence.RobotsSignal] = evidence.Abstain
	}
	c.excuse(r, e, &a)
	usual := c.isUsual(client, r)
	if usual {
		a.Votes[evidence.AssetsSignal], a.Votes[evidence.RefererSignal] = evidence.Abstain, evidence.Abstain
	}
	if !r.isElsewhere() && e.Views == 0 && e.Steps >= manySteps && some(r.pages) >= manyPages && a.Votes[evidence.RefererSignal] == evidence.VoteHuman {
		a.Votes[evidence.RefererSignal] = evidence.VoteBot // a browser shows the page that so many others come from
	}
	if rhythm := &a.Votes[evidence.RhythmSignal]; *rhythm == evidence.Conclusive && e.Gaps < manyGaps && !c.isClock(e) {
		*rhythm = evidence.VoteBot
		if slices.Contains(a.Votes[:], evidence.VoteHuman) {
			*rhythm = evidence.Abstain
		}
	}
	var n [evidence.Conclusive + 1]int
	for _, vote := range a.Votes {
		n[vote]++
	}
	reasons := func() []string { return a.Reasons(e, request.Browser) }
	switch {
	case a.Votes[evidence.RhythmSignal] == evidence.Conclusive && e.Gaps >= manySteps && e.Variation() <= metronome && some(r.pages) >= manyPages:
		return answer{Disguised, reasons} // also one that fetches the files of its pages
	case a.Votes[evidence.BeaconSignal] == evidence.VoteHuman, c.browses(client) && n[evidence.VoteBot] == 0:
		return answer{Person, reasons}
	case r.rhythm.every >= renews && r.polls() != "":
		return since(Undecided, r.polls())
	case n[evidence.Conclusive] == 0 && r.tries[rejected] > 0 && 2*r.tries[accepted] >= r.steps:
		return since(Undecided, "%v of its passwords were right", r.tries[accepted])
	case n[evidence.Conclusive] > 0 || n[evidence.VoteBot] >= 2 && n[evidence.VoteBot] > n[evidence.VoteHuman]:
		if n := c.devices(client, r); n > 0 && (usual || a.Votes[evidence.AssetsSignal] == evidence.VoteBot) {
			return since(Program, "one of %v that ask for what readers do not: yours?", n)
		}
		return answer{Disguised, reasons}
	case n[evidence.VoteHuman] >= 2 && n[evidence.VoteBot] == 0:
		return answer{Person, reasons}
	case usual:
		return since(Undecided, "does what %v addresses do that have other agents", c.crowds[c.habit(client, r)].count)
	}
	return answer{Undecided, reasons}
}
