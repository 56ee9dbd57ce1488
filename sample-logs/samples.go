package samplelogs

import (
	"bytes"
	"math"
	"time"
)

// The small logs of this folder. Each is a scene: a crowd of visitors, and actors whose doings a report must find.
// README.md says what is planted where. The tests write the files again with -update.

// A Sample is one small log.
type Sample struct {
	File string // relative to this folder; compressed if its name says so
	Data []byte // before compression
}

// Samples makes all small logs.
func Samples() []Sample {
	evening := rotation()
	return []Sample{
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
