package tail

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"shadow/traffic"
)

// save writes a checkpoint.
func (t *Tail) save() error {
	begin := time.Now()
	out, err := t.out.save()
	if err != nil {
		return err
	}
	remote, err := t.saveRemote()
	if err != nil {
		return err
	}
	c := &Checkpoint{Written: t.options.Now().UTC(), Tally: *t.tally, Output: out, Remote: remote, Body: t.remember()}
	for _, l := range t.logs {
		c.Logs = append(c.Logs, l.save())
	}
	if err = t.write(c); err == nil {
		t.kept()
	}
	t.saving = time.Since(begin)
	return err
}

// write writes a checkpoint, and the batch for the database that goes with it.
func (t *Tail) write(c *Checkpoint) error {
	if t.spool == nil {
		return c.Write(t.options.State)
	}
	c.Spool = t.spool.complete(c.Written, t.tally)
	if err := c.prepare(t.options.State); err != nil {
		return err
	}
	if err := t.spool.seal(); err != nil {
		return err
	}
	err := replace(t.options.State)
	t.spool.over(t.tally, err == nil)
	return err
}

// remember is what the stream and the judge remember.
func (t *Tail) remember() []byte {
	to := traffic.NewEncoder(t.tables, t.room)
	t.stream.Save(to)
	t.judge.Save(to)
	t.room = to.Out()
	return t.room
}

// recall is the way back.
func (t *Tail) recall(body []byte) error {
	from := traffic.NewDecoder(body, t.tables, t.options.Read.Actions)
	t.stream.Restore(from)
	t.judge.Restore(from)
	return from.Err()
}

// restore goes on where a checkpoint was written.
func (t *Tail) restore(c *Checkpoint) error {
	t.resume(c)
	if err := t.recall(c.Body); err != nil {
		return fmt.Errorf("%s: %w", t.options.State, err)
	}
	t.options.From = FromStart
	t.names = t.tables.Clients.Len()
	return nil
}

// slack is how many clients may come, beyond twice those that were needed, before names are dropped.
const slack = 64 << 10

// tidy keeps memory within bounds: it drops the names of clients of whom nothing is remembered any more, and the keys that
// were idle for longest when there are more than there may be.
func (t *Tail) tidy() error {
	known := t.tables.Clients.Len()
	most := t.options.MaxKeys
	full := most > 0 && known > most && t.judge.Keys() > most
	if full {
		t.tally.Forgotten += int64(t.judge.Trim(most - most/8))
	}
	if !full && known < 2*t.names+slack {
		return nil
	}
	return t.compact()
}

// compact moves what is remembered to tables that have no other names. Actions keep theirs: there is a bound to them.
func (t *Tail) compact() error {
	body := t.remember()
	if t.spool != nil {
		t.spool.forget()
	}
	t.tables = &traffic.Tables{
		Clients: traffic.NewDict(), Agents: traffic.NewAgents(), Actions: t.tables.Actions, Hosts: traffic.NewDict(),
	}
	t.stream = t.stream.Anew(t.tables)
	t.judge = t.newJudge()
	clear(t.events.busy)
	t.events.crowd.forget()
	err := t.recall(body)
	t.names = t.tables.Clients.Len()
	return err
}

// copy is a Tally that does not change.
func (t *Tally) copy() Tally {
	c := *t
	c.Policies = slices.Clone(t.Policies)
	for i := range c.Policies {
		c.Policies[i].By = slices.Clone(c.Policies[i].By)
		c.Policies[i].places = maps.Clone(c.Policies[i].places)
	}
	return c
}

// Finish ends the tail. With a checkpoint, requests that wait for older ones go on waiting in it; without one they are judged.
func (t *Tail) Finish() error {
	var err error
	if t.options.State == "" || t.ended() {
		err = t.judgeUntil(traffic.End)
	}
	if err == nil && t.options.State != "" {
		err = t.save()
	}
	if err == nil && t.options.Every > 0 {
		t.tell()
	}
	return errors.Join(err, t.Close())
}
