package suggest

import "shadow/findings"

// Which clients to protect and which to target follows from what a log is the log of.

// GoalsOf are which clients to protect where nobody says otherwise: of a site for people 99.9 % of browsers, else 99 % of
// all clients.
func GoalsOf(s findings.Site) []Goal {
	if s == findings.People {
		return []Goal{{Who: Single | 1<<Shared, Percent: 99_900_000}}
	}
	return []Goal{{Who: Everybody, Percent: 99_000_000}}
}

// TargetOf is which clients to refuse where nobody says otherwise. Search engines and monitors are neither.
func TargetOf(s findings.Site) Set {
	if s == findings.People {
		return 1<<Disguised | 1<<Tools | 1<<Crawlers | 1<<Unknown
	}
	return Everybody
}
