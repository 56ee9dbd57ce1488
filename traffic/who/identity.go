package who

// An Identity says who a client is. Every command goes by the same one.
type Identity uint8

// The identities, in the order in which reports show them.
const (
	Person    Identity = iota // behaves like a person: pages with their files, steps that follow from pages
	Office                    // several people behind one address
	Undecided                 // claims to be a browser, and too few requests say whether it is one
	Program                   // a tool, a library, an app, a device
	Disguised                 // claims to be a browser and behaves like none
	Attacker                  // looks for what is not there, guesses passwords, scans, alone or as one of a swarm
	Crawler                   // says that it is one; whether the name is forged is a separate question
	Monitor                   // asks for one or few pages at a fixed interval
	Own                       // the site itself: its cron, its optimiser, its cache warmer
	Proxy                     // one address for a large part of all clients
	Count
)

var names = [Count]string{
	"person", "office", "undecided", "program", "disguised", "attacker", "crawler", "monitor", "own", "proxy",
}

// String returns the identity in one lower-case word.
func (i Identity) String() string { return names[i] }

// Parse returns the identity of that name.
func Parse(name string) (Identity, bool) {
	for i, known := range names {
		if name == known {
			return Identity(i), true
		}
	}
	return 0, false
}
