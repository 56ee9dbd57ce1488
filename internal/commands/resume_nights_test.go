package commands

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

// Nights that go on from one another must find what one replay of the whole log finds: request by request, whatever
// happens to the files in between.

// A site is a folder with a log that grows and is rotated.
type site struct {
	t     *testing.T
	dir   string
	dice  *rand.Rand
	copy  bool // rotated by copying and cutting
	dated bool // rotated files are named after a day
	awake bool // no night is missed
	turns int  // how often it was rotated
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

func (s *site) grow(text []byte) {
	f, err := os.OpenFile(s.path("access.log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	must(s.t, err)
	_, err = f.Write(text)
	must(s.t, err)
	must(s.t, f.Close())
}

// rotate does what logrotate does: the log gets another name, the ones before it are compressed.
func (s *site) rotate() {
	if fileSize(s.path("access.log")) == 0 {
		return
	}
	s.turns++
	if s.dated {
		s.compressAll("access.log-*")
		s.put("access.log", fmt.Sprintf("access.log-2026%02d%02d", 1+s.turns/28, 1+s.turns%28))
		return
	}
	for i := s.turns; i > 0; i-- {
		for _, ending := range []string{"", ".gz"} {
			if from := s.path(fmt.Sprintf("access.log.%d%s", i, ending)); fileSize(from) > 0 {
				must(s.t, os.Rename(from, s.path(fmt.Sprintf("access.log.%d%s", i+1, ending))))
			}
		}
	}
	s.compressAll("access.log.*")
	s.put("access.log", "access.log.1")
}

// put gives the log another name, or copies and cuts it.
func (s *site) put(from, to string) {
	if !s.copy {
		must(s.t, os.Rename(s.path(from), s.path(to)))
		return
	}
	data, err := os.ReadFile(s.path(from))
	must(s.t, err)
	must(s.t, os.WriteFile(s.path(to), data, 0o600))
	must(s.t, os.Truncate(s.path(from), 0))
}

// compressAll compresses what is not yet, and has not been rotated just now.
func (s *site) compressAll(pattern string) {
	names, err := filepath.Glob(s.path(pattern))
	must(s.t, err)
	for _, name := range names {
		if strings.HasSuffix(name, ".gz") {
			continue
		}
		data, err := os.ReadFile(name)
		must(s.t, err)
		info, err := os.Stat(name)
		must(s.t, err)
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write(data)
		must(s.t, w.Close())
		must(s.t, os.WriteFile(name+".gz", packed.Bytes(), 0o600))
		must(s.t, os.Chtimes(name+".gz", info.ModTime(), info.ModTime()))
		must(s.t, os.Remove(name))
	}
}

// nightConfig has policies whose keys meet, and such as know requests by their marks.
const nightConfig = `
tiers:
  some: {addresses: [192.0.2.0/25, 203.0.113.0/24, 66.0.0.0/8]}
policies:
  - name: client in site
    limits: ["token:6/30s", {limit: "window:600/1h", by: site}]
  - name: client, then site
    combine: in-turn
    limits: ["window:6/30s,charge=all", {limit: "token:600/1h", by: site}]
  - {name: actions, limits: [{limit: "window:30/10m", by: client+action}]}
  - {name: misses, limits: [{limit: "window:5/1h", count: {status: [404, 301]}}]}
  - {name: networks, limits: [{limit: "fixed:40/1h", by: client/24}]}
  - {name: agents, limits: [{limit: "leaky:10/1m", by: client+agent, match: {tier: some}}]}
`

var nightLimits = []string{
	"--limit", "6/30s", "--limit", "window:100/1h", "--limit", "nginx:30r/m,burst=5", "--limit", "token:60/1m+window:200/1h",
	"--limit", "each:token:60/1m+window:200/1h", "--limit", "in-turn:window:50/5m+token:60/1m", "--limit", "6/30s,cooldown=5m",
	"--events", "all",
}

// night replays what there is.
func (s *site) night() { run(s.t, s.dir, s.replay()...) }

// replay returns the arguments by which a night replays: at times only the log is named, at others its rotations as
// well.
func (s *site) replay() []string {
	logs := "access.log"
	if s.dice.IntN(3) == 0 {
		logs = "access.log*"
	}
	return append([]string{"replay", logs, "--resume", "--quiet", "--max-bad", "100%", "--db", "nights.db"}, nightLimits...)
}

// killedNight replays what there is, and is killed at some moment, or done just before.
func (s *site) killedNight(within time.Duration) (killed bool) {
	cmd := command(s.t, s.dir, s.replay()...)
	must(s.t, cmd.Start())
	time.Sleep(time.Duration(s.dice.Int64N(int64(within))))
	_ = cmd.Process.Kill() // it may be done
	return cmd.Wait() != nil
}

// cutAtMidnights cuts a log where its lines come to another day, into at most so many pieces.
func cutAtMidnights(log []byte, most int) (nights [][]byte) {
	stamp := regexp.MustCompile(`\[(\d\d/\w\w\w/\d{4}):`)
	day, begin, at := "", 0, 0
	for line := range bytes.Lines(log) {
		if m := stamp.FindSubmatch(line); m != nil && string(m[1]) != day {
			if day != "" && len(nights) < most-1 {
				nights = append(nights, log[begin:at])
				begin = at
			}
			day = string(m[1])
		}
		at += len(line)
	}
	return append(nights, log[begin:])
}

// cutEvenly cuts a log at the ends of lines.
func cutEvenly(log []byte, pieces int) (nights [][]byte) {
	for ; pieces > 1; pieces-- {
		n := len(log) / pieces
		n += bytes.IndexByte(log[n:], '\n') + 1
		nights = append(nights, log[:n])
		log = log[n:]
	}
	return append(nights, log)
}

// closing returns the lines of a day on which nothing happens any more: all that came before is judged.
func closing(log []byte) (lines []byte) {
	const layout = "02/Jan/2006:15:04:05 -0700"
	latest := time.Time{}
	for _, m := range regexp.MustCompile(`\[(\d\d/\w\w\w/\d{4}:\d\d:\d\d:\d\d [-+]\d{4})\]`).FindAllSubmatch(log, -1) {
		if t, err := time.Parse(layout, string(m[1])); err == nil && t.After(latest) {
			latest = t
		}
	}
	for range 2 {
		latest = latest.Add(24 * time.Hour)
		lines = fmt.Appendf(lines, "192.0.2.254 - - [%s] \"GET /closing HTTP/1.1\" 200 1 \"-\" \"curl/8\"\n", latest.Format(layout))
	}
	return lines
}

// figures are all that must be the same, of one run or of many.
var figures = []string{
	"SELECT sum(lines) AS lines, sum(parsed) AS parsed, sum(bytes) AS bytes, sum(unreadable) AS unreadable, sum(excluded) AS excluded, sum(late) AS late, sum(refusals) AS refusals, min(first_at) AS first, sum(requests) + max_by(held, run) AS requests FROM runs",
	"SELECT policy, sum(refused)::BIGINT AS refused, sum(bytes_saved)::BIGINT AS bytes, sum(delayed)::BIGINT AS delayed, max(worst_minute_refused) AS worst FROM policy_totals GROUP BY policy ORDER BY policy",
	"SELECT policy, client, sum(refused)::BIGINT AS refused, min(first_refused) AS first, max(last_refused) AS last FROM client_totals GROUP BY ALL ORDER BY ALL",
	"SELECT policy, action, sum(refused)::BIGINT AS refused FROM action_totals WHERE refused > 0 GROUP BY ALL ORDER BY ALL",
	"SELECT policy, time, client, action, status, sum(count)::BIGINT AS n FROM would_blocks GROUP BY ALL ORDER BY ALL",
	"SELECT name, sum(requests)::BIGINT AS requests, sum(browser)::BIGINT AS browser FROM clients WHERE name <> '192.0.2.254' GROUP BY ALL ORDER BY ALL",
}

// compare holds the nights against one replay of the whole log.
func (s *site) compare(whole []byte) {
	must(s.t, os.WriteFile(s.path("whole.txt"), whole, 0o600))
	run(s.t, s.dir, append([]string{"replay", "whole.txt", "--quiet", "--max-bad", "100%", "--db", "whole.db"}, nightLimits...)...)
	for _, question := range figures {
		nights := run(s.t, s.dir, "query", question, "--db", "nights.db", "--output", "csv")
		once := run(s.t, s.dir, "query", question, "--db", "whole.db", "--output", "csv")
		if bytes.Equal(nights, once) {
			continue
		}
		x, y := strings.Split(string(nights), "\n"), strings.Split(string(once), "\n")
		for i := range min(len(x), len(y)) {
			if x[i] != y[i] {
				s.t.Fatalf("%s:\n%d rows of nights, %d rows of the whole; the first that differ:\n%s\n%s", question, len(x), len(y), x[i], y[i])
			}
		}
		s.t.Fatalf("%s:\n%d rows of nights, %d rows of the whole", question, len(x), len(y))
	}
}

// nightLog returns a log of the project, or a real one if it is at hand.
func nightLog(t *testing.T, name string) []byte {
	t.Helper()
	if name == "shop" {
		shop, err := os.ReadFile("../../sample-logs/shop-combined.log")
		must(t, err)
		return shop
	}
	f, err := os.Open(testneeds.Shared(t, "logs/"+name+"/access.log.gz"))
	must(t, err)
	r, err := gzip.NewReader(f)
	must(t, err)
	log, err := io.ReadAll(r)
	must(t, err)
	must(t, f.Close())
	return log
}

// newSite returns a site without a log.
func newSite(t *testing.T, s site, seed uint64) *site {
	s.t, s.dir, s.dice = t, t.TempDir(), testneeds.Rand(t, 1, seed)
	must(t, os.WriteFile(s.path("shadow.yaml"), []byte(nightConfig), 0o600))
	return &s
}

// live has the site live through some nights. Of some nights the last line is only half written when they are judged.
func (s *site) live(nights [][]byte, judge func()) {
	half := 0
	for i, text := range nights {
		text = text[half:]
		if s.dice.IntN(3) > 0 {
			s.rotate()
		}
		s.grow(text)
		half = 0
		if i+1 < len(nights) && s.dice.IntN(2) > 0 {
			half = s.dice.IntN(bytes.IndexByte(nights[i+1], '\n'))
			s.grow(nights[i+1][:half])
		}
		if i == 0 || s.awake || s.dice.IntN(5) > 0 { // else the night is missed; what was rotated before the first is unknown
			judge()
		}
		if half > 0 { // the server writes the rest before the log is rotated
			end := bytes.IndexByte(nights[i+1], '\n') + 1
			s.grow(nights[i+1][half:end])
			half = end
		}
	}
	judge()
}

// Thirty nights find what one replay of the whole finds.
func TestThirtyNights(t *testing.T) {
	logs := []string{"shop", "elastic-apache", "sparkdeveloper-2016"}
	if testing.Short() {
		logs = logs[:1]
	}
	for _, name := range logs {
		t.Run(name, func(t *testing.T) {
			log := nightLog(t, name)
			nights := cutAtMidnights(log, 30)
			if len(nights) < 10 {
				nights = cutEvenly(log, 30)
			}
			for mode, s := range map[string]site{"renamed": {}, "copied": {copy: true}, "dated": {dated: true}} {
				if mode != "renamed" && (name != "shop" || testing.Short()) {
					continue // the others are larger
				}
				t.Run(mode, func(t *testing.T) {
					s := newSite(t, s, uint64(len(log)))
					s.live(append(nights, closing(log)), s.night)
					s.compare(append(bytes.Clone(log), closing(log)...))
				})
			}
		})
	}
}

// Fifty nights that are killed at any moment: whatever each has or has not done, the next one makes whole.
func TestKilledNights(t *testing.T) {
	log, err := os.ReadFile("../../sample-logs/shop-combined.log")
	must(t, err)
	s := newSite(t, site{awake: true}, 3)
	whole := append(bytes.Clone(log), closing(log)...)
	nights := cutEvenly(whole, 50)
	begin := time.Now()
	s.grow(nights[0])
	s.night()
	within := time.Since(begin) * 5 / 4
	killed := 0
	s.live(nights[1:], func() {
		if s.killedNight(within) {
			killed++
		}
		if s.dice.IntN(3) == 0 { // another one, right after
			s.night()
		}
	})
	s.night()
	s.compare(whole)
	t.Logf("%d nights were killed", killed)
	if killed < 10 {
		t.Errorf("only %d nights were killed in the middle", killed)
	}
}
