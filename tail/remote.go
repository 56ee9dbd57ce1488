package tail

import (
	"time"

	"shadow/replay"
	"shadow/traffic"
)

// Several hosts may judge together: then a Remote has the verdicts, and the judge follows them. Requests are numbered in the
// order in which they are judged. What is judged anew after a crash has the numbers that it had before, so it is answered as
// before and charged once. For that the checkpoint says under what name, and how far, this tail has counted.

// A Remote is a replay.Remote that numbers what it judges. A share.Referee is one.
type Remote interface {
	replay.Remote
	Follow(t *traffic.Tables)             // batches have ids of these tables from now on
	Numbering() (host string, next int64) // by whom it numbers, and the number of the next request
	KeepSince(number int64)               // requests from this number on may be judged again
}

// Numbering is how far a tail has counted that judges with others.
type Numbering struct {
	Host string `json:"host"` // the name under which it counts; "": it has not begun
	Next int64  `json:"next"` // the number of the next request
}

// NewRemote makes a Remote that counts on. behind tells it whether the tail lags, so that there is no time to ask others.
type NewRemote func(from Numbering, behind func() bool) (Remote, error)

// patience is for how long there may have been something left to read until the tail counts as lagging.
const patience = 10 * time.Second

// behind tells whether the logs have grown faster, for a while, than requests are judged.
func (t *Tail) behind() bool { return t.options.Now().Sub(t.caughtUp) > patience }

// openRemote makes the Remote, if there is to be one.
func (t *Tail) openRemote(c *Checkpoint) (err error) {
	if t.options.NewRemote == nil {
		return nil
	}
	var from Numbering
	if c != nil && c.Numbering != nil {
		from = *c.Numbering
	}
	t.remote, err = t.options.NewRemote(from, t.behind)
	return err
}

// numbering is what the checkpoint says of it.
func (t *Tail) numbering() *Numbering {
	if t.remote == nil {
		return nil
	}
	n := new(Numbering)
	n.Host, n.Next = t.remote.Numbering()
	return n
}
