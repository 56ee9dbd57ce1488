//go:build unix

package commands

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/redis/redistest"
	"shadow/internal/tail"
)

// The soak once more, with what the limits remember in Redis, which is killed now and then and comes back empty. With a
// single host nothing is lost by that, so the would-blocks must be those of a tail without Redis, each of them; those
// of the time without Redis must be marked, and in the end none. The log grows at a pace that Redis can hold.

// redisSoakSize returns how much is done: SOAK_REDIS=LINES,PACE,KILLS, with lines a second, and how often Redis is
// killed.
func redisSoakSize(t *testing.T) (lines, pace, kills int) {
	lines, pace, kills = 300_000, 20_000, 2
	askedSize(t, "SOAK_REDIS", &lines, &pace, &kills)
	return lines, pace, kills
}

// A redisSoak is a soak with a Redis that comes and goes.
type redisSoak struct {
	*soak
	redis   *redistest.Server
	outages [][2]time.Time // from when until when
	until   int            // how many lines may be written before the tail has noticed the latest outage
	from    int64          // how far would-blocks have been looked at
	marked  bool           // whether one since the latest outage is marked
}

const soakOutage = 2 * time.Second

func TestTailSoakRedis(t *testing.T) {
	lines, pace, kills := redisSoakSize(t)
	limit := fmt.Sprintf("%d/2s", pace/250) // some clients pass it; its horizon is short, so that spans of degradation end
	s := &redisSoak{soak: &soak{t: t, dir: t.TempDir(), limit: limit, pace: pace}, redis: redistest.Start(t)}
	if kills == 0 {
		t.Fatal("Redis must be killed once at least")
	}
	s.args = []string{"--redis", s.redis.Address()}
	s.trouble = func(n int) { s.disturb(n, lines, kills) }
	s.begin()
	begin := time.Now()
	_, rotations, tailKills := soakSize(t)
	s.write(lines, rotations, tailKills)
	tally := s.settle(int64(lines))
	took := time.Since(begin)
	s.compare(tally)
	m := s.compareEach()
	t.Logf("%d lines in %.1f s, %d rotations, %d kills, Redis killed %d times: %d would-blocks, %d of them degraded (%.1f %%), at most %d MiB of memory",
		lines, took.Seconds(), rotations, tailKills, len(s.outages), m.all, m.marked, 100*float64(m.marked)/float64(m.all), s.peak>>10)
	if most := 1 << 20; s.peak > most {
		t.Errorf("the tail took %d KiB of memory, more than %d", s.peak, most)
	}
	t.Logf("of %d told while Redis was away %d are degraded", m.away, m.awayMarked)
	if m.awayMarked < m.away/2 || m.marked == 0 || m.marked == m.all {
		t.Error("marks are where they should not be")
	}
	if m.lastMarked && m.last.Sub(s.outages[len(s.outages)-1][1]) > 15*time.Second {
		t.Error("degraded to the end")
	}
}

// disturb kills Redis at regular intervals, when the tail has kept up, and starts it again after a while, when the tail
// has noticed.
func (s *redisSoak) disturb(n, lines, kills int) {
	last := len(s.outages) - 1
	switch {
	case last >= 0 && s.outages[last][1].IsZero():
		if n >= s.until {
			s.await(s.noticed, "that Redis is away is not noticed")
			time.Sleep(soakOutage - time.Since(s.outages[last][0])) // a writer that has to catch up writes the rest at once
		}
		if s.noticed() && time.Since(s.outages[last][0]) >= soakOutage {
			s.keepUp(n) // what was written while Redis was away is judged while it is away
			s.outages[last][1] = time.Now()
			s.redis.Start()
		}
	case last+1 < kills && n >= (last+2)*(lines/(kills+1)):
		s.keepUp(n)
		s.from, s.marked = s.size(), false
		s.until = n + lines/(2*(kills+1))
		s.redis.Kill()
		s.outages = append(s.outages, [2]time.Time{time.Now()})
	}
}

// keepUp waits until the tail has read nearly all of n lines.
func (s *redisSoak) keepUp(n int) {
	s.t.Helper()
	s.await(func() bool {
		c, err := tail.ReadCheckpoint(s.path("state"))
		must(s.t, err)
		return c.Tally.Lines > int64(n)-2000 // the last ones have not been written out
	}, "not all lines that are written have been read")
}

// await waits until something is so.
func (s *redisSoak) await(is func() bool, otherwise string) {
	s.t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s; the tail says: %s", otherwise, s.stderr.Bytes())
		}
	}
}

// noticed reports whether a would-block since the latest outage is marked.
func (s *redisSoak) noticed() bool {
	s.t.Helper()
	f, err := os.Open(s.path("would-blocks"))
	must(s.t, err)
	defer f.Close()
	s.from = min(s.from, s.size()) // a tail that was killed has been cut off
	text, err := io.ReadAll(io.NewSectionReader(f, s.from, 1<<30))
	must(s.t, err)
	end := bytes.LastIndexByte(text, '\n') + 1
	s.from += int64(end)
	s.marked = s.marked || bytes.Contains(text[:end], []byte(`"degraded":true`))
	return s.marked
}

// size returns how much has been told, in bytes.
func (s *redisSoak) size() int64 {
	s.t.Helper()
	info, err := os.Stat(s.path("would-blocks"))
	must(s.t, err)
	return info.Size()
}

// marks counts the would-blocks that are marked, of all and of those that were told while Redis was away.
type marks struct {
	all, marked      int
	away, awayMarked int
	last             time.Time
	lastMarked       bool
}

// compareEach holds each would-block against those that a tail tells that has all of the log at once.
func (s *redisSoak) compareEach() (m marks) {
	s.t.Helper()
	whole, err := os.Open(s.path("whole"))
	must(s.t, err)
	defer whole.Close()
	alone := command(s.t, s.dir, "tail", "-", "--would-blocks", "alone", "--lateness", "2s", "--limit", s.limit, "--format", soakFormat, "--quiet")
	alone.Stdin = whole
	must(s.t, alone.Run())
	// Both tell nearly in the same order: read side by side, few wait for their equal.
	balance := map[uint64]int{}
	seed := maphash.MakeSeed()
	add := func(line string, n int) {
		hash := maphash.String(seed, line)
		if balance[hash] += n; balance[hash] == 0 {
			delete(balance, hash)
		}
	}
	next, stop := iter.Pull(s.linesOf("alone"))
	defer stop()
	for line := range s.linesOf("would-blocks") {
		plain := strings.Replace(line, `,"degraded":true`, "", 1)
		s.count(&m, line, plain != line)
		add(plain, -1)
		if other, ok := next(); ok {
			add(other, 1)
		}
	}
	for other, ok := next(); ok; other, ok = next() {
		add(other, 1)
	}
	if len(balance) > 0 {
		s.t.Errorf("%d of %d would-blocks differ, among them\n%s", len(balance), m.all, s.differing(func(line string) bool {
			return balance[maphash.String(seed, line)] != 0
		}))
	}
	return m
}

// differing returns the first lines of each file that the other one does not have, to find out why.
func (s *redisSoak) differing(differs func(line string) bool) string {
	var text strings.Builder
	for _, name := range []string{"would-blocks", "alone"} {
		left, number := 50, 0
		for line := range s.linesOf(name) {
			number++
			if differs(strings.Replace(line, `,"degraded":true`, "", 1)) {
				fmt.Fprintf(&text, "%s:%d: %s\n", name, number, line)
				if left--; left == 0 {
					break
				}
			}
		}
	}
	return text.String()
}

// count takes in a would-block. One of a second and a half before Redis was killed was judged when it was away.
func (s *redisSoak) count(m *marks, line string, marked bool) {
	const before = `{"schema":"shadow.would-block/1","time":"`
	stamp, err := time.Parse(time.RFC3339, line[len(before):strings.IndexByte(line, 'Z')+1])
	must(s.t, err)
	away := slices.ContainsFunc(s.outages, func(o [2]time.Time) bool {
		return stamp.After(o[0].Add(-1500*time.Millisecond)) && stamp.Before(o[0])
	})
	m.all++
	m.marked += count(marked)
	m.away += count(away)
	m.awayMarked += count(away && marked)
	m.last, m.lastMarked = stamp, marked
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// linesOf returns the lines of a file.
func (s *soak) linesOf(name string) iter.Seq[string] {
	s.t.Helper()
	f, err := os.Open(s.path(name))
	must(s.t, err)
	s.t.Cleanup(func() { f.Close() })
	return func(yield func(string) bool) {
		lines := bufio.NewScanner(f)
		for lines.Scan() && yield(lines.Text()) {
		}
		must(s.t, lines.Err())
	}
}
