//go:build unix

package commands

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"shadow/internal/tail"
	"shadow/internal/testneeds"
)

// A log is written a line at a time and rotated every 10 to 300 ms, while its tail is killed and started again. In the
// end each line must have been judged once. What was written between copying and truncating is in no file: it may be
// missing, which is said then.
//
// ROTATION_SEEDS=100 tries that many seeds; with -run 'TestTailRotationStress/^7$', seed 7 alone.

func TestTailRotationStress(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 2
	}
	if n, err := strconv.ParseUint(os.Getenv("ROTATION_SEEDS"), 10, 64); err == nil {
		seeds = n
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			newRotation(t, seed).run()
		})
	}
}

// A rotation is a log, how it is rotated, and its tail.
type rotation struct {
	*testing.T
	r      *rand.Rand
	dir    string
	every  int    // ms between two rotations, at least
	copies bool   // copytruncate, else rename
	gaps   bool   // lines are written between copying and truncating
	packs  string // "", "latest" or "earlier": what is compressed at once
	dates  bool   // each rotated file has a name of its own, else numbers are shifted

	writing sync.Mutex // held for a line, and where no line may be written
	file    *os.File   // what is written to
	old     *os.File   // what it was before, for a few lines
	lines   int
	inGap   bool
	gap     map[int]bool // lines that may be missing
	rotated int

	cmd    *exec.Cmd
	stderr bytes.Buffer
	kills  int
}

func newRotation(t *testing.T, seed uint64) *rotation {
	r := testneeds.Rand(t, seed, 13)
	s := &rotation{
		T: t, r: r, dir: t.TempDir(), every: []int{10, 30, 100, 250}[seed%4], copies: r.IntN(2) == 0, gaps: r.IntN(2) == 0,
		packs: []string{"", "latest", "earlier"}[r.IntN(3)], dates: r.IntN(2) == 0, gap: map[int]bool{},
	}
	t.Logf("seed %d: every %d ms, copytruncate %v with gaps %v, compresses %q, with dates %v",
		seed, s.every, s.copies, s.gaps, s.packs, s.dates)
	return s
}

func (s *rotation) path(name string) string { return filepath.Join(s.dir, name) }

func (s *rotation) run() {
	s.file = s.open()
	s.start()
	s.Cleanup(func() { s.cmd.Process.Kill() })
	for !s.isFollowed() {
		time.Sleep(10 * time.Millisecond)
	}
	until := time.Now().Add(time.Duration(2500+s.r.IntN(1500)) * time.Millisecond)
	var work sync.WaitGroup
	writer, rotator := testneeds.Rand(s.T, s.r.Uint64(), 1), testneeds.Rand(s.T, s.r.Uint64(), 2)
	work.Go(func() { s.write(until, writer) })
	work.Go(func() { s.rotateUntil(until, rotator) })
	for {
		time.Sleep(time.Duration(100+s.r.IntN(900)) * time.Millisecond)
		if !time.Now().Before(until) {
			break
		}
		if s.r.IntN(3) > 0 {
			s.cmd.Process.Kill()
			_ = s.cmd.Wait() // it was killed
			time.Sleep(time.Duration(s.r.IntN(100)) * time.Millisecond)
			s.start()
			s.kills++
		}
	}
	work.Wait()
	s.settle()
	s.compare()
}

// isFollowed reports whether the checkpoint has the log, which is empty: what is truncated from then on is told.
func (s *rotation) isFollowed() bool {
	if !existsFile(s.path("state")) {
		return false
	}
	c, err := tail.ReadCheckpoint(s.path("state"))
	must(s.T, err)
	return len(c.Logs) == 1 && c.Logs[0].Empty != nil
}

// start starts the tail, which refuses all but the first request.
func (s *rotation) start() {
	s.cmd = command(s.T, s.dir, "tail", "access.log", "--state", "state", "--would-blocks", "would-blocks", "--lateness", "500ms",
		"--save-every", fmt.Sprintf("%dms", 50+s.r.IntN(400)), "--limit", "fixed:1/24h,align=first", "--by", "site", "--format", soakFormat, "--quiet")
	s.cmd.Stderr = &s.stderr
	must(s.T, s.cmd.Start())
}

func (s *rotation) open() *os.File {
	f, err := os.OpenFile(s.path("access.log"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	must(s.T, err)
	return f
}

// write writes lines. A server goes on in the old file for a moment after it was renamed.
func (s *rotation) write(until time.Time, r *rand.Rand) {
	for time.Now().Before(until) {
		for range 1 + r.IntN(1+r.IntN(40)) {
			s.line(r)
		}
		time.Sleep(time.Duration(r.IntN(4000)) * time.Microsecond)
	}
}

func (s *rotation) line(r *rand.Rand) {
	s.writing.Lock()
	defer s.writing.Unlock()
	to := s.file
	if s.old != nil && r.IntN(3) > 0 {
		to = s.old
	}
	now := time.Now()
	n := s.lines
	s.lines++
	if s.inGap {
		s.gap[n] = true
	}
	_, err := fmt.Fprintf(to, "10.%d.%d.%d [%d.%03d] \"GET / HTTP/1.1\" 200\n", n>>16, n>>8&255, n&255, now.Unix(), now.UnixMilli()%1000)
	must(s.T, err)
}

func (s *rotation) rotateUntil(until time.Time, r *rand.Rand) {
	for time.Now().Before(until) {
		time.Sleep(time.Duration(s.every+r.IntN(50)) * time.Millisecond)
		if s.copies {
			s.copyTruncate(r)
		} else {
			s.rename(r)
		}
		s.rotated++
		if name := s.name(1); s.packs == "latest" {
			s.pack(name, r)
		} else if name = s.name(2); s.packs == "earlier" && existsFile(s.path(name)) {
			s.pack(name, r)
		}
	}
}

// name returns the name of a rotated file, 1 for the latest.
func (s *rotation) name(age int) string {
	if s.dates {
		return fmt.Sprintf("access.log-20261122%06d", s.rotated-age)
	}
	return fmt.Sprintf("access.log.%d", age)
}

// shift makes room for the latest.
func (s *rotation) shift() string {
	if s.dates {
		return fmt.Sprintf("access.log-20261122%06d", s.rotated)
	}
	for n := s.rotated; n > 0; n-- {
		for _, ending := range []string{"", ".gz"} {
			if from := s.path(fmt.Sprintf("access.log.%d%s", n, ending)); existsFile(from) {
				must(s.T, os.Rename(from, s.path(fmt.Sprintf("access.log.%d%s", n+1, ending))))
			}
		}
	}
	return "access.log.1"
}

func (s *rotation) rename(r *rand.Rand) {
	must(s.T, os.Rename(s.path("access.log"), s.path(s.shift())))
	if r.IntN(2) == 0 {
		time.Sleep(time.Duration(r.IntN(5)) * time.Millisecond)
	}
	s.writing.Lock()
	s.old, s.file = s.file, s.open()
	s.writing.Unlock()
	time.Sleep(time.Duration(r.IntN(8)) * time.Millisecond)
	s.writing.Lock()
	must(s.T, s.old.Close())
	s.old = nil
	s.writing.Unlock()
}

func (s *rotation) copyTruncate(r *rand.Rand) {
	to := s.shift()
	s.writing.Lock()
	defer s.writing.Unlock()
	text, err := os.ReadFile(s.path("access.log"))
	must(s.T, err)
	f, err := os.Create(s.path(to))
	must(s.T, err)
	for part := range slices.Chunk(text, 1+len(text)/3) {
		_, err = f.Write(part)
		must(s.T, err)
		time.Sleep(time.Duration(r.IntN(500)) * time.Microsecond)
	}
	must(s.T, f.Close())
	if s.gaps {
		s.inGap = true
		s.writing.Unlock()
		time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
		s.writing.Lock()
		s.inGap = false
	}
	must(s.T, os.Truncate(s.path("access.log"), 0))
}

// pack compresses a file as gzip does: what it is made of goes when it is whole.
func (s *rotation) pack(name string, r *rand.Rand) {
	text, err := os.ReadFile(s.path(name))
	must(s.T, err)
	info, err := os.Stat(s.path(name))
	must(s.T, err)
	f, err := os.Create(s.path(name + ".gz"))
	must(s.T, err)
	z := gzip.NewWriter(f)
	for part := range slices.Chunk(text, 1+len(text)/3) {
		_, err = z.Write(part)
		must(s.T, err)
		must(s.T, z.Flush())
		time.Sleep(time.Duration(r.IntN(500)) * time.Microsecond)
	}
	must(s.T, z.Close())
	must(s.T, f.Close())
	must(s.T, os.Chtimes(s.path(name+".gz"), info.ModTime(), info.ModTime()))
	must(s.T, os.Remove(s.path(name)))
}

// settle waits until all has been judged, and ends the tail.
func (s *rotation) settle() {
	var last tail.Tally
	quiet := 0
	for deadline := time.Now().Add(time.Minute); quiet < 12; time.Sleep(250 * time.Millisecond) {
		c, err := tail.ReadCheckpoint(s.path("state"))
		must(s.T, err)
		if quiet++; c.Tally.Lines != last.Lines || c.Tally.Requests != last.Requests || c.Tally.Requests < c.Tally.Lines {
			quiet = 0
		}
		if last = c.Tally; time.Now().After(deadline) {
			s.Fatalf("of %d lines %d have been judged; the tail says: %s", last.Lines, last.Requests, s.stderr.Bytes())
		}
	}
	must(s.T, s.cmd.Process.Signal(os.Interrupt))
	if err := s.cmd.Wait(); err != nil {
		s.Errorf("the tail ended with %v; it says: %s", err, s.stderr.Bytes())
	}
}

// compare counts how often each line was judged.
func (s *rotation) compare() {
	f, err := os.Open(s.path("would-blocks"))
	must(s.T, err)
	defer f.Close()
	judged := make([]int, s.lines)
	judged[0]++ // it was admitted
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var event struct {
			Client string `json:"client"`
		}
		must(s.T, json.Unmarshal(lines.Bytes(), &event))
		var a, b, c int
		_, err := fmt.Sscanf(event.Client, "10.%d.%d.%d", &a, &b, &c)
		must(s.T, err)
		judged[a<<16|b<<8|c]++
	}
	var twice, lost, nature []int
	for n, times := range judged {
		switch {
		case times > 1:
			twice = append(twice, n)
		case times == 0 && s.gap[n]:
			nature = append(nature, n)
		case times == 0:
			lost = append(lost, n)
		}
	}
	c, err := tail.ReadCheckpoint(s.path("state"))
	must(s.T, err)
	s.Logf("%d lines, %d rotations, %d kills: %d of %d lines written between copying and truncating are missing; %d truncations told",
		s.lines, s.rotated, s.kills, len(nature), len(s.gap), c.Tally.Truncated)
	if len(twice)+len(lost) > 0 || c.Tally.Unreadable > 0 {
		s.Errorf("%d lines were judged twice %v, %d not %v, %d could not be read; the tail says: %s",
			len(twice), fewOf(twice), len(lost), fewOf(lost), c.Tally.Unreadable, s.stderr.Bytes())
	}
	if said := strings.Contains(s.stderr.String(), "was truncated"); len(nature) > 0 && (!said || c.Tally.Truncated == 0) {
		s.Errorf("nothing was said of %d lines; the tail says: %s", len(nature), s.stderr.Bytes())
	}
}

// fewOf returns the first and the last of some numbers.
func fewOf(all []int) string {
	if len(all) > 6 {
		return fmt.Sprint(all[:3], " … ", all[len(all)-3:])
	}
	return fmt.Sprint(all)
}
