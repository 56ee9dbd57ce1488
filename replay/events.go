package replay

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"shadow/internal/traffic"
	"shadow/limit"
)

// An Event tells what would have been blocked at one moment: Count requests that share time, client, action and status,
// and that the same policies refuse.
type Event struct {
	At     limit.Time
	Client int32 // Tables.Clients
	Action int32 // Tables.Actions
	Set    int32 // which policies refuse them: a place in Sets.All
	Count  uint32
	Status uint16
}

// A Refuser is a policy that refuses a request together with others.
type Refuser struct {
	Policy   int32 // index into Result.Policies
	Degraded bool  // see Answer
}

// Sets names the sets of policies that refuse requests together: few sets of many requests.
type Sets struct {
	All [][]Refuser // by number; policies ascend

	ids  map[string]int32
	text []byte
}

// ID returns the number of a set, which it takes in if it is new. Policies must ascend.
func (s *Sets) ID(of []Refuser) int32 {
	s.text = s.text[:0]
	for _, r := range of {
		word := uint32(r.Policy) << 1
		if r.Degraded {
			word++
		}
		s.text = binary.LittleEndian.AppendUint32(s.text, word)
	}
	id, known := s.ids[string(s.text)]
	if !known {
		if s.ids == nil {
			s.ids = map[string]int32{}
		}
		id = int32(len(s.All))
		s.All, s.ids[string(s.text)] = append(s.All, slices.Clone(of)), id
	}
	return id
}

// An eventWriter makes events of a batch when all policies have judged it: each policy sets its bit at the rows that it
// refuses, and equal requests of one moment become one event. All requests of a client at one moment come in the same
// batch, so nothing is left to join later.
type eventWriter struct {
	sink     Sink
	policies int // the first so many are told of
	events   []Event
	sets     Sets

	rows     []uint64 // by row: a bit for each policy, words uint64 of them
	degraded []uint64 // the policies whose verdicts on the batch are
	words    int
	set      []Refuser // reused
	last     []uint64  // the bits of the row before
	lastID   int32
}

// eventsAtOnce is the number of events that are handed to the sink in one call, about.
const eventsAtOnce = 16 << 10

func newEventWriter(sink Sink, policies int) *eventWriter {
	if sink == nil || policies <= 0 {
		return nil
	}
	words := (policies + 63) / 64
	return &eventWriter{
		sink: sink, policies: policies, words: words, degraded: make([]uint64, words), last: make([]uint64, words),
	}
}

// begin begins a batch of so many rows. A nil writer takes nothing.
func (w *eventWriter) begin(rows int) {
	if w != nil {
		w.rows = grow(w.rows[:0], rows*w.words) // all zero
		clear(w.degraded)
		w.lastID = -1
	}
}

// degrade notes that the verdicts of a policy on the batch at hand are degraded.
func (w *eventWriter) degrade(policy int) {
	if w != nil && policy < w.policies {
		w.degraded[policy/64] |= 1 << (policy % 64)
	}
}

// take takes in the masks of up to maskBits candidates, one mask for each row: see refusals.
func (w *eventWriter) take(candidates []*candidate, masks []uint8) {
	if w == nil {
		return
	}
	for word := range w.words {
		var bitsOfMask [1 << maskBits]uint64
		any := false
		for i, c := range candidates {
			if p := c.policyID; p >= 0 && p < w.policies && p/64 == word {
				any = true
				for mask := range bitsOfMask {
					bitsOfMask[mask] |= uint64(mask) >> i & 1 << (p % 64)
				}
			}
		}
		if !any {
			continue
		}
		for row, mask := range masks {
			if mask != 0 {
				w.rows[row*w.words+word] |= bitsOfMask[mask]
			}
		}
	}
}

// end makes the events of a batch, client by client, and hands them over when they have become many.
func (w *eventWriter) end(b *traffic.Batch, byClient *traffic.Timelines) error {
	if w == nil {
		return nil
	}
	moment, client := len(w.events), int32(0) // where the events of the present client and moment begin
	for i, row := range byClient.Rows {
		bits := w.rows[int(row)*w.words : int(row+1)*w.words]
		if !slices.ContainsFunc(bits, func(word uint64) bool { return word != 0 }) {
			continue
		}
		at := byClient.At[i]
		if moment < len(w.events) && (w.events[moment].At != at || client != b.Client[row]) {
			w.join(moment)
			if err := w.flush(eventsAtOnce); err != nil {
				return err
			}
			moment = len(w.events)
		}
		client = b.Client[row]
		w.events = append(w.events, Event{
			At: at, Client: client, Action: int32(b.Action[row]), Status: b.Status[row], Count: 1, Set: w.setOf(bits),
		})
	}
	w.join(moment)
	return w.flush(eventsAtOnce)
}

// setOf returns the number of the set of policies whose bits are set.
func (w *eventWriter) setOf(words []uint64) int32 {
	if w.lastID >= 0 && slices.Equal(words, w.last) {
		return w.lastID
	}
	w.set = w.set[:0]
	for i, word := range words {
		for ; word != 0; word &= word - 1 {
			bit := bits.TrailingZeros64(word)
			w.set = append(w.set, Refuser{Policy: int32(i*64 + bit), Degraded: w.degraded[i]>>bit&1 != 0})
		}
	}
	copy(w.last, words)
	w.lastID = w.sets.ID(w.set)
	return w.lastID
}

// join makes one event of those from start on that differ in nothing but their count.
func (w *eventWriter) join(start int) {
	moment := w.events[start:]
	if len(moment) < 2 {
		return
	}
	slices.SortFunc(moment, compareEvents)
	n := 0
	for _, e := range moment[1:] {
		if compareEvents(moment[n], e) == 0 {
			moment[n].Count += e.Count
		} else {
			n++
			moment[n] = e
		}
	}
	w.events = w.events[:start+n+1]
}

// compareEvents orders the events of one client and moment.
func compareEvents(x, y Event) int {
	return cmp.Or(cmp.Compare(x.Action, y.Action), cmp.Compare(x.Status, y.Status), cmp.Compare(x.Set, y.Set))
}

// flush hands the events to the sink, if they are at least so many.
func (w *eventWriter) flush(least int) error {
	if w == nil || len(w.events) < max(least, 1) {
		return nil
	}
	err := w.sink.Write(w.events, &w.sets)
	w.events = w.events[:0]
	return err
}
