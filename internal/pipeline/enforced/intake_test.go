package enforced

import (
	"fmt"
	"strings"
	"testing"

	"shadow/internal/calibrate"
	"shadow/internal/pipeline"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/traffictest"
	"shadow/limit"
)

// fill is an intake of requests of a hundred clients, ten each.
func fill(t *testing.T, most int, by request.Key) (*intake, error) {
	t.Helper()
	c := &Calibrate{By: []request.Key{by}, Verdict: DefaultVerdict}
	in := &intake{Calibrate: c, most: most}
	if _, err := in.keys(); err != nil {
		t.Fatal(err)
	}
	var err error
	c.Pipeline = &pipeline.Pipeline{Read: traffictest.Options(t)}
	tables := c.Read.Tables
	tables.Parts = []request.Part{in.verdict, in.segment, in.retry}
	passed, refused := tables.Values.ID([]byte("PASSED")), tables.Values.ID([]byte("REJECTED"))
	agent := uint16(tables.Agents.ID([]byte("curl/8")))
	for i := range 10 {
		b := traffic.NewBatch(0, traffic.Columns{Lines: true, Values: 3})
		for client := range 100 {
			b.At, b.Client = append(b.At, limit.Time(i)*limit.Second), append(b.Client, tables.Clients.ID(fmt.Appendf(nil, "client %d", client)))
			b.Agent, b.Action, b.Status = append(b.Agent, agent), append(b.Action, 0), append(b.Status, 200)
			b.Bytes, b.Line = append(b.Bytes, 0), append(b.Line, int64(i*100+client+1))
			verdict := passed
			switch {
			case i > 5:
				verdict = refused
			case i == 5:
				verdict = traffic.NoValue
			}
			b.Values[0], b.Values[1], b.Values[2] = append(b.Values[0], verdict), append(b.Values[1], traffic.NoValue), append(b.Values[2], traffic.NoValue)
		}
		if err = in.take(b); err != nil {
			return in, err
		}
	}
	return in, nil
}

// Of a log with too many requests some clients are looked at, with all that they sent.
func TestClientsAreSampled(t *testing.T) {
	for most, oneIn := range map[int]int64{1000: 1, 999: 2, 300: 4} {
		in, err := fill(t, most, request.ByClient)
		if err != nil {
			t.Fatal(err)
		}
		f, err := in.requests(new(ingest.Stats))
		if err != nil {
			t.Fatal(err)
		}
		of := map[int32]int{}
		for _, client := range f.Requests.Client {
			of[client]++
		}
		for client, n := range of {
			if n != 9 { // one had no verdict
				t.Errorf("one in %d: %d requests of client %d", oneIn, n, client)
			}
		}
		if f.Sampled != oneIn || len(of) > 100/int(oneIn)+20 || len(of) < 100/int(oneIn)-20 {
			t.Errorf("at most %d: %d clients, one in %d", most, len(of), f.Sampled)
		}
		if f.Read != int64(10*len(of)) || f.Enforced || !f.options.Delays || f.options.Prefer != "nginx" {
			t.Errorf("%+v", f)
		}
	}
	if _, err := fill(t, 300, request.BySite); err == nil {
		t.Error("a limit for the whole site is sought in the requests of some clients")
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]map[string]calibrate.Verdict{
		"limit_req_status": {
			"PASSED": calibrate.Passed, "DELAYED_DRY_RUN": calibrate.Delayed, "REJECTED": calibrate.Refused, "throttled": calibrate.Refused, "ALLOW": calibrate.Passed,
		},
		"$waf=BLOCK,captcha": {"BLOCK": calibrate.Refused, "captcha": calibrate.Refused, "block": calibrate.Passed},
	} {
		v, err := ParseVerdict(text)
		if err != nil {
			t.Fatal(err)
		}
		for word, verdict := range want {
			if got := v.of(word); got != verdict {
				t.Errorf("%s: %s is %d, want %d", v, word, got, verdict)
			}
		}
	}
	for _, text := range []string{"", "a b", "x="} {
		if v, err := ParseVerdict(text); err == nil {
			t.Errorf("%q is %v", text, v)
		}
	}
}

// Where several limits explain as much, that of the server that wrote the log is meant. A framework's log tells none.
func TestPrefer(t *testing.T) {
	for _, c := range []struct{ format, text, want string }{
		{"combined with $msec, $request_time", `$remote_addr - $remote_user [$time_local] "$request" $status $msec $request_time`, "nginx"},
		{"custom '$remote_addr [$msec]'", `$remote_addr [$msec]`, "nginx"},
		{"haproxy", `$remote_addr:$remote_port [$time_local]`, "haproxy"},
		{"gin", `[GIN] $time`, ""},
		{"json", "", ""},
	} {
		s := &ingest.Stats{Inputs: []ingest.InputStats{{Format: c.format, FormatText: c.text}}}
		if got := new(intake).prefer(s); got != c.want {
			t.Errorf("%s: %q is preferred, want %q", c.format, got, c.want)
		}
	}
}

// Refusals that HAProxy's state at their end calls its own tell the algorithm; those of a server behind it do not.
func TestRefusalsOfHAProxy(t *testing.T) {
	for _, c := range []struct {
		states string
		want   int
	}{{"PR-- PR-- ----", 1}, {"---- SH--", -2}} {
		in := &intake{Calibrate: new(Calibrate)}
		for state := range strings.FieldsSeq(c.states) {
			in.ended(429, state)
			in.ended(400, "PR--")
		}
		if in.own != c.want {
			t.Errorf("%s: %d", c.states, in.own)
		}
	}
}
