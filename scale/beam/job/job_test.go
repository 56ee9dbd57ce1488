package job

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"shadow/internal/commands"
	"shadow/internal/logfile"
	"shadow/internal/logfile/object"
	"shadow/internal/pipeline"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic/ingest"
	samplelogs "shadow/sample-logs"
	"shadow/scale/objects"
	"shadow/scale/objects/objecttest"
)

// asProgram has this test be shadow.
const asProgram = "SHADOW_TEST_IS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		commands.Run(commands.Release{})
		return
	}
	flag.Parse()
	log.SetupLogging("error", "text")
	objects.Register()
	beam.Init()
	os.Exit(m.Run())
}

// linesOf returns how many lines the log of a test has: SHADOW_BEAM_LINES, or fewer than a run of a second takes.
func linesOf(t *testing.T) int64 {
	text := cmp.Or(os.Getenv("SHADOW_BEAM_LINES"), "20000")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// newLog writes a generated log.
func newLog(t testing.TB, lines int64) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "access.log")
	f, err := os.Create(name)
	check(t, err)
	_, err = samplelogs.New(samplelogs.Config{Lines: lines, Clients: max(10, lines/20), Seed: 1}).WriteTo(f)
	check(t, errors.Join(err, f.Close()))
	return name
}

// newJob returns a job that cuts its logs into many ranges.
func newJob(t testing.TB, logs ...string) *Job {
	return &Job{
		Logs: logs, Shards: 3, By: "client", Format: "auto", Timezone: "UTC", Client: "addr", NotHTTP: "skip",
		Lateness: "20m", Output: filepath.Join(t.TempDir(), "results"), Command: "test", Version: "test",
		Started: time.Unix(1_700_000_000, 0).UTC(),
	}
}

// run runs a job on prism, in this process.
func run(t *testing.T, j *Job) *Collection {
	t.Helper()
	check(t, prism(t, j))
	c, err := Collect(t.Context(), j.Output)
	check(t, err)
	return c
}

func prism(t *testing.T, j *Job) error {
	t.Helper()
	prepare(t, j)
	return onPrism(t, j)
}

func prepare(t *testing.T, j *Job) {
	t.Helper()
	var total int64
	for _, name := range j.Logs {
		in, err := logfile.OpenInput(name, nil)
		check(t, err)
		total += in.Size()
		in.Close()
	}
	check(t, j.Prepare(t.Context(), total/4+1))
}

func onPrism(t *testing.T, j *Job) error {
	p, s := beam.NewPipelineWithRoot()
	Graph(s, j)
	_, err := beam.Run(t.Context(), "prism", p)
	return err
}

// replayed returns what one replay of the logs comes to.
func replayed(t *testing.T, j *Job) *Collection {
	t.Helper()
	p, err := j.build()
	check(t, err)
	p.see(shape{byClient: true})
	reader, err := ingest.NewReader(context.Background(), j.Logs, nil, p.Read)
	check(t, err)
	share := p.Share(t.Context(), true, true)
	for {
		b, err := reader.Next()
		if err == io.EOF {
			break
		}
		check(t, errors.Join(err, take(share, b)))
	}
	check(t, errors.Join(reader.Close(), p.done()))
	return &Collection{j, p.Result(share, reader.Stats(), j.Copies), p.Replay, share}
}

// text returns all that was found, by names.
func text(of *Collection) string {
	var b strings.Builder
	r := of.Result
	s := &r.Stats
	fmt.Fprintln(&b, "read", s.Lines, s.Bytes, s.Parsed, s.Unreadable, s.Excluded, s.NotHTTP, s.Late, s.Refusals, s.Moved,
		s.FirstAt, s.LastAt, s.Resolution, s.HasAgents, s.HasUpstream)
	for _, in := range s.Inputs {
		fmt.Fprintln(&b, "input", in.Name, in.Format, in.Size, in.Lines, in.Parsed, in.Unreadable, in.FirstAt, in.LastAt)
	}
	fmt.Fprintln(&b, "faults", s.Faults)
	fmt.Fprintln(&b, "stretches", r.OverTime.Length(), maps.Collect(r.OverTime.All()))
	var lines []string
	for id := range int32(r.Clients.Len()) {
		if c := r.Clients.At(id); c.Requests() > 0 {
			agent := r.Tables.Agents.Name(c.LastAgent)
			lines = append(lines, fmt.Sprint("client ", r.Tables.Clients.Name(id), " ", c.ByClass, " ", agent, " ", r.Who.Of(id), " ", r.Who.Reasons(id)))
		}
	}
	for id, n := range r.Actions {
		if n > 0 {
			lines = append(lines, fmt.Sprint("action ", r.Tables.Actions.Name(int32(id)), " ", n))
		}
	}
	for i := range r.Policies {
		p := &r.Policies[i]
		lines = append(lines, fmt.Sprint(p.Policy.Name, " ", []any{
			p.Requests, p.Refused, p.WorstMinute, p.WorstMinuteRefused, p.BytesSaved, p.UpstreamSaved,
		}))
		if p.Delays != nil {
			lines = append(lines, fmt.Sprint(p.Policy.Name, " delays ", *p.Delays))
		}
		if p.Range != nil {
			lines = append(lines, fmt.Sprint(p.Policy.Name, " from ", p.Range.Refused, " ", p.Range.ClientsHit))
		}
		for h := range p.Hits.All() {
			client := r.Tables.Clients.Name(h.Client)
			lines = append(lines, fmt.Sprint(p.Policy.Name, " hits ", client, " ", h.Refused, " ", h.First, " ", h.Last))
		}
		for id, n := range p.ByAction {
			if n > 0 {
				action := r.Tables.Actions.Name(int32(id))
				lines = append(lines, fmt.Sprint(p.Policy.Name, " action ", action, " ", n))
			}
		}
	}
	for _, f := range of.replay.ReportOptions().Findings {
		fmt.Fprintln(&b, "finding", f.Severity, f.Share, f)
	}
	if of.share.Sweep != nil {
		curves := of.share.Sweep.Result(r.Stats)
		fmt.Fprintln(&b, "curves", curves.Judged, curves.Clients, curves.ByClass, *curves.Hidden)
		for _, c := range curves.Curves {
			fmt.Fprintln(&b, c.Shape, len(c.Points))
			for _, p := range c.Points {
				fmt.Fprintln(&b, c.Shape, p)
			}
		}
	}
	slices.Sort(lines)
	return b.String() + strings.Join(lines, "\n")
}

// equal fails unless two results are the same.
func equal(t *testing.T, got, want *Collection) {
	t.Helper()
	g, w := strings.Split(text(got), "\n"), strings.Split(text(want), "\n")
	differ := 0
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Errorf("got  %.300s\nwant %.300s", a, b)
			if differ++; differ == 5 {
				t.FailNow()
			}
		}
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Every limiter comes to what a replay comes to. SHADOW_BEAM_LINES=1000000 makes the log a long one.
func TestEveryLimiterEqualsReplay(t *testing.T) {
	j := newJob(t, newLog(t, linesOf(t)))
	for _, a := range policy.Algorithms {
		if a.Name == "conn" { // TestUnderWay has a log that tells how long requests take
			continue
		}
		j.Limits = append(j.Limits, a.Example, a.Name+":10/1m")
	}
	j.Sweep = true
	c := run(t, j)
	want := replayed(t, j)
	equal(t, c, want)
	if n := len(want.share.Sweep.Result(want.Result.Stats).Curves); n < 10 || len(want.replay.ReportOptions().Findings) < 3 {
		t.Errorf("the test is too easy: %d curves, %v", n, want.replay.ReportOptions().Findings)
	}
	refusing := 0
	for i := range want.Result.Policies {
		p := &c.Result.Policies[i]
		t.Logf("%s: %d refused, %d clients hit", p.Policy.Name, p.Refused, p.Hits.Len())
		if want.Result.Policies[i].Refused > 0 {
			refusing++
		}
	}
	if c.Job.Parts != 4 || c.Job.Shards != 3 || refusing < len(policy.Algorithms)-1 {
		t.Errorf("the test is too easy: %d ranges, %d shards, %d policies refuse", c.Job.Parts, c.Job.Shards, refusing)
	}
}

// Limits on requests that are under way go by how long these take, in shards too.
func TestUnderWay(t *testing.T) {
	var log bytes.Buffer
	rng := testneeds.Rand(t, 4, 3)
	for i := range 3000 {
		fmt.Fprintf(&log, "192.0.2.%d [%d.%03d] \"GET /%d HTTP/1.1\" 200 %d.%03d\n", rng.IntN(9), 1_767_225_600+i/20, rng.IntN(1000), i%7, rng.IntN(4), rng.IntN(1000))
	}
	name := filepath.Join(t.TempDir(), "access.log")
	check(t, os.WriteFile(name, log.Bytes(), 0o600))
	j := newJob(t, name)
	j.Format = `$remote_addr [$msec] "$request" $status $request_time`
	j.Limits = append(j.Limits, "conn:2", "conn:4,queue=3,wait=2s")
	c := run(t, j)
	equal(t, c, replayed(t, j))
	if refused := c.Result.Policies[0].Refused; refused < 100 {
		t.Errorf("the test is too easy: %d refused", refused)
	}
}

// Byte ranges of an object are read where it lies. One that is replaced while a job runs fails the job.
func TestObjects(t *testing.T) {
	server := objecttest.New(t)
	text, err := os.ReadFile(newLog(t, linesOf(t)))
	check(t, err)
	server.Put(t, "access.log", text)
	j := newJob(t, "s3://logs/access.log")
	j.Limits = []string{"6/30s"}
	prepare(t, j)
	server.Asked()
	check(t, onPrism(t, j))
	fetched, from, to := int64(0), int64(0), int64(0)
	for _, asked := range server.Asked() {
		if _, err := fmt.Sscanf(asked[strings.LastIndex(asked, " ")+1:], "bytes=%d-%d", &from, &to); err == nil {
			fetched += to - from + 1
		}
	}
	if size := int64(len(text)); fetched < size || fetched > 3*size { // each range with the beginning of the log, and its last line
		t.Errorf("of %d bytes, %d were fetched in %d ranges", size, fetched, j.Parts)
	}
	got, err := Collect(t.Context(), j.Output)
	check(t, err)
	equal(t, got, replayed(t, j))

	j.Output = filepath.Join(t.TempDir(), "results")
	prepare(t, j)
	server.Put(t, "access.log", append([]byte("# another\n"), text...))
	if err := onPrism(t, j); err == nil || !strings.Contains(err.Error(), object.ErrChanged.Error()) {
		t.Error("the object was replaced:", err)
	}
}

// disordered returns a log as a busy server writes it: lines are late, a few of them by hours, and some cannot be read.
func disordered(t *testing.T, seed uint64, lines int64) string {
	t.Helper()
	name := newLog(t, lines)
	all, err := os.ReadFile(name)
	check(t, err)
	rows := bytes.SplitAfter(all, []byte("\n"))
	rng := testneeds.Rand(t, seed, 1)
	for i := range rows {
		switch k := rng.IntN(100); {
		case k < 20:
			j := min(len(rows)-1, i+rng.IntN(20))
			rows[i], rows[j] = rows[j], rows[i]
		case k < 22:
			j := rng.IntN(len(rows))
			rows[i], rows[j] = rows[j], rows[i]
		case k < 23:
			rows[i] = []byte("no line of a log\n")
		}
	}
	check(t, os.WriteFile(name, bytes.Join(rows, nil), 0o600))
	return name
}

// compressed returns a log as gzip leaves it, which is in one range.
func compressed(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	check(t, err)
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err = w.Write(content)
	check(t, errors.Join(err, w.Close(), os.WriteFile(name+".gz", b.Bytes(), 0o600)))
	return name + ".gz"
}

const config = `
actions: [{name: login, prefix: /login}]
policies:
  - name: tiers
    limits:
      - {limit: token:10/1m, match: {action: login}, count: {status: [200, 401]}}
      - {limit: window:20/1m, by: client+action}
  - name: cooling
    limits: {limit: "fixed:30/1m,cooldown=5m"}
`

// Whatever requests are divided by, and however late they come, the results are those of a replay.
func TestKeysAndLateRequests(t *testing.T) {
	two := []string{disordered(t, 1, 6000), compressed(t, disordered(t, 2, 3000))}
	for by, limits := range map[string][]string{
		"client":        {"6/30s", "nginx:1r/s,burst=3,delay=1"},
		"client+action": {"6/30s"},
		"client/24":     {"token:20/1m"},
		"action":        {"token:100/1m", "window:300/5m"},
		"site": {
			"token:5/1s", "window:100/1m", "leaky:60/1m", "fixed:100/1m", "traefik:2/s,burst=5", "cloudflare~:90/1m",
		},
	} {
		t.Run(by, func(t *testing.T) {
			j := newJob(t, two...)
			j.By, j.Limits, j.Lateness, j.Sweep = by, limits, "10s", by != "site"
			if by == "client" {
				j.Config = config
			}
			if by == "site" {
				j.Shards = 5
			}
			c := run(t, j)
			want := replayed(t, j)
			equal(t, c, want)
			if by == "site" && c.Job.Shards < 3 {
				t.Errorf("%d slices", c.Job.Shards)
			}
			late, unreadable, refused := want.Result.Stats.Late, want.Result.Stats.Unreadable, want.Result.Policies[0].Refused
			if late == 0 || unreadable == 0 || refused == 0 {
				t.Errorf("the test is too easy: %d late, %d unreadable, %d refused", late, unreadable, refused)
			}
		})
	}
}

// Lines of a machine whose clock was a year ahead hold no others back, wherever a byte range begins.
func TestWrongClock(t *testing.T) {
	name := newLog(t, 4000)
	text, err := os.ReadFile(name)
	check(t, err)
	rows := bytes.SplitAfter(text, []byte("\n"))
	for i := 1; i < len(rows)-1; i++ {
		if i%8 == 0 {
			continue
		}
		rows[i] = bytes.Replace(rows[i], []byte("/2026:"), []byte("/2027:"), 1)
	}
	check(t, os.WriteFile(name, bytes.Join(rows, nil), 0o600))
	j := newJob(t, name)
	j.Limits, j.Started = []string{"6/30s"}, time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	want := replayed(t, j)
	equal(t, run(t, j), want)
	if want.Result.Stats.Late != 0 {
		t.Errorf("%d late", want.Result.Stats.Late)
	}
}

// A request that is late by more than a slice is judged in the slice in which it was let in.
func TestLateRequestsAreHandedOn(t *testing.T) {
	j := newJob(t, disordered(t, 3, 4000))
	j.By, j.Limits, j.Shards, j.Lateness = "site", []string{"window:20/1m"}, 8, "10s"
	c := run(t, j)
	want := replayed(t, j)
	equal(t, c, want)
	if c.Job.Shards < 6 || want.Result.Stats.Late < 20 {
		t.Errorf("the test is too easy: %d slices, %d late requests", c.Job.Shards, want.Result.Stats.Late)
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		keys, want string // the keys of one policy are joined by &
	}{
		{"client", "client"},
		{"client+action client", "client"},
		{"client+action client+path", "client"},
		{"client/24 client", "client/24"},
		{"client+action&client", "client"},
		{"action client+action", "action"},
		{"site", "slices of site"},
		{"site&site", "slices of site"},
		{"client&site", "cannot be spread: its limits count by client, site"},
		{"client&user", "cannot be spread: its limits count by client, user"},
		{"client action", "nothing in common"},
		{"client site", "nothing in common"},
	} {
		var policies []policy.Policy
		for keys := range strings.FieldsSeq(c.keys) {
			p := policy.Policy{Name: keys}
			for key := range strings.SplitSeq(keys, "&") {
				by, err := request.ParseKey(key)
				check(t, err)
				some, err := policy.ParseLimits([]string{"token:1/1s"}, by)
				check(t, err)
				p.Parts = append(p.Parts, some[0].Parts...)
			}
			policies = append(policies, p)
		}
		spread, err := SpreadOf(policies, pipeline.PolicyKeys(policies))
		got := spread.By.String()
		if spread.Slices {
			got = "slices of " + got
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || err == nil && got != c.want {
			t.Errorf("%s: %s, want %s", c.keys, got, c.want)
		}
	}
}

// A job that cannot be spread does not start.
func TestCrossingKeysAreRefused(t *testing.T) {
	j := newJob(t, newLog(t, 100))
	for config, want := range map[string]string{
		"[{name: both, limits: [{limit: 'token:1/1s', by: client}, {limit: 'token:9/1s', by: site}]}]": `policy "both"`,
		"[{name: loaded, limits: {limit: 'token:1/1s', match: {busy: 500/s}}}]":                        "load of the whole site",
	} {
		j.Config = "policies: " + config
		err := j.Prepare(t.Context(), 1<<20)
		var refused *SpreadError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	j.Config, j.By, j.Sweep, j.Limits = "", "site", true, []string{"6/30s"}
	var refused *SpreadError
	if err := j.Prepare(t.Context(), 1<<20); !errors.As(err, &refused) || !strings.Contains(err.Error(), "--sweep --by site") {
		t.Error(err)
	}
}
