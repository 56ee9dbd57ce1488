package follow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shadow/internal/logfile"
	"shadow/internal/testneeds"
)

// How often a bench saves, and how long its files linger.
const (
	save   = 5 * time.Second
	linger = time.Minute
)

// A bench is a folder with a log, a clock that the test moves, and a Set that is read as a tail does: it may be stopped and
// started again from its checkpoint, which lies in memory.
type bench struct {
	t      *testing.T
	folder string
	now    time.Time
	names  []string
	set    *Set
	state  []byte // the checkpoint; nil: there is none
	change func(*Options)
	said   bytes.Buffer
	block  logfile.Block
	known  map[*Log]bool // of which a line has come
	saved  time.Time
	hurry  bool // whether a checkpoint is due at once
	losses int  // files that were lost since the start
	loses  bool // whether they may be
	lost   int  // how many were

	tally
}

// A tally holds what was read up to the checkpoint and since.
type tally struct {
	SavedLogs              []logfile.SavedLog
	SavedLeft              []logfile.SavedFile
	Lines, Unreadable, Cut int64
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, folder: t.TempDir(), now: time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)}
	b.names = []string{b.path("access.log")}
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.folder, name) }

// start begins, or begins again.
func (b *bench) start() {
	b.t.Helper()
	o := Options{
		Names: b.names, From: FromCheckpoint, Linger: linger, Now: func() time.Time { return b.now },
		Own: func(string) bool { return false }, Events: b,
	}
	if b.change != nil {
		b.change(&o)
	}
	b.set, b.known, b.losses = New(o), map[*Log]bool{}, 0
	b.tally = tally{}
	if b.state != nil && o.From == FromCheckpoint {
		check(b.t, json.Unmarshal(b.state, &b.tally))
		b.set.Resume(b.SavedLogs, b.SavedLeft)
	}
	b.set.Expand()
	b.save()
}

func (b *bench) save() {
	b.t.Helper()
	var err error
	b.SavedLogs, b.SavedLeft = b.set.Save()
	b.state, err = json.Marshal(b.tally)
	check(b.t, err)
	b.saved, b.hurry = b.now, false
}

// step lets time pass and reads what there is to read.
func (b *bench) step(passed time.Duration) {
	b.t.Helper()
	b.now = b.now.Add(passed)
	b.set.Look()
	for _, l := range b.set.Logs() {
		b.read(l)
	}
	if passed := b.now.Sub(b.saved); passed >= save || b.hurry && passed > 0 {
		b.save()
	}
}

// read reads a log, as soon as there is a line that tells its format.
func (b *bench) read(l *Log) {
	if b.known[l] = b.known[l] || len(l.Samples()) > 0 || l.Overlong(); !b.known[l] {
		l.Abandon()
		return
	}
	for l.Next(&b.block) {
		for line := range strings.Lines(string(b.block.Data)) {
			b.Lines++
			if len(line) > logfile.MaxLine+1 || !strings.HasPrefix(line, "192.0.2.") || !strings.Contains(line, "curl") {
				b.Unreadable++
			}
		}
	}
}

// stop ends the Set as a signal does. It has read everything, unless a test takes something away.
func (b *bench) stop() {
	b.t.Helper()
	b.set.Finish()
	b.save()
	b.set.Close()
	if b.lost += b.losses; b.losses > 0 && !b.loses {
		b.t.Fatalf("%d files are lost", b.losses)
	}
}

// kill ends the Set as kill -9 does: what it has not saved is gone.
func (b *bench) kill() { b.set.Close() }

// restart kills the Set, or ends it, and begins again.
func (b *bench) restart(kill bool) {
	b.t.Helper()
	if kill {
		b.kill()
	} else {
		b.stop()
	}
	b.start()
}

func (b *bench) Say(format string, args ...any) {
	fmt.Fprintf(&b.said, "shadow: "+format+"\n", args...)
}
func (b *bench) Truncated()      { b.tally.Cut++ }
func (b *bench) Lost()           { b.losses++ }
func (b *bench) Joined(*Log)     { b.hurry = true }
func (b *bench) Turned()         { b.hurry = true }
func (b *bench) Left(*Log)       {}
func (b *bench) Waits(*Log) bool { return false }

// counted fails unless so many lines have been read.
func (b *bench) counted(want int64) {
	b.t.Helper()
	if b.Lines != want {
		b.t.Fatalf("%d lines have been read, want %d; it was said: %s", b.Lines, want, b.said.String())
	}
}

// line returns a request of one of some clients at t.
func line(client int, t time.Time) string {
	return fmt.Sprintf("192.0.2.%d [%d.%03d] \"GET /page%d HTTP/1.1\" 200 \"curl/8\"\n", client, t.Unix(), t.UnixMilli()%1000, client%3)
}

// append writes to a file of the log.
func (b *bench) append(name, text string) {
	b.t.Helper()
	f, err := os.OpenFile(b.path(name), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	check(b.t, err)
	_, err = f.WriteString(text)
	check(b.t, err)
	check(b.t, f.Close())
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func seeded(t testing.TB, seed uint64) *rand.Rand { return testneeds.Rand(t, seed, 7) }
