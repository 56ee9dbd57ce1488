package tail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/parse/detect"
	"shadow/replay"

	"shadow/internal/logfile/follow"
)

// testFormat has stamps to the millisecond, as a busy log should.
const testFormat = `$remote_addr [$msec] "$request" $status "$http_user_agent"`

// A bench is a folder with a log, a clock that the test moves, and a tail that may be stopped and started again.
type bench struct {
	t      *testing.T
	folder string
	now    time.Time
	limits []string
	tail   *Tail
	names  []string
	whole  bytes.Buffer // all that was ever written to the log
	said   bytes.Buffer
	out    bytes.Buffer
	change func(*Options)
	loses  bool                    // whether files may be lost
	lost   int                     // how many were
	by     []request.Key           // what the limits count by, in turn
	read   func(o *ingest.Options) // how lines are read; nil: as testFormat says
}

func newBench(t *testing.T, limits ...string) *bench {
	t.Helper()
	b := &bench{t: t, folder: t.TempDir(), now: time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC), limits: limits, by: []request.Key{request.ByClient}}
	b.names = []string{b.path("access.log")}
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.folder, name) }

func (b *bench) policies() (all []policy.Policy) {
	for _, by := range b.by {
		policies, err := policy.ParseLimits(b.limits, by)
		check(b.t, err)
		all = append(all, policies...)
	}
	return all
}

func (b *bench) readOptions() ingest.Options {
	o := readOptions(b.t)
	if b.read != nil {
		b.read(&o)
	}
	return o
}

func readOptions(t *testing.T) ingest.Options {
	t.Helper()
	tables := traffic.NewTables()
	actions, err := match.NewActions(nil, tables.Actions)
	check(t, err)
	return ingest.Options{Tables: tables, Actions: actions, Format: detect.Choice{Format: testFormat}, Lateness: DefaultLateness}
}

// start begins, or begins again.
func (b *bench) start() {
	b.t.Helper()
	o := Options{
		Names: b.names, From: follow.FromCheckpoint, State: b.path("state"), Events: b.path("would-blocks"), Out: &b.out, Err: &b.said,
		Read: b.readOptions(), Policies: b.policies(), Now: func() time.Time { return b.now },
	}
	if b.change != nil {
		b.change(&o)
	}
	var err error
	b.tail, err = New(o)
	check(b.t, err)
}

// step lets time pass and the tail do what there is to do.
func (b *bench) step(passed time.Duration) {
	b.t.Helper()
	b.now = b.now.Add(passed)
	for more := true; more; {
		var err error
		more, err = b.tail.Step()
		check(b.t, err)
	}
}

// stop ends the tail as a signal does. It has read everything, unless a test takes something away.
func (b *bench) stop() {
	b.t.Helper()
	err := b.tail.Finish()
	if loss := new(LossError); b.loses && errors.As(err, &loss) {
		b.lost += loss.Files
		return
	}
	check(b.t, err)
}

// kill ends the tail as kill -9 does: what it has not written is gone.
func (b *bench) kill() {
	b.tail.set.Close()
	if f := b.tail.out.file; f != nil {
		f.Close()
	}
	if s := b.tail.spool; s != nil {
		s.halt()
	}
	b.tail.outLock.release()
	b.tail.lock.release()
}

// line is a request of one of some clients at t.
func line(client int, t time.Time) string {
	return fmt.Sprintf("192.0.2.%d [%d.%03d] \"GET /page%d HTTP/1.1\" 200 \"curl/8\"\n", client, t.Unix(), t.UnixMilli()%1000, client%3)
}

// append writes to a file of the log, and to the whole.
func (b *bench) append(name, text string) {
	b.t.Helper()
	f, err := os.OpenFile(b.path(name), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	check(b.t, err)
	_, err = f.WriteString(text)
	check(b.t, err)
	check(b.t, f.Close())
	b.whole.WriteString(text)
}

// replayed returns what a replay of a log tells, as the tail would write it, and what it counts.
func (b *bench) replayed(text []byte) (string, Tally) {
	b.t.Helper()
	name := b.path("whole")
	check(b.t, os.WriteFile(name, text, 0o644))
	defer os.Remove(name)
	o := b.readOptions()
	reader, err := ingest.NewReader(context.Background(), []string{name}, nil, o)
	check(b.t, err)
	defer reader.Close()
	var out bytes.Buffer
	tally := newTally(b.policies(), &Tally{})
	e := newEvents(&output{to: &out}, b.policies(), tally)
	e.tables = o.Tables
	judge := replay.New(replay.Options{
		Tables: o.Tables, Policies: b.policies(), Lateness: o.Lateness, StepBack: o.StepBack(), Observer: e, Retries: true,
	})
	check(b.t, judge.Run(reader))
	check(b.t, e.out.flush())
	stats := reader.Stats()
	tally.Lines, tally.Unreadable, tally.Excluded, tally.Late = stats.Lines, stats.Unreadable, stats.Excluded, stats.Late
	tally.NotHTTP, tally.Moved = stats.NotHTTP, stats.Moved
	return out.String(), *tally
}

// told is the file of would-blocks.
func (b *bench) told() string {
	b.t.Helper()
	text, err := os.ReadFile(b.path("would-blocks"))
	check(b.t, err)
	return string(text)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func seeded(t testing.TB, seed uint64) *rand.Rand { return testneeds.Rand(t, seed, 7) }

// restart kills the tail, or ends it, and begins again.
func (b *bench) restart(kill bool) {
	b.t.Helper()
	if kill {
		b.kill()
	} else {
		b.stop()
	}
	b.start()
}

func (b *bench) rename(from, to string) {
	b.t.Helper()
	check(b.t, os.Rename(b.path(from), b.path(to)))
}

// saidOnce holds what was said against what must have been, once.
func (b *bench) saidOnce(text string) {
	b.t.Helper()
	if n := strings.Count(b.said.String(), text); n != 1 {
		b.t.Errorf("%q was said %d times: %s", text, n, b.said.String())
	}
}

// heard returns what the tail has said since it was asked last, with the folder left out.
func (b *bench) heard() string {
	text := strings.ReplaceAll(b.said.String(), b.folder+"/", "")
	b.said.Reset()
	return strings.ReplaceAll(text, b.folder, ".")
}

// wantSaid compares what the tail said with what it was to say.
func (b *bench) wantSaid(want string) {
	b.t.Helper()
	if got := b.heard(); got != want {
		b.t.Fatalf("the tail said\n%swant\n%s", got, want)
	}
}

// counted fails the test unless so many lines have been read.
func (b *bench) counted(want int64) {
	b.t.Helper()
	if got := b.tail.Tally().Lines; got != want {
		b.t.Fatalf("%d lines have been read, want %d; the tail said: %s", got, want, b.said.String())
	}
}
