package tail

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"shadow/traffic"
	"shadow/traffic/ingest"
)

// save writes a checkpoint.
func (t *Tail) save() error {
	begin := t.options.Now()
	out, err := t.out.save()
	if err != nil {
		return err
	}
	remote, err := t.saveRemote()
	if err != nil {
		return err
	}
	c := &Checkpoint{Written: t.options.Now().UTC(), Tally: *t.tally, Output: out, Remote: remote}
	c.Logs, c.Left = t.set.Save()
	if err = t.write(c); err == nil {
		t.kept()
	}
	t.saving = t.options.Now().Sub(begin)
	return err
}

// write writes a checkpoint, and the batch for the database that goes with it.
func (t *Tail) write(c *Checkpoint) error {
	if t.spool == nil {
		return c.Write(t.options.State, t.remember)
	}
	c.Spool = t.spool.complete(c.Written, t.tally)
	if err := c.prepare(t.options.State, t.remember); err != nil {
		return err
	}
	if err := t.spool.seal(); err != nil {
		return err
	}
	err := replace(t.options.State)
	t.spool.over(t.tally, err == nil)
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
		l.clock.hear(&ingest.BlockStats{Reached: mark, Newest: traffic.MinTime, Last: last}, t.options.Now())
	}
	t.names = t.known()
	return nil
}

// tidy keeps memory within bounds: it has the limits forget keys when there are more than there may be, and drops the names
// of whom nothing is remembered any more.
func (t *Tail) tidy() error {
	if most := t.options.MaxKeys; most > 0 {
		t.tally.Forgotten += int64(t.judge.Trim(most))
	}
	if t.known() < 2*t.names+t.slack {
		return nil
	}
	return t.compact()
}

// defaultSlack is how many names may come, beyond twice those that were needed, before names are dropped.
const defaultSlack = 64 << 10

// known is how many names and keys have a number, whether they are needed or not. There is a bound to agents and actions.
func (t *Tail) known() int {
	return t.tables.Clients.Len() + t.tables.Hosts.Len() + t.tables.Users.Len() + t.tables.Paths.Len() + t.judge.Known()
}

// compact moves what is remembered to tables that have no other names. Actions keep theirs: there is a bound to them.
func (t *Tail) compact() error {
	body := bytes.NewBuffer(make([]byte, 0, t.moved+t.moved/8))
	if err := t.remember(body); err != nil {
		return err
	}
	t.moved = body.Len()
	if t.spool != nil {
		t.spool.forget()
	}
	tables := traffic.NewTables()
	tables.Actions = t.tables.Actions
	t.tables = tables
	t.stream = t.stream.Fresh(t.tables)
	t.judge = t.newJudge()
	clear(t.events.busy)
	t.events.crowd.forget()
	err := t.recall(body.Bytes())
	t.names = t.known()
	return err
}

// copy is a Tally that does not change, and cannot count.
func (t *Tally) copy() Tally {
	c := *t
	c.NotHTTP = slices.Clone(t.NotHTTP)
	c.Policies = slices.Clone(t.Policies)
	for i := range c.Policies {
		c.Policies[i].By = slices.Clone(c.Policies[i].By)
		c.Policies[i].places = nil
	}
	return c
}

// judgeRest judges what waits for older ones, which will not come.
func (t *Tail) judgeRest() error {
	for t.stream.Waiting() > 0 {
		if err := errors.Join(t.out.flush(), t.judgeUntil(traffic.MaxTime)); err != nil {
			return err
		}
	}
	return t.out.flush()
}

// Finish ends the tail. With a checkpoint, requests that wait for older ones go on waiting in it; without one they are judged.
func (t *Tail) Finish() error {
	var err error
	if t.options.State == "" || t.set.Ended() {
		err = t.judgeRest()
	}
	t.set.Finish()
	if err == nil && t.options.State != "" {
		err = t.save()
	}
	if err == nil && t.options.Every > 0 {
		t.tell()
	}
	if err := errors.Join(err, t.Close()); err != nil {
		return err
	}
	return t.lossError()
}
