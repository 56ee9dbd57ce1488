package evidence

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"

	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
	"shadow/parse"
)

// A ClueFinder knows what requests show of their senders. It is immutable; any number of goroutines may use it.
type ClueFinder struct {
	beacon     []match.Glob
	background []match.Glob
	hosts      [][]byte // of this site, as bareHost has them
	robots     *Robots
	rules      ClueRules
}

// ClueRules say what a ClueFinder goes by. All may be left out.
type ClueRules struct {
	Beacon     string   // pattern for the path of what only browsers load, as Rule.Glob
	Background []string // patterns for paths that pages ask for by themselves
	Hosts      []string // names of this site, where the log does not tell them; without any they are learned from its beginning
	Robots     *Robots  // what robots.txt says
	Purposes   bool     // whether clues say what a target is for
	Identities []string // the words for who a client is, where a log says so
}

// NewClueFinder compiles the rules.
func NewClueFinder(rules ClueRules) (*ClueFinder, error) {
	t := &ClueFinder{robots: rules.Robots, rules: rules}
	if rules.Beacon != "" {
		if err := match.AddGlob(&t.beacon, match.NewGlob, rules.Beacon); err != nil {
			return nil, err
		}
	}
	for _, pattern := range rules.Background {
		if err := match.AddGlob(&t.background, match.NewGlob, pattern); err != nil {
			return nil, err
		}
	}
	for _, host := range rules.Hosts {
		t.hosts = append(t.hosts, bareHost([]byte(host)))
	}
	return t, nil
}

// Rules returns the rules that the ClueFinder was made of, as a text that no others have.
func (t *ClueFinder) Rules() string {
	text := fmt.Sprintf("%q %q %q %t", t.rules.Beacon, t.rules.Background, t.rules.Hosts, t.rules.Purposes)
	if t.robots != nil {
		text += fmt.Sprintf(" %+v", t.robots.rules)
	}
	return text
}

// Hosts returns the names of this site, as far as they are known. A nil ClueFinder knows none.
func (t *ClueFinder) Hosts() [][]byte {
	if t == nil {
		return nil
	}
	return t.hosts
}

// A ClueReader finds the clues of requests, for one goroutine. It remembers what it found of targets and of referers, in
// tables of fixed size in which a new one takes the place of an older one: what one client asks for others do, too, and
// the files of a page have one referer. As in match.Matcher a place holds 64 bits of a hash with a secret, and no text.
type ClueReader struct {
	finder            *ClueFinder
	targets, referers [cluePlaces]cluePlace
}

const cluePlaces = 1 << 12 // 64 KiB

// A cluePlace remembers a part of a clue.
type cluePlace struct {
	hash uint64 // 0 is free
	clue traffic.Clue
}

// clueSeed is the secret of the hashes.
var clueSeed = maphash.MakeSeed()

// NewReader returns a reader for one goroutine. There is none of a nil ClueFinder.
func (t *ClueFinder) NewReader() *ClueReader {
	if t == nil {
		return nil
	}
	return &ClueReader{finder: t}
}

// Find fills in the clues of records.
func (c *ClueReader) Find(clues []traffic.Clue, records []parse.Record) {
	for i := range records {
		r := &records[i]
		if r.Identity != nil && isHash(r.Client) {
			clues[i] = c.told(r)
			continue
		}
		clue := excused(c.ofTarget(r), r)
		if len(r.User) > 0 && string(r.User) != "-" && clue.Traits.Has(traffic.Stepped) && (clue.Traits.AsksForm() || !clue.Traits.Has(traffic.TriedPassword)) {
			switch { // by HTTP authentication
			case r.Status == 401: // it shows nothing, so the user stands for the page
				clue.Traits |= traffic.TriedPassword | traffic.Deniable
				clue.Page = pageOf(r.User)
			case r.Status/100 == 2, r.Status/100 == 3:
				clue.Traits |= traffic.SignedIn
			}
		}
		if len(r.Referer) > 0 && clue.Traits&(traffic.FetchedAsset|traffic.Stepped) != 0 {
			clue.Traits |= traffic.Referred
			if from := c.ofReferer(r); clue.Traits&from.Traits&traffic.FetchedAsset == 0 { // else a style sheet asks, which is no page
				clue.From = from.From
			}
		}
		clues[i] = clue
	}
}

// excused returns a clue without what the answer makes no sign of anything: what is asked of any server and is not there, and code
// in a text that is searched for and found.
func excused(clue traffic.Clue, r *parse.Record) traffic.Clue {
	switch {
	case (r.Status == 404 || r.Status == 410) && clue.Traits&(traffic.Stepped|traffic.Probed) == traffic.Stepped && match.IsUnasked(match.PathOf(r.Path)):
		return traffic.Clue{}
	case r.Status/100 == 2 && clue.Traits.Has(traffic.Probed) && match.IsSearched(r.Path):
		clue.Traits &^= traffic.Probed
	}
	return clue
}

// isHash reports whether a client is called as traces do: others may name themselves in a field that is called identity.
func isHash(client []byte) bool {
	digits, is := bytes.CutPrefix(client, []byte("client-"))
	return is && len(digits) == 16 && len(bytes.Trim(digits, "0123456789abcdef")) == 0
}

// told returns what a request shows whose sender a trace knows: beside that, whether it asked for a file.
func (c *ClueReader) told(r *parse.Record) (clue traffic.Clue) {
	clue.Traits = traffic.Stepped
	if string(r.Route) == match.StaticAction {
		clue.Traits = traffic.FetchedAsset
	}
	if at := slices.Index(c.finder.rules.Identities, string(r.Identity)); at >= 0 {
		clue.Traits, clue.From = clue.Traits|traffic.Told, uint16(at+1)
	}
	return clue
}

// ofTarget returns what a request shows by itself.
func (c *ClueReader) ofTarget(r *parse.Record) traffic.Clue {
	hash := maphash.Bytes(clueSeed, r.Path) + methodOf(r)
	place := &c.targets[hash%cluePlaces]
	if place.hash != hash {
		*place = cluePlace{hash, c.finder.ofTarget(r)}
	}
	return place.clue
}

// ofReferer returns the page that a request comes from, and whether that is a file.
func (c *ClueReader) ofReferer(r *parse.Record) traffic.Clue {
	hash := maphash.Bytes(clueSeed, r.Referer)
	if len(r.Host) > 0 {
		hash = hash*31 ^ maphash.Bytes(clueSeed, r.Host)
	}
	place := &c.referers[hash%cluePlaces]
	if place.hash != hash {
		*place = cluePlace{hash, c.finder.ofReferer(r)}
	}
	return place.clue
}

// methodOf returns a number for all methods that clues take for the same, from 1.
func methodOf(r *parse.Record) uint64 {
	switch {
	case r.Method == nil:
		return 1
	case string(r.Method) == "GET":
		return 2
	case string(r.Method) == "HEAD":
		return 3
	case string(r.Method) == "POST":
		return 4
	case string(r.Method) == "OPTIONS":
		return 7
	case len(r.Method) > 0:
		return otherMethod
	}
	return 6
}

const otherMethod = 5

// ofTarget returns what a request shows but for its referer. What is not HTTP leaves no clue.
func (t *ClueFinder) ofTarget(r *parse.Record) (clue traffic.Clue) {
	if !match.IsHTTP(r.Method, r.Path) {
		return traffic.Clue{}
	}
	path, attacks := match.PathOf(r.Path), t.rules.Purposes && match.IsAttack(r.Path)
	switch {
	case match.AnyFits(t.beacon, path):
		return traffic.Clue{Traits: traffic.LoadedBeacon}
	case match.AnyFits(t.background, path):
		return traffic.Clue{}
	case string(path) == "/robots.txt":
		return traffic.Clue{Traits: traffic.FetchedRobots}
	case match.IsStatic(path) && !attacks:
		return traffic.Clue{Traits: traffic.FetchedAsset}
	}
	clue.Traits = traffic.Stepped
	if attacks {
		clue.Traits |= traffic.Probed
	}
	if r.Method == nil || string(r.Method) == "GET" {
		clue.Traits |= traffic.Asked
		clue.Page = pageOf(match.AfterHost(r.Path))
	}
	if t.robots != nil && t.robots.forbids(r.Path) {
		clue.Traits |= traffic.Trespassed
	}
	if t.rules.Purposes {
		if string(r.Method) == "HEAD" {
			clue.Traits |= traffic.Peeked | traffic.Checked
			clue.Page = pageOf(match.AfterHost(r.Path))
		}
		if string(r.Method) == "OPTIONS" {
			clue.Traits |= traffic.Peeked
			return clue
		}
		purpose := match.PurposeOf(path)
		if methodOf(r) == otherMethod {
			purpose &^= match.ForScanners | match.ForNobody // of a file system on the web, such as macOS' .DS_Store
		}
		clue.Traits |= traitsOf(purpose, clue.Traits)
		if purpose&match.ForMonitors != 0 || string(path) == "/" {
			clue.Traits |= traffic.Checked
		}
	}
	return clue
}

// traitsOf returns the traits of a step to a path with a purpose.
func traitsOf(p match.Purpose, step traffic.Trait) (traits traffic.Trait) {
	if p&(match.ForPasswords|match.ForTokens|match.ForCalls) == match.ForPasswords && step.Has(traffic.Asked) {
		traits |= traffic.TriedPassword // nothing, see AsksForm
	}
	if p&match.ForPasswords != 0 && step&(traffic.Asked|traffic.Peeked) == 0 {
		traits |= traffic.TriedPassword
		if p&match.ForCalls != 0 {
			traits |= traffic.Ambiguous
		}
		if p&match.ForTokens != 0 {
			traits |= traffic.Deniable
		}
	}
	if p&match.ForScanners != 0 {
		traits |= traffic.Probed
	}
	if p&match.ForNobody != 0 {
		traits |= traffic.Pried
	}
	if p&match.ForSite != 0 {
		traits |= traffic.Worked
	}
	if p&(match.ForOperators|match.ForVisitors|match.ForPasswords) == match.ForOperators { // a login is for strangers
		traits |= traffic.Managed
	}
	return traits
}

// ofReferer returns the page that a request comes from, none unless it is one of this site.
func (t *ClueFinder) ofReferer(r *parse.Record) (clue traffic.Clue) {
	host, target, ok := splitReferer(r.Referer)
	if !ok || !t.owns(host, r.Host) {
		return clue
	}
	clue.From = pageOf(target)
	if match.IsStatic(match.PathOf(target)) {
		clue.Traits = traffic.FetchedAsset
	}
	return clue
}

// owns reports whether a host is this site. Where neither the line nor anything else tells the site's names, any may be.
func (t *ClueFinder) owns(host, site []byte) bool {
	host = bareHost(host)
	if len(site) > 0 {
		return bytes.EqualFold(host, bareHost(site))
	}
	for _, own := range t.hosts {
		if bytes.EqualFold(host, own) {
			return true
		}
	}
	return len(t.hosts) == 0
}
