package tail

import (
	"cmp"
	"slices"
	"time"
)

// There may be thousands of logs of which a few are busy. In a whole step names are looked up, all logs are read and requests
// are judged; that is done four times a second. In between only those logs are read that are fed:
//
//	busy     │ │ │ │ │ │ │ │ │ │ │ │    each breath
//	quiet    │           │           │    each tick
//	judge    │           │           │

// tick is how often requests are judged, and the clock is looked at.
const tick = 250 * time.Millisecond

// drowsy is for how long a log that was fed is read in each step.
const drowsy = time.Second

// isWhole reports whether a step is one: by the clock, if that goes on, when something was renamed, or when much has come.
func (t *Tail) isWhole(now time.Time) bool {
	renamed, passed := t.set.Renamed(), now.Sub(t.released)
	return renamed || passed <= 0 || passed >= tick || t.stream.Waiting() >= t.settled+batchRows
}

// awake are the logs that are read in a step, the one first that is furthest back.
func (t *Tail) awake(now time.Time) []*log {
	t.active = t.active[:0]
	for _, l := range t.logs {
		l.asleep = !t.whole && now.Sub(l.fed) >= drowsy
		if l.idle = l.asleep; !l.idle {
			t.active = append(t.active, l)
		}
	}
	slices.SortStableFunc(t.active, func(x, y *log) int { return cmp.Compare(t.mark(x), t.mark(y)) })
	return t.active
}
