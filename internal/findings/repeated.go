package findings

import (
	"fmt"

	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/report/format"
)

// repeated looks for a log whose lines are in it once more, as of a file that was joined with a copy of itself: requests of
// its beginning come again when later ones have come.
type repeated struct {
	*seen
	first  map[moment]bool // whether they came again
	last   limit.Time      // of these
	latest limit.Time      // of all
	known  int64           // of them, and of other parts of the log
	again  int64
}

// A moment is what tells requests of one second apart.
type moment struct {
	at                 limit.Time
	client             int32
	action, page, code uint16
	bytes              int64
}

// leastRepeated is the number of requests that are remembered; repeatedPercent of them must come again.
const (
	leastRepeated   = 50
	repeatedPercent = 80
)

func (l *repeated) take(b *traffic.Batch, from, to int) {
	for row := from; row < to; row++ {
		at := b.At[row]
		begins := len(l.first) < leastRepeated
		if !begins && (at > l.last || l.latest <= l.last+limit.Minute) {
			l.latest = max(l.latest, at)
			continue
		}
		r := moment{at: at, client: b.Client[row], action: b.Action[row], code: b.Status[row], bytes: b.Bytes[row]}
		if b.Clues != nil {
			r.page = b.Clues[row].Page
		}
		if came, known := l.first[r]; begins {
			l.first[r], l.last = false, max(l.last, at)
		} else if known && !came {
			l.first[r] = true
			l.again++
		}
	}
}

func (l *repeated) share(c traffic.Carrier) {
	l.known = max(l.known, int64(len(l.first)))
	c.Sum(&l.known, &l.again)
}

func (l *repeated) find(*ingest.Stats) []Finding {
	l.known = max(l.known, int64(len(l.first)))
	if l.twice = l.known >= leastRepeated && 100*l.again >= repeatedPercent*l.known; !l.twice {
		return nil
	}
	return []Finding{{
		Code: "copies", Severity: Stop, Share: NoShare, Evidence: fmt.Sprintf(
			"%s of the first %s come again after later ones, so lines are in the log twice and count twice: read them once",
			format.Thousands(l.again), format.Count(l.known, "request")),
	}}
}
