package suggest

import (
	"fmt"
	"strings"

	"shadow/limit"
	"shadow/replay"
	"shadow/request"
	"shadow/traffic/evidence"
	"shadow/traffic/useragent"
)

// A Group is a class of clients, but that of browsers is divided by evidence: the claim of a browser costs nothing.
type Group uint8

// The groups, in the order in which reports show them.
const (
	Browsers  Group = iota // claim to be one, and nothing that they do contradicts it
	Shared                 // the same, of an address that many people seem to share
	Disguised              // claim to be one, and what they do contradicts it
	Search                 // crawlers that name themselves as a search engine's do
	Crawlers               // the other crawlers
	Tools
	Monitors
	Unknown
	GroupCount
)

var groupNames = [GroupCount]string{"browsers", "shared", "disguised", "search", "crawlers", "tools", "monitors", "unknown"}

// String is the group in one lower-case word.
func (g Group) String() string { return groupNames[g] }

// Groups are numbers by group of client.
type Groups [GroupCount]int64

// Of is the sum over a set.
func (g *Groups) Of(s Set) (sum int64) {
	for i, n := range g {
		if s.Has(Group(i)) {
			sum += n
		}
	}
	return sum
}

// A Set is a set of groups: bit i is group i.
type Set uint8

// Everybody is the set of all groups, Single that of browsers behind whose address there is one person only.
const (
	Everybody Set = 1<<GroupCount - 1
	Single    Set = 1 << Browsers
)

// Has reports whether a group is in the set.
func (s Set) Has(g Group) bool { return s>>g&1 == 1 }

// String names the set as ParseSet takes it: browsers, browsers and tools, all.
func (s Set) String() string {
	if s == Everybody {
		return "all"
	}
	var names []string
	for g := range GroupCount {
		if s.Has(g) && (g != Shared || !s.Has(Browsers)) {
			names = append(names, g.String())
		}
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// Words are what ParseSet takes.
func Words() []string { return append(append([]string{}, groupNames[:]...), "all") }

// ParseSet reads the name of one group, or all. Those of shared addresses are browsers as well.
func ParseSet(word string) (Set, error) {
	if word == "all" {
		return Everybody, nil
	}
	for g, name := range groupNames {
		if word == name && Group(g) == Browsers {
			return 1<<Browsers | 1<<Shared, nil
		}
		if word == name {
			return 1 << g, nil
		}
	}
	return 0, fmt.Errorf("%q are no clients that we tell apart; %s", word, Explain(word))
}

// Explain says which clients are told apart to somebody who wrote another word. No hint leads from scrapers to crawlers, which have
// search engines among them: who declares itself is the least of those who scrape.
func Explain(word string) string {
	const classes = "browsers claim to be one, and what they do agrees (shared: those behind an address that many share); disguised claim it, and what they do " +
		"contradicts it; search are crawlers of search engines, crawlers all others that say what they are; tools are curl, libraries and the like; then there are monitors, unknown, and all"
	if near := limit.Nearest(word, Words()); near != "" && !strings.HasPrefix(word, "scrape") {
		return fmt.Sprintf("did you mean %q? %s", near, classes)
	}
	return classes + ". Scrapers and bots are mostly tools and disguised"
}

// Labels say to which group each client belongs, by its id.
type Labels []Group

// Label judges the clients of a replay that gathered evidence. Without evidence a claim is believed.
func Label(r *replay.Result, rules *evidence.Rules, agents *useragent.Agents) Labels {
	labels := make(Labels, r.Clients.Len())
	search := searchEngines(agents)
	assessor := replay.NewAssessor(r, rules)
	for id := range labels {
		claim := r.Clients.At(int32(id)).Class()
		labels[id] = groupOf[claim]
		if claim == request.Crawler && search(r.Clients.At(int32(id)).LastAgent) {
			labels[id] = Search
		}
		if claim != request.Browser || assessor == nil {
			continue
		}
		switch found := assessor.Find(int32(id)); {
		case !evidence.Believed(claim, found.Verdict):
			labels[id] = Disguised
		case found.Shared:
			labels[id] = Shared
		}
	}
	return labels
}

var groupOf = [request.ClassCount]Group{
	request.Browser: Browsers, request.Crawler: Crawlers, request.Tool: Tools, request.Monitor: Monitors, request.Unknown: Unknown,
}

// Of is the group of a client; unknown if it was not there to be judged.
func (l Labels) Of(client int32) Group {
	if int(client) >= len(l) {
		return Unknown
	}
	return l[client]
}
