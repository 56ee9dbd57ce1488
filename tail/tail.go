package tail

import (
	"io"
	"slices"
	"strconv"
	"time"

	"shadow/limit"
	"shadow/logfile"
	"shadow/logfile/follow"
	"shadow/policy"
	"shadow/replay"
	"shadow/traffic"
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
	Live      *Live         // nil: nobody watches
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

// A Tail follows logs. It works in steps, each of which reads what there is, judges what nothing older can come before, and
// does what is due. One goroutine may use it.
type Tail struct {
	options Options
	set     *follow.Set
	logs    []*log // those of set
	stream  *ingest.Stream
	judge   *replay.Engine
	remote  Remote // nil: there is none
	tables  *traffic.Tables
	tally   *Tally
	events  *events
	out     *output
	spool   *spool // nil: no Store
	lock    *lock
	outLock *lock // of the would-blocks; nil: they are no file
	block   logfile.Block

	active []*log // see awake
	whole  bool   // whether this step is

	begun    time.Time
	released time.Time // when requests were last judged
	settled  int       // how many waited after that
	caughtUp time.Time // when everything had been read of which the format is known
	lags     bool      // whether that was too long ago to ask the Remote
	saved    time.Time // when the last checkpoint was written
	tried    time.Time // when that was last tried
	odd      string    // what was wrong then
	saving   time.Duration
	losses   int       // files of which the rest was not read by this tail
	joined   bool      // whether logs have joined since the last checkpoint
	waits    bool      // whether it was told that batches wait for the database
	stuck    bool      // whether it was told that would-blocks cannot be written
	told     time.Time // when the last summary was
	before   Tally     // as it was then
	shown    time.Time // when numbers were last left for Metrics
	counted  time.Time // when keys were last counted
	keys     int       // how many there were
	names    int       // how many were known after the last compaction
	moved    int       // bytes that it moved
	slack    int       // how many may come before another one

	readAll time.Time  // when everything had been read
	ahead   limit.Time // how far the clock that counts is ahead of this machine's; Dawn: not known
	moment  limit.Time // by this machine's, when the last step began
	faults  []fault    // the first lines that could not be read since the last summary
}

// New prepares to follow logs, from where the checkpoint says if there is one.
func New(o Options) (*Tail, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Visible == nil {
		o.Visible = strconv.QuoteToASCII
	}
	if o.Save == 0 {
		o.Save = DefaultSave
	}
	if o.Linger == 0 {
		o.Linger = DefaultLinger
	}
	if o.Flush == 0 {
		o.Flush = DefaultFlush
	}
	if o.Spool == 0 {
		o.Spool = DefaultSpool
	}
	t := &Tail{options: o, tables: o.Read.Tables, begun: o.Now(), slack: defaultSlack}
	own := o.ownFiles()
	t.set = follow.New(follow.Options{
		Names: o.Names, Stdin: o.Stdin, From: o.From, Linger: o.Linger, Now: o.Now, Events: listener{t},
		Own: func(path string) bool { return wasOwn(own, path) },
	})
	t.readAll, t.ahead, t.moment = t.begun, traffic.MinTime, limit.Time(t.begun.UnixMicro())
	t.caughtUp, t.saved, t.tried, t.told = t.begun, t.begun, t.begun, t.begun
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
		Tables: t.tables, Policies: t.options.Policies, Lateness: t.options.Read.Lateness, Observer: t.events, Retries: true,
		Bare: true,
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
		t.sayLeft()
	}
	t.outLock.release()
	t.lock.release()
	return err
}

// A log is one that is followed, with what its lines have told so far.
type log struct {
	*follow.Log
	clock  clock     // of whoever writes
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
	t.logs = append(t.logs, &log{Log: l, clock: newClock(t.options.Read.Lateness)})
	t.stream.Sources(t.set.Numbers())
	t.joined = true
}

func (t listener) Left(l *follow.Log) {
	t.stream.Renew(l.Number)
	t.logs = slices.DeleteFunc(t.logs, func(other *log) bool { return other.Log == l })
}

// Tally is what has been counted so far.
func (t *Tail) Tally() *Tally { return t.tally }
