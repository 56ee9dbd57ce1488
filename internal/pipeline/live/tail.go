package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"shadow/internal/escape"
	"shadow/internal/logfile"
	"shadow/internal/logfile/follow"
	"shadow/internal/pipeline"
	"shadow/internal/pipeline/heap"
	"shadow/internal/redis"
	"shadow/internal/store"
	"shadow/internal/tail"
	"shadow/limit"
	"shadow/replay"
)

// A Tail follows logs as they grow, and tells who would be blocked as it happens.
type Tail struct {
	pipeline.Caller
	pipeline.Source
	pipeline.Choice
	pipeline.Redis
	pipeline.Anonymity
	Clock   redis.Clock // whose time counts with Redis
	From    follow.From // where to begin; "": a checkpoint if there is to be one, else the end
	State   string      // the file of the checkpoint
	Events  string      // the file of would-blocks; "": Out
	Every   limit.Time
	Save    limit.Time
	Listen  string     // the address at which metrics are served
	Page    limit.Time // how much of the logs the page there shows
	MaxKeys int
	Quiet   bool
	Output  string // of summaries: text, on Err, or json, on Out
	UI      bool   // a live screen

	DB       string // where would-blocks and tallies are stored
	Flush    limit.Time
	SpoolMax int64

	IsTerminal func(any) bool

	store *tailStore // nil: nothing is stored
}

// Run follows the logs until a signal comes.
func (f *Tail) Run(ctx context.Context, logs []string) (err error) {
	heap.CollectOften()
	o, err := f.options(ctx, logs)
	if err != nil {
		return err
	}
	watched, err := f.watched(&o)
	if err != nil {
		return err
	}
	o.Out, o.Err = &pipeline.PatientWriter{Ctx: ctx, To: o.Out}, &pipeline.PatientWriter{Ctx: ctx, To: o.Err}
	shared, err := f.share(&o) // what it says goes by way of the screen
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shared.close()) }()
	if f.Listen != "" {
		o.Metrics = new(tail.Metrics)
		var trips *tail.RedisMetrics
		if shared != nil {
			trips = shared.metrics
		}
		stop, err := f.listen(ctx, o.Metrics, logs, trips)
		if err != nil {
			return fmt.Errorf("--listen: %w", err)
		}
		defer stop()
	}
	if stdin, ok := o.Stdin.(io.Writer); ok && f.IsTerminal(stdin) && slices.Contains(logs, "-") && !f.UI {
		fmt.Fprintln(o.Err, "shadow: lines of a log are read from this terminal; Ctrl-D ends them")
	}
	stored := func() {}
	defer func() { stored() }()
	o.Opened = func() { stored = pipeline.Storing() } // its checkpoints, its last batch: nothing waits forever now
	t, err := tail.New(o)
	if err != nil {
		return err
	}
	ctx, reopen, stop := hangups(ctx, func() bool { return f.UI && !f.IsTerminal(f.Out) })
	defer stop()
	err = watched(ctx, func(ctx context.Context) error { return t.Run(ctx, reopen) })
	if f.store != nil {
		err = errors.Join(err, f.store.db.Close())
	}
	for _, text := range pipeline.FoldedPaths(&o.Read, pipeline.PolicyKeys(o.Policies)) {
		fmt.Fprintln(o.Err, "shadow: "+escape.Visible(text))
	}
	return errors.Join(err, f.NetworkError())
}

// options verifies what is asked.
func (f *Tail) options(ctx context.Context, logs []string) (o tail.Options, err error) {
	if err := f.verify(logs); err != nil {
		return o, err
	}
	if err := f.VerifyAnonymity(); err != nil {
		return o, err
	}
	built, err := f.Build(time.Now(), f.Choose)
	if err != nil {
		return o, err
	}
	f.Anonymizer.Rename(built.Read.Tables)
	o.Policies, o.Read = built.Policies, built.Read
	notes, _ := f.Imported()
	for _, text := range notes {
		fmt.Fprintln(f.Err, "shadow: "+escape.Visible(text))
	}
	pipeline.NotePaths(&o.Read, pipeline.PolicyKeys(o.Policies))
	if o.From = cmp.Or(f.From, follow.FromEnd); f.From == "" && f.State != "" {
		o.From = follow.FromCheckpoint
	}
	o.Names, o.Stdin, o.Out, o.Err = logs, f.In, f.Out, f.Err
	o.State, o.Events, o.MaxKeys = f.State, f.Events, f.MaxKeys
	if real, err := filepath.EvalSymlinks(f.State); err == nil && f.State != "" { // by whatever name, it is one file with one lock
		o.State = real
	}
	o.Save, o.Visible, o.JSON = durationOf(f.Save), escape.Visible, f.Output == "json"
	if !f.Quiet {
		o.Every = durationOf(f.Every)
	}
	var kept *tailStore
	if f.DB != "" {
		if o.State == "" {
			return o, pipeline.Usage("--db needs --state FILE, beside which waits what the database has not taken yet")
		}
		kept = &tailStore{ctx: context.WithoutCancel(ctx), path: f.DB, info: store.RunInfo{
			Command: f.Command, Version: f.Version, Timezone: f.Timezone.String(),
		}}
		o.Own = append(o.Own, f.DB)
		o.Store, o.Flush, o.Spool = kept, durationOf(f.Flush), f.SpoolMax
	}
	if err := o.Verify(); err != nil {
		return o, pipeline.Usage("%w", err)
	}
	if kept == nil {
		return o, nil
	}
	f.store = kept
	return o, kept.open()
}

func durationOf(p limit.Time) time.Duration { return time.Duration(p) * time.Microsecond }

// verify finds what is wrong with names and flags by themselves.
func (f *Tail) verify(names []string) error {
	for _, name := range names {
		if logfile.IsObject(name) {
			return pipeline.Usage("%s: objects do not grow, so there is nothing to follow; shadow replay reads them", name)
		}
		if _, err := filepath.Match(name, ""); err != nil {
			return pipeline.Usage("%s: no file of that name, and not a pattern either: %w", name, err)
		}
	}
	if !slices.ContainsFunc(names, func(name string) bool { return !logfile.IsCompressed(name) }) {
		return pipeline.Usage("%s: is compressed, so that nothing is added to it; shadow replay reads it", names[0])
	}
	if f.Output == "json" && f.UI {
		return pipeline.Usage("--output json goes to standard output, which --ui has for its screen: leave one of them out")
	}
	if f.From == follow.FromCheckpoint && f.State == "" {
		return pipeline.Usage("--from checkpoint needs --state FILE")
	}
	return nil
}

// hangups passes on each SIGHUP, by which a tail goes on in a new file of would-blocks. The system sends the same
// signal when a terminal goes away: if gone says so, the context ends instead. It is asked now and then as well, since the
// signal may come while the terminal is still there, or not at all.
func hangups(ctx context.Context, gone func() bool) (next context.Context, reopen <-chan os.Signal, stop func()) {
	next, cancel := context.WithCancel(ctx)
	signals, passed := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Reset(syscall.SIGHUP) // which ends other commands
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		look := time.NewTicker(time.Second)
		defer look.Stop()
		for {
			select {
			case <-next.Done():
				return
			case <-look.C:
				if gone() {
					cancel()
					return
				}
			case s := <-signals:
				if gone() {
					cancel()
					return
				}
				select {
				case passed <- s:
				default: // one is waiting already
				}
			}
		}
	}()
	return next, passed, func() { signal.Stop(signals); cancel() }
}

// A tailStore takes batches of a tail into a database.
type tailStore struct {
	ctx  context.Context // a batch that has begun is brought to its end
	path string
	info store.RunInfo
	db   *store.Store // nil: not open yet
}

// open finds out at the start whether the folder can be a database of shadow's, and makes it.
func (s *tailStore) open() (err error) {
	s.db, err = store.Open(s.path)
	return err
}

// Append implements tail.Store.
func (s *tailStore) Append(batches []*replay.Addition) (known int, err error) {
	return s.db.Append(s.ctx, s.info, batches)
}
