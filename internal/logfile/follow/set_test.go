package follow

import (
	"fmt"
	"testing"
	"time"
)

// From the start of several logs a copy counts once, and what is added to it counts too.
func TestFromStartOfCopies(t *testing.T) {
	b := newBench(t)
	b.names = []string{b.path("*.log")}
	b.change = func(o *Options) { o.From = FromStart }
	lines := b.fill("a.log")
	b.copy("a.log", "early.log", false)
	b.append("a.log", line(201, b.now))
	b.copy("a.log", "z.log", false)
	for i := range 12 { // another host, which begins with other lines
		b.append("other.log", line(202+i, b.now))
	}
	b.start()
	b.step(time.Second)
	if got, want := b.Lines, lines+1+12; got != want {
		t.Errorf("%d lines, want %d; said: %s", got, want, b.said.String())
	}
	b.saidOnce(fmt.Sprintf("%s: is the beginning of %s; it is followed from its end", b.path("early.log"), b.path("a.log")))
	b.saidOnce(fmt.Sprintf("%s: holds the same as %s; it is followed from its end", b.path("z.log"), b.path("a.log")))
	b.append("early.log", line(220, b.now))
	b.append("a.log", line(221, b.now))
	b.step(time.Minute)
	if got, want := b.Lines, lines+1+12+2; got != want {
		t.Errorf("%d lines later, want %d; said: %s", got, want, b.said.String())
	}
	b.stop()
}
