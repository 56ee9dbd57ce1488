package who

import (
	"fmt"
	"strings"

	"shadow/limit"
)

// An Identity says who a client is. Every command goes by the same one.
type Identity uint8

// The identities, in the order in which reports show them.
const (
	Person    Identity = iota // behaves like a person: pages with their files, steps that follow from pages
	Office                    // several people behind one address
	Undecided                 // claims to be a browser, and too few requests say whether it is one
	Program                   // a tool, a library, an app, a device
	Disguised                 // claims to be a browser or a known crawler, and is none
	Attacker                  // looks for what is not there, guesses passwords, scans, alone or as one of a swarm
	Search                    // a crawler that names itself as a search engine's does
	Crawler                   // any other that says that it is one
	Monitor                   // asks for one or few pages at a fixed interval
	Own                       // the site itself: its cron, its optimiser, its cache warmer
	Proxy                     // one address for a large part of all clients
	Count
)

var names = [Count]string{
	"person", "office", "undecided", "program", "disguised", "attacker", "search", "crawler", "monitor", "own", "proxy",
}

// words name all clients of an identity, as flags and reports do.
var words = [Count]string{
	"people", "offices", "undecided", "programs", "disguised", "attackers", "search", "crawlers", "monitors", "own", "proxies",
}

// String returns the lower-case word for all clients of the identity: people.
func (i Identity) String() string { return words[i] }

// One returns the word for one client: person.
func (i Identity) One() string { return names[i] }

// Counted returns the words for n clients, behind the number: person, search engines, of the site's own.
func (i Identity) Counted(n int64) string {
	switch {
	case i == Own:
		return "of the site's own"
	case i == Search && n == 1:
		return "search engine"
	case i == Search:
		return "search engines"
	case n == 1:
		return i.One()
	}
	return i.String()
}

// Names returns the words for one client, in the order of identities.
func Names() []string { return names[:] }

// Parse returns the identity that One gives the name.
func Parse(name string) (Identity, bool) {
	for i, known := range names {
		if name == known {
			return Identity(i), true
		}
	}
	return 0, false
}

// Identities holds the identities of the clients of a log, by client id.
type Identities []Identity

// Of returns the identity of a client. One that sent no request that counts is undecided.
func (all Identities) Of(client int32) Identity {
	if int(client) >= len(all) {
		return Undecided
	}
	return all[client]
}

// A Register says who the clients of a log are, and why. A nil one knows nothing.
type Register struct {
	Identities
	Reasons func(client int32) []string // none where they are not known
	Agent   func(client int32) int32    // the id of the agent that most of its requests have; nil: not known
}

// Believed reports whether a client behaves like a browser, or sent too little to tell. Where it is not known who the
// clients are, all are believed.
func (r *Register) Believed(client int32) bool { return r == nil || Browsers.Has(r.Of(client)) }

// Groups are numbers by identity.
type Groups [Count]int64

// Of returns the sum over a set.
func (g *Groups) Of(s Set) (sum int64) {
	for i, n := range g {
		if s.Has(Identity(i)) {
			sum += n
		}
	}
	return sum
}

// A Set is a set of identities: bit i stands for identity i.
type Set uint16

// Sets that have names.
const (
	Everybody Set = 1<<Count - 1
	Browsers  Set = 1<<Person | 1<<Office | 1<<Undecided   // that nothing contradicts
	Bystander Set = 1<<Own | 1<<Monitor | 1<<Proxy         // never protected and never a target, unless they are named
	Users     Set = Everybody &^ (Bystander | 1<<Attacker) // of a site whose clients say little about themselves
	Hostile   Set = 1<<Attacker | 1<<Disguised             // by what they do
)

// Has reports whether an identity is in the set.
func (s Set) Has(i Identity) bool { return s>>i&1 == 1 }

// Names reports whether the identity that One gives the name is in the set.
func (s Set) Names(name string) bool {
	i, known := Parse(name)
	return known && s.Has(i)
}

// String returns the set as ParseSet takes it: browsers, browsers and programs, all.
func (s Set) String() string {
	switch s {
	case Everybody:
		return "all"
	case Users:
		return "users"
	}
	var parts []string
	if s&Browsers == Browsers {
		parts, s = append(parts, "browsers"), s&^Browsers
	}
	for i := range Count {
		if s.Has(i) {
			parts = append(parts, i.String())
		}
	}
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return strings.Join(parts, "")
}

// Words returns what ParseSet takes.
func Words() []string { return append(append([]string{}, words[:]...), "browsers", "users", "all") }

// ParseSet reads the word for an identity, or the name of a set.
func ParseSet(word string) (Set, error) {
	switch word {
	case "all":
		return Everybody, nil
	case "users":
		return Users, nil
	case "browsers":
		return Browsers, nil
	}
	for i, known := range words {
		if word == known {
			return 1 << i, nil
		}
	}
	return 0, fmt.Errorf("%q are no clients that we tell apart; %s", word, Explain(word))
}

// Explain says which clients are told apart to a user who wrote another word. No hint leads from scrapers to crawlers, which have
// search engines among them: who declares itself is the least of those who scrape.
func Explain(word string) string {
	const classes = "browsers are people, offices (several people behind one address) and undecided (too few requests to say); " +
		"disguised claim to be a browser and behave like none, attackers scan or guess passwords, programs are curl, libraries, apps; search and crawlers " +
		"say what they are; monitors, own (the site itself) and proxies are neither protected nor refused unless you name them; users are all others without attackers, and all is all"
	if near := limit.Nearest(word, Words()); near != "" && !strings.HasPrefix(word, "scrape") {
		return fmt.Sprintf("did you mean %q? %s", near, classes)
	}
	return classes + ". Scrapers and bots are mostly programs and disguised"
}
