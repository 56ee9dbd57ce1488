package suggest

import (
	"shadow/internal/findings"
	"shadow/internal/traffic/who"
)

// Which clients to protect and which to target follows from what a log is the log of.

// GoalsOf returns which clients to protect where no flag says it: of a site for people 99.9 % of those that behave like
// browsers, else 99 % of all users. These are keys of an API, and one of a few dozen is often heavy: one may be hit.
func GoalsOf(s findings.Site) []Goal {
	if s == findings.People {
		return []Goal{{Who: who.Browsers, Percent: 99_900_000}}
	}
	return []Goal{{Who: who.Users, Percent: 99_000_000, OneOf: true}}
}

// TargetOf returns which clients to refuse where no flag says it. Search engines, the site's own work and monitors are never
// among them.
func TargetOf(s findings.Site) who.Set {
	if s == findings.People {
		return who.Hostile | 1<<who.Program | 1<<who.Crawler
	}
	return who.Users&^(1<<who.Search) | 1<<who.Attacker
}
