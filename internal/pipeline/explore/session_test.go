package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
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

type asked interface {
	Answer(ctx context.Context, q Request) (json.RawMessage, error)
}

// answer asks, and reads the answer into a value.
func answer[T any](t *testing.T, s asked, q Request) (value T) {
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

// sumUp adds groups up.
func sumUp(groups []Group) (sum Group) {
	for _, g := range groups {
		sum.Clients, sum.Hit, sum.Requests, sum.Refused = sum.Clients+g.Clients, sum.Hit+g.Hit, sum.Requests+g.Requests, sum.Refused+g.Refused
	}
	return sum
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
					if before := sums[limit+by+action]; i > 0 && sumUp(one.Groups) != before || before.Refused > before.Requests {
						t.Errorf("%s: %+v unpacked, %+v held", action, sumUp(one.Groups), before)
					}
					sums[limit+by+action] = sumUp(one.Groups)
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
	if sumUp(m.Groups).Refused != p.Refused || sumUp(m.Groups).Hit != p.ClientsHit || m.Found != int(p.ClientsHit) {
		t.Errorf("refuses %d requests of %d clients, a replay %d of %d", sumUp(m.Groups).Refused, sumUp(m.Groups).Hit, p.Refused, p.ClientsHit)
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
				for i, g := range answer[Move](t, s, q).Groups {
					if g.Refused != p.Refused[i] || g.Hit != p.Hit[i] {
						t.Errorf("%s of %q refuses %d of %d %s, by the curve %d of %d", q.Limit, action, g.Refused, g.Hit, g.Identity, p.Refused[i], p.Hit[i])
					}
				}
			}
			if tried == 0 && !strings.HasPrefix(limit, "nginx") || len(c.Points) < 3 {
				t.Errorf("%s of %q: %d points tried of %+v", limit, action, tried, c.Points)
			}
		}
	}
}

// The least N that a curve names for a share of protected clients spares it, and the one below does not.
func TestCurvesKeep(t *testing.T) {
	s := open(t, shop)
	percents := s.Report.Answers[0].Advice.Percents()
	if len(percents) < 4 {
		t.Fatalf("%v", percents)
	}
	for _, limit := range []string{"window:6/1m", "haproxy:6/1m", "nginx:30r/m,burst=5,nodelay", "nginx:30r/m", "caddy:6/1m"} {
		c := answer[Curve](t, s, Request{Ask: "curve", Limit: limit})
		kept := func(n int64) (part, all int64) {
			for _, g := range answer[Move](t, s, Request{Ask: "move", Limit: c.Limit.with(n)}).Groups {
				if g.Protected {
					part, all = part+g.Clients-g.Hit, all+g.Clients
				}
			}
			return part, all
		}
		for i, n := range c.Keeps {
			share := strings.TrimSuffix(percents[i].String(), "%")
			wanted := must(strconv.ParseFloat(share, 64))
			if part, all := kept(n); float64(part) < wanted/100*float64(all) {
				t.Errorf("%s of %d spares %d of %d, less than %s %%", limit, n, part, all, share)
			}
			if part, all := kept(n - 1); float64(part) >= wanted/100*float64(all) {
				t.Errorf("%s of %d spares %d of %d, not less than %s %%", limit, n-1, part, all, share)
			}
		}
	}
}

// A move has the lines of suggest for the same limit; where there can be none, it says why.
func TestMovesHaveLines(t *testing.T) {
	s := open(t, shop)
	answered := &s.Report.Answers[0]
	m := answer[Move](t, s, Request{Ask: "move", Limit: answered.Advice.Answer.Limit})
	var want [][2]string
	for _, b := range answered.Verdict.Paste {
		want = append(want, [2]string{b.Place, strings.Join(b.Lines, "\n")})
	}
	if !slices.Equal(m.Lines, want) || len(want) == 0 || m.Lack != "" {
		t.Errorf("%q, want %q", m.Lines, want)
	}
	for _, q := range []Request{{Limit: "window:6/30s"}, {Limit: "nginx:30r/m", By: "client+agent"}, {Limit: "nginx:30r/m", Action: s.Actions()[0]}} {
		q.Ask = "move"
		if m := answer[Move](t, s, q); len(m.Lines) > 0 || m.Lack == "" {
			t.Errorf("%+v has %q, %q", q, m.Lines, m.Lack)
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

// The account of a client is that of shadow explain, whether or not others share its bucket.
func TestClientIsExplained(t *testing.T) {
	s := open(t, shop)
	for _, by := range []string{"client", "client+agent", "client/24", "action"} {
		for _, limit := range []string{"token:10/1m,burst=20", "counter:20/1m"} {
			m := answer[Move](t, s, Request{Ask: "move", Limit: limit, By: by, Rows: 3})
			if len(m.Hit) == 0 {
				t.Fatalf("%s by %s hits no client", limit, by)
			}
			for _, row := range m.Hit {
				c := answer[Client](t, s, Request{Ask: "client", Limit: limit, By: by, Client: row.ID})
				var want bytes.Buffer
				e := &pipeline.Explain{Client: row.Client}
				e.Logs, e.Limits, e.By, e.Output, e.NoStore = caller(&want), []string{limit}, must(request.ParseKey(by)), "json", true
				if err := e.Run(t.Context(), []string{shop}); err != nil {
					t.Fatal(err)
				}
				if got, want := ofClient(t, c.Account), ofClient(t, want.Bytes()); !reflect.DeepEqual(got, want) {
					t.Errorf("%s by %s: %s is explained as\n%v\nand by the command as\n%v", limit, by, row.Client, got, want)
				}
				compareDots(t, &c, &row)
			}
		}
	}
	q := Request{Ask: "move", Limit: "window:3/30s", Action: s.Actions()[0], Rows: 3}
	for _, row := range answer[Move](t, s, q).Hit {
		q.Ask, q.Client = "client", row.ID
		c := answer[Client](t, s, q)
		row.Requests = int64(len(c.Requests)) // those of other actions as well
		compareDots(t, &c, &row)
	}
}

// ofClient reads the account of a client. It leaves out what an account says of the log, and the moments: a page has more.
func ofClient(t *testing.T, account []byte) (all map[string]any) {
	t.Helper()
	if err := json.Unmarshal(account, &all); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"version", "command", "input", "warnings", "findings", "timeline"} {
		delete(all, key)
	}
	for _, of := range all["policies"].([]any)[0].(map[string]any)["limits"].([]any) {
		delete(of.(map[string]any), "levels")
	}
	return all
}

func compareDots(t *testing.T, c *Client, row *Row) {
	t.Helper()
	refused := int64(0)
	for _, dot := range c.Requests {
		if dot.Refused {
			refused++
		}
	}
	if refused != row.Refused || int64(len(c.Requests)) != row.Requests {
		t.Errorf("%+v has %d dots, %d of them refused", row, len(c.Requests), refused)
	}
}

// Stretches add up to a move, and so do parts of the time. The worst minute is the one that a report names.
func TestTimesAddUp(t *testing.T) {
	s := open(t, shop)
	for _, action := range []string{"", s.Actions()[1]} {
		q := Request{Ask: "move", Limit: "window:6/30s", Action: action, Rows: mostRows, Times: true}
		whole := answer[Move](t, s, q)
		times := whole.Times
		var requests, refused int64
		for i := range times.Requests {
			requests, refused = requests+times.Requests[i], refused+times.Refused[i]
		}
		if requests != sumUp(whole.Groups).Requests || refused != sumUp(whole.Groups).Refused || len(times.Requests) > mostStretches {
			t.Errorf("%q: %d of %d refused in %d stretches, by a move %d of %d", action, refused, requests, len(times.Requests), sumUp(whole.Groups).Refused, sumUp(whole.Groups).Requests)
		}
		middle := times.Start + times.Step*int64(len(times.Requests)/2)
		before, after := q, q
		before.Until, after.Since = middle, middle
		first, second := answer[Move](t, s, before), answer[Move](t, s, after)
		if !reflect.DeepEqual(first.Times, times) || !reflect.DeepEqual(second.Times, times) {
			t.Errorf("%q: a part of the time has other times than the whole log", action)
		}
		if sumUp(first.Groups).Refused+sumUp(second.Groups).Refused != refused || sumUp(first.Groups).Requests+sumUp(second.Groups).Requests != requests || sumUp(first.Groups).Refused == 0 || sumUp(second.Groups).Refused == 0 {
			t.Errorf("%q: %+v and %+v are not %+v", action, sumUp(first.Groups), sumUp(second.Groups), sumUp(whole.Groups))
		}
		q.Since, q.Until = times.Worst.At, times.Worst.At+60_000_000
		if worst := answer[Move](t, s, q); sumUp(worst.Groups).Refused != times.Worst.Refused {
			t.Errorf("%q: the worst minute refuses %d, %+v", action, times.Worst.Refused, sumUp(worst.Groups))
		}
	}
	r := &pipeline.Replay{Logs: caller(io.Discard)}
	r.Limits, r.NoStore = []string{"window:6/30s"}, true
	model, err := r.Model(t.Context(), []string{shop})
	if err != nil {
		t.Fatal(err)
	}
	got, want := answer[Move](t, s, Request{Ask: "move", Limit: "window:6/30s", Times: true}).Times.Worst, model.Policies[0].WorstMinute
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
	if d := m.Compared; sumUp(d.Groups) != sumUp(other.Groups) || d.NewlyHit != newly || d.Released != released || newly+released == 0 {
		t.Errorf("%+v, want %d newly hit and %d released", d, newly, released)
	}
	if odd := answer[Move](t, s, Request{Ask: "move", Limit: a, Other: "odd"}); odd.Compared.Problem == "" || sumUp(odd.Groups) != sumUp(m.Groups) {
		t.Errorf("with an odd limit: %+v", odd)
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
	up := answer[Move](t, s, Request{Ask: "move", Limit: "window:3/30s", Reverse: true, Rows: 1})
	if up.Hit[0].Client != all[len(all)-1].Client {
		t.Errorf("the other way round, the first is %+v, not %+v", up.Hit[0], all[len(all)-1])
	}
	for _, row := range answer[Move](t, s, Request{Ask: "move", Limit: "window:3/30s", Filter: all[0].Client + "/32", Rows: mostRows}).Hit {
		if row.Client != all[0].Client {
			t.Errorf("%s is not in %s/32", row.Client, all[0].Client)
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
