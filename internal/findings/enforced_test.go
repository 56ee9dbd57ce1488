package findings

import (
	"strings"
	"testing"

	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// A street is a log that a test writes, request by request.
type street struct {
	o Options
	b *traffic.Batch
}

func newStreet() *street {
	t := &street{b: traffic.NewBatch(0, traffic.Columns{})}
	t.o.Read = &ingest.Options{Tables: traffic.NewTables()}
	return t
}

// send adds n requests of a client for an action, four a second.
func (t *street) send(client, action string, at limit.Time, n int, status uint16) {
	b, tables := t.b, t.o.Read.Tables
	for i := range n {
		b.At = append(b.At, at+limit.Time(i)*limit.Second/4)
		b.Client, b.Agent = append(b.Client, tables.Clients.ID([]byte(client))), append(b.Agent, 0)
		b.Action, b.Status = append(b.Action, uint16(tables.Actions.ID([]byte(action)))), append(b.Status, status)
		b.Bytes, b.Clues = append(b.Bytes, 0), append(b.Clues, traffic.Clue{Traits: traffic.Stepped | traffic.Asked})
	}
}

func (t *street) enforced() (Finding, bool) {
	f, found := look(t.o, ingest.Stats{Counts: ingest.Counts{Parsed: int64(t.b.Len())}, LastAt: limit.Day}, t.b)["enforced"]
	return f, found
}

// A client that sends too much, and is refused all at once while others are not, shows a limit by whatever status.
func TestEnforcedByBursts(t *testing.T) {
	for _, status := range []uint16{403, 444, 500} {
		town := newStreet()
		for i := range limit.Time(2) {
			at := limit.Hour * (i + 1)
			town.send("192.0.2.1", "/shop", at, 20, 200)
			town.send("192.0.2.1", "/shop", at+5*limit.Second, 15, status)
			town.send("192.0.2.2", "/shop", at+6*limit.Second, 3, 200)
			town.send("192.0.2.1", "/shop", at+limit.Minute, 1, 200)
		}
		f, found := town.enforced()
		if !found || f.Severity != Warn || f.Share != ShareOf(30, 78) || !strings.Contains(f.Evidence, "from 1970-01-01 01:00:05 UTC on") {
			t.Errorf("%d: %+v", status, f)
		}
		if !strings.HasPrefix(f.Remedy, "--exclude-status ") {
			t.Errorf("%d: remedy %q of a log that is enforced from its beginning", status, f.Remedy)
		}
	}
}

// Where no request is admitted for minutes, a server that answers with 503 is down; where some are, it refuses.
func TestOutageIsNoLimit(t *testing.T) {
	for _, admitted := range []bool{false, true} {
		town := newStreet()
		for minute := range limit.Time(10) {
			for _, client := range []string{"192.0.2.1", "192.0.2.2", "192.0.2.3"} {
				status := uint16(200)
				if 3 <= minute && minute < 6 {
					status = 503
				}
				town.send(client, "/shop", minute*limit.Minute, 20, status)
			}
			if admitted {
				town.send("192.0.2.4", "/shop", minute*limit.Minute+10*limit.Second, 1, 200)
			}
		}
		if f, found := town.enforced(); found != admitted {
			t.Errorf("admitted %v: %+v", admitted, f)
		}
	}
}

// Two bursts show a limit from 20 requests on, one from 50 on.
func TestLeastOfBursts(t *testing.T) {
	for _, c := range []struct {
		bursts, of int
		want       bool
	}{{2, 10, true}, {2, 9, false}, {1, 50, true}, {1, 49, false}, {4, 5, true}, {6, 4, false}} {
		town := newStreet()
		for i := range c.bursts {
			at := limit.Hour * limit.Time(i+1)
			town.send("192.0.2.1", "/shop", at, 20, 200)
			town.send("192.0.2.1", "/shop", at+5*limit.Second, c.of, 403)
			town.send("192.0.2.2", "/shop", at+6*limit.Second, 60, 200)
			town.send("192.0.2.1", "/shop", at+limit.Minute, 1, 200)
		}
		if f, found := town.enforced(); found != c.want {
			t.Errorf("%d bursts of %d: %+v", c.bursts, c.of, f)
		}
	}
}

// Behind a burst a new peak begins.
func TestPeakBehindABurst(t *testing.T) {
	for admitted, want := range map[int]bool{9: false, 10: true} {
		town := newStreet()
		at := limit.Hour
		for _, c := range []struct {
			client string
			n      int
			status uint16
		}{{"192.0.2.1", 20, 200}, {"192.0.2.1", 10, 403}, {"192.0.2.2", 60, 200}, {"192.0.2.1", admitted, 200}, {"192.0.2.1", 10, 403}, {"192.0.2.2", 60, 200}, {"192.0.2.1", 1, 200}} {
			town.send(c.client, "/shop", at, c.n, c.status)
			at += limit.Second
		}
		if f, found := town.enforced(); found != want {
			t.Errorf("%d admitted: %+v", admitted, f)
		}
	}
}

// What looks alike and is none.
func TestNotEnforced(t *testing.T) {
	for name, send := range map[string]func(*street, limit.Time){
		"a forbidden directory": func(town *street, at limit.Time) {
			town.send("192.0.2.1", "/shop", at, 20, 200)
			town.send("192.0.2.1", "/private", at+5*limit.Second, 30, 403)
			town.send("192.0.2.2", "/shop", at+6*limit.Second, 30, 200)
		},
		"an outage": func(town *street, at limit.Time) {
			town.send("192.0.2.1", "/shop", at, 20, 200)
			town.send("192.0.2.1", "/shop", at+5*limit.Second, 30, 500)
			town.send("192.0.2.2", "/shop", at+5*limit.Second, 90, 500)
		},
		"pages that are missing": func(town *street, at limit.Time) {
			town.send("192.0.2.1", "/shop", at, 20, 200)
			town.send("192.0.2.1", "/shop", at+5*limit.Second, 60, 404)
			town.send("192.0.2.2", "/shop", at+6*limit.Second, 30, 200)
		},
		"seats that are taken": func(town *street, at limit.Time) {
			town.send("192.0.2.1", "/shop", at, 20, 200)
			town.send("192.0.2.1", "/shop", at+5*limit.Second, 60, 409)
			town.send("192.0.2.2", "/shop", at+6*limit.Second, 30, 200)
		},
		"no peak": func(town *street, at limit.Time) {
			town.send("192.0.2.1", "/shop", at, 9, 200)
			town.send("192.0.2.1", "/shop", at+5*limit.Second, 60, 403)
			town.send("192.0.2.2", "/shop", at+6*limit.Second, 30, 200)
		},
	} {
		town := newStreet()
		for i := range limit.Time(3) {
			send(town, limit.Hour*(i+1))
		}
		if f, found := town.enforced(); found {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// 429 says so itself; before it began the log shows what clients wanted.
func TestEnforcedSince(t *testing.T) {
	town := newStreet()
	town.send("192.0.2.1", "/shop", 12*limit.Hour, 8, 200)
	town.send("192.0.2.1", "/shop", 13*limit.Hour, 2, 429)
	if f, _ := town.enforced(); f.Severity != Warn || f.Remedy != "--until 1970-01-01T13:00:00Z" {
		t.Errorf("%+v", f)
	}
	town = newStreet()
	town.send("192.0.2.1", "/shop", 12*limit.Hour, 8, 200)
	town.send("192.0.2.1", "/shop", 13*limit.Hour, 2, 503)
	if f, _ := town.enforced(); f.Severity != Info || f.Remedy != "--exclude-status 503" {
		t.Errorf("a few 503 may be anything: %+v", f)
	} else if want := "the server has answered 2 requests with 503, from 1970-01-01 13:00:00 UTC on: a limit may have refused them, or it was overloaded; "; !strings.HasPrefix(f.Evidence, want) {
		t.Errorf("%s, want %s", f.Evidence, want)
	}
	town = newStreet()
	for i := range limit.Time(4) {
		at := 13*limit.Hour + i*limit.Minute
		town.send("192.0.2.1", "/shop", at, 20, 200)
		town.send("192.0.2.1", "/shop", at+5*limit.Second, 15, 503)
		town.send("192.0.2.2", "/shop", at+9*limit.Second, 20, 504)
	}
	if f, _ := town.enforced(); !strings.Contains(f.Evidence, "or it was overloaded") {
		t.Errorf("503 beside as many 504: %+v", f)
	}
	town = newStreet()
	town.send("192.0.2.1", "/shop", 0, 8, 200)
	town.send("192.0.2.1", "/shop", 6*limit.Hour, 2, 429)
	if f, _ := town.enforced(); f.Remedy != "--exclude-status 429" {
		t.Errorf("before a quarter of the log has passed: %+v", f)
	}
}

// What enforcement hides: who was refused, and who sent nothing after that.
func TestEnforcedHides(t *testing.T) {
	town := newStreet()
	town.send("192.0.2.1", "/shop", limit.Hour, 3, 429)
	town.send("192.0.2.2", "/shop", limit.Hour, 3, 503)
	town.send("192.0.2.2", "/shop", 2*limit.Hour, 1, 403) // came back
	town.send("192.0.2.3", "/shop", limit.Hour, 1, 429)
	town.send("192.0.2.3", "/shop", 2*limit.Hour, 1, 200) // came back
	town.send("192.0.2.4", "/shop", limit.Hour, 1, 200)
	if f, _ := town.enforced(); !strings.HasSuffix(f.Evidence, "; 3 clients got 429 or 503, and 1 of them sent nothing after the last one") {
		t.Error(f.Evidence)
	}
}

// Files that are kept from all, until their permissions are mended, are not limited, and neither is what a firewall keeps a scanner from.
func TestForbiddenIsNoLimit(t *testing.T) {
	for name, c := range map[string]struct {
		before int // files that were admitted
		page   uint16
		want   bool
	}{"a limit": {10, 1, true}, "forbidden files": {9, 0, false}, "what no page asks for": {10, 2, false}} {
		town := newStreet()
		town.send("192.0.2.2", "static", 0, c.before, 200)
		for i := range limit.Time(2) {
			at := limit.Hour * (i + 1)
			town.send("192.0.2.1", "/shop", at, 20, 200)
			for row := town.b.Len() - 20; row < town.b.Len(); row++ {
				town.b.Clues[row].Page = 1
			}
			town.send("192.0.2.1", "static", at+5*limit.Second, 15, 403)
			for row := town.b.Len() - 15; row < town.b.Len(); row++ {
				town.b.Clues[row].Page = c.page
			}
			town.send("192.0.2.2", "/shop", at+10*limit.Second, 15, 200)
		}
		town.send("192.0.2.1", "static", 3*limit.Hour, 60, 200)
		if f, found := town.enforced(); found != c.want {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
