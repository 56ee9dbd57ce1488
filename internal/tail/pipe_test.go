package tail

import (
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"shadow/internal/logfile"
)

// pour writes a text in pieces of random length.
func pour(w *io.PipeWriter, text string, r *rand.Rand) {
	for most := 1 + r.IntN(200_000); len(text) > 0; {
		n := min(len(text), 1+r.IntN(most))
		_, _ = io.WriteString(w, text[:n]) // the end of the tail ends it
		text = text[n:]
	}
	w.Close()
}

// A pipe of lines of every length, whole or in pieces, is read to its end, and each line counts once.
func TestPipeOfLongLines(t *testing.T) {
	for seed := range uint64(4) {
		r := seeded(t, seed)
		b := newBench(t, "token:2/10s")
		text := line(1, b.now)
		for range 30 {
			text += line(1+r.IntN(3), b.now)
			switch r.IntN(3) {
			case 0:
				text += strings.Repeat("x", 300<<10+r.IntN(2*logfile.MaxLine)) + "\n"
			case 1:
				text += strings.Repeat("y", logfile.MaxLine-1+r.IntN(3)) + "\n"
			}
		}
		if seed%2 == 0 {
			text += "the end of a log"
		}
		reader, writer := io.Pipe()
		b.names = []string{"-"}
		b.change = func(o *Options) { o.Stdin, o.State, o.Events = reader, "", "" }
		b.start()
		go pour(writer, text, r)
		for !b.tail.set.Ended() { // pieces may be short, and many
			b.step(0)
		}
		b.stop()
		want, tally := b.replayed([]byte(text))
		if got := b.tail.Tally(); got.Lines != tally.Lines || got.Unreadable != tally.Unreadable || b.out.String() != want {
			t.Errorf("seed %d: %d lines, %d unreadable, want %d, %d; or the would-blocks differ", seed, got.Lines, got.Unreadable, tally.Lines, tally.Unreadable)
		}
	}
}

// A slowFile is a file on a disk that keeps its reader waiting, while the clock goes on.
type slowFile struct {
	*os.File
	wait func()
}

func (f slowFile) Read(b []byte) (int, error) {
	f.wait()
	return f.File.Read(b[:min(len(b), 1000)])
}

// A log that is given as standard input is never silent, however long a disk takes: none of it comes late.
func TestSlowFileIsNotSilent(t *testing.T) {
	b := newBench(t, "token:2/10s")
	r := seeded(t, 1)
	var text strings.Builder
	for n := range 300 { // out of order by less than the lateness
		text.WriteString(line(1+r.IntN(3), b.now.Add(time.Duration(n)*100*time.Millisecond-time.Duration(r.IntN(3000))*time.Millisecond)))
	}
	check(t, os.WriteFile(b.path("history"), []byte(text.String()), 0o600))
	f, err := os.Open(b.path("history"))
	check(t, err)
	defer f.Close()
	b.names = []string{"-"}
	b.change = func(o *Options) {
		o.Stdin, o.State, o.Events = slowFile{f, func() { time.Sleep(5 * time.Millisecond) }}, "", ""
	}
	b.start()
	for !b.tail.set.Ended() {
		b.step(10 * time.Second)
	}
	b.stop()
	want, tally := b.replayed([]byte(text.String()))
	if got := b.tail.Tally(); got.Late != 0 || got.Lines != tally.Lines || b.out.String() != want {
		t.Errorf("%d lines, %d late, want %d, 0; or the would-blocks differ", got.Lines, got.Late, tally.Lines)
	}
}
