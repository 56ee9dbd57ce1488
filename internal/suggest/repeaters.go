package suggest

import (
	"unsafe"

	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
	"shadow/limit"
	"shadow/replay"
)

// Most clients need less than any limit that is asked for admits, and many come once. But a replay of dozens of limits
// would have a state for each of them in each. So where few clients can be refused anything, limits are replayed on their
// requests, and they get ids of their own:
//
//	clients     0 1 2 3 4 5      2 and 5 may be refused something
//	repeaters       0     1
type repeaters struct {
	all    bool            // whether requests of all clients are replayed, under their ids
	tables *traffic.Tables // with repeaters as clients
	ids    []int32         // by client: its id as a repeater; −1: it is none
	who    []int32         // by repeater: the client
	batch  traffic.Batch
	rows   []int32
	room   int64 // bytes for what is remembered of keys
}

// newRepeaters takes the clients that are wanted, unless they are most of them.
func newRepeaters(t *traffic.Tables, wanted []bool) *repeaters {
	tables := *t
	r := &repeaters{tables: &tables, ids: make([]int32, len(wanted)), room: stateBytes}
	for id := range r.ids {
		r.ids[id] = -1
		if wanted[id] {
			r.ids[id] = int32(len(r.who))
			r.who = append(r.who, int32(id))
		}
	}
	if len(r.who) > len(wanted)/2 {
		return &repeaters{all: true, tables: t, room: stateBytes}
	}
	tables.Clients = intern.NewDict()
	for _, id := range r.who {
		tables.Clients.ID(t.Clients.Bytes(id))
	}
	return r
}

// of are the requests of repeaters. They are valid until the next call.
func (r *repeaters) of(b *traffic.Batch) *traffic.Batch {
	if r.all {
		return b
	}
	r.rows = r.rows[:0]
	for row, client := range b.Client {
		if r.ids[client] >= 0 {
			r.rows = append(r.rows, int32(row))
		}
	}
	r.batch.Reset()
	r.batch.Append(b, r.rows)
	r.batch.Warm, r.batch.Stamps = b.Warm, b.Stamps
	r.batch.DropSeq()
	for row, client := range r.batch.Client {
		r.batch.Client[row] = r.ids[client]
	}
	return &r.batch
}

// atOnce returns how many limits are replayed in one pass, so that what is remembered of keys in all parts of the log
// stays within the room.
func (r *repeaters) atOnce() int {
	return int(max(1, r.room/stateSize/PartCount/int64(max(1, r.tables.Clients.Len()))))
}

// stateSize is the memory of a key, in bytes.
const stateSize = int64(unsafe.Sizeof(limit.State{}))

// stateBytes is the room for states, unless a test has less.
var stateBytes int64 = 512 << 20

// hits returns the hits that a replay found, by the ids of clients.
func (r *repeaters) hits(found *replay.Hits) *replay.Hits {
	if r.all {
		return found
	}
	hits := new(replay.Hits)
	for hit := range found.All() {
		hits.Add(r.who[hit.Client], hit.Refused, hit.First, hit.Last)
	}
	return hits
}
