package tail

import (
	"bytes"

	"shadow/traffic"
)

// A tail runs for months, and names of clients come without end. Those of which nothing is remembered any more are dropped when
// twice as many are known as were needed the last time, and some more.

// defaultSlack is how many names may come beyond that.
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

// known is how many names and keys have a number, whether they are needed or not. There is a bound to agents and actions.
func (t *Tail) known() int {
	return t.tables.Clients.Len() + t.tables.Hosts.Len() + t.tables.Users.Len() + t.tables.Paths.Len() + t.judge.Known()
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
	tables.Actions = t.tables.Actions
	t.tables = tables
	t.stream = t.stream.Fresh(t.tables)
	t.judge = t.newJudge()
	clear(t.events.busy)
	t.events.crowd.forget()
	err := t.recall(body.Bytes())
	t.names.needed = t.known()
	return err
}
