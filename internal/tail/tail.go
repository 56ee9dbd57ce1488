// Package tail follows logs that grow: lines come in as servers write them, across rotation, truncation and restarts, and
// would-blocks, running numbers and metrics go out. It judges with the loop of replay, fed by a clock as well as by lines.
package tail

import (
	"slices"
	"time"

	"shadow/internal/logfile"
	"shadow/internal/logfile/follow"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/replay"
)

// A Tail follows logs. It works in steps, each of which reads what there is, judges what nothing older can come before, and
// does what is due. One goroutine may use it.
type Tail struct {
	options Options
	begun   time.Time

	set    *follow.Set
	logs   []*log // those of set
	block  logfile.Block
	losses int // files of which the rest was not read by this tail

	tables *traffic.Tables
	stream *ingest.Stream
	judge  *replay.Engine
	remote Remote // nil: there is none

	tally   *Tally
	events  *events
	out     *output
	outLock *lock  // nil: would-blocks go to no file
	spool   *spool // nil: no Store
	lock    *lock  // of the checkpoint

	clock    machineClock
	progress progress
	saves    saves
	names    compaction
	summary  summary
	metrics  metricsTimer
}

// New prepares to follow logs, from where the checkpoint says if there is one.
func New(o Options) (*Tail, error) {
	o.setDefaults()
	t := &Tail{options: o, tables: o.Read.Tables, begun: o.Now()}
	t.clock = machineClock{ahead: traffic.MinTime, now: limit.Time(t.begun.UnixMicro())}
	t.progress = progress{readAll: t.begun, caughtUp: t.begun}
	t.saves = saves{at: t.begun, tried: t.begun}
	t.names.slack = defaultSlack
	t.summary.at = t.begun
	own := o.ownFiles()
	t.set = follow.New(follow.Options{
		Names: o.Names, Stdin: o.Stdin, From: o.From, Linger: o.Linger, Now: o.Now, Events: listener{t},
		Own: func(path string) bool { return wasOwn(own, path) },
	})
	if err := t.open(); err != nil {
		_ = t.Close() // what was wrong goes before
		return nil, err
	}
	return t, nil
}

// newJudge makes a judge for the tables at hand.
func (t *Tail) newJudge() *replay.Engine {
	t.events.tables = t.tables
	o := replay.Options{
		Tables: t.tables, Policies: t.options.Policies, Observer: t.events, Retries: true, Bare: true,
		Lateness: t.options.Read.Lateness, StepBack: t.options.Read.StepBack(),
	}
	if t.remote != nil {
		t.remote.Follow(t.tables)
		o.Remote, o.Lateness = t.remote, t.remote.Lateness() // where the Remote remembers a key, so must the judge
	}
	return replay.New(o)
}

// Close closes what is open.
func (t *Tail) Close() error {
	t.set.Close()
	var err error
	if t.out != nil {
		err = t.out.close()
	}
	if t.spool != nil {
		t.spool.close()
		if left := t.spool.trouble.Load(); left != nil { // what the database has not taken
			t.say("%s; %s in %s", left.text, t.spool.backlog(), t.spool.dir)
		}
	}
	t.outLock.release()
	t.lock.release()
	return err
}

// A log is one that is followed, with what its lines have told so far.
type log struct {
	*follow.Log
	clock  clock     // of the server that writes
	idle   bool      // nothing was left when it was read last
	asleep bool      // it was not looked at in this step
	fed    time.Time // when something of it was read last

	formats
}

// A listener is a Tail as its set of logs sees it.
type listener struct{ *Tail }

func (t listener) Say(format string, args ...any) { t.say(format, args...) }
func (t listener) Truncated()                     { t.tally.Truncated++ }
func (t listener) Lost()                          { t.losses, t.tally.Lost = t.losses+1, t.tally.Lost+1 }
func (t listener) Waits(l *follow.Log) bool       { return t.stream.Waits(l.Number) }

func (t listener) Joined(l *follow.Log) {
	late := time.Duration(t.options.Read.Lateness) * time.Microsecond
	begin := clock{late: late, newer: traffic.MinTime, older: traffic.MinTime, latest: traffic.MinTime}
	t.logs = append(t.logs, &log{Log: l, clock: begin})
	t.stream.Sources(t.set.Numbers())
	t.saves.hurry = true
}

func (t listener) Turned() { t.saves.hurry = true }

func (t listener) Left(l *follow.Log) {
	t.stream.Renew(l.Number)
	t.logs = slices.DeleteFunc(t.logs, func(other *log) bool { return other.Log == l })
}

// Tally returns what has been counted so far.
func (t *Tail) Tally() *Tally { return t.tally }
