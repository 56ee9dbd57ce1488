package evidence

import (
	"bytes"
	"fmt"
	"strings"
)

// Robots holds the rules of a robots.txt for all robots: the groups of the agent "*". Of the rules that fit a target
// the longest counts, and of two as long the one that allows (RFC 9309, section 2.2). It is immutable.
//
//	User-agent: *
//	Disallow: /search       /search, /search?q=a, /searching
//	Allow: /search/about$   but not /search/about
//	Disallow: /*.pdf$       whatever ends in .pdf
type Robots struct{ rules []robotsRule }

type robotsRule struct {
	pieces [][]byte // of the pattern, between its stars
	length int      // of the pattern
	whole  bool     // whether the target must end with the pattern
	allow  bool
}

const maxRobotsRules = 10_000

// ParseRobots reads a robots.txt. Lines that it does not know are passed over, as the standard wants; a text without
// any group is no robots.txt, which is an error.
func ParseRobots(text string) (*Robots, error) {
	r := new(Robots)
	ours, heads, groups := false, false, 0 // whether the group is ours, whether its agents are still being named
	for line := range strings.Lines(strings.TrimPrefix(text, "\uFEFF")) {
		line, _, _ = strings.Cut(line, "#")
		key, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key = strings.ToLower(strings.TrimSpace(key)); {
		case !ok:
		case key == "user-agent":
			ours = ours && heads || value == "*"
			heads = true
			groups++
		case key == "allow" || key == "disallow":
			heads = false
			if ours && value != "" {
				r.rules = append(r.rules, newRobotsRule(value, key == "allow"))
			}
		}
	}
	switch {
	case groups == 0:
		return nil, fmt.Errorf("no robots.txt: it names no User-agent")
	case len(r.rules) > maxRobotsRules:
		return nil, fmt.Errorf("%d rules for everybody: at most %d", len(r.rules), maxRobotsRules)
	}
	return r, nil
}

func newRobotsRule(pattern string, allow bool) robotsRule {
	rule := robotsRule{length: len(pattern), allow: allow}
	pattern, rule.whole = strings.CutSuffix(pattern, "$")
	for piece := range strings.SplitSeq(pattern, "*") {
		rule.pieces = append(rule.pieces, []byte(piece))
	}
	return rule
}

// forbids reports whether no robot may ask for a target, a path with its query.
func (r *Robots) forbids(target []byte) bool {
	longest, allowed := 0, true
	for i := range r.rules {
		rule := &r.rules[i]
		if rule.length < longest || rule.length == longest && !rule.allow || !rule.fits(target) {
			continue
		}
		longest, allowed = rule.length, rule.allow
	}
	return !allowed
}

// fits takes each piece where it first occurs, but for the last one of a pattern for the whole target, which must end it.
func (r *robotsRule) fits(target []byte) bool {
	rest, ok := bytes.CutPrefix(target, r.pieces[0])
	if !ok {
		return false
	}
	last := len(r.pieces) - 1
	for i, piece := range r.pieces[1:] {
		if r.whole && i+1 == last {
			return bytes.HasSuffix(rest, piece)
		}
		at := bytes.Index(rest, piece)
		if at < 0 {
			return false
		}
		rest = rest[at+len(piece):]
	}
	return !r.whole || len(rest) == 0
}
