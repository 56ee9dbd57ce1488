package replay

import (
	"cmp"
	"slices"

	"shadow/traffic"
)

// An eventWriter turns refused requests into events: those of one moment that share client, action and status become
// one, with a count. All requests of a key at one moment come in the same batch, so nothing is left to join later.
type eventWriter struct {
	policy int32
	sink   Sink
	events []Event

	degraded bool // whether the events of the batch at hand are
}

// eventsAtOnce is how many events are handed to the sink in one call, about.
const eventsAtOnce = 16 << 10

// write takes in the refused requests of a timeline. A nil writer takes nothing.
func (w *eventWriter) write(b *traffic.Batch, piece timeline, refused []int32) error {
	if w == nil {
		return nil
	}
	moment := len(w.events) // where the events of the present moment begin
	for _, i := range refused {
		row := piece.rows[i]
		e := Event{
			Policy: w.policy, Client: b.Client[row], Action: int32(b.Action[row]), Status: b.Status[row],
			Count: 1, At: piece.at[i], Degraded: w.degraded,
		}
		if moment < len(w.events) && w.events[moment].At != e.At {
			if err := w.end(moment); err != nil {
				return err
			}
			moment = len(w.events)
		}
		w.events = append(w.events, e)
	}
	return w.end(moment)
}

// degrade notes whether the verdicts on the batch at hand are degraded.
func (w *eventWriter) degrade(degraded bool) {
	if w != nil {
		w.degraded = degraded
	}
}

// end joins the events of a moment that is over, and hands over what there is when it has become much.
func (w *eventWriter) end(moment int) error {
	w.join(moment)
	if len(w.events) < eventsAtOnce {
		return nil
	}
	return w.flush()
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

// compareEvents orders the events of one policy and moment.
func compareEvents(x, y Event) int {
	return cmp.Or(cmp.Compare(x.Client, y.Client), cmp.Compare(x.Action, y.Action), cmp.Compare(x.Status, y.Status))
}

// flush hands the events to the sink.
func (w *eventWriter) flush() error {
	if w == nil || len(w.events) == 0 {
		return nil
	}
	err := w.sink.Write(w.events)
	w.events = w.events[:0]
	return err
}
