package samplelogs

import "slices"

// What is going to happen waits in a ring of seconds: slot s mod len holds the events of second s. Taking a second
// out costs a sort of the few events in it, which is cheaper than a heap of everything.

// horizon is the most that an event may lie ahead, in seconds.
const horizon = 128

// An event is a line to be written, or a page view from which lines will follow.
type event struct {
	at      int64 // when it happens, or is logged; milliseconds since the Unix epoch
	stamp   int64 // the moment written in the line; 0 until it is known whether the line is late
	client  int32
	target  int32
	referer int32 // target that led here; none or outside
	agent   int16
	status  int16 // 0: whatever the server feels like
	view    bool  // a page view: the page, then its assets, then perhaps another view
}

// Referers that are no page of the shop.
const (
	none    int32 = -1
	outside int32 = -2 // a search engine
)

type queue struct{ seconds [horizon][]event }

// push files an event; its time must lie less than horizon seconds ahead of the second taken last.
func (q *queue) push(e event) {
	slot := &q.seconds[e.at/1000%horizon]
	*slot = append(*slot, e)
}

// expand replaces every page view of a second by what grow pushes for it, which may be further views of the second.
func (q *queue) expand(second int64, grow func(event)) {
	slot := &q.seconds[second%horizon]
	for i := 0; i < len(*slot); {
		e := (*slot)[i]
		if !e.view {
			i++
			continue
		}
		last := len(*slot) - 1
		(*slot)[i] = (*slot)[last]
		*slot = (*slot)[:last]
		grow(e)
	}
}

// take empties a second and returns its events in time order. They are valid until the second's slot is used again,
// one horizon later.
func (q *queue) take(second int64) []event {
	slot := &q.seconds[second%horizon]
	events := *slot
	slices.SortStableFunc(events, func(a, b event) int { return int(a.at - b.at) })
	*slot = events[:0]
	return events
}
