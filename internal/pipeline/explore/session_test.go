package explore

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/pipeline"
	"shadow/internal/request"
	"shadow/internal/suggest"
	"shadow/internal/traffic/ingest"
	"shadow/report"
)

const shop = "../../../sample-logs/shop-combined.log"

// caller is the one of all commands of these tests.
func caller(out io.Writer) pipeline.Logs {
	logs := pipeline.Logs{Caller: pipeline.Caller{Out: out, Err: io.Discard, Started: time.Now()}}
	logs.NoConfig, logs.Quiet, logs.MaxBad, logs.Wanted = true, true, 5, true
	logs.Lateness = ingest.DefaultLateness
	logs.Timezone = time.UTC
	return logs
}

func question(out io.Writer) *pipeline.Suggest {
	return &pipeline.Suggest{
		Logs: caller(out), Band: true, Output: "json",
		Holdout: pipeline.DefaultHoldout, Scale: pipeline.SameScale, Recover: suggest.DefaultRecover,
	}
}

func open(t *testing.T, logs ...string) *Session {
	t.Helper()
	s, err := Open(t.Context(), question(io.Discard), logs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// answer asks, and reads the answer into a value.
func answer[T any](t *testing.T, s *Session, q Request) (value T) {
	t.Helper()
	text, err := s.Answer(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return value
}

// The answer is that of the command, byte for byte.
func TestSessionSaysWhatSuggestSays(t *testing.T) {
	var want bytes.Buffer
	if err := question(&want).Run(t.Context(), []string{shop}); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, shop).Answer(t.Context(), Request{Ask: "suggest"})
	if err != nil || string(got) != want.String() {
		t.Errorf("a session says (%v)\n%s\nand the command\n%s", err, got, want.String())
	}
}

// A move has the figures of a replay of the same limit, whether the requests stay in memory or are unpacked.
func TestMovesAreReplays(t *testing.T) {
	s := open(t, shop)
	unpacked := open(t, shop)
	unpacked.held = nil
	sums := map[string]Group{}
	for _, by := range []string{"client", "client+agent", "action"} {
		for _, limit := range []string{"window:6/30s", "token:10/1m,burst=20", "fixed:20/1m", "leaky:5/10s", "nginx:30r/m,burst=5,nodelay"} {
			key, err := request.ParseKey(by)
			if err != nil {
				t.Fatal(err)
			}
			r := &pipeline.Replay{Logs: caller(io.Discard)}
			r.Limits, r.By, r.Top, r.NoStore = []string{limit}, key, 1000, true
			model, err := r.Model(t.Context(), []string{shop})
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range []*Session{s, unpacked} {
				m := answer[Move](t, s, Request{Ask: "move", Limit: limit, By: by, Rows: mostRows})
				for _, action := range s.Actions()[:2] { // these come between, and go by marks of their own
					one := answer[Move](t, s, Request{Ask: "move", Limit: limit, By: by, Action: action})
					if before := sums[limit+by+action]; i > 0 && one.All != before || one.All.Refused > one.All.Requests {
						t.Errorf("%s: %+v unpacked, %+v held", action, one.All, before)
					}
					sums[limit+by+action] = one.All
				}
				compareMove(t, &m, &model.Policies[0])
				if t.Failed() {
					t.Fatalf("%s by %s, session %d", limit, by, i)
				}
			}
		}
	}
}

func compareMove(t *testing.T, m *Move, p *report.Policy) {
	t.Helper()
	if m.All.Refused != p.Refused || m.All.Hit != p.ClientsHit || m.Found != int(p.ClientsHit) {
		t.Errorf("refuses %d requests of %d clients, a replay %d of %d", m.All.Refused, m.All.Hit, p.Refused, p.ClientsHit)
	}
	want := map[string]int64{}
	for _, c := range p.TopClients {
		want[c.Client] = c.Refused
	}
	for _, row := range m.Hit {
		if row.Refused != want[row.Client] || row.Requests == 0 || row.Identity == "" {
			t.Errorf("%+v, of which a replay refuses %d", row, want[row.Client])
		}
	}
}

// Each point of a curve that is counted is a move.
func TestCurvesAreMoves(t *testing.T) {
	s := open(t, shop)
	for _, limit := range []string{"window:6/30s", "window:6/30s,charge=all", "fixed:20/1m", "token:10/1m,burst=20", "nginx:30r/m,burst=5,nodelay"} {
		for _, action := range []string{"", s.Actions()[0]} {
			q := Request{Ask: "curve", Limit: limit, Action: action}
			c := answer[Curve](t, s, q)
			tried := 0
			for _, p := range c.Points {
				if !p.Counted || strings.HasPrefix(limit, "nginx") {
					continue
				}
				tried++
				q := Request{Ask: "move", Action: action, Limit: strings.Replace(c.Shape, "N", itoa(p.N), 1)}
				if m := answer[Move](t, s, q); m.All.Refused != p.Refused || m.All.Hit != p.Clients {
					t.Errorf("%s of %q refuses %d of %d clients, by the curve %d of %d", q.Limit, action, m.All.Refused, m.All.Hit, p.Refused, p.Clients)
				}
			}
			if tried == 0 && !strings.HasPrefix(limit, "nginx") || len(c.Points) < 3 {
				t.Errorf("%s of %q: %d points tried of %+v", limit, action, tried, c.Points)
			}
		}
	}
}

func itoa(n int64) string { return string(must(json.Marshal(n))) }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// The account of a client is that of shadow explain.
func TestClientIsExplained(t *testing.T) {
	s := open(t, shop)
	const limit = "token:10/1m,burst=20"
	m := answer[Move](t, s, Request{Ask: "move", Limit: limit, Rows: 3})
	if len(m.Hit) == 0 {
		t.Fatal("no client is hit")
	}
	for _, row := range m.Hit {
		c := answer[Client](t, s, Request{Ask: "client", Limit: limit, Client: row.ID})
		var got struct {
			Client   string
			Requests int64
			Policies []struct {
				Refused int64
				Limits  []struct{ Needs *int64 }
			}
		}
		if err := json.Unmarshal(c.Account, &got); err != nil {
			t.Fatal(err)
		}
		refused := int64(0)
		for _, dot := range c.Requests {
			if dot.Refused {
				refused++
			}
		}
		if got.Client != row.Client || got.Requests != row.Requests || got.Policies[0].Refused != row.Refused || refused != row.Refused ||
			int64(len(c.Requests)) != row.Requests || got.Policies[0].Limits[0].Needs == nil {
			t.Errorf("%+v is explained as %+v, with %d refused of %d", row, got, refused, len(c.Requests))
		}
	}
}

// Stretches add up to a move, and so do parts of the time. The worst minute is the one that a report names.
func TestTimesAddUp(t *testing.T) {
	s := open(t, shop)
	for _, action := range []string{"", s.Actions()[1]} {
		q := Request{Ask: "times", Limit: "window:6/30s", Action: action}
		times := answer[Times](t, s, q)
		q.Ask, q.Rows = "move", mostRows
		whole := answer[Move](t, s, q)
		var requests, refused int64
		for i := range times.Requests {
			requests, refused = requests+times.Requests[i], refused+times.Refused[i]
		}
		if requests != whole.All.Requests || refused != whole.All.Refused || len(times.Requests) > mostStretches {
			t.Errorf("%q: %d of %d refused in %d stretches, by a move %d of %d", action, refused, requests, len(times.Requests), whole.All.Refused, whole.All.Requests)
		}
		middle := times.Start + times.Step*int64(len(times.Requests)/2)
		before, after := q, q
		before.Until, after.Since = middle, middle
		first, second := answer[Move](t, s, before), answer[Move](t, s, after)
		if first.All.Refused+second.All.Refused != refused || first.All.Requests+second.All.Requests != requests || first.All.Refused == 0 || second.All.Refused == 0 {
			t.Errorf("%q: %+v and %+v are not %+v", action, first.All, second.All, whole.All)
		}
		q.Since, q.Until = times.Worst.At, times.Worst.At+60_000_000
		if worst := answer[Move](t, s, q); worst.All.Refused != times.Worst.Refused || worst.Hit[0].First < q.Since || worst.Hit[0].Last >= q.Until {
			t.Errorf("%q: the worst minute refuses %d, %+v", action, times.Worst.Refused, worst.All)
		}
	}
	r := &pipeline.Replay{Logs: caller(io.Discard)}
	r.Limits, r.NoStore = []string{"window:6/30s"}, true
	model, err := r.Model(t.Context(), []string{shop})
	if err != nil {
		t.Fatal(err)
	}
	got, want := answer[Times](t, s, Request{Ask: "times", Limit: "window:6/30s"}).Worst, model.Policies[0].WorstMinute
	if got.Refused != want.Refused {
		t.Errorf("the worst minute refuses %d, in a report %d", got.Refused, want.Refused)
	}
}

// Two limits are compared as shadow diff does.
func TestCompared(t *testing.T) {
	s := open(t, shop)
	const a, b = "window:6/30s", "token:10/1m,burst=5"
	m := answer[Move](t, s, Request{Ask: "move", Limit: a, Other: b, Rows: mostRows})
	other := answer[Move](t, s, Request{Ask: "move", Limit: b, Rows: mostRows})
	hit := func(rows []Row) map[string]bool {
		all := map[string]bool{}
		for _, row := range rows {
			all[row.Client] = true
		}
		return all
	}
	ofA, ofB, newly, released := hit(m.Hit), hit(other.Hit), 0, 0
	for client := range ofA {
		if !ofB[client] {
			newly++
		}
	}
	for client := range ofB {
		if !ofA[client] {
			released++
		}
	}
	if d := m.Compared; d.All != other.All || d.NewlyHit != newly || d.Released != released || newly+released == 0 {
		t.Errorf("%+v, want %d newly hit and %d released", d, newly, released)
	}
	for _, row := range m.Compared.NewlyHitSome {
		if ofB[row.Client] || row.Refused == 0 {
			t.Errorf("%+v is hit by both", row)
		}
	}
}

// Rows are sorted, filtered and cut as asked.
func TestRows(t *testing.T) {
	s := open(t, shop)
	all := answer[Move](t, s, Request{Ask: "move", Limit: "window:3/30s", Rows: mostRows}).Hit
	if len(all) < 10 || !slices.IsSortedFunc(all, order("refused")) {
		t.Fatalf("%d rows, the most refused first", len(all))
	}
	for _, column := range []string{"client", "requests", "share", "identity"} {
		m := answer[Move](t, s, Request{Ask: "move", Limit: "window:3/30s", Sort: column, Rows: 5, From: 3})
		sorted := slices.Clone(all)
		slices.SortFunc(sorted, order(column))
		for i, row := range m.Hit {
			if row.Client != sorted[3+i].Client {
				t.Errorf("by %s, row %d is %s, want %s", column, 3+i, row.Client, sorted[3+i].Client)
			}
		}
	}
	some := answer[Move](t, s, Request{Ask: "move", Limit: "window:3/30s", Filter: " " + strings.ToUpper(all[0].Identity) + " ", Rows: mostRows})
	for _, row := range some.Hit {
		if !strings.Contains(row.Identity+row.Agent, all[0].Identity) {
			t.Errorf("%+v does not fit %s", row, all[0].Identity)
		}
	}
	if some.Found == 0 || some.Found >= len(all) {
		t.Errorf("%d of %d fit", some.Found, len(all))
	}
}

// What cannot be answered is an error that says why.
func TestMistakes(t *testing.T) {
	s := open(t, shop)
	for want, q := range map[string]Request{
		"want suggest, move":      {Ask: "what"},
		"stands for 2 limits":     {Ask: "move", Limit: "window:6,7/30s"},
		"the log has nothing for": {Ask: "move", Limit: "window:6/30s", By: "host"},
		"there is no client":      {Ask: "client", Limit: "window:6/30s", Client: 1 << 30},
		"no curve is known":       {Ask: "curve", Limit: "counter:6/30s"},
	} {
		if _, err := s.Answer(t.Context(), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", q, err, want)
		}
	}
}

// The logs in which little is told are opened as well.
func TestOddLogs(t *testing.T) {
	for _, name := range []string{"broken.log", "api.json", "vhosts.log", "nginx-timed.log"} {
		file := "../../../sample-logs/" + name
		if _, err := os.Stat(file); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), question(io.Discard), []string{file})
		if s == nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, q := range []Request{{Ask: "move", Limit: "window:6/30s", Rows: 10}, {Ask: "curve", Limit: "window:6/30s"}} {
			if _, err := s.Answer(t.Context(), q); err != nil {
				t.Errorf("%s: %+v: %v", name, q, err)
			}
		}
		_ = s.Close()
	}
}
