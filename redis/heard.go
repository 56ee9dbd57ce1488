package redis

import (
	"shadow/traffic/intern"
)

// Where Redis has missed something, a host's memory goes there with its next call for the key; see seed.go. That can be much,
// so each key is asked for by itself: one that was answered is not asked again because others were not.
//
//	a server was found to be another one    Redis may have lost every key: it hears of each again
//	a timeline was decided here             Redis lacks these requests of its key
//	the tables are others                   nothing, unless one of the above is so recent that it still matters

// heard is what Redis has heard of what this host remembers.
type heard struct {
	losses  int32                    // how many times a server was found to be another one, and 1
	keys    intern.PagedSlice[int32] // up to which of them it has heard of a key; 0: it was not asked yet; owing
	assumed int32                    // that of keys for which it was not asked yet
}

// owing is of a key of which Redis lacks something.
const owing = -1

// all reports whether Redis has heard all of a key.
func (h *heard) all(key int32) bool {
	at := *h.keys.At(key)
	if at == 0 {
		at = h.assumed
	}
	return at == h.losses
}

// hear notes that it has.
func (h *heard) hear(key int32) { *h.keys.At(key) = h.losses }

// owe notes that it has not.
func (h *heard) owe(key int32) { *h.keys.At(key) = owing }

// renumber forgets all keys. settled says that Redis has missed nothing of any that would still matter.
func (h *heard) renumber(settled bool) {
	h.keys, h.assumed = intern.PagedSlice[int32]{}, 0
	if settled {
		h.assumed = h.losses
	}
}
