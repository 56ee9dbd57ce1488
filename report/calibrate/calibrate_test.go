package calibrate

import (
	"bytes"
	"strings"
	"testing"

	"shadow/internal/calibrate"
	"shadow/internal/request"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/report"
	"shadow/report/reporttest"
)

// shown is a report on a client that sends eight requests a second apart, of which a server refused those from the fourth
// on in a minute, and one more that no such limit would refuse.
func shown(t *testing.T) *Report {
	t.Helper()
	town := reporttest.Town()
	r := &calibrate.Requests{Keys: [][]int32{nil}, Places: [][]int32{nil}}
	verdicts := []calibrate.Verdict{0, 0, 0, calibrate.Refused, calibrate.Refused, calibrate.Refused, calibrate.Refused, calibrate.Refused, calibrate.Delayed, calibrate.Refused}
	for i, v := range verdicts {
		at := limit.Time(i) * limit.Second
		r.Class, r.Path, r.Retry = append(r.Class, request.Browser), append(r.Path, int32(i/5)), append(r.Retry, 0)
		if i > 7 {
			at += 10 * limit.Minute
		}
		r.At, r.Verdict, r.Line = append(r.At, at), append(r.Verdict, v), append(r.Line, int64(i)+1)
		r.Client, r.Input = append(r.Client, 0), append(r.Input, 0)
		r.Keys[0], r.Places[0] = append(r.Keys[0], 0), append(r.Places[0], 0)
	}
	s := &Source{
		Requests: r, From: "the field $limit_req_status", Whole: true, Enforced: true, Read: 12, Sampled: 1, Top: 5, By: []request.Key{request.ByClient},
		Tables: town.Tables, Inputs: []ingest.InputStats{{Name: "access.log"}},
		Place: func(int, int32) string { return "/login" },
	}
	s.Locations = r.Hold([]string{"window:3/1m", "token:3/1m", "caddy:3/1m", "window:4/1m"}, calibrate.Options{Prefer: "nginx"})
	s.Locations[0].Way, s.Locations[0].Places = 0, []int32{0}
	who := new(report.Population)
	who.Requests, who.Clients = 10, 1
	return New(report.NewHead(&town.Stats, who, report.Options{Version: "1", Command: "shadow calibrate"}), s)
}

func TestReport(t *testing.T) {
	r := shown(t)
	for _, output := range []string{"table", "markdown"} {
		var b bytes.Buffer
		if err := r.Write(&b, output); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"enforced: 6 of 10 requests refused, 1 delayed; 2 more did not come as far as the limit", "/login, counted by client",
			"caddy:3/1m", "browser", "After a refusal", "90.00 % of the verdicts", "0 requests that only it refuses, 1 that only the server refused; it refuses 5 in all, the server 6", "refused", "passed",
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %q:\n%s", output, want, b.String())
			}
		}
	}
}

func TestNamesAreDefined(t *testing.T) {
	r := shown(t)
	r.Locations[0].AsGood = append(r.Locations[0].AsGood, *r.Locations[0].Best)
	var b bytes.Buffer
	if err := r.Write(&b, "json"); err != nil {
		t.Fatal(err)
	}
	reporttest.DefinedIn(t, append(reporttest.JSONNames(t, b.Bytes()), csvHead...), "report", "calibrate", "findings")
	b.Reset()
	if err := r.Write(&b, "csv"); err != nil || strings.Count(b.String(), "\n") < 4 {
		t.Errorf("%v: %s", err, b.String())
	}
}

// Of six refusals one is the last request of the log. The limit asks to stay away until a minute after the first three.
func TestReactions(t *testing.T) {
	c := shown(t).Reactions
	if len(c) != 1 || c[0].HonouredPercent == nil {
		t.Fatalf("%+v", c)
	}
	honoured := *c[0].HonouredPercent
	c[0].HonouredPercent = nil
	want := Reaction{Class: "browser", Clients: 1, Refusals: 5, SilentPercent: 0, SamePathPercent: 80, Median: 1, P90: 601}
	if c[0] != want || honoured != 20 {
		t.Errorf("%+v, honoured %v, want %+v", c[0], honoured, want)
	}
}

// The text names at most a dozen other limits, under the names that their users know.
func TestFewOtherLimits(t *testing.T) {
	l := Location{Requests: 9, Refused: 4, Best: &calibrate.Fit{Limit: "fixed:15/5001ms,align=first,clock=1ms"}, AllEqual: 30, AllAsGood: 40}
	for range 30 {
		l.Equal, l.AsGood = append(l.Equal, calibrate.Fit{Limit: "token:6/30s,refill=interval"}), append(l.AsGood, calibrate.Fit{Limit: "window:6/30s"})
	}
	var text strings.Builder
	for _, f := range l.facts() {
		text.WriteString(f.Label + " " + f.Text + "\n")
	}
	equal, good := strings.Count(text.String(), "resilience4j:6/30s"), strings.Count(text.String(), "window:6/30s")
	if equal == 0 || good == 0 || equal+good != 12 || !strings.Contains(text.String(), ", lua-resty-limit-count:15/5s") {
		t.Errorf("%d equal, %d as good:\n%s", equal, good, text.String())
	}
}

// In whole seconds a limit that decides otherwise mostly within a second is not denied. Of one limit nothing is chosen.
func TestCouldBe(t *testing.T) {
	for _, want := range []struct {
		bySecond     int64
		whole, alone bool
		begins       string
	}{
		{7, true, true, "could be nginx:1r/s: whole seconds keep the log from telling, and second by second 93.00 % of the verdicts agree"},
		{8, true, false, "none of those tried explains the refusals; the nearest is nginx:1r/s"},
		{7, false, false, "none of those tried explains the refusals; the nearest is nginx:1r/s"},
	} {
		l := Location{Requests: 100, Refused: 40, Best: &calibrate.Fit{Limit: "nginx:1r/s", Wrong: 20, WrongBySecond: want.bySecond}, whole: want.whole, alone: want.alone}
		f := l.facts()
		if got := strings.Contains(f[len(f)-1].Text, "chosen by other keys"); f[1].Text != want.begins || got == want.alone {
			t.Errorf("%+v: %+v", want, f)
		}
	}
}
