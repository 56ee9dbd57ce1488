package tail

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"shadow/internal/logfile"
	"shadow/internal/logfile/follow"
	"shadow/internal/policy"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/replay"
)

// Options says what to follow, and how to judge it.
type Options struct {
	Names     []string       // files, pipes, globs, directories, or "-"
	Stdin     io.Reader      // what "-" stands for
	From      follow.From    // where to begin
	State     string         // checkpoint file; "" for none
	Read      ingest.Options // how lines are read; its Lateness is how far they may be out of order
	Policies  []policy.Policy
	NewRemote NewRemote     // nil: this tail judges alone
	Events    string        // file for would-blocks; "" for Out
	Out       io.Writer     // of would-blocks without a file
	Err       io.Writer     // summaries, and what is wrong
	Every     time.Duration // between summaries; 0: none
	JSON      bool          // whether summaries are lines of JSON, on Out
	Save      time.Duration // between checkpoints; 0: DefaultSave
	Linger    time.Duration // how long a file that lost its name has to be quiet to be closed; 0: DefaultLinger
	Metrics   *Metrics      // nil: numbers are not asked for
	Feed      *Feed         // nil: no screen watches
	MaxKeys   int           // how many keys of each kind are remembered; 0: no bound
	Store     Store         // where batches go, which needs State; nil: nowhere
	Flush     time.Duration // between looks whether they can go there; 0: DefaultFlush
	Own       []string      // further files that are written on behalf of this tail, which are no logs
	Spool     int64         // bytes of batches that wait before reading pauses; 0: DefaultSpool
	Opened    func()        // called when all is open, before the first checkpoint; may be nil

	Visible func(string) string // what a log says, harmless for a terminal; nil: quoted as in Go's source code
	Now     func() time.Time    // nil: time.Now
}

// What Options are unless they say otherwise.
const (
	DefaultLateness = 5 * limit.Second
	DefaultSave     = 5 * time.Second
	DefaultLinger   = time.Minute
)

// setDefaults sets what is to be as usual.
func (o *Options) setDefaults() {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Opened == nil {
		o.Opened = func() {}
	}
	if o.Visible == nil {
		o.Visible = strconv.QuoteToASCII
	}
	o.Save, o.Linger = cmp.Or(o.Save, DefaultSave), cmp.Or(o.Linger, DefaultLinger)
	o.Flush, o.Spool = cmp.Or(o.Flush, DefaultFlush), cmp.Or(o.Spool, DefaultSpool)
}

// A tail must not read what it writes, since would-blocks would make would-blocks, nor write into a log, of which the
// end of an earlier run would be cut off. So its own files are told from logs, and from each other.

// ownFiles returns the names of the files that this tail writes.
func (o *Options) ownFiles() (names []string) {
	if o.State != "" {
		names = append(names, o.State, o.State+".new", o.State+".lock")
	}
	if o.Events != "" {
		names = append(names, o.Events)
		if regular(o.Events) {
			names = append(names, o.Events+".lock")
		}
	}
	return append(names, o.Own...)
}

// Verify finds names that are used for two things.
func (o *Options) Verify() error {
	if info, err := os.Stat(o.State); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: is no ordinary file, and each checkpoint would take its place: name a file for the state", o.State)
	}
	own := o.ownFiles()
	for i, name := range own {
		if j := slices.IndexFunc(own[:i], func(other string) bool { return sameFile(other, name) }); j >= 0 {
			return fmt.Errorf("%s: the tail would write this file for two purposes: give each another name", name)
		}
	}
	for _, log := range o.Names {
		if slices.ContainsFunc(own, func(name string) bool { return sameFile(name, log) }) {
			return fmt.Errorf("%s: the tail would write into the log that it follows: give what it writes another name", log)
		}
	}
	return nil
}

// wasOwn reports whether a file is one of them, or what log rotation has left of one.
func wasOwn(own []string, name string) bool {
	return slices.ContainsFunc(own, func(other string) bool {
		return sameFile(other, name) ||
			filepath.Dir(other) == filepath.Dir(name) && logfile.IsRotated(filepath.Base(other), filepath.Base(name))
	})
}

// sameFile reports whether two names are of one file, which need not be there yet.
func sameFile(x, y string) bool {
	if one, err := os.Stat(x); err == nil {
		if other, err := os.Stat(y); err == nil && os.SameFile(one, other) {
			return one.Mode().IsRegular()
		}
	}
	return logfile.Absolute(x) == logfile.Absolute(y) && regular(x)
}

// regular reports whether a name is, or may become, that of an ordinary file: /dev/null takes anything.
func regular(name string) bool {
	info, err := os.Stat(name)
	return err != nil || info.Mode().IsRegular()
}

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
