package findings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// look takes in batches and returns what was found, by code.
func look(o Options, s ingest.Stats, batches ...*traffic.Batch) map[string]Finding {
	if o.Read == nil {
		o.Read = new(ingest.Options)
	}
	if o.Read.Tables == nil {
		o.Read.Tables = traffic.NewTables()
		o.Read.Tables.Clients.ID([]byte("192.0.2.1"))
	}
	if tables := o.Read.Tables; tables.Agents.Len() == 0 {
		tables.Agents.ID([]byte("curl/8.5.0"))
	}
	if tables := o.Read.Tables; tables.Actions.Len() == 0 {
		tables.Actions.ID([]byte("/"))
	}
	l, twin := New(o), New(o)
	for _, b := range batches {
		l.Take(b)
		twin.Take(b)
	}
	all := l.Findings(&s)
	if c, err := carried(twin); err != nil || !equal(c.Findings(&s), all) {
		panic(fmt.Sprintf("carried to another process: %v, want %v: %v", c.Findings(&s), all, err))
	}
	found := map[string]Finding{}
	for _, f := range all {
		found[f.Code] = f
	}
	return found
}

// some is a batch of n requests of one client, a second apart.
func some(n int) *traffic.Batch {
	b := traffic.NewBatch(n, traffic.Columns{})
	for i := range n {
		b.At, b.Client, b.Agent = append(b.At, limit.Time(i)*limit.Second), append(b.Client, 0), append(b.Agent, 0)
		b.Action, b.Status, b.Bytes = append(b.Action, 0), append(b.Status, 200), append(b.Bytes, 0)
	}
	return b
}

func TestStamps(t *testing.T) {
	whole := ingest.Stats{Counts: ingest.Counts{Parsed: 4}, Resolution: limit.Second}
	if f := look(Options{}, whole, some(4))["whole_seconds"]; f.Severity != Info || f.Share != 1 || f.Remedy != "--band" {
		t.Errorf("whole seconds: %+v", f)
	}
	if _, found := look(Options{Read: &ingest.Options{Band: true}}, whole, some(4))["whole_seconds"]; found {
		t.Error("whole seconds are told with --band")
	}
	if _, found := look(Options{}, ingest.Stats{Counts: ingest.Counts{Parsed: 4}, Resolution: limit.Millisecond}, some(4))["whole_seconds"]; found {
		t.Error("milliseconds are whole seconds")
	}
	warm := some(4)
	warm.Warm = true
	if found := look(Options{}, whole, warm); len(found) > 0 {
		t.Errorf("a log without a request that counts: %+v", found)
	}
	if f := look(Options{}, ingest.Stats{Counts: ingest.Counts{Parsed: 4, Moved: 1}}, some(4))["judged_at_start"]; f.Share != 0.25 {
		t.Errorf("judged at start: %+v", f)
	}
}

func TestNotHTTP(t *testing.T) {
	for _, c := range []struct {
		name  string
		stats ingest.Stats
		want  Severity
	}{
		{"a few handshakes", ingest.Stats{Counts: ingest.Counts{Parsed: 1000, NotHTTP: ingest.ByStatus{{Status: 400, Lines: 20}}}}, Info},
		{"answered", ingest.Stats{Counts: ingest.Counts{Parsed: 1000, NotHTTP: ingest.ByStatus{{Status: 200, Lines: 11}}}}, Warn},
		{"hardly answered", ingest.Stats{Counts: ingest.Counts{Parsed: 1000, NotHTTP: ingest.ByStatus{{Status: 200, Lines: 10}}}}, Info},
		{"most", ingest.Stats{Counts: ingest.Counts{Parsed: 1000, NotHTTP: ingest.ByStatus{{Status: 400, Lines: 501}}}}, Warn},
	} {
		f, found := look(Options{}, c.stats)["not_http"]
		if !found || f.Severity != c.want || f.Remedy != "--not-http judge" || f.Share != ShareOf(c.stats.NotHTTP.Lines(), 1000) {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
	judged := look(Options{}, ingest.Stats{Counts: ingest.Counts{Parsed: 10, NotHTTP: ingest.ByStatus{{Status: 400, Lines: 9}}}, JudgesNotHTTP: true})
	if f := judged["not_http"]; f.Severity != Info || f.Remedy != "--not-http skip" {
		t.Errorf("judged: %+v", f)
	}
}

func TestOrder(t *testing.T) {
	all := []Finding{
		{Code: "c", Severity: Info, Share: 1},
		{Code: "b", Severity: Warn, Share: NoShare},
		{Code: "a", Severity: Warn, Share: 0.5},
		{Code: "d", Severity: Stop, Share: 0},
	}
	slices.SortFunc(all, ByEffect)
	var codes string
	for _, f := range all {
		codes += f.Code
	}
	if codes != "dabc" {
		t.Errorf("order %s", codes)
	}
}

func TestJSON(t *testing.T) {
	for text, want := range map[string]Finding{
		`{"code":"x","severity":"stop","share":null,"evidence":"e","remedy":""}`:  {Code: "x", Severity: Stop, Share: NoShare, Evidence: "e"},
		`{"code":"x","severity":"info","share":0.25,"evidence":"e","remedy":"r"}`: {Code: "x", Severity: Info, Share: 0.25, Evidence: "e", Remedy: "r"},
	} {
		if got, err := json.Marshal(want); err != nil || string(got) != text {
			t.Errorf("%s, %v", got, err)
		}
		var back Finding
		if err := json.Unmarshal([]byte(text), &back); err != nil || back.Severity != want.Severity || back.Share != want.Share {
			t.Errorf("%+v, %v", back, err)
		}
	}
}

// Lines exempt no client that only calls itself the site's own work, and the findings say so.
func TestExemptByMoreThanAName(t *testing.T) {
	for _, code := range []string{"own_server", "health_check"} {
		if text := Means(code); !strings.Contains(text, "would hit, unless only their user agent says what they are. ") {
			t.Errorf("%s: %s", code, text)
		}
	}
}
