package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
)

// A bandNight is what a report says of a night that adds up over nights.
type bandNight struct {
	Input struct {
		Requests, Carried, Held int64
		Band                    struct{ Movable int64 }
	}
	Policies []struct {
		Policy  string
		Refused int64
		Band    struct{ Refused [2]int64 }
	}
}

func (n *bandNight) add(m *bandNight) {
	n.Input.Requests += m.Input.Requests
	n.Input.Band.Movable += m.Input.Band.Movable
	if n.Policies == nil {
		n.Policies = slices.Clone(m.Policies)
		return
	}
	for i := range m.Policies {
		n.Policies[i].Refused += m.Policies[i].Refused
		n.Policies[i].Band.Refused[0] += m.Policies[i].Band.Refused[0]
		n.Policies[i].Band.Refused[1] += m.Policies[i].Band.Refused[1]
	}
}

// TestNightsWithABand holds the bands of nights, which end at a moment of their own, against those of one replay: what
// lies behind the moment is judged the next night, and each request once.
func TestNightsWithABand(t *testing.T) {
	log := nightLog(t, "shop")
	whole := append(bytes.Clone(log), closing(log)...)
	s := newSite(t, site{}, 5)
	report := func(args ...string) (n bandNight) {
		args = append(append([]string{"replay", "--band", "--output", "json", "--quiet", "--max-bad", "100%"}, nightLimits...), args...)
		must(t, json.Unmarshal(run(t, s.dir, args...), &n))
		return n
	}
	var sum, waits bandNight
	night := func(args ...string) (n bandNight) {
		ahead := report(append(args, "access.log", "--resume", "--db", "nights.db", "--no-store")...)
		n = report(append(args, "access.log", "--resume", "--db", "nights.db")...)
		if fmt.Sprint(n) != fmt.Sprint(ahead) {
			t.Errorf("%v: a look at the night that keeps nothing found %v", n, ahead)
		}
		waits.Input.Held = n.Input.Held
		sum.add(&n)
		return n
	}
	pieces := append(cutEvenly(log, 4), closing(log))
	for i, piece := range pieces {
		if i == 2 {
			s.rotate()
		}
		s.grow(piece)
		until := fmt.Sprintf("2026-03-02T%02d:30:30Z", 3+5*i)
		if n := night("--until", until); n.Input.Requests == 0 {
			t.Errorf("no request lies before %s", until)
		}
		if i == 1 && waits.Input.Held < int64(bytes.Count(piece, []byte("\n")))/2 {
			t.Errorf("only %d requests wait behind %s", waits.Input.Held, until)
		}
	}
	night()
	must(t, os.WriteFile(s.path("whole.txt"), whole, 0o600))
	once := report("whole.txt", "--no-store")
	once.Input.Requests -= waits.Input.Held
	once.Input.Band.Movable -= waits.Input.Held
	once.Input.Held = 0
	if got, want := fmt.Sprintf("%+v", sum), fmt.Sprintf("%+v", once); got != want {
		t.Errorf("nights find\n%s\none replay of the whole\n%s", got, want)
	}
	if p := once.Policies[0]; p.Band.Refused[0] == p.Band.Refused[1] && once.Policies[2].Band.Refused[0] == once.Policies[2].Band.Refused[1] {
		t.Error("no band is wider than a figure: the test says nothing")
	}
}
