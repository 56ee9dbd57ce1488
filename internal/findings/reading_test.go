package findings

import (
	"fmt"
	"strings"
	"testing"

	"shadow/internal/logfile"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/parse"
)

// want checks severity, share and remedy of the finding with a code.
func want(t *testing.T, name string, found map[string]Finding, code string, s Severity, share Share, remedy string) {
	t.Helper()
	f, there := found[code]
	if !there || f.Severity != s || f.Share != share || f.Remedy != remedy {
		t.Errorf("%s: %s is %+v (%v), want %v, share %v, %q", name, code, f, there, s, share, remedy)
	}
}

func TestCopies(t *testing.T) {
	sure := logfile.Copies{Found: []logfile.Copy{{Name: "b", Of: "a", How: logfile.SameLines}}}
	want(t, "sure", look(Options{}, ingest.Stats{Copies: sure}), "copies", Info, NoShare, "")
	doubt := logfile.Copies{Doubts: []logfile.Copy{{Name: "b", Of: "a"}}}
	want(t, "in doubt", look(Options{}, ingest.Stats{Copies: doubt}), "copies", Warn, NoShare, "")
	twice := ingest.Stats{Counts: ingest.Counts{Parsed: 100}, Inputs: []ingest.InputStats{{Twins: 5}, {Twins: 5}}}
	want(t, "lines that stand twice", look(Options{}, twice), "copies", Warn, 0.1, "")
	twice.Inputs[1].Twins--
	if f, found := look(Options{}, twice)["copies"]; found {
		t.Errorf("a few lines that stand twice: %+v", f)
	}
}

func TestClientMissing(t *testing.T) {
	town := newStreet()
	town.o.Client = "user"
	town.send("-", "/", 0, 4, 200)
	s := ingest.Stats{Counts: ingest.Counts{Parsed: 400}, LastAt: limit.Day}
	want(t, "all", look(town.o, s, town.b), "client_missing", Stop, 1, "--client addr")
	town.send("eve", "/", 0, 4, 200)
	want(t, "half", look(town.o, s, town.b), "client_missing", Warn, 0.5, "--client addr")
	town.send("eve", "/", 0, 400, 200)
	want(t, "few", look(town.o, s, town.b), "client_missing", Info, ShareOf(4, 408), "--client addr")
}

// Where a header names the clients that the log does not, the remedy is to take them from there.
func TestClientOnlyInHeader(t *testing.T) {
	town := newStreet()
	town.o.Client = "addr"
	town.send("-", "/", 0, 40, 200)
	town.b.Origin = make([]uint32, len(town.b.Client))
	s := ingest.Stats{Counts: ingest.Counts{Parsed: 40}, LastAt: limit.Day, ForwardedBy: "x-forwarded-for"}
	want(t, "none named", look(town.o, s, town.b), "client_missing", Stop, 1, "")
	for row := range town.b.Origin {
		town.b.Origin[row] = 7
	}
	want(t, "named", look(town.o, s, town.b), "client_missing", Stop, 1, "--client-from x-forwarded-for --trusted-proxy private")
}

func TestAgents(t *testing.T) {
	want(t, "not logged", look(Options{}, ingest.Stats{Counts: ingest.Counts{Parsed: 4}}, some(4)), "no_agents", Warn, 1, "")
	for name, c := range map[string]struct {
		agent    string
		n        int
		severity Severity
	}{
		"missing": {"-", 5, Warn}, "a URL": {"https://example.com/", 5, Stop},
	} {
		town := newStreet()
		town.o.Read.Tables.Agents.ID([]byte(c.agent))
		town.o.Read.Tables.Agents.ID([]byte("Mozilla/5.0"))
		town.send("192.0.2.1", "/", 0, 10, 200)
		for i := c.n; i < 10; i++ {
			town.b.Agent[i] = 1
		}
		s := ingest.Stats{Counts: ingest.Counts{Parsed: 10}, HasAgents: true}
		want(t, name, look(town.o, s, town.b), "no_agents", c.severity, 0.5, "")
		town.b.Agent[0] = 1
		if f, found := look(town.o, s, town.b)["no_agents"]; found {
			t.Errorf("%s, in less than half: %+v", name, f)
		}
	}
}

func TestSample(t *testing.T) {
	for n, severity := range map[int]Severity{19: Stop, 20: Warn, 299: Warn} {
		town := newStreet()
		for i := range n {
			town.send(fmt.Sprint("client ", i), "/", 0, 11, 200)
		}
		s := ingest.Stats{Counts: ingest.Counts{Parsed: int64(11 * n)}, LastAt: limit.Day}
		found := look(town.o, s, town.b)
		want(t, fmt.Sprint(n, " clients"), found, "few_clients", severity, 1, "")
		if f, short := found["short_log"]; short {
			t.Errorf("a day: %+v", f)
		}
		town.send("one more", "/", 0, 1, 200)
		if _, few := look(town.o, s, town.b)["few_clients"]; n == 299 && few {
			t.Error("300 clients are few")
		}
	}
	for span, severity := range map[limit.Time]Severity{9 * limit.Minute: Stop, 59 * limit.Minute: Warn, 22 * limit.Hour: Info} {
		want(t, fmt.Sprint(span), look(Options{}, ingest.Stats{Counts: ingest.Counts{Parsed: 500}, LastAt: span}, some(500)), "short_log", severity, 1, "")
	}
	want(t, "few requests", look(Options{}, ingest.Stats{Counts: ingest.Counts{Parsed: 199}, LastAt: limit.Week}, some(199)), "short_log", Stop, 1, "")
}

func TestClock(t *testing.T) {
	input := func(back, far int64, furthest limit.Time) []ingest.InputStats {
		return []ingest.InputStats{{Parsed: 1000, Steps: ingest.Steps{Back: back, Far: far, Furthest: furthest}}}
	}
	at := func(s ingest.Stats) map[string]Finding {
		s.Parsed, s.LastAt = 1000, limit.Day
		o := Options{Now: 3 * limit.Day, Read: &ingest.Options{Lateness: ingest.DefaultLateness}}
		return look(o, s, some(1000))
	}
	want(t, "rewritten", at(ingest.Stats{Inputs: input(251, 0, limit.Minute)}), "clock", Stop, 1, "")
	want(t, "out of order", at(ingest.Stats{Inputs: input(250, 0, limit.Minute)}), "clock", Info, 0.25, "")
	few := ingest.Stats{Inputs: []ingest.InputStats{{Parsed: 100, Steps: ingest.Steps{Back: 26, Furthest: limit.Minute}}}}
	want(t, "rewritten, of 100 lines", at(few), "clock", Stop, 0.1, "")
	few.Inputs[0].Parsed = 99
	want(t, "out of order, of 99 lines", at(few), "clock", Info, 0.026, "")
	want(t, "a seam", at(ingest.Stats{Inputs: input(1, 1, 116*limit.Day-1), Counts: ingest.Counts{Late: 250}}), "clock", Warn, 0.25, "--lateness 116d")
	want(t, "another age", at(ingest.Stats{Inputs: input(1, 1, 400*limit.Day), Counts: ingest.Counts{Late: 250}}), "clock", Warn, 0.25, "")
	summer := ingest.Stats{Inputs: input(1, 1, limit.Hour-limit.Second), Counts: ingest.Counts{Late: 250}}
	summer.Inputs[0].Steps.At = 20 * limit.Hour
	want(t, "the end of summer", at(summer), "clock", Warn, 0.25, "--until 1970-01-01T20:00:00Z")
	summer.Inputs[0].Steps.At = 3 * limit.Hour
	want(t, "the end of summer, early", at(summer), "clock", Warn, 0.25, "--since 1970-01-01T04:00:00Z")
	summer.Inputs[0].Steps.At = 10 * limit.Minute
	want(t, "two files of an hour", at(summer), "clock", Warn, 0.25, "--lateness 60m")
	summer.Inputs[0].Steps.At, summer.Inputs[0].Steps.Far = 3*limit.Hour, 2
	want(t, "several files", at(summer), "clock", Warn, 0.25, "--lateness 60m")
	want(t, "one line", at(ingest.Stats{Inputs: input(1, 1, 18*limit.Hour), Counts: ingest.Counts{Late: 1}}), "clock", Info, 0.001, "--lateness 19h")
	if f, found := at(ingest.Stats{Inputs: input(10, 0, limit.Minute)})["clock"]; found {
		t.Errorf("a few lines out of order: %+v", f)
	}
	spring := ingest.Zones{
		Changes: 3, At: limit.Hour, From: parse.Zone{Named: true, East: -18000}, To: parse.Zone{Named: true, East: -14400},
	}
	changed := at(ingest.Stats{Inputs: []ingest.InputStats{{Parsed: 1000, Zones: spring}}})
	want(t, "another zone", changed, "clock", Info, NoShare, "")
	const says = "changes by 1 h 0 min at 1970-01-01 01:00:00 UTC, from -0500 to -0400, and 2 times more"
	if text := changed["clock"].Evidence; !strings.Contains(text, says) {
		t.Errorf("another zone: %s, want %s", text, says)
	}
	future := look(Options{Now: 1}, ingest.Stats{Counts: ingest.Counts{Parsed: 4}, LastAt: limit.Week}, some(4))
	want(t, "the future", future, "clock", Warn, NoShare, "")
}

// Times in whole minutes are no times of requests, unless the log is short or of a few jobs.
func TestCoarseTimes(t *testing.T) {
	for _, c := range []struct {
		clients     int
		grain, span limit.Time
		want        Severity
	}{
		{20, limit.Minute, limit.Hour, Stop},
		{20, 10 * limit.Second, limit.Hour, Warn},
		{20, limit.Second, limit.Hour, Info},
		{19, limit.Minute, limit.Hour, Info},
		{20, limit.Minute, limit.Minute, Info},
	} {
		town := newStreet()
		for i := range c.clients {
			town.send(fmt.Sprint("client ", i), "/", 0, 11, 200)
		}
		s := ingest.Stats{Counts: ingest.Counts{Parsed: int64(town.b.Len())}, LastAt: c.span, Resolution: c.grain}
		found := look(town.o, s, town.b)
		if c.want == Info {
			want(t, fmt.Sprint(c), found, "whole_seconds", Info, 1, "--band")
		} else {
			want(t, fmt.Sprint(c), found, "clock", c.want, 1, "")
		}
	}
}
