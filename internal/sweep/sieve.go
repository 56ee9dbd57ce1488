package sweep

import (
	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/match"
	"shadow/limit"
)

// Most keys of a busy log come once, and every limit admits the first request of a key. So of a key that came once only
// that request is kept, in 16 bytes. With the second one the key gets a slot, under which counters remember it, and its
// first request is handed to them then:
//
//	key 7  10:00  ──▶ kept
//	key 8  10:00  ──▶ kept
//	key 7  10:05  ──▶ slot 0 ──▶ firsts 10:00, then the batch with 10:05
//
// Keys do not interact, so it does not matter when the first request is handed over. Clients get a slot with the first
// request that is handed over: one without a slot was refused nothing, and needs a limit of 1.
//
// A request that is late, warms limits, or tells how long it takes is not kept, and its key gets a slot at once. Where all requests come at once, a key
// that comes once is left out, and no other needs a slot of its own.
type sieve struct {
	once    bool // whether all requests come in one batch
	filters bool // whether requests of one action only are wanted
	renames bool // whether clients get slots; else their ids are

	keys    intern.PagedSlice[sifted]
	slots   int                      // of keys
	clients intern.PagedSlice[int32] // by client: its slot + 1; 0: none
	names   intern.PagedSlice[int32] // by slot of a client: the client

	firsts, rest handful
}

// A sifted key is one never seen, one with a single request, or one with a slot.
type sifted struct {
	at     limit.Time // of the single request
	of     int32      // its client, or the slot
	action uint16     // of the single request
	state  siftedState
}

type siftedState uint8

const (
	neverSeen siftedState = iota
	seenOnce
	hasSlot
)

// A handful is requests whose keys have slots: a batch with slots in the place of clients, and its timelines, which have them
// in the place of keys.
type handful struct {
	batch     traffic.Batch
	timelines traffic.Timelines
	filtered  *filtered // nil: all requests
	clients   []int32   // room for those of the batch
}

// take sifts a batch with the timelines l. Where the sieve filters, requests of this action are wanted.
func (s *sieve) take(b *traffic.Batch, l *traffic.Timelines, clients int, action match.ActionIDs) {
	if s.once {
		s.slots = 1
	} else {
		s.keys.Grow(l.Len)
	}
	f, rest := &s.firsts, &s.rest
	f.timelines.Clear()
	f.batch.At, f.batch.Client, f.batch.Action = f.batch.At[:0], f.batch.Client[:0], f.batch.Action[:0]
	rest.timelines.Clear()
	rest.timelines.Room(len(l.Keys), len(l.Rows))
	rest.batch = *b
	if s.renames {
		s.clients.Grow(clients)
		rest.clients = append(rest.clients, make([]int32, max(0, b.Len()-len(rest.clients)))...)
		rest.batch.Client = rest.clients[:b.Len()]
	}
	seq := b.Sequence()
	var start int32
	for i, end := range l.Ends {
		rows, at, slot := l.Rows[start:end], l.At[start:end], int32(0)
		start = end
		if s.once && len(rows) == 1 {
			continue
		}
		if !s.once {
			key, row := s.keys.At(l.Keys[i]), rows[0]
			if key.state == neverSeen && len(rows) == 1 && !b.Warm && b.Took == nil && seq[row] == at[0] {
				*key = sifted{at: at[0], of: b.Client[row], action: b.Action[row], state: seenOnce}
				continue
			}
			if key.state != hasSlot {
				s.admit(key)
			}
			slot = key.of
		}
		rest.timelines.Add(slot, rows, at)
		if !s.renames {
			continue
		}
		for _, row := range rows {
			rest.batch.Client[row] = s.slotFor(b.Client[row])
		}
	}
	f.timelines.Len, rest.timelines.Len = s.slots, s.slots
	if s.filters {
		f.filter(action)
		rest.filter(action)
	}
}

// handfuls returns what it has let through, in the order of time.
func (s *sieve) handfuls() []*handful {
	both := []*handful{&s.firsts, &s.rest}
	if s.firsts.batch.Len() == 0 {
		return both[1:]
	}
	return both
}

// admit gives a key a slot, and puts its request among the firsts if it had one.
func (s *sieve) admit(key *sifted) {
	slot := int32(s.slots)
	s.slots++
	if key.state == seenOnce {
		f := &s.firsts
		row := int32(f.batch.Len())
		f.batch.At, f.batch.Action = append(f.batch.At, key.at), append(f.batch.Action, key.action)
		f.batch.Client = append(f.batch.Client, s.slotFor(key.of))
		f.timelines.Add(slot, []int32{row}, []limit.Time{key.at})
	}
	*key = sifted{of: slot, state: hasSlot}
}

// slotFor is the slot of a client, which gets one if it has none.
func (s *sieve) slotFor(client int32) int32 {
	if !s.renames {
		return client
	}
	slot := s.clients.At(client)
	if *slot == 0 {
		*slot = int32(s.names.Len()) + 1
		s.names.Grow(int(*slot))
		*s.names.At(*slot - 1) = client
	}
	return *slot - 1
}

// find tells members their slots, noSlot for those that have none.
func (s *sieve) find(who []member) {
	for i := range who {
		switch c := who[i].id; {
		case !s.renames:
			who[i].slot = c
		case int(c) < s.clients.Len():
			who[i].slot = *s.clients.At(c) - 1
		default:
			who[i].slot = noSlot
		}
	}
}

const noSlot = -1

// finish forgets the keys.
func (s *sieve) finish() {
	s.keys, s.firsts, s.rest = intern.PagedSlice[sifted]{}, handful{}, handful{}
}

// filter finds the requests of an action.
func (h *handful) filter(action match.ActionIDs) {
	if h.filtered == nil {
		h.filtered = new(filtered)
	}
	h.filtered.filter(&h.batch, &h.timelines, action)
}
