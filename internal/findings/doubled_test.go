package findings

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// Requests that two inputs log count twice. Those of servers that share work do not, also where they take turns.
func TestDoubled(t *testing.T) {
	one := func(send func(uint32, limit.Time, uint16)) { send(0, 0, 200) }
	for name, c := range map[string]struct {
		requests func(i int, send func(uint32, limit.Time, uint16))
		want     bool
	}{
		"a proxy and the server behind it": {func(i int, send func(uint32, limit.Time, uint16)) {
			one(send)
			if i%5 > 0 { // the rest the proxy has itself
				send(1, limit.Second, 200)
			}
		}, true},
		"servers that share work": {func(i int, send func(uint32, limit.Time, uint16)) { send(uint32(i%2), 0, 200) }, false},
		"servers that take turns": {func(i int, send func(uint32, limit.Time, uint16)) {
			for j := range limit.Time(4) {
				send(uint32(j%2), j*limit.Second, 200)
			}
		}, false},
		"a server that sends on to another": {func(i int, send func(uint32, limit.Time, uint16)) {
			send(0, 0, 301)
			send(1, 0, 200)
		}, false},
		"one after the other": {func(i int, send func(uint32, limit.Time, uint16)) {
			one(send)
			send(1, limit.Minute, 200)
		}, false},
		"servers that share work, and monitors that ask both": {func(i int, send func(uint32, limit.Time, uint16)) {
			send(uint32(i%2), 0, 200)
			if i < 60 {
				send(uint32(1-i%2), 0, 200)
			}
		}, false},
		"files of one log that overlap": {func(i int, send func(uint32, limit.Time, uint16)) {
			if i < 80 {
				send(0, 0, 200)
			}
			if i >= 20 {
				send(1, 0, 200)
			}
		}, true},
	} {
		town := newStreet()
		for i := range 100 {
			c.requests(i, func(input uint32, after limit.Time, status uint16) {
				town.send(fmt.Sprint("client ", i/10), "/", limit.Time(i)*limit.Hour+after, 1, status)
				town.b.Clues[town.b.Len()-1].Page = uint16(i%10 + 1)
				town.b.Source = append(town.b.Source, input)
			})
		}
		s := ingest.Stats{Inputs: []ingest.InputStats{{Name: "front.log", Parsed: 1}, {Name: "back.log", Parsed: 1}}}
		f, found := look(town.o, s, town.b)["copies"]
		if found != c.want || found && (f.Severity != Stop || !strings.HasPrefix(f.Evidence, "100.00 % of the requests in back.log")) {
			t.Errorf("%s: %+v", name, f)
		}
		if strings.HasSuffix(name, "overlap") && (!strings.Contains(f.Evidence, " from 1970-01-01 20:00:00 to 1970-01-04 07:10:00 UTC ") || f.Share != NoShare) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// Where a server and the proxy before it write into one log, many pages come twice in it.
func TestTwins(t *testing.T) {
	for twins, want := range map[int]bool{4: true, 3: false} { // of ten
		town := newStreet()
		for i := range 100 {
			for range 1 + min(1, (i%10)/(10-twins)) { // requests
				town.send(fmt.Sprint("client ", i/10), "/", limit.Time(i)*limit.Hour, 1, 200)
				town.b.Clues[town.b.Len()-1].Page = uint16(i%10 + 1)
			}
		}
		s := ingest.Stats{Inputs: []ingest.InputStats{{Name: "both.log", Parsed: 1}}}
		if f, found := look(town.o, s, town.b)["copies"]; found != want || found && f.Severity != Stop {
			t.Errorf("%d of ten: %+v", twins, f)
		}
	}
}

// Lines that are in a log once more are told, and no greater --lateness for them: all, or some at whatever place. Other
// requests of the same hours are none, nor are those of servers that a client asks again and again.
func TestRepeated(t *testing.T) {
	all := func(i limit.Time) (limit.Time, int) { return i, int(i % 17) }
	thirds := func(from limit.Time) func(i limit.Time) (limit.Time, int) {
		return func(i limit.Time) (limit.Time, int) {
			minute := from + i
			if i%3 == 2 {
				minute--
			}
			return minute, int(minute % 17)
		}
	}
	for name, c := range map[string]struct {
		parts []func(i limit.Time) (minute limit.Time, client int)
		want  string
	}{
		"a copy behind the log": {[]func(limit.Time) (limit.Time, int){all, all}, "about 78 requests (48.75 %) stand"},
		"another site's log of the same hours": {[]func(limit.Time) (limit.Time, int){all, func(i limit.Time) (limit.Time, int) {
			return i, 9
		}}, ""},
		"a copy between others": {[]func(limit.Time) (limit.Time, int){func(i limit.Time) (limit.Time, int) {
			return 900 + i, 1
		}, all, all, func(i limit.Time) (limit.Time, int) { return 500 + i, 1 }}, "about 64 requests (20.00 %) stand"},
		"the end of one is the beginning of the next": {[]func(limit.Time) (limit.Time, int){all, func(i limit.Time) (limit.Time, int) {
			return i + 20, int((i + 20) % 17)
		}}, "about 58 requests (36.25 %) stand"},
		"a flood that two servers got": {[]func(limit.Time) (limit.Time, int){
			func(i limit.Time) (limit.Time, int) { return i / 2, 1 }, func(i limit.Time) (limit.Time, int) { return i / 2, 1 },
		}, ""},
		"probes of two servers in the same seconds": {[]func(limit.Time) (limit.Time, int){
			func(i limit.Time) (limit.Time, int) { return i, int(i % 7) }, func(i limit.Time) (limit.Time, int) { return i, int(i % 7) },
		}, ""},
		"an older log whose requests come ten times at once": {[]func(limit.Time) (limit.Time, int){
			func(i limit.Time) (limit.Time, int) { return 900 + i, 1 },
			func(i limit.Time) (limit.Time, int) { return i / 10, int(i / 10) },
			func(i limit.Time) (limit.Time, int) { return 8 + i/10, int(8 + i/10) },
		}, ""},
		"a copy of a log in which two of three come at once": {[]func(limit.Time) (limit.Time, int){
			thirds(0), thirds(100), thirds(200), thirds(0), thirds(100), thirds(200),
		}, "about 82 requests (17.08 %) stand"},
	} {
		town := newStreet()
		town.o.Read.Lateness = limit.Minute
		for _, part := range c.parts {
			for i := range limit.Time(80) {
				minute, client := part(i)
				town.send(fmt.Sprint("client ", client), "/", minute*limit.Minute, 1, 200)
			}
		}
		s := ingest.Stats{Counts: ingest.Counts{Late: 80}, LateBy: limit.Hour, LastAt: 79 * limit.Minute}
		found := look(town.o, s, town.b)
		f, is := found["copies"]
		if is != (c.want != "") || is && f.Severity != Stop || (found["clock"].Remedy == "") != is || !strings.HasPrefix(f.Evidence, c.want) {
			t.Errorf("%s: %+v, %+v", name, f, found["clock"])
		}
	}
}

// Of many requests some are remembered, and as good an estimate comes of them: it stops an answer where they are many.
func TestRepeatedOfMany(t *testing.T) {
	for again, want := range map[limit.Time]Severity{100_000: Stop, 4_000: Warn} {
		l := &repeated{seen: new(seen), before: map[moment]came{}, shown: map[int32]uint8{}}
		b := new(traffic.Batch)
		send := func(from, to limit.Time) {
			for i := from; i < to; i++ {
				b.At, b.Client, b.Action = append(b.At, i*limit.Second), append(b.Client, int32(i%1000)), append(b.Action, 1)
				b.Status, b.Bytes = append(b.Status, 200), append(b.Bytes, int64(i))
			}
		}
		send(0, 400_000)
		send(400_000-again, 800_000-again)
		l.take(b, 0, len(b.At))
		l.total = int64(len(b.At))
		f, share := l.find(nil), float64(again)/800_000
		if len(f) != 1 || f[0].Severity != want || math.Abs(float64(f[0].Share)/share-1) > 0.1 || len(l.before) > 2*mostSampled {
			t.Errorf("%d: %+v, with %d remembered", again, f, len(l.before))
		}
	}
}
