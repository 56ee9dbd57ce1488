package traffic

// A Clue holds what one request shows of its sender beside the other columns. Pages are identified by 16 bits of a
// hash of their path with its query, which is always the same one, so that a report is.
type Clue struct {
	Traits     Trait
	Page, From uint16 // the page asked for, and the page of this site that the referer names; 0: none
}

// A Trait is something that a request does. Those of a client are what it did at least once.
type Trait uint16

// The traits.
const (
	FetchedAsset  Trait = 1 << iota // asked for a file of a page, by its ending
	Stepped                         // asked for something else
	Asked                           // with GET, as links do
	Referred                        // either with a referer, of whatever site
	LoadedBeacon                    // asked for what only browsers load
	FetchedRobots                   // asked for robots.txt
	Trespassed                      // asked for what robots.txt forbids
	SignedIn                        // was let in with a user's name; evidence.Summary keeps the traits above in a byte, with one of its own
	TriedPassword                   // sent something to what looks like a login
	Probed                          // asked for what only scanners ask for
	Pried                           // asked for what must not be public: a probe as well
	Worked                          // asked for what a site asks of itself
	Peeked                          // asked with HEAD, as checks do, or with OPTIONS, and sent nothing
	Managed                         // asked for the administration of the site
	Checked                         // asked for what says whether the site is up: HEAD, the first page, a health check
	Told                            // comes with the identity of its sender: From is that, from 1, and no page
)

// Ambiguous stands beside TriedPassword where the answer has the same status for right and wrong ones.
const Ambiguous = Managed

// Deniable stands beside TriedPassword where a wrong one shows in the status alone: what else is answered may be no try.
const Deniable = Worked

// AsksForm reports whether a step asks for the page of a login: TriedPassword stands beside Asked, with nothing to deny.
func (t Trait) AsksForm() bool { return t&(Asked|TriedPassword|Deniable) == Asked|TriedPassword }

// Preflighted reports whether a browser asks with OPTIONS whether a page of another host may send something (CORS): it peeks, and
// checks nothing.
func (t Trait) Preflighted() bool { return t&(Peeked|Checked|Referred) == Peeked|Referred }

// Has reports whether all traits of u are there.
func (t Trait) Has(u Trait) bool { return t&u == u }
