package tail

import (
	"bytes"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"shadow/internal/logfile"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
)

// A checkpoint that is damaged anywhere is refused; nothing else happens.
func TestDamagedCheckpoint(t *testing.T) {
	b := newBench(t, "token:1/24h")
	b.start()
	b.append("access.log", line(1, b.now)+line(1, b.now)+line(2, b.now))
	b.step(time.Second)
	b.stop()
	text, err := os.ReadFile(b.path("state"))
	check(t, err)
	if _, err := decodeCheckpoint(text); err != nil {
		t.Fatal(err)
	}
	for i := range text {
		damaged := bytes.Clone(text)
		damaged[i] ^= 0x10
		if _, err := decodeCheckpoint(damaged); err == nil {
			t.Fatalf("byte %d is changed, and it is taken", i)
		}
		if _, err := decodeCheckpoint(text[:i]); err == nil {
			t.Fatalf("the first %d bytes are taken", i)
		}
	}
}

// A checkpoint of which the sum is right, and a number is not, is refused.
func TestForgedCheckpoint(t *testing.T) {
	b := newBench(t, "token:1/24h")
	b.append("access.log.1", line(1, b.now))
	b.append("access.log", line(1, b.now))
	b.start()
	b.step(time.Second)
	b.stop()
	name := b.path("forged")
	for what, forge := range map[string]func(*Checkpoint){
		"nothing":           func(*Checkpoint) {},
		"head before":       func(c *Checkpoint) { c.Logs[0].Files[0].HeadBytes = -1 },
		"head beyond":       func(c *Checkpoint) { c.Logs[0].Files[0].HeadBytes = logfile.HeadBlock + 1 },
		"offset":            func(c *Checkpoint) { c.Logs[0].Files[0].Offset = -1 },
		"known":             func(c *Checkpoint) { c.Logs[0].Known[0].HeadBytes = -5 },
		"one log twice":     func(c *Checkpoint) { c.Logs = append(c.Logs, c.Logs[0]) },
		"length":            func(c *Checkpoint) { c.Output.Length = -1 },
		"head of output":    func(c *Checkpoint) { c.Output.HeadBytes = -1 },
		"batch elsewhere":   func(c *Checkpoint) { c.Spool = &SavedSpool{Tail: "../x"} },
		"batch without end": func(c *Checkpoint) { c.Spool = &SavedSpool{Tail: "x", Sealed: math.MaxUint64} },
	} {
		c, err := ReadCheckpoint(b.path("state"))
		check(t, err)
		forge(c)
		check(t, c.prepare(name, func(w io.Writer) error { _, err := w.Write(c.Body); return err }))
		check(t, replace(name))
		if _, err := ReadCheckpoint(name); (err == nil) != (what == "nothing") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Whatever the body says, recalling it fails or not; nothing else happens.
func FuzzRecall(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x02\x00\x02\x04\x00\x00\x03\x02\x01\x00\x01a\x00\x01b\x00\x01/\x00\x00\x01\x00\x00"))
	f.Fuzz(func(t *testing.T, body []byte) {
		o := readOptions(t)
		s := ingest.NewStream(o, true)
		s.Sources(2)
		from := traffic.NewDecoder(body, o.Tables, o.Actions.Named)
		s.Restore(from)
	})
}

// A disk that is full, or a folder that is gone, does not stop the tail; what it said once it does not say again.
func TestCheckpointThatCannotBeWritten(t *testing.T) {
	b := newBench(t, "token:1/24h")
	b.change = func(o *Options) { o.State = b.path("folder/state") }
	check(t, os.Mkdir(b.path("folder"), 0o755))
	b.start()
	check(t, os.RemoveAll(b.path("folder")))
	for range 10 {
		b.append("access.log", line(1, b.now))
		b.step(5 * time.Second)
	}
	b.counted(10)
	if n := strings.Count(b.said.String(), "cannot be written"); n != 1 {
		t.Errorf("said %d times: %s", n, b.said.String())
	}
	check(t, os.Mkdir(b.path("folder"), 0o755))
	b.step(5 * time.Second)
	b.stop()
	if c, err := ReadCheckpoint(b.path("folder/state")); err != nil || c.Tally.Lines != 10 {
		t.Errorf("%v, %+v", err, c)
	}
}
