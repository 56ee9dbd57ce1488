package tail

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"shadow/limit"
	"shadow/logfile"
	"shadow/logfile/follow"
	"shadow/policy"
	"shadow/traffic/ingest"
)

// Options says what to follow, and how to judge it.
type Options struct {
	Names     []string       // files, pipes, globs, directories, or "-"
	Stdin     io.Reader      // what "-" stands for
	From      follow.From    // where to begin
	State     string         // checkpoint file; "" for none
	Read      ingest.Options // how lines are read; its Lateness is how far they may be out of order
	Policies  []policy.Policy
	NewRemote NewRemote     // nil: nobody judges but this tail
	Events    string        // file for would-blocks; "" for Out
	Out       io.Writer     // of would-blocks without a file
	Err       io.Writer     // summaries, and what is wrong
	Every     time.Duration // between summaries; 0: none
	Save      time.Duration // between checkpoints; 0: DefaultSave
	Linger    time.Duration // how long a file that lost its name has to be quiet to be closed; 0: DefaultLinger
	Metrics   *Metrics      // nil: nobody asks for numbers
	Feed      *Feed         // nil: nobody watches
	MaxKeys   int           // how many keys of each kind are remembered; 0: no bound
	Store     Store         // where batches go, which needs State; nil: nowhere
	Flush     time.Duration // between looks whether they can go there; 0: DefaultFlush
	Own       []string      // further files that are written on behalf of this tail, which are no logs
	Spool     int64         // bytes of batches that wait before reading pauses; 0: DefaultSpool

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
	if o.Visible == nil {
		o.Visible = strconv.QuoteToASCII
	}
	o.Save, o.Linger = cmp.Or(o.Save, DefaultSave), cmp.Or(o.Linger, DefaultLinger)
	o.Flush, o.Spool = cmp.Or(o.Flush, DefaultFlush), cmp.Or(o.Spool, DefaultSpool)
}

// A tail must not read what it writes, since would-blocks would make would-blocks, nor write into a log, of which the
// end of an earlier run would be cut off. So its own files are told from logs, and from each other.

// ownFiles are those that this tail writes.
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
