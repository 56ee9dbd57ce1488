//go:build !nostore

package sharded

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shadow/limit"
	"shadow/pipeline"
	"shadow/report"
	"shadow/request"
	"shadow/shard"
	"shadow/testneeds"
)

const testFormat = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`

// A trial is a log, and how it is packed and judged.
type trial struct {
	name   string
	key    request.Key
	shards int
	finely bool // stamps have fractions of seconds
	limits []string
	by     request.Key
	curves bool
}

var trials = []trial{
	{name: "client", shards: 64, limits: []string{"6/30s", "nginx:rate=10r/m,burst=5", "counter:8/1m", "token:9/1m,cooldown=2m"}, curves: true},
	{name: "client and action", shards: 7, finely: true, by: request.ByClientAction, limits: []string{"leaky:2/1m", "nginx:rate=6r/m,burst=3"}},
	{name: "network", key: request.ByClient24, shards: 16, by: request.ByClient24, limits: []string{"6/30s", "counter:8/1m", "2/10s+window:9/5m"}, curves: true},
	{name: "clients of networks", key: request.ByClient24, shards: 5, finely: true, limits: []string{"6/30s"}, curves: true},
	{name: "user", key: request.ByUser, shards: 12, by: request.ByUser, limits: []string{"6/30s", "fixed:5/1m"}},
}

// writeLogs writes logs whose times overlap: lines in disorder, some of them late, moments that many share, lines that cannot be
// read, and line feeds of two kinds.
func writeLogs(t *testing.T, rng *rand.Rand, finely bool) (names []string) {
	dir := t.TempDir()
	agents := []string{"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "curl/8.5.0", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "-"}
	for file := range 1 + rng.IntN(4) {
		var text strings.Builder
		at := time.Date(2026, 3, 2, 10, rng.IntN(30), 0, 0, time.UTC)
		for range 200 + rng.IntN(1200) {
			if rng.IntN(3) == 0 {
				at = at.Add(time.Duration(rng.IntN(4000)) * time.Millisecond)
			}
			when := at
			switch rng.IntN(40) {
			case 0:
				when = at.Add(-time.Duration(rng.IntN(400)) * time.Second)
			case 1:
				when = at.Add(time.Duration(rng.IntN(200)) * time.Second)
			case 2:
				text.WriteString("what is this?\n")
			}
			stamp := when.Format("02/Jan/2006:15:04:05 -0700")
			if finely {
				stamp = fmt.Sprintf("%d.%03d", when.Unix(), when.UnixMilli()%1000)
			}
			client, user := rng.IntN(90)*rng.IntN(3), "-"
			if rng.IntN(3) > 0 {
				user = fmt.Sprint("user", rng.IntN(25))
			}
			fmt.Fprintf(&text, "203.0.%d.%d - %s [%s] \"GET /%s HTTP/1.1\" %d %d \"-\" \"%s\"", client%7, client, user, stamp,
				[]string{"", "a", "login", "style.css", "b/c"}[rng.IntN(5)], []int{200, 200, 200, 404, 429, 503}[rng.IntN(6)], rng.IntN(5000), agents[rng.IntN(len(agents))])
			text.WriteString([]string{"\n", "\r\n"}[rng.IntN(2)])
		}
		name, content := filepath.Join(dir, fmt.Sprintf("access%d.log", file)), []byte(text.String())
		if rng.IntN(4) == 0 { // such a file is in one part
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			w.Write(content) // in memory
			must(t, w.Close())
			content = packed.Bytes()
		}
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

func (c *trial) logs(out *bytes.Buffer) (l pipeline.Logs) {
	l.Caller = Discard()
	l.In, l.Out, l.Err, l.MaxBad, l.Lateness = strings.NewReader(""), out, os.Stderr, 100, limit.Minute
	l.ConfigFile = os.DevNull
	l.Quiet = true
	l.Format = testFormat
	if c.finely {
		l.Format = strings.Replace(testFormat, "$time_local", "$msec", 1)
	}
	return l
}

func (c *trial) replay(out *bytes.Buffer) *pipeline.Replay {
	r := &pipeline.Replay{Logs: c.logs(out), Choice: pipeline.Choice{Limits: c.limits, By: c.by}, Sweep: c.curves}
	r.NoStore, r.Output, r.Top = true, "json", 9
	return r
}

// without is JSON without what names the command, and what some runs do not know.
func without(t *testing.T, text []byte, keys ...string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
	for _, key := range append(keys, "command", "version") {
		delete(object, key)
	}
	all, _ := object["findings"].([]any)
	for _, one := range all { // how late requests were shows whole only in one queue of all
		if one, ok := one.(map[string]any); ok && one["code"] == "clock" {
			delete(one, "remedy")
		}
	}
	return object
}

// unknown is an object without who the clients are, which shows only to those who see all requests.
func unknown(object map[string]any) map[string]any {
	for key, value := range object {
		switch value := value.(type) {
		case map[string]any:
			unknown(value)
		case []any:
			for _, of := range value {
				if of, ok := of.(map[string]any); ok {
					unknown(of)
				}
			}
		}
		if slices.Contains([]string{"identities", "by_identity", "identity", "days"}, key) {
			delete(object, key)
		}
	}
	return object
}

// same holds two reports against each other.
func same(t *testing.T, what string, got, want map[string]any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: (-log +shards)\n%.3000s", what, diff)
	}
}

// pack packs the logs in several parts, cut anywhere, in any order, some of them twice.
func (c *trial) pack(t *testing.T, rng *rand.Rand, logs []string) string {
	t.Helper()
	dir := t.TempDir()
	var total int64
	for _, name := range logs {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	var parts []shard.Part
	for from := int64(0); from < total; {
		to := min(total, from+1+rng.Int64N(total/2))
		parts = append(parts, shard.Part{From: from, To: to})
		from = to
	}
	parts = append(parts, parts[rng.IntN(len(parts))])
	rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	for _, part := range parts {
		p := &Packing{Logs: c.logs(new(bytes.Buffer)), By: c.key, Shards: c.shards, Part: part, To: shard.Dir(dir)}
		if err := p.Run(t.Context(), logs); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Shards in any order, some of them judged again, add up to one replay of the logs; so do curves. All of them at once are the
// logs for every command.
func TestShardsAreTheLogs(t *testing.T) {
	for i, c := range trials {
		t.Run(c.name, func(t *testing.T) {
			rng := testneeds.Rand(t, 20, uint64(i))
			logs := writeLogs(t, rng, c.finely)
			dir := c.pack(t, rng, logs)
			var want, got bytes.Buffer
			r := c.replay(&want)
			r.Sweep = false
			whole := c.replay(&got)
			whole.Sweep = false
			must(t, r.Run(t.Context(), logs), whole.Run(t.Context(), []string{dir}))
			same(t, "replay", without(t, got.Bytes()), without(t, want.Bytes()))
			c.sums(t, rng, dir, want.Bytes())
			if !testing.Short() {
				c.others(t, logs, dir)
			}
		})
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// sums adds the shards.
func (c *trial) sums(t *testing.T, rng *rand.Rand, dir string, want []byte) {
	total, all := shard.NewTotal(), c.sumOf(t, dir)
	for _, i := range rng.Perm(c.shards) {
		sum := c.sumOf(t, filepath.Join(dir, shard.FolderOf(i, c.shards)))
		if rng.IntN(9) == 0 { // the first one was lost
			sum = c.sumOf(t, filepath.Join(dir, shard.FolderOf(i, c.shards)))
		}
		text, err := sum.MarshalBinary()
		var read shard.Sum
		must(t, err, read.UnmarshalBinary(text), total.Add(&read, fmt.Sprint("shard ", i)))
	}
	must(t, total.Whole())
	stats, err := total.Stats()
	must(t, err)
	policies, err := pipeline.PoliciesOf(c.limits, c.by)
	must(t, err)
	if c.key != request.ByUser || !c.curves {
		db := filepath.Join(t.TempDir(), "db")
		run, err := Store(t.Context(), Discard(), total, policies, db)
		must(t, err)
		if run != 1 {
			t.Errorf("run %d", run)
		}
	}
	model := report.New(total.Counted().Result(*stats, policies), report.Options{Top: 9, Timezone: "UTC"})
	var got bytes.Buffer
	must(t, model.Write(&got, "json"))
	apart := []string{"findings", "warnings"} // which need to see all requests
	same(t, "sum", unknown(without(t, got.Bytes(), apart...)), unknown(without(t, want, apart...)))
	if c.curves {
		if diff := cmp.Diff(all.Curves, total.Curves); diff != "" {
			t.Errorf("curves: (-all shards at once +sum)\n%.3000s", diff)
		}
		if all.Curves == nil || len(all.Curves.Shapes) < 20 {
			t.Error("there are no curves")
		}
	}
}

// sumOf judges a shard, or all of a set.
func (c *trial) sumOf(t *testing.T, dir string) *shard.Sum {
	t.Helper()
	blocks, err := shard.Find([]string{dir})
	must(t, err)
	sum, err := c.replay(new(bytes.Buffer)).Sum(t.Context(), blocks)
	must(t, err)
	return sum
}

// others holds other commands on all shards against those on the logs.
func (c *trial) others(t *testing.T, logs []string, dir string) {
	answers := func(names []string) (texts [][]byte) {
		var a, b, d bytes.Buffer
		sweep := &pipeline.Sweep{Logs: c.logs(&a), Output: "json", Shapes: pipeline.Shapes{By: c.by}, Keeping: pipeline.Keeping{NoStore: true}}
		answer := &pipeline.Suggest{Logs: c.logs(&b), Output: "json", Holdout: pipeline.DefaultHoldout, Scale: pipeline.SameScale}
		answer.Wanted = true
		doctor := &pipeline.Doctor{Logs: c.logs(&d), Output: "json"}
		must(t, sweep.Run(t.Context(), names), answer.Run(t.Context(), names), doctor.Run(t.Context(), names))
		return [][]byte{a.Bytes(), b.Bytes(), d.Bytes()}
	}
	for part, known := range map[string]bool{dir: true, filepath.Join(dir, shard.FolderOf(0, c.shards)): c.shards == 1} {
		var b bytes.Buffer
		s := &pipeline.Sweep{Logs: c.logs(&b), Output: "json", Shapes: pipeline.Shapes{By: c.by}}
		s.NoStore = true
		must(t, s.Run(t.Context(), []string{part}))
		report := without(t, b.Bytes())
		is, divided := report["input"].(map[string]any)["identities"], report["by_evidence"]
		if (is != nil) != known || (divided != nil) != known {
			t.Errorf("%s: %v, %v", part, is, divided)
		}
	}
	got, want := answers([]string{dir}), answers(logs)
	for i, what := range []string{"sweep", "suggest", "doctor"} {
		name := regexp.QuoteMeta(filepath.Dir(logs[0])) + `/access[0-9*]*\.log`
		renamed := regexp.MustCompile(name+"( "+name+")*").ReplaceAll(want[i], []byte(dir)) // in commands to go on with
		same(t, what, without(t, got[i], "input"), without(t, renamed, "input"))
		input := func(text []byte) map[string]any { return without(t, text)["input"].(map[string]any) }
		same(t, what, input(got[i]), input(want[i]))
	}
}
