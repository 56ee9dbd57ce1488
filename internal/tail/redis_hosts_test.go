//go:build unix && !nostore

package tail

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/limit"

	"shadow/internal/logfile/follow"
)

// Two tails that each follow a half of one log, and count together.

// hosts are two tails, and the whole of what is written to their logs.
type hosts struct {
	t     *testing.T
	each  [2]*bench
	whole bytes.Buffer
}

// startHosts starts both.
func startHosts(t *testing.T, s *redisServer, timeout time.Duration) *hosts {
	h := &hosts{t: t}
	for i := range h.each {
		b := newBench(t, sharedLimits...)
		b.change = func(o *Options) {
			o.Read.Lateness, o.Save = 100*limit.Millisecond, 2*time.Second
			if !exists(o.State) {
				o.From = follow.FromStart
			}
			s.joinWithin(o, fmt.Sprint("host ", i), timeout, nil)
		}
		b.start()
		h.each[i] = b
	}
	return h
}

// write writes a request of now to the log of one.
func (h *hosts) write(host, client int) {
	text := line(client, h.each[host].now)
	h.whole.WriteString(text)
	h.each[host].append("access.log", text)
}

// step lets time pass, longer than the lateness, and both judge what there is.
func (h *hosts) step(passed time.Duration) {
	for _, b := range h.each {
		b.step(passed)
	}
}

// stop ends both, and returns what they tell and what one replay of all tells.
func (h *hosts) stop() (got, want []string) {
	var told string
	for _, b := range h.each {
		b.step(time.Second)
		b.stop()
		told += b.told()
	}
	replayed, _ := h.each[0].replayed(h.whole.Bytes())
	return wouldBlocks(told), wouldBlocks(replayed)
}

// wouldBlocks are lines in order, without marks.
func wouldBlocks(told string) []string {
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(told, mark, "")), "\n")
	slices.Sort(lines)
	return lines
}

var retryAfter = regexp.MustCompile(`,"retry_after":[^,}]+`)

// withoutRetry are would-blocks without how long a client has to wait.
func withoutRetry(lines []string) (short []string) {
	for _, l := range lines {
		short = append(short, retryAfter.ReplaceAllString(l, ""))
	}
	return short
}

// differences are the lines that only one of them has.
func differences(x, y []string) (all []string) {
	count := map[string]int{}
	for _, l := range x {
		count[l]++
	}
	for _, l := range y {
		count[l]--
	}
	for l, n := range count {
		if n != 0 {
			all = append(all, l)
		}
	}
	slices.Sort(all)
	return all
}

// In lock step they refuse together what one replay of all refuses, request by request.
func TestTwoTailsInLockStep(t *testing.T) {
	h := startHosts(t, startRedis(t), 10*time.Second)
	r := seeded(t, 1)
	for range 400 {
		h.write(r.IntN(2), 1+r.IntN(3))
		h.step(300 * time.Millisecond)
	}
	got, want := h.stop()
	if d := differences(got, want); len(d) > 0 {
		t.Errorf("two tails differ from the replay in %d would-blocks, first in\n%s", len(d), d[0])
	}
	for _, b := range h.each {
		if strings.Contains(b.told(), mark) {
			t.Error("some are marked")
		}
	}
	alone := wouldBlocks(h.alone())
	t.Logf("%d would-blocks; without Redis there would be %d", len(want), len(alone))
	if len(alone) > len(want)*9/10 {
		t.Error("that proves little")
	}
}

// alone returns what both would tell if they did not count together.
func (h *hosts) alone() (told string) {
	for _, b := range h.each {
		text, _ := b.replayed(b.whole.Bytes())
		told += text
	}
	return told
}

// Killed now and then, and going on from their checkpoints, they refuse the same: what is judged again is answered as before.
func TestTwoTailsKilled(t *testing.T) {
	h := startHosts(t, startRedis(t), 10*time.Second)
	r := seeded(t, 4)
	for range 150 {
		host := r.IntN(2)
		for range 6 {
			h.write(host, 1+r.IntN(3))
			h.step(300 * time.Millisecond)
		}
		if r.IntN(4) == 0 {
			b := h.each[r.IntN(2)]
			b.kill()
			b.start()
		}
		for range 10 { // until all is judged, by the clock of a log of two seconds ago, too
			h.step(300 * time.Millisecond)
		}
	}
	got, want := h.stop()
	if d := differences(withoutRetry(got), withoutRetry(want)); len(d) > 0 {
		t.Errorf("two tails differ from the replay in %d would-blocks, first in\n%s", len(d), d[0])
	}
	for _, b := range h.each {
		if n := strings.Count(b.told(), mark); n > 0 {
			t.Errorf("%d are marked", n)
		}
	}
	if len(want) < 300 {
		t.Errorf("only %d would-blocks", len(want))
	}
}

// Fed freely, each looks at its log when it pleases, and a request counts when it is judged or when it came, whichever is
// later by the other's log. They refuse as many requests as one replay of all; how many of them are others grows with the time
// between looks.
func TestTwoTailsFedFreely(t *testing.T) {
	for most, others := range map[time.Duration]float64{100 * time.Millisecond: .05, 500 * time.Millisecond: .08, 2 * time.Second: .16} {
		h := startHosts(t, startRedis(t), 10*time.Second)
		r := seeded(t, 2)
		var turn [2]time.Duration // when each has its next
		for now := time.Duration(0); now < 3*time.Minute; now += 20 * time.Millisecond {
			if r.IntN(8) == 0 {
				h.write(r.IntN(2), 1+r.IntN(3))
			}
			for i, b := range h.each {
				b.now = b.now.Add(20 * time.Millisecond)
				if now >= turn[i] {
					turn[i] = now + time.Duration(r.Int64N(int64(most)))
					b.step(0)
				}
			}
		}
		got, want := h.stop()
		differ := differences(withoutRetry(got), withoutRetry(want))
		t.Logf("turns up to %v apart: %d would-blocks, %d by one replay of all; %d requests differ (%.1f %%)",
			most, len(got), len(want), len(differ), 100*float64(len(differ))/float64(len(want)))
		all := float64(len(want))
		if float64(len(differ)) > others*all || math.Abs(float64(len(got))-all) > all/100 {
			t.Error("that is too much")
		}
	}
}

// With Redis gone for a while, and empty when it is back, they differ from one replay only in the spans that are marked, which
// end one horizon after.
func TestTwoTailsDifferInMarkedSpansOnly(t *testing.T) {
	s := startRedis(t)
	h := startHosts(t, s, 10*time.Second)
	r := seeded(t, 3)
	const step = 300 * time.Millisecond // as in lock step: whatever is written is judged before the next is
	var gone, back time.Time
	for turn := range 600 {
		if second := turn / 5 % 30; second < 8 { // clients pause for longer than any limit remembers
			host := r.IntN(2)
			if turn == 180 || turn == 181 {
				host = turn % 2 // each meets the new server now, and not when clients come again
			}
			h.write(host, 1+r.IntN(3))
		}
		switch turn {
		case 160:
			s.Kill()
			gone = h.each[0].now.Add(-step) // what was written last waits to be judged
		case 180: // while clients are at it: Redis is back when it is asked again
			s.Start()
			s.recovered()
			back = h.each[0].now
		}
		h.step(step)
	}
	got, want := h.stop()
	told := h.each[0].told() + h.each[1].told()
	inside, policies := 0, h.each[0].policies()
	span := func(text string) bool {
		e := parseEvent(t, text)
		for i, p := range policies {
			if p.Name == e.Policy {
				end := back.Add(time.Duration(policies[i].Parts[0].Horizon()) * time.Microsecond)
				return !e.Time.Before(gone) && !e.Time.After(end.Add(step))
			}
		}
		t.Fatalf("no policy %s", e.Policy)
		return false
	}
	for _, text := range differences(got, want) {
		if inside++; !span(text) {
			t.Errorf("differs outside the span: %s", text)
		}
	}
	marked := 0
	for text := range strings.Lines(told) {
		e := parseEvent(t, text)
		if e.Degraded {
			marked++
		}
		if e.Degraded && !span(text) {
			t.Errorf("marked outside the span: %s", text)
		}
	}
	if inside == 0 || marked == 0 {
		t.Errorf("%d would-blocks differ, %d are marked: that proves little", inside, marked)
	}
	t.Logf("%d would-blocks, %d by one replay; %d differ and %d are marked, all of them inside the spans", len(got), len(want), inside, marked)
}

// A parsedEvent is what matters of a would-block here.
type parsedEvent struct {
	Time     time.Time `json:"time"`
	Policy   string    `json:"policy"`
	Degraded bool      `json:"degraded"`
}

func parseEvent(t *testing.T, text string) (e parsedEvent) {
	t.Helper()
	check(t, json.Unmarshal([]byte(text), &e))
	return e
}
