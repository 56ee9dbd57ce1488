package findings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/intern"
	"shadow/limit"
	"shadow/report/format"
)

// doubled looks for requests that two inputs log: the proxy in front and the server behind it, or a server's own log and that
// of a site. A client that asks for a page once within some seconds is in one input then, or in both:
//
//	two servers       front  /a /b    /d         one behind the other   front  /a /b /c /d
//	that share work   back         /c            that both log          back   /a /b /c /d
//
// Requests that come more often say nothing, as the servers may take turns. Where both write into one file, a third or
// more comes twice there. Inputs are compared for the time that both have: files of one log may overlap.
type doubled struct {
	*seen
	recent  []meeting                // by page and status, of one client after the other
	counted intern.PagedSlice[uint8] // by client: meetings that count
	inputs  map[spell]int64          // requests that count
	pairs   map[uint64]int64         // by two inputs: of these, those in both
	once    int64                    // meetings of one request
	twins   int64                    // meetings of two in one input
}

// A spell is some minutes of an input.
type spell struct {
	input uint32
	n     int64 // from the epoch on
}

const spellLength = 10 * limit.Minute

// A meeting is the same request, again and again, each within together of the one before.
type meeting struct {
	client int32
	page   uint16
	status uint16
	first  uint32 // the input of the first
	second uint32 // that of the second, if there are two
	n      uint32 // requests; 0: none
	last   limit.Time
}

// A server logs a request when it has been answered, or when it came, and one that is behind another does so earlier.
const together = 3 * limit.Second

// Of each client so many meetings count, and an input needs so many requests that do, and so many percent of them in another.
const (
	countedMeetings = 16
	leastDoubled    = 50
	doubledPercent  = 80
	twinsPercent    = 33 // of one input: what the proxy answers itself comes once
)

func (l *doubled) take(b *traffic.Batch, _, to int) {
	if to < b.Len() || b.Clues == nil {
		return
	}
	if l.recent == nil {
		l.recent = make([]meeting, 1<<10)
	}
	l.sorted.Each(func(client, row int32, at limit.Time) {
		page, status, source := b.Clues[row].Page, b.Status[row], uint32(0)
		if page == 0 || b.Clues[row].Traits.Has(traffic.Peeked) { // who asks with HEAD may well ask once more
			return
		}
		if b.Source != nil {
			source = b.Source[row]
		}
		m := &l.recent[(page^status)%uint16(len(l.recent))]
		if m.n == 0 || m.client != client || m.page != page || m.status != status || at-m.last > together {
			l.close(m)
			*m = meeting{client: client, page: page, status: status, first: source}
		}
		if m.n++; m.n == 2 {
			m.second = source
		}
		m.last = at
	})
}

// close counts a meeting that has ended.
func (l *doubled) close(m *meeting) {
	if m.n == 0 || m.n > 2 {
		return
	}
	l.counted.Grow(int(m.client) + 1)
	n := l.counted.At(m.client)
	if *n == countedMeetings {
		return
	}
	*n++
	if m.n == 2 && m.first == m.second {
		l.twins++
		return
	}
	if m.n == 1 {
		l.once++
	}
	at := int64(m.last / spellLength)
	l.inputs[spell{m.first, at}]++
	if m.n == 2 {
		l.inputs[spell{m.second, at}]++
		l.pairs[uint64(min(m.first, m.second))<<32|uint64(max(m.first, m.second))]++
	}
}

// closeAll counts the meetings that go on.
func (l *doubled) closeAll() {
	for i := range l.recent {
		l.close(&l.recent[i])
		l.recent[i].n = 0
	}
}

func (l *doubled) share(c traffic.Carrier) {
	l.closeAll()
	c.Sum(&l.once, &l.twins)
	for input, n := range traffic.Entries(c, l.inputs, nil) {
		l.inputs[input] += n
	}
	for pair, n := range traffic.Entries(c, l.pairs, nil) {
		l.pairs[pair] += n
	}
}

// spells holds how many requests of an input count in its spells, the first one first.
type spells []struct{ n, requests int64 }

func (s spells) last() int64 { return s[len(s)-1].n }

// beside returns how many of the requests come from the first to the last of another input, and how many there are.
func (s spells) beside(other spells) (within, all int64) {
	for _, spell := range s {
		if all += spell.requests; other[0].n <= spell.n && spell.n <= other.last() {
			within += spell.requests
		}
	}
	return within, all
}

// counts returns the spells of each input.
func (l *doubled) counts() map[uint32]spells {
	counts := map[uint32]spells{}
	for _, of := range slices.SortedFunc(maps.Keys(l.inputs), func(x, y spell) int { return cmp.Compare(x.n, y.n) }) {
		counts[of.input] = append(counts[of.input], struct{ n, requests int64 }{of.n, l.inputs[of]})
	}
	return counts
}

func (l *doubled) find(s *ingest.Stats) []Finding {
	l.closeAll()
	counts := l.counts()
	var most, within, all int64 // requests that are twice, those of the same time, and all of the input
	var worst, in uint32        // the input whose requests are in another
	for pair, n := range l.pairs {
		if n < max(leastDoubled, most) {
			continue
		}
		low, high := uint32(pair>>32), uint32(pair)
		for _, both := range [][2]uint32{{low, high}, {high, low}} {
			of, total := counts[both[0]].beside(counts[both[1]])
			better := cmp.Or(cmp.Compare(n, most), cmp.Compare(both[0], worst), cmp.Compare(in, both[1])) > 0
			if better && 100*n >= doubledPercent*of {
				most, worst, in, within, all = n, both[0], both[1], of, total
			}
		}
	}
	if most == 0 || int(max(worst, in)) >= len(s.Inputs) {
		return l.inOneLog()
	}
	of, remedy := s.Inputs[worst].Name, "read one of the two"
	share := ShareOf(s.Inputs[worst].Parsed, s.Parsed)
	severity := ofTwice(share * ShareOf(within, all))
	if l.twice = true; within < all {
		share, remedy = NoShare, "cut them out of one of the two"
		first, last := max(counts[worst][0].n, counts[in][0].n), min(counts[worst].last(), counts[in].last())
		of = fmt.Sprintf("%s from %s to %s UTC", of, format.Moment(limit.Time(first)*spellLength).Format(time.DateTime),
			format.Moment(limit.Time(last+1)*spellLength).Format(time.DateTime))
	}
	return []Finding{{
		Code: "copies", Severity: severity, Share: share, Evidence: fmt.Sprintf(
			"%s of the requests in %s that can be compared are in %s as well, by the same clients in the same seconds, and count "+
				"twice: %s", format.Percentage(100*float64(ShareOf(most, within))), of, s.Inputs[in].Name, remedy),
	}}
}

// ofTwice returns how grave it is that so many requests are there twice.
func ofTwice(share Share) Severity {
	if share < smallTwice {
		return Warn
	}
	return Stop
}

// smallTwice is a share of requests that moves few figures.
const smallTwice = 0.01

// inOneLog tells of a log into which two servers write the same requests.
func (l *doubled) inOneLog() []Finding {
	n := l.once + l.twins
	if n < leastDoubled || 100*l.twins < twinsPercent*n {
		return nil
	}
	return []Finding{{
		Code: "copies", Severity: Stop, Share: NoShare, Evidence: fmt.Sprintf(
			"%s of %s come twice, by the same client at once: a server and the proxy in front write into this log, so they count "+
				"twice: read the lines of one of them", format.Thousands(l.twins), format.Count(n, "request")),
	}}
}
