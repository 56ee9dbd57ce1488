package tail

import (
	"strings"
	"testing"
	"time"

	"shadow/parse"
)

const combined = "192.0.2.7 - - [21/Nov/2026:07:00:00 +0000] \"GET / HTTP/1.1\" 200 312 \"-\" \"curl/8.5.0\"\n"

// Lines that are mostly no requests are told, however slowly they come, and when they are requests again.
func TestWrongFormatIsTold(t *testing.T) {
	b := newBench(t, "token:1/24h")
	b.append("access.log", "")
	b.start()
	for range 50 {
		b.append("access.log", combined)
		b.step(time.Second)
	}
	b.hears("shadow: access.log: 10 of the last 10 lines are no requests in the format custom: no '[' before the time (column 1); shadow parse says more\n")
	for range 50 {
		b.append("access.log", line(1, b.now))
		b.step(time.Second)
	}
	b.hears("shadow: access.log: most lines are requests again\n")
	for n := range 50 {
		b.append("access.log", []string{combined, line(1, b.now), line(1, b.now)}[n%3])
		b.step(time.Second)
	}
	b.hears("")
	b.stop()
}

// A log of no known format does not end the tail as long as another one can be read, or may be once there is something in it.
func TestUnknownFormatIsNotTheEnd(t *testing.T) {
	junk := strings.Repeat("this is no access log\n", 100)
	b := newBench(t, "token:1/24h")
	b.names = []string{b.path("a.log"), b.path("b.log")}
	b.change = func(o *Options) { o.From, o.Read.Format = FromStart, parse.Choice{Format: "auto"} }
	b.append("a.log", junk)
	b.start()
	b.step(time.Second)
	b.append("b.log", combined)
	b.step(2 * time.Second)
	b.counted(1)
	if n := strings.Count(b.said.String(), "a.log: the format of the log is not known"); n != 1 {
		t.Errorf("said %d times: %s", n, b.said.String())
	}
	b.stop()

	b = newBench(t, "token:1/24h")
	b.names = []string{b.path("*.log")}
	b.change = func(o *Options) { o.From, o.Read.Format = FromStart, parse.Choice{Format: "auto"} }
	b.append("a.log", junk)
	b.append("b.log", junk)
	b.start()
	if _, err := b.tail.Step(); err == nil || !strings.Contains(err.Error(), "b.log: the format of the log is not known") {
		t.Errorf("with no log that can be read it ended with %v", err)
	}
	b.kill()
}

// Of names that the shell has put in the place of a pattern those of compressed files are left out, and it is told.
func TestCompressedNames(t *testing.T) {
	b := newBench(t, "token:1/24h")
	for _, name := range []string{"access.log", "access.log.1", "access.log.2.gz"} {
		b.append(name, line(1, b.now))
		b.names = append(b.names, b.path(name))
	}
	b.names = b.names[1:]
	b.start()
	b.hears("shadow: access.log.2.gz: is compressed, so that nothing is added to it; shadow replay reads it\n")
	b.append("access.log", line(1, b.now))
	b.rename("access.log.1", "access.log.2")
	b.rename("access.log", "access.log.1")
	b.append("access.log", line(1, b.now))
	b.step(2 * time.Second)
	b.counted(2)
	b.stop()
	b.hears("")
}
