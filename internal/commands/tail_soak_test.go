//go:build unix

package commands

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"shadow/internal/tail"
	"shadow/internal/testneeds"
)

// A soak is a log that is written as fast as possible, rotated and compressed meanwhile, and a tail of it that is
// killed again and again. In the end every line must have been judged once, and the tallies, the would-blocks and the
// database must be those of a replay of all that was written. The database is asked meanwhile. `make soak` takes the
// long form.

// soakSize returns how much is done, SOAK=LINES,ROTATIONS,KILLS.
func soakSize(t *testing.T) (lines, rotations, kills int) {
	lines, rotations, kills = 400_000, 8, 4
	if testing.Short() {
		lines = 100_000
	}
	askedSize(t, "SOAK", &lines, &rotations, &kills)
	return lines, rotations, kills
}

// askedSize reads three numbers from the environment, if they are there.
func askedSize(t *testing.T, name string, a, b, c *int) {
	t.Helper()
	if text := os.Getenv(name); text != "" {
		if _, err := fmt.Sscanf(text, "%d,%d,%d", a, b, c); err != nil {
			t.Fatalf("%s=%s: %v", name, text, err)
		}
	}
}

const soakLimits = 3

// A soak holds the log, the tail and what has been seen of them.
type soak struct {
	t       *testing.T
	dir     string
	cmd     *exec.Cmd
	stderr  bytes.Buffer
	peak    int // KiB of memory
	rotated int

	limit   string      // by which it judges
	args    []string    // more of them
	pace    int         // lines a second; 0: as fast as possible
	trouble func(n int) // is called after each thousand lines, if there is a pace
}

func (s *soak) path(name string) string { return filepath.Join(s.dir, name) }

// start starts the tail, which begins at the start for lack of a checkpoint, or goes on.
func (s *soak) start() {
	s.t.Helper()
	args := append([]string{
		"tail", "access.log", "--state", "state", "--would-blocks", "would-blocks", "--lateness", "2s",
		"--save-every", "300ms", "--limit", s.limit, "--format", soakFormat, "--quiet",
	}, s.args...)
	s.cmd = command(s.t, s.dir, args...)
	s.cmd.Stderr = &s.stderr
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
}

const (
	soakFormat = `$remote_addr [$msec] "$request" $status`
	soakLimit  = "300/10s" // refuses some, however fast this machine writes
)

// kill kills it.
func (s *soak) kill() {
	s.measure()
	s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed
}

// measure notes how much memory the tail has taken, where the system tells.
func (s *soak) measure() {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if found := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(text); found != nil {
		n, _ := strconv.Atoi(string(found[1]))
		s.peak = max(s.peak, n)
	}
}

// rotate renames the log and creates it again. Files that are not the latest are compressed.
func (s *soak) rotate() *os.File {
	s.t.Helper()
	s.rotated++
	must(s.t, os.Rename(s.path("access.log"), s.path(fmt.Sprintf("access.log-%04d", s.rotated))))
	if s.rotated%3 == 0 {
		s.compress(fmt.Sprintf("access.log-%04d", s.rotated-1))
	}
	f, err := os.Create(s.path("access.log"))
	must(s.t, err)
	return f
}

func (s *soak) compress(name string) {
	s.t.Helper()
	text, err := os.ReadFile(s.path(name))
	must(s.t, err)
	info, err := os.Stat(s.path(name))
	must(s.t, err)
	f, err := os.Create(s.path(name + ".gz"))
	must(s.t, err)
	z, _ := gzip.NewWriterLevel(f, gzip.BestSpeed)
	_, err = io.Copy(z, bytes.NewReader(text))
	must(s.t, err)
	must(s.t, z.Close())
	must(s.t, f.Close())
	must(s.t, os.Chtimes(s.path(name+".gz"), info.ModTime(), info.ModTime()))
	must(s.t, os.Remove(s.path(name)))
}

func TestTailSoak(t *testing.T) {
	lines, rotations, kills := soakSize(t)
	s := &soak{t: t, dir: t.TempDir(), limit: soakLimit, trouble: func(int) {}}
	s.args = []string{"--db", "tailed", "--flush", "200ms"}
	s.begin()
	ask := s.asker()
	begin := time.Now()
	s.write(lines, rotations, kills)
	wrote := time.Since(begin)
	tally := s.settle(int64(lines))
	judged := time.Since(begin)
	ask.stop()
	s.compare(tally)
	events := s.compareStored()
	t.Logf("%d lines, %d rotations, %d kills: written in %.1f s (%.0f lines/s), judged and stored after %.1f s, at most %d MiB of memory; "+
		"%d would-blocks in the database, which answered %d questions meanwhile, and %d times not within two seconds",
		lines, rotations, kills, wrote.Seconds(), float64(lines)/wrote.Seconds(), judged.Seconds(), s.peak>>10, events, ask.answers, ask.busy)
	if most := 1 << 20; s.peak > most { // KiB: four million requests wait at most, and a batch on its way to the database
		t.Errorf("the tail took %d KiB of memory, more than %d", s.peak, most)
	}
}

// begin has a tail follow a log in which there is nothing yet.
func (s *soak) begin() {
	s.t.Helper()
	must(s.t, os.WriteFile(s.path("access.log"), nil, 0o644))
	s.start()
	s.t.Cleanup(func() { s.cmd.Process.Kill() })
	for !existsFile(s.path("state")) { // it has begun
		time.Sleep(10 * time.Millisecond)
	}
}

func existsFile(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// write writes the lines, and does the rest in between.
func (s *soak) write(lines, rotations, kills int) {
	s.t.Helper()
	r := testneeds.Rand(s.t, 1, 2)
	f, err := os.OpenFile(s.path("access.log"), os.O_WRONLY|os.O_APPEND, 0)
	must(s.t, err)
	w := bufio.NewWriterSize(f, 64<<10)
	begin := time.Now()
	for n := range lines {
		now := time.Now().Add(-time.Duration(r.IntN(100)) * time.Millisecond)
		fmt.Fprintf(w, "10.%d.%d.%d [%d.%03d] \"GET /page%d HTTP/1.1\" 200\n", r.IntN(2), r.IntN(3), r.IntN(1+r.IntN(250)),
			now.Unix(), now.UnixMilli()%1000, r.IntN(20))
		if (n+1)%(lines/rotations+1) == 0 {
			must(s.t, w.Flush())
			must(s.t, f.Close())
			f = s.rotate()
			w.Reset(f)
		}
		if (n+1)%(lines/kills+1) == 0 {
			s.kill()
			s.start()
		}
		if s.pace > 0 && n%1000 == 0 {
			must(s.t, w.Flush()) // what is held back while there is trouble comes late
			s.trouble(n)
			time.Sleep(time.Duration(n)*time.Second/time.Duration(s.pace) - time.Since(begin))
		}
	}
	must(s.t, w.Flush())
	must(s.t, f.Close())
	s.kill() // what was written last is judged by another one
	s.start()
}

// settle waits until every line has been judged, and ends the tail.
func (s *soak) settle(lines int64) tail.Tally {
	s.t.Helper()
	judged := int64(-1)
	for deadline := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		c, err := tail.ReadCheckpoint(s.path("state"))
		must(s.t, err)
		if c.Tally.Requests >= lines {
			break
		}
		if c.Tally.Requests > judged {
			judged, deadline = c.Tally.Requests, time.Now().Add(5*time.Minute)
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("of %d lines %d have been judged; the tail says: %s", lines, c.Tally.Requests, s.stderr.Bytes())
		}
	}
	s.measure()
	must(s.t, s.cmd.Process.Signal(os.Interrupt))
	if err := s.cmd.Wait(); err != nil {
		s.t.Fatalf("the tail ended with %v: %s", err, s.stderr.Bytes())
	}
	c, err := tail.ReadCheckpoint(s.path("state"))
	must(s.t, err)
	return c.Tally
}

// compare holds the tallies, and the file of would-blocks, against a replay of everything.
func (s *soak) compare(tally tail.Tally) {
	s.t.Helper()
	logs, err := filepath.Glob(s.path("access.log*"))
	must(s.t, err)
	whole := s.concatenate(logs)
	out := run(s.t, s.dir, "replay", whole, "--db", "replayed", "--limit", s.limit, "--format", soakFormat, "--lateness", "2s", "--output", "json")
	var report struct {
		Lines    int64 `json:"lines"`
		Policies []struct {
			Policy  string `json:"policy"`
			Refused int64  `json:"refused"`
		} `json:"policies"`
	}
	must(s.t, json.Unmarshal(out, &report))
	told := s.told()
	if len(report.Policies) != soakLimits || len(tally.Policies) != soakLimits {
		s.t.Fatalf("%d and %d policies: %s", len(report.Policies), len(tally.Policies), out[:min(len(out), 500)])
	}
	for i, want := range report.Policies {
		got := tally.Policies[i]
		if got.Refused != want.Refused || told[got.Name] != want.Refused || want.Refused == 0 {
			s.t.Errorf("%s: refused %d, told %d, the replay refuses %d", got.Name, got.Refused, told[got.Name], want.Refused)
		}
	}
	if tally.Lines != tally.Requests || tally.Late != 0 || tally.Unreadable != 0 {
		s.t.Errorf("%d lines, %d requests, %d late, %d unreadable", tally.Lines, tally.Requests, tally.Late, tally.Unreadable)
	}
}

// concatenate puts the rotated logs together, in their order: access.log itself sorts first and comes last.
func (s *soak) concatenate(logs []string) string {
	s.t.Helper()
	whole, err := os.Create(s.path("whole"))
	must(s.t, err)
	for _, name := range append(logs[1:len(logs):len(logs)], logs[0]) {
		f, err := os.Open(name)
		must(s.t, err)
		var r io.Reader = f
		if strings.HasSuffix(name, ".gz") {
			r, err = gzip.NewReader(f)
			must(s.t, err)
		}
		_, err = io.Copy(whole, r)
		must(s.t, err)
		f.Close()
		must(s.t, os.Remove(name)) // many lines would fill a disk twice
	}
	must(s.t, whole.Close())
	return "whole"
}

// told counts the would-blocks by policy.
func (s *soak) told() map[string]int64 {
	s.t.Helper()
	f, err := os.Open(s.path("would-blocks"))
	must(s.t, err)
	defer f.Close()
	told := map[string]int64{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var event struct {
			Policy string `json:"policy"`
		}
		must(s.t, json.Unmarshal(lines.Bytes(), &event))
		told[event.Policy]++
	}
	return told
}
