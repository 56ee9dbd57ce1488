package policy

import "shadow/limit"

// A Key is what a limit counts by.
type Key uint8

// The keys.
const (
	ByClient       Key = iota // each client has a bucket of its own
	ByClientAction            // each client has one per action
	ByAction                  // all clients share one per action
	ByHost                    // one per virtual host
	BySite                    // one for everything
	KeyCount
)

var keyNames = [KeyCount]string{"client", "client+action", "action", "host", "site"}

// String is the key as --by takes it.
func (k Key) String() string { return keyNames[k] }

// A Policy is what is judged as one candidate: one limit, counted by a key.
type Policy struct {
	Name    string // the canonical text of its limit: token:6/30s
	Spec    limit.Spec
	By      Key
	Limiter limit.Limiter
}
