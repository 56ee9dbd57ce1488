package redis

import (
	"shadow/traffic/intern"
)

// Where Redis has missed something, a host's memory goes there with its next call for the key; see snapshot.go. That
// can be much, so each key counts by itself: the memory of a key that was answered does not go there again because of
// others.
//
//	a server was found to be another one    Redis may have lost every key: it gets the memory of each again
//	a timeline was decided here             Redis lacks these requests of its key
//	the tables are others                   nothing, unless one of the above is so recent that it still matters

// acked is of which keys Redis has acknowledged all that this host remembers.
type acked struct {
	epoch   int32                    // how many times a server was found to be another one, and 1
	keys    intern.PagedSlice[int32] // the epoch in which a key was acknowledged; 0: it was not asked for yet; pending
	assumed int32                    // that of keys that were not asked for yet
}

// pending is of a key of which Redis lacks something.
const pending = -1

// has reports whether Redis has acknowledged all of a key.
func (a *acked) has(key int32) bool {
	at := *a.keys.At(key)
	if at == 0 {
		at = a.assumed
	}
	return at == a.epoch
}

// set notes whether it has.
func (a *acked) set(key int32, all bool) {
	*a.keys.At(key) = pending
	if all {
		*a.keys.At(key) = a.epoch
	}
}

// renumber forgets all keys. settled says that Redis has missed nothing of any that would still matter.
func (a *acked) renumber(settled bool) {
	a.keys, a.assumed = intern.PagedSlice[int32]{}, 0
	if settled {
		a.assumed = a.epoch
	}
}
