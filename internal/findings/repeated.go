package findings

import (
	"fmt"
	"maps"

	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/report/format"
)

// repeated looks for lines that stand twice in a log, as where a file was joined with a copy of itself, or with another that
// begins before it ends. Where the clock steps back, a stretch begins, up to the latest time before. What is in it stands
// there for the second time, or was in another order:
//
//	08:00 … 12:00 | 10:00 … 12:00 … 14:00
//	                ──────────── came before
//
// It is looked up in a sample of what came before: all requests of some moments.
type repeated struct {
	*seen
	before       map[moment]came
	turns        uint32          // how often the clock stepped back
	shift        int             // of 1<<shift moments one is sampled
	last, latest limit.Time      // of the request before, and of all
	old, again   int64           // in this stretch: sampled requests that are older than the latest, and those of them that came before
	copied       int64           // requests in stretches whose old ones came before
	proofs       int64           // of these, those sampled, of each client a few
	shown        map[int32]uint8 // by client: its proofs, also of stretches that prove nothing
	showing      int64           // in this stretch: proofs
}

// A moment is what tells requests of one second apart.
type moment struct {
	at                 limit.Time
	client             int32
	action, page, code uint16
	bytes              int64
}

// came says how often a request came, and in which turn first.
type came struct{ n, turn uint32 }

// Of a stretch leastAgain of the sampled requests and repeatedPercent of them must have come before, of all stretches
// leastRepeated, at most mostShown of each client: monitors ask two servers in one second. A stretch of more than mostOld is
// several. mostSampled are remembered. Lines that are a little late are not old.
const (
	mostOld         = 64
	leastAgain      = 10
	leastRepeated   = 50
	mostShown       = 5
	repeatedPercent = 80
	mostSampled     = 1 << 14
	muchLater       = limit.Minute
)

// sampled reports whether requests of a time are.
func (l *repeated) sampled(at limit.Time) bool {
	return uint64(at)*0x9e3779b97f4a7c15>>(64-l.shift) == 0
}

func (l *repeated) take(b *traffic.Batch, from, to int) {
	for row := from; row < to; row++ {
		at := b.At[row]
		l.latest = max(l.latest, at)
		isOld := at < l.latest-muchLater
		if at < l.last-muchLater {
			l.turns++
			l.endStretch()
		} else if !isOld && l.old > 0 || l.old == mostOld {
			l.endStretch()
		}
		l.last = at
		if !l.sampled(at) {
			continue
		}
		r := moment{at: at, client: b.Client[row], action: b.Action[row], code: b.Status[row], bytes: b.Bytes[row]}
		if b.Clues != nil {
			r.page = b.Clues[row].Page
		}
		switch earlier := l.before[r]; {
		case earlier.n > 1: // a client that asks for the same again and again asks two servers as well
		case earlier.n == 1 && isOld && earlier.turn < l.turns:
			l.old++
			l.again++
			if l.shown[r.client] < mostShown {
				l.shown[r.client]++
				l.showing++
			}
		default:
			if isOld {
				l.old++
			}
			l.remember(r)
		}
	}
}

// remember takes a request into the sample.
func (l *repeated) remember(r moment) {
	if len(l.before) < 2*mostSampled { // unless all are of one moment
		earlier := l.before[r]
		if earlier.n++; earlier.n == 1 {
			earlier.turn = l.turns
		}
		l.before[r] = earlier
	}
	if len(l.before) > mostSampled && l.shift < 32 {
		l.shift++
		maps.DeleteFunc(l.before, func(r moment, _ came) bool { return !l.sampled(r.at) })
	}
}

// endStretch counts the stretch that ends here.
func (l *repeated) endStretch() {
	if l.again >= leastAgain && 100*l.again >= repeatedPercent*l.old {
		l.proofs += l.showing
		l.copied += l.again << l.shift
	}
	l.old, l.again, l.showing = 0, 0, 0
}

func (l *repeated) share(c traffic.Carrier) {
	l.endStretch()
	c.Sum(&l.copied, &l.proofs)
}

func (l *repeated) find(*ingest.Stats) []Finding {
	l.endStretch()
	if l.twice || l.proofs < leastRepeated { // by two inputs, which says more
		return nil
	}
	l.twice = true
	share := ShareOf(min(l.copied, l.total), l.total)
	return []Finding{{
		Code: "copies", Severity: ofTwice(share), Share: share, Evidence: fmt.Sprintf(
			"about %s (%s) stand in the log once more, behind later ones, and count twice: read them once",
			format.Count(l.copied, "request"), format.Percentage(100*float64(share))),
	}}
}
