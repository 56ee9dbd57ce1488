package tail

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/logfile"
	"shadow/internal/logfile/follow"
)

// The tail of a log tells what a replay of it tells, request by request, however the log is written, rotated, truncated,
// compressed, cut, put away and put back meanwhile, and however often the tail is stopped, killed and started again.

var agreeLimits = []string{
	"token:3/10s", "leaky:2/5s", "window:4/20s", "haproxy:5/10s", "token:2/s+window:20/60s", "token:3/10s,cooldown=5s",
	"each:token:2/s+window:20/60s", "in-turn:window:4/20s+token:3/10s",
}

func TestTailAgreesWithReplay(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { agree(t, seeded(t, seed)) })
	}
}

func agree(t *testing.T, r *rand.Rand) {
	w := &world{bench: newBench(t, agreeLimits...), r: r, running: true}
	w.loses = true // what is put away between two looks; all that was in it has been read
	vary := func(o *Options) {
		o.Save, o.Linger = time.Duration(1+r.IntN(20))*time.Second, time.Duration(5+r.IntN(60))*time.Second
	}
	w.change = func(o *Options) { o.From = follow.FromStart; vary(o) }
	w.start()
	w.change = vary
	for range 120 {
		w.turn()
	}
	w.append("access.log", w.held)
	if !w.running {
		w.start()
	}
	w.step(time.Second)
	w.step(DefaultLinger + 20*time.Second)
	w.stop()
	want, tally := w.replayed(w.whole.Bytes())
	if got := w.told(); got != want {
		t.Errorf("the tail tells %d would-blocks, the replay %d; they differ first at\n%s\nthe tail said: %s",
			strings.Count(got, "\n"), strings.Count(want, "\n"), firstDifference(got, want), w.said.String())
	}
	got := w.tail.Tally()
	if got.Lines != tally.Lines || got.Requests != tally.Requests || got.Unreadable != tally.Unreadable || got.Late != 0 {
		t.Errorf("counted %d lines, %d requests, %d unreadable, %d late; the replay counts %d, %d, %d, %d",
			got.Lines, got.Requests, got.Unreadable, got.Late, tally.Lines, tally.Requests, tally.Unreadable, tally.Late)
	}
	for i := range tally.Policies {
		if got, want := got.Policies[i].Refused, tally.Policies[i].Refused; got != want {
			t.Errorf("%s refused %d, the replay says %d", tally.Policies[i].Name, got, want)
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d: %s\nwant    %s", i+1, g[i], w[i])
		}
	}
	return "the end of one"
}

// A world is a server that writes a log, and what is done to the log and to the tail.
type world struct {
	*bench
	r       *rand.Rand
	running bool
	held    string // of a line that is being written
	n       int    // rotations
}

func (w *world) turn() {
	switch k := w.r.IntN(44); {
	case k < 24:
		w.write(1 + w.r.IntN(20))
	case k == 24:
		w.rotate(true)
	case k == 25:
		w.rotate(false)
	case k == 26:
		w.copyTruncate()
	case k == 27 && w.n > 0:
		w.compress()
	case k == 28 && w.running:
		w.stop()
		w.running = false
	case k == 29 && w.running:
		w.kill()
		w.running = false
	case k >= 30 && k < 33 && !w.running:
		w.start()
		w.running = true
	case k == 38:
		w.mirror()
	case k == 39 && w.running:
		w.drop()
	case k == 40 && w.running:
		w.cut()
	case k == 41 && w.running:
		w.hide()
	case k > 41 && w.running:
		w.swap()
	}
	if passed := time.Duration(w.r.IntN(1500)) * time.Millisecond; w.running {
		w.step(passed)
	} else {
		w.now = w.now.Add(passed)
	}
}

// write writes some lines in pieces, each within the lateness of its stamp.
func (w *world) write(n int) {
	text := w.held
	for range n {
		text += line(1+w.r.IntN(5), w.now.Add(-time.Duration(w.r.IntN(3000))*time.Millisecond))
	}
	if w.r.IntN(20) == 0 {
		text += "rubbish\n"
	}
	cut := len(text) - w.r.IntN(10)
	w.append("access.log", text[:cut])
	if w.held = text[cut:]; w.running && w.r.IntN(2) == 0 {
		w.step(0)
	}
	w.append("access.log", w.held)
	w.held = ""
}

// rotate renames the log; late writes to it by its new name come with the next lines, or not at all.
func (w *world) rotate(create bool) {
	w.shift()
	check(w.t, os.Rename(w.path("access.log"), w.path("access.log.1")))
	w.n++
	if create {
		check(w.t, os.WriteFile(w.path("access.log"), nil, 0o644))
	}
	if w.r.IntN(2) == 0 {
		w.append("access.log.1", line(9, w.now))
	}
	if w.running && w.r.IntN(2) == 0 {
		w.step(time.Duration(w.r.IntN(500)) * time.Millisecond)
	}
	if !create {
		w.append("access.log", line(8, w.now))
	}
}

// cut ends the tail, and takes the end of the log away, as a power failure may.
func (w *world) cut() {
	w.step(time.Second)
	w.stop()
	if info, err := os.Stat(w.path("access.log")); err == nil && info.Size() > logfile.HeadBlock {
		check(w.t, os.Truncate(w.path("access.log"), max(logfile.HeadBlock, info.Size()-int64(w.r.IntN(300)))))
	}
	w.start()
}

// hide begins the tail again while the log is not there.
func (w *world) hide() {
	w.step(time.Second)
	w.stop()
	if exists(w.path("access.log")) {
		check(w.t, os.MkdirAll(w.path("hidden"), 0o755))
		check(w.t, os.Rename(w.path("access.log"), w.path("hidden/access.log")))
		defer func() { check(w.t, os.Rename(w.path("hidden/access.log"), w.path("access.log"))) }()
	}
	w.start()
	w.step(time.Duration(w.r.IntN(2)) * time.Second)
}

// swap puts the log away, and another one in its place that was put away before.
func (w *world) swap() {
	w.step(time.Second)
	w.write(1)
	w.saves() // what is read again after a crash must be there
	check(w.t, os.MkdirAll(w.path("hidden"), 0o755))
	check(w.t, os.Rename(w.path("access.log"), w.path("hidden/next.log")))
	w.step(time.Duration(w.r.IntN(2)) * time.Second)
	if exists(w.path("hidden/kept.log")) {
		check(w.t, os.Rename(w.path("hidden/kept.log"), w.path("access.log")))
	}
	check(w.t, os.Rename(w.path("hidden/next.log"), w.path("hidden/kept.log")))
}

// saves waits until a checkpoint knows all that was written.
func (w *world) saves() {
	written := w.now
	for range 100 {
		if w.step(time.Second); w.tail.saves.at.After(written) {
			return
		}
	}
	w.t.Fatalf("no checkpoint was written for %v: %s", w.now.Sub(written), w.said.String())
}

// drop deletes the oldest of the rotated logs. What goes before a checkpoint knows it would be lost.
func (w *world) drop() {
	w.saves()
	for i := 5; i <= w.n; i++ {
		for _, ending := range []string{"", ".gz"} {
			check(w.t, os.RemoveAll(w.path(fmt.Sprintf("access.log.%d%s", i, ending))))
		}
	}
	w.n = min(w.n, 4)
}

// shift makes room for access.log.1.
func (w *world) shift() {
	if !exists(w.path("access.log")) {
		w.append("access.log", line(7, w.now))
	}
	for i := w.n; i > 0; i-- {
		for _, ending := range []string{"", ".gz"} {
			if from := w.path(fmt.Sprintf("access.log.%d%s", i, ending)); exists(from) {
				check(w.t, os.Rename(from, w.path(fmt.Sprintf("access.log.%d%s", i+1, ending))))
			}
		}
	}
}

// copyTruncate copies the log and empties it, with no write in between.
func (w *world) copyTruncate() {
	w.shift()
	text, err := os.ReadFile(w.path("access.log"))
	check(w.t, err)
	check(w.t, os.WriteFile(w.path("access.log.1"), text, 0o644))
	w.n++
	check(w.t, os.Truncate(w.path("access.log"), 0))
	if len(text) > 0 && w.r.IntN(2) == 0 {
		w.append("access.log", line(6, w.now))
	}
}

// mirror has a copy take the name, as of a log of another host.
func (w *world) mirror() {
	text, err := os.ReadFile(w.path("access.log"))
	if err != nil {
		return
	}
	check(w.t, os.WriteFile(w.path("hidden.log"), text, 0o644))
	check(w.t, os.Rename(w.path("hidden.log"), w.path("access.log")))
}

// compress compresses the rotated logs, apart from the latest at times.
func (w *world) compress() {
	for i := 1 + w.r.IntN(2); i <= w.n; i++ {
		name := w.path(fmt.Sprintf("access.log.%d", i))
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, err = io.Copy(z, bytes.NewReader(text))
		check(w.t, err)
		check(w.t, z.Close())
		info, err := os.Stat(name)
		check(w.t, err)
		check(w.t, os.WriteFile(name+".gz", packed.Bytes(), 0o644))
		check(w.t, os.Chtimes(name+".gz", info.ModTime(), info.ModTime())) // as gzip does
		check(w.t, os.Remove(name))
	}
}

// Several logs, of different clients, by clocks that differ somewhat, and that now and then fall silent.
func TestTailOfSeveralLogsAgreesWithReplays(t *testing.T) {
	for seed := range uint64(10) {
		r := seeded(t, seed)
		b := newBench(t, agreeLimits...)
		b.names = []string{b.path("0.log"), b.path("1.log"), b.path("2.log")}
		b.change = func(o *Options) { o.From = follow.FromStart }
		b.start()
		var texts [3]strings.Builder
		for range 150 {
			for i := range texts {
				if r.IntN(3) == 0 {
					continue
				}
				clock := b.now.Add(time.Duration(i-1) * 700 * time.Millisecond)
				for range r.IntN(10) {
					text := line(10*i+r.IntN(4), clock.Add(-time.Duration(r.IntN(3000))*time.Millisecond))
					texts[i].WriteString(text)
					b.append(fmt.Sprintf("%d.log", i), text)
				}
			}
			if b.step(time.Duration(r.IntN(1500)) * time.Millisecond); r.IntN(20) == 0 {
				b.kill()
				b.change = nil
				b.start()
			}
		}
		b.step(time.Second)
		b.step(20 * time.Second)
		b.stop()
		var want strings.Builder
		for i := range texts {
			told, _ := b.replayed([]byte(texts[i].String()))
			want.WriteString(told)
		}
		got, all := slices.Sorted(strings.Lines(b.told())), slices.Sorted(strings.Lines(want.String()))
		if !slices.Equal(got, all) || b.tail.Tally().Late > 0 {
			t.Errorf("seed %d: the tail tells %d would-blocks, the replays %d; %d late", seed, len(got), len(all), b.tail.Tally().Late)
		}
	}
}
