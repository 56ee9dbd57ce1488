package tail

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"shadow/internal/logfile"
	"shadow/internal/logfile/follow"
	"shadow/internal/traffic/ingest"
)

// A tail opens what it writes before what it reads, and goes on where the checkpoint says.

// open opens everything, and restores what a checkpoint says.
func (t *Tail) open() error {
	if err := t.options.Verify(); err != nil {
		return err
	}
	c, err := t.openState()
	if err != nil {
		return err
	}
	if err := t.openOutput(c); err != nil {
		return err
	}
	earlier := &Tally{}
	if c != nil {
		earlier = &c.Tally
	}
	t.tally = newTally(t.options.Policies, earlier)
	t.summary.before = t.tally.copy()
	t.events = newEvents(t.out, t.options.Policies, t.tally)
	if t.options.Feed != nil || t.options.Metrics != nil {
		t.events.feed = newFeedCounts(t.begun, len(t.options.Policies))
	}
	if err := t.openSpool(c); err != nil {
		return err
	}
	t.stream = ingest.NewStream(t.options.Read, follow.Several(t.options.Names))
	if err := t.openRemote(c); err != nil {
		return err
	}
	t.judge = t.newJudge()
	if c != nil {
		err = t.restore(c)
	}
	if t.set.Expand(); err != nil {
		return err
	}
	t.options.Opened()
	return t.saveFirst()
}

// openState takes the lock of the checkpoint, and returns the checkpoint to go on from, nil for none.
func (t *Tail) openState() (c *Checkpoint, err error) {
	state := t.options.State
	if state == "" {
		return nil, nil
	}
	if t.lock, err = takeLock("checkpoint", state); err != nil {
		return nil, about("checkpoint", state, err)
	}
	if t.options.From == follow.FromCheckpoint && exists(state) {
		if c, err = ReadCheckpoint(state); err != nil {
			return nil, about("checkpoint", state, err)
		}
	}
	return c, nil
}

// openRemote opens the limits that are shared with other hosts, and learns which of them are degraded. c is the
// checkpoint to go on from, nil for none.
func (t *Tail) openRemote(c *Checkpoint) (err error) {
	if t.options.NewRemote == nil {
		return nil
	}
	var saved json.RawMessage
	if c != nil {
		saved = c.Remote
	}
	if t.remote, err = t.options.NewRemote(saved, t.behind); err != nil {
		return err
	}
	for i := range t.tally.Policies {
		t.tally.Policies[i].IsDegraded = t.remote.Degraded(i)
	}
	return nil
}

// saveFirst writes the first checkpoint, so that even a tail that is killed at once has begun here.
func (t *Tail) saveFirst() error {
	if t.options.State == "" {
		return nil
	}
	err := t.save()
	if err == nil {
		t.saves.hurry = false
	} else if isFull(err) {
		t.sayUnsaved(err) // the old one holds, or none, until there is room
		t.saves.at, err = time.Time{}, nil
	}
	return err
}

// about says what a file is for that cannot be used; an error that tells it already stays as it is.
func about(what, name string, err error) error {
	if path := new(fs.PathError); errors.As(err, &path) {
		return fmt.Errorf("%s %s: %w", what, name, path.Err)
	}
	return err
}

// openOutput opens the would-blocks, and takes their lock where they are a file.
func (t *Tail) openOutput(c *Checkpoint) (err error) {
	if t.options.Events == "" {
		t.out = &output{to: t.options.Out}
		return nil
	}
	name := t.options.Events
	if regular(name) {
		behind := name // all links
		if path, err := filepath.EvalSymlinks(name); err == nil {
			behind = path
		}
		t.outLock, err = takeLock("would-blocks", behind)
		if path := new(fs.PathError); errors.As(err, &path) {
			return fmt.Errorf("would-blocks %s: the lock %s cannot be had: %w; it keeps other tails away", behind, path.Path, path.Err)
		}
		if err != nil {
			return err
		}
	}
	out := &output{name: name}
	if err := out.open(); err != nil { // first: it keeps other tails away, whatever they call the file
		return about("would-blocks", name, err)
	}
	t.out = out
	if t.mayCut(c) {
		missing, err := cutOff(name, c.Output)
		if err != nil {
			return about("would-blocks", name, err)
		}
		if missing > 0 {
			t.say("%s: %d bytes are missing that it had when the checkpoint was written: would-blocks are lost", name, missing)
		}
	}
	out.beginLine()
	return nil
}

// mayCut reports whether what stands in the would-blocks behind the checkpoint was written by this tail, and notes that from now
// on it is.
func (t *Tail) mayCut(c *Checkpoint) bool {
	if t.outLock == nil {
		return c != nil
	}
	me, before := "no state", t.outLock.owner()
	if t.options.State != "" {
		me = logfile.Absolute(t.options.State)
	}
	if before == me {
		return c != nil
	}
	_ = t.outLock.own(me) // where there is no room for it, no tail has been noted before
	if before == "" || c == nil {
		return c != nil
	}
	if c.Output != nil {
		t.say("%s: a tail with another --state has written to it since (%s), so nothing is cut off: what this one told behind its checkpoint may be there twice",
			t.options.Events, before)
	}
	return false
}

// openSpool opens the way to the database. c is the checkpoint to go on from, nil for none; one that is not gone on from has
// named batches all the same.
func (t *Tail) openSpool(c *Checkpoint) (err error) {
	if t.options.Store == nil {
		return nil
	}
	latest := c
	if latest == nil && exists(t.options.State) {
		latest, _ = ReadCheckpoint(t.options.State) // one that cannot be read is to be replaced
	}
	var was *SavedSpool
	if latest != nil {
		was = latest.Spool
	}
	if t.spool, err = openSpool(&t.options, was, c != nil); err != nil {
		return err
	}
	t.spool.start(t.options.Policies, t.tally)
	t.events.spool = t.spool
	return nil
}
