package suggest

// A Site is what a log is the log of, as far as its clients tell. Which clients to protect and which to target follows from it.
type Site uint8

// The kinds of sites.
const (
	Unclear Site = iota // no agents are logged, or nobody has sent anything
	People              // most clients are browsers, or claim to be
	API                 // most clients are tools, libraries or an app
)

var siteNames = [...]string{"unknown", "people", "api"}

// String is the kind as JSON has it.
func (s Site) String() string { return siteNames[s] }

// machines are the clients of an API: what is neither a browser nor a crawler nor looks after the site.
const machines = Set(1<<Tools | 1<<Unknown)

// SiteOf tells what a log is the log of by its clients: crawlers and monitors come to all.
func SiteOf(clients *Groups, agents bool) Site {
	people := clients.Of(1<<Browsers | 1<<Shared | 1<<Disguised)
	switch other := clients.Of(machines); {
	case !agents || people+other == 0:
		return Unclear
	case other > people:
		return API
	}
	return People
}

// Goals are which clients to protect where nobody says otherwise: of a site for people 99.9 % of browsers, else 99 % of all
// clients.
func (s Site) Goals() []Goal {
	if s == People {
		return []Goal{{Who: Single | 1<<Shared, Percent: 99_900_000}}
	}
	return []Goal{{Who: Everybody, Percent: 99_000_000}}
}

// Target is which clients to refuse where nobody says otherwise. Search engines and monitors are neither.
func (s Site) Target() Set {
	if s == People {
		return 1<<Disguised | 1<<Tools | 1<<Crawlers | 1<<Unknown
	}
	return Everybody
}
