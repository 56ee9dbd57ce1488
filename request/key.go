package request

import (
	"fmt"
	"slices"
	"strings"

	"shadow/limit"
)

// A Key is what a limit counts by.
type Key uint8

// The keys.
const (
	ByClient            Key = iota // each client has a bucket of its own
	ByClientAction                 // each client has one per action
	ByAction                       // all clients share one per action
	ByHost                         // one per virtual host
	BySite                         // one for everything
	ByClientAgent                  // each client has one per user agent
	ByClient24                     // IPv4 clients share one per /24
	ByClient64                     // IPv6 clients share one per /64
	ByUser                         // each user has one; a request without a user counts by its client
	ByClientAgentAction            // the same, per action
	ByClient24Action
	ByClient64Action
	ByUserAction
	ByClientPath // each client has one per path
	KeyCount
)

var keyNames = [KeyCount]string{
	"client", "client+action", "action", "host", "site", "client+agent", "client/24", "client/64", "user",
	"client+agent+action", "client/24+action", "client/64+action", "user+action", "client+path",
}

// Keys are the names of all keys.
func Keys() []string { return keyNames[:] }

// String is the key as --by takes it.
func (k Key) String() string { return keyNames[k] }

// ParseKey reads what a limit counts by, as --by takes it.
func ParseKey(text string) (Key, error) {
	if i := slices.Index(keyNames[:], text); i >= 0 {
		return Key(i), nil
	}
	return 0, fmt.Errorf("key %q: limits cannot count by that%s; want one of %s",
		text, limit.Hint(text, keyNames[:]), strings.Join(keyNames[:], ", "))
}

// Who is the key without the action that goes with it: client of client+action.
func (k Key) Who() Key {
	switch k {
	case ByClientAction:
		return ByClient
	case ByClientAgentAction:
		return ByClientAgent
	case ByClient24Action:
		return ByClient24
	case ByClient64Action:
		return ByClient64
	case ByUserAction:
		return ByUser
	}
	return k
}

// Shared reports whether requests of several clients fall into one bucket, so that one is judged by what others do.
func (k Key) Shared() bool {
	who := k.Who()
	return who != ByClient && who != ByClientAgent && who != ByClientPath
}

// ByActions reports whether the key distinguishes actions.
func (k Key) ByActions() bool { return k == ByAction || k.Who() != k }

// ByAgents reports whether the key needs the agents of requests.
func (k Key) ByAgents() bool { return k.Who() == ByClientAgent }

// ByUsers reports whether the key needs the users of requests.
func (k Key) ByUsers() bool { return k.Who() == ByUser }

// ByPaths reports whether the key needs the paths of requests.
func (k Key) ByPaths() bool { return k == ByClientPath }
