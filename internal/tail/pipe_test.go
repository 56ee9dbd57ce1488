package tail

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"

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
