package findings

import (
	"fmt"
	"strings"
	"testing"

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

// A log whose lines are in it once more is told, and no greater --lateness for it. Other requests of the same hours are none.
func TestRepeated(t *testing.T) {
	for name, want := range map[string]bool{"once more": true, "another site's log of the same hours": false} {
		town := newStreet()
		town.o.Read.Lateness = limit.Minute
		for copied := range 2 {
			for i := range limit.Time(80) {
				client := fmt.Sprint("client ", i%7)
				if copied == 1 && !want {
					client = "another"
				}
				town.send(client, "/", i*limit.Minute, 1, 200)
			}
		}
		s := ingest.Stats{Counts: ingest.Counts{Late: 80}, LateBy: limit.Hour, LastAt: 79 * limit.Minute}
		found := look(town.o, s, town.b)
		f, is := found["copies"]
		if is != want || is && f.Severity != Stop || (found["clock"].Remedy == "") != want {
			t.Errorf("%s: %+v, %+v", name, f, found["clock"])
		}
	}
}
