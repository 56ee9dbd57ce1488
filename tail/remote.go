package tail

import (
	"encoding/json"
	"time"

	"shadow/limit"
	"shadow/replay"
	"shadow/traffic"
)

// A Remote is a replay.Remote that can go on where another one stopped. Several hosts may judge together: then it has the
// verdicts, and the judge follows them. What is judged again after a crash must be charged once all the same, so the checkpoint
// says where the Remote was.
type Remote interface {
	replay.Remote
	Follow(t *traffic.Tables)       // batches have ids of these tables from now on
	Lateness() limit.Time           // by how much the time of a key may step back until it resets
	Degraded(policy int) bool       // whether verdicts are, until there are others
	Save() (json.RawMessage, error) // what to go on from
	Kept()                          // what was last saved is in the checkpoint; nothing has been judged since
}

// NewRemote makes a Remote that goes on from what was saved, or begins, where that is nil. behind tells it whether the tail
// lags, so that there is no time to ask others.
type NewRemote func(saved json.RawMessage, behind func() bool) (Remote, error)

// patience is for how long there may have been something left to read until the tail counts as lagging.
const patience = 10 * time.Second

// behind reports whether the logs have grown faster, for a while, than requests are judged.
func (t *Tail) behind() bool {
	lags := t.options.Now().Sub(t.progress.caughtUp) > patience
	if lags && !t.progress.lags {
		t.say("the log has grown faster for %v than requests are judged, so that Redis is not asked until all is read", patience)
	}
	t.progress.lags = lags
	return lags
}
