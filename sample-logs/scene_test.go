package samplelogs

import (
	"bytes"
	"math"
	"time"
)

// The small logs of this folder. Each is a scene: a crowd of visitors, and actors whose doings a report must find.
// README.md says what is planted where. The test writes the files again with -update.

// A sample is one small log.
type sample struct {
	file string // relative to this folder; compressed if its name says so
	data []byte // before compression
}

// samples makes all small logs.
func samples() []sample {
	evening := rotation()
	return []sample{
		{"shop-combined.log", shopDay()},
		{"nginx-timed.log", timedMorning()},
		{"api.json", apiHours()},
		{"vhosts.log", vhostAfternoon()},
		{"rotated/access.log.2.gz", evening[0]},
		{"rotated/access.log.1", evening[1]},
		{"rotated/access.log", evening[2]},
		{"broken.log", broken()},
		{"empty.log", nil},
	}
}

// Client numbers of the actors in small logs; docAddress says which addresses they have.
const (
	fastScraper  = 582 // 203.0.113.201
	slowScraper  = 585 // 203.0.113.202
	guesser      = 588 // 203.0.113.203
	monitoring   = 591 // 203.0.113.204
	searchEngine = 594 // 203.0.113.205
	partner      = 597 // 203.0.113.206
)

// A scene is a small log in the making.
type scene struct {
	format  Format
	seed    uint64
	start   string // "2026-03-02 00:00"
	length  time.Duration
	clients int64
	visits  int64 // of the crowd
	actors  []actor
}

// log makes the log of a scene.
func (s scene) log() []byte {
	start, err := time.Parse("2006-01-02 15:04", s.start)
	if err != nil {
		panic(err)
	}
	g := New(Config{Seed: s.seed, Clients: s.clients, Start: start, Format: s.format, Lines: math.MaxInt64})
	g.end = start.Add(s.length).Unix()
	g.every = s.length.Microseconds() / s.visits
	g.known = math.MaxInt64
	g.actors = s.actors
	g.writer.address = appendDocAddress
	var log bytes.Buffer
	if _, err := g.WriteTo(&log); err != nil {
		panic(err) // a bytes.Buffer takes everything
	}
	return log.Bytes()
}

// gone is a pause that outlasts any log, in milliseconds.
const gone = 1 << 50

// once is an actor that has one run and then is gone.
func once(what role, client int32, agent, from string, run, pace time.Duration) actor {
	start, err := time.Parse("2006-01-02 15:04:05", from)
	if err != nil {
		panic(err)
	}
	a := actor{role: what, client: client, agent: agentNamed(agent), next: start.UnixMilli(), pace: pace.Milliseconds()}
	a.until, a.pause = a.next+run.Milliseconds(), gone
	return a
}

func agentNamed(text string) int16 {
	for i, a := range agents() {
		if a.text == text {
			return int16(i)
		}
	}
	panic("samplelogs: no agent " + text)
}

// appendDocAddress is appendAddress for small logs; it knows 740 clients, of the three
// documentation ranges (RFC 5737). Those from fastScraper on have IPv4.
func appendDocAddress(dst []byte, id int32) []byte {
	if mix(uint64(id))%20 == 0 && id < fastScraper {
		return appendIPv6(dst, uint32(id))
	}
	nets := [3][3]uint32{{192, 0, 2}, {198, 51, 100}, {203, 0, 113}}
	n := nets[(id+2)%3]
	return appendIPv4(dst, n[0], n[1], n[2], 7+uint32(id)/3)
}
