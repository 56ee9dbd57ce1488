package tail

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
)

// When checkpoints are written, what goes into them, and the way back.

// saves are the checkpoints that were written.
type saves struct {
	at, tried time.Time     // when the last one was, and when that was last tried
	took      time.Duration // how long
	err       string        // what was wrong then
	hurry     bool          // whether that is out of date: logs have joined since, or were rotated
}

// mustSave reports whether a checkpoint is due. Writing them takes at most a twentieth of the time, unless what is held for the
// database becomes too much.
func (t *Tail) mustSave(now time.Time) bool {
	every := t.options.Save
	// Were a new log rotated while no tail runs, nothing of it would be found. Were a rotated one deleted, it would look as if
	// its rest had not been read.
	if t.saves.hurry {
		every = tick
	}
	passed := now.Sub(t.saves.tried)
	return passed >= max(every, 20*t.saves.took) || passed >= tick && t.spool.aboveThreshold()
}

// tryToSave writes a checkpoint. Should the disk be full, the old one holds: after a crash more is judged again.
func (t *Tail) tryToSave(now time.Time) {
	t.saves.tried = now
	if err := t.save(); err != nil {
		t.sayUnsaved(err)
		return
	}
	t.saves.at, t.saves.hurry, t.saves.err = now, false, ""
}

// sayUnsaved says why there is no checkpoint, unless it was said last.
func (t *Tail) sayUnsaved(err error) {
	why := "the checkpoint cannot be written: "
	if isFull(err) {
		why = "the checkpoint cannot be written, as the disk is full; it is written as soon as there is room: "
	}
	if text := why + err.Error(); text != t.saves.err {
		t.say("%s", text)
		t.saves.err = text
	}
}

// isFull reports whether there was no room on a disk.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// save writes a checkpoint, and the batch for the database that goes with it.
func (t *Tail) save() error {
	begin := t.options.Now()
	out, err := t.out.save()
	if err != nil {
		return err
	}
	var remote json.RawMessage
	if t.remote != nil {
		if remote, err = t.remote.Save(); err != nil {
			return err
		}
	}
	c := &Checkpoint{Written: t.options.Now().UTC(), Tally: *t.tally, Output: out, Remote: remote}
	c.Logs, c.Left = t.set.Save()
	if t.spool != nil {
		c.Spool = t.spool.complete(c.Written, t.tally)
	}
	if err = c.prepare(t.options.State, t.remember); err == nil && t.spool != nil {
		err = t.spool.seal()
	}
	if err == nil {
		err = replace(t.options.State)
		if t.spool != nil {
			t.spool.rotate(t.tally, err == nil)
		}
	}
	if err == nil && t.remote != nil {
		t.remote.Kept()
	}
	t.saves.took = t.options.Now().Sub(begin)
	return err
}

// remember writes what the stream and the judge remember.
func (t *Tail) remember(w io.Writer) error {
	to := traffic.NewEncoder(t.tables, w)
	t.stream.Save(to)
	t.judge.Save(to)
	return to.Flush()
}

// recall is the way back.
func (t *Tail) recall(body []byte) error {
	from := traffic.NewDecoder(body, t.tables, t.options.Read.Actions.Named)
	t.stream.Restore(from)
	t.judge.Restore(from)
	from.End()
	return from.Err()
}

// restore goes on where a checkpoint was written.
func (t *Tail) restore(c *Checkpoint) error {
	t.set.Resume(c.Logs, c.Left)
	t.stream.Sources(t.set.Numbers())
	if err := t.recall(c.Body); err != nil {
		return fmt.Errorf("%s: %w", t.options.State, err)
	}
	for _, l := range t.logs {
		mark, last := t.stream.Progress(l.Number)
		l.clock.update(&ingest.BlockStats{Reached: mark, Newest: traffic.MinTime, Last: last}, t.options.Now())
	}
	t.names.needed = t.known()
	return nil
}

// A tail runs for months, and names of clients come without end. Those of which nothing is remembered any more are dropped when
// twice as many are known as were needed the last time, and some more.

// defaultSlack is the number of names that may come beyond that.
const defaultSlack = 64 << 10

// A compaction is the last time that names were dropped.
type compaction struct {
	needed int // how many names were known after it
	bytes  int // that it moved
	slack  int // how many may come before another one
}

// tidy keeps memory within bounds: it has the limits forget keys when there are more than there may be, and drops names.
func (t *Tail) tidy() error {
	if most := t.options.MaxKeys; most > 0 {
		t.tally.Forgotten += int64(t.judge.Trim(most))
	}
	if t.known() < 2*t.names.needed+t.names.slack {
		return nil
	}
	return t.compact()
}

// known counts the names and keys that have a number, whether they are needed or not. There is a bound to agents and
// actions.
func (t *Tail) known() int {
	return t.tables.Clients.Len() + t.tables.Hosts.Len() + t.tables.Users.Len() + t.tables.Paths.Len() + t.tables.Values.Len() + t.judge.Known()
}

// compact moves what is remembered to tables that have no other names. Actions keep theirs: there is a bound to them.
func (t *Tail) compact() error {
	body := bytes.NewBuffer(make([]byte, 0, t.names.bytes+t.names.bytes/8))
	if err := t.remember(body); err != nil {
		return err
	}
	t.names.bytes = body.Len()
	if t.spool != nil {
		t.spool.forget()
	}
	tables := traffic.NewTables()
	tables.Actions, tables.Parts, tables.Rename = t.tables.Actions, t.tables.Parts, t.tables.Rename
	t.tables = tables
	t.stream = t.stream.Fresh(t.tables)
	t.judge = t.newJudge()
	clear(t.events.busy)
	t.events.feed.forget()
	err := t.recall(body.Bytes())
	t.names.needed = t.known()
	return err
}
