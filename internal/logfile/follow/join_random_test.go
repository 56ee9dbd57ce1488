package follow

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// However servers and rotation name their files, and whenever the tail is killed, each line is read once.

// A style says how files are named: what is written to now, and what is done to begin a new file.
type style struct {
	pattern string
	current func(w *namer) string
	turn    func(w *namer)
}

// A namer is a server with a style.
type namer struct {
	*bench
	r       *rand.Rand
	style   style
	day     int // how many files it has begun
	written int64
	running bool
}

func (w *namer) date(layout string, days int) string {
	return time.Date(2026, 11, 21+days, 0, 0, 0, 0, time.UTC).Format(layout)
}

// next begins a file by its name alone.
func next(w *namer) { w.day++; w.now = w.now.Add(time.Hour) }

// renamed gives the current file another name, in one of the ways of logrotate.
func renamed(layout string) func(w *namer) {
	return func(w *namer) {
		to := w.date(layout, w.day-30)
		next(w)
		if !exists(w.path("access.log")) {
			return
		}
		switch w.r.IntN(3) {
		case 0:
			w.copy("access.log", to, false)
			check(w.t, os.Truncate(w.path("access.log"), 0))
		case 1:
			w.rename("access.log", to)
			w.append("access.log", "")
		default:
			w.rename("access.log", to)
			w.write(to) // the server has not noticed yet
		}
	}
}

// shifted moves the numbers of all files up.
func shifted(name string) func(w *namer) {
	return func(w *namer) {
		next(w)
		for i := 30; i >= 0; i-- {
			if from := fmt.Sprintf(name, i); exists(w.path(from)) {
				w.rename(from, fmt.Sprintf(name, i+1))
			}
		}
	}
}

func named(name string) func(*namer) string { return func(*namer) string { return name } }

var styles = map[string]style{
	"rotatelogs": {"access.*.log", func(w *namer) string { return "access." + w.date("20060102", w.day-30) + ".log" }, next},
	"by glob":    {"*", func(w *namer) string { return "access_log-" + w.date("2006-01-02", w.day-30) }, next},
	"in seconds": {"access*", func(w *namer) string { return fmt.Sprintf("access_log.%d", 1790000000+3600*w.day) }, next},
	"dateext":    {"*", named("access.log"), renamed("access.log-20060102")},
	"extension":  {"*.log", named("access.log"), renamed("access-20060102.log")},
	"directory":  {"", named("access.log"), renamed("access.2006-01-02.log")},
	"numbers":    {"*.log", named("app.0.log"), shifted("app.%d.log")},
}

func TestEachLineIsReadOnce(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	for name, s := range styles {
		for seed := range seeds {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) { onceEach(t, s, seeded(t, seed)) })
		}
	}
}

func onceEach(t *testing.T, s style, r *rand.Rand) {
	w := &namer{bench: newBench(t), r: r, style: s, running: true}
	w.names = []string{w.path(s.pattern)}
	w.start()
	w.write(s.current(w)) // of a log that no checkpoint knows, what is rotated belongs to none
	w.step(2 * save)
	for range 80 {
		w.turn()
	}
	if !w.running {
		w.start()
	}
	w.write(s.current(w)) // what came and went is found beside the file that is there now
	for range 4 {
		w.step(2 * linger)
	}
	if got := w.Lines; got != w.written {
		t.Errorf("%d lines are read, %d were written; the tail said: %s", got, w.written, w.said.String())
	}
	if n := len(w.set.logs); n > 32 || len(w.set.byKey) > n {
		t.Errorf("%d logs are followed, of %d names", n, len(w.set.byKey))
	}
	w.stop()
}

func (w *namer) turn() {
	switch k := w.r.IntN(20); {
	case k < 10:
		w.write(w.style.current(w))
	case k < 13:
		w.style.turn(w)
	case k == 13 && w.running:
		w.stop()
		w.running = false
	case k == 14 && w.running:
		w.kill()
		w.running = false
	case k > 14 && !w.running:
		w.start()
		w.running = true
	}
	if w.running {
		w.step(time.Duration(w.r.IntN(3000)) * time.Millisecond)
	}
}

// write writes so much that files can be told apart by what they begin with.
func (w *namer) write(name string) {
	for range 80 + w.r.IntN(50) {
		w.append(name, line(w.r.IntN(250), w.now.Add(time.Duration(w.r.IntN(1000))*time.Millisecond)))
		w.written++
	}
}
