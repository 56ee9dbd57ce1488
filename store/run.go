package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"shadow/findings"
	"shadow/limit"
	"shadow/replay"
	"shadow/store/duck"
	"shadow/sweep"
	"shadow/traffic/who"
)

// RunInfo says what a run is, before anything is known of its results.
type RunInfo struct {
	Command string    // as typed
	Version string    // of shadow
	Started time.Time // when
	Events  Events    // whose would-blocks are kept

	Timezone string // of stamps that do not name theirs; "": unknown
}

// A Run is a replay on its way into the database: a replay.Sink, to be ended with Finish or Abort. Nothing of it can
// be seen before Finish has returned without error, and everything from then on. It must be used by one goroutine at
// a time.
type Run struct {
	store *Store
	ctx   context.Context
	info  RunInfo
	id    int32
	load  *loader
	over  bool

	// What Finish stores besides the result.
	Warnings []string // of what reading found unusual
	Findings []findings.Finding
	Curves   *sweep.Result // of the run's own requests; nil: none
	State    *State        // takes the place of the one of its name; nil: nobody goes on where the run ends
	Who      *who.Register // who the clients are; nil: not known
}

var (
	errOver      = errors.New("store: the run is over")
	errNoNumbers = errors.New("there are no run numbers left")
)

// Begin starts a run. When ctx is done, Write and Finish give up; the caller still calls Abort.
func (s *Store) Begin(ctx context.Context, info RunInfo) (*Run, error) {
	if s.busy {
		return nil, errors.New("store: Begin before the end of the last Run")
	}
	if err := s.duck.Exec("BEGIN"); err != nil {
		return nil, s.wrap(err)
	}
	r := &Run{store: s, ctx: ctx, info: info}
	var err error
	if r.id, err = s.nextRun(); err == nil {
		r.load, err = startLoader(s.duck, r.id)
	}
	if err != nil {
		return nil, errors.Join(s.wrap(err), s.duck.Exec("ROLLBACK"))
	}
	s.busy = true
	return r, nil
}

// nextRun is the number of a run that begins.
func (s *Store) nextRun() (int32, error) {
	last, err := duck.One[int32](s.duck, "SELECT max(run) FROM runs")
	if err == nil && last == math.MaxInt32 {
		err = errNoNumbers
	}
	return last + 1, err
}

// ID is the run's number in the database.
func (r *Run) ID() int32 { return r.id }

// Write takes events in; it keeps none of the slice. An error may belong to an earlier Write.
func (r *Run) Write(events []replay.Event) error {
	if r.over {
		return errOver
	}
	if err := r.load.write(r.ctx, events, r.info.Events); err != nil {
		return r.store.wrap(err)
	}
	return nil
}

// Finish stores the results and makes the run visible. After an error nothing of the run is in the database.
func (r *Run) Finish(res *replay.Result, finished time.Time) error {
	if r.over {
		return errOver
	}
	r.over, r.store.busy = true, false
	err := r.load.stop()
	if err == nil {
		err = r.writeResult(res, finished)
	}
	if err == nil {
		err = context.Cause(r.ctx)
	}
	if err == nil {
		err = r.store.commit()
	}
	if err != nil {
		r.store.duck.Exec("ROLLBACK") //nolint:errcheck // what is not committed is lost in any case
		return r.store.wrap(fmt.Errorf("the run is not stored: %w", err))
	}
	return nil
}

// Abort forgets the run. After Finish, or a second time, it does nothing.
func (r *Run) Abort() error {
	if r.over {
		return nil
	}
	r.over, r.store.busy = true, false
	r.load.cancel()
	if err := r.store.duck.Exec("ROLLBACK"); err != nil {
		return r.store.wrap(err)
	}
	return nil
}

func (s *Store) wrap(err error) error { return fmt.Errorf("database %s: %w", s.path, err) }

func fromClock(t time.Time) limit.Time { return limit.Time(t.UnixMicro()) }

// Events says of how many policies, the first ones, a run keeps each would-block event. Tallies are kept for all.
type Events int32

// AllEvents keeps the events of every policy, DefaultEvents those of as many as one looks at side by side.
const (
	AllEvents     Events = math.MaxInt32
	DefaultEvents Events = 20
)

// ParseEvents reads "all", "none" or a number of policies.
func ParseEvents(text string) (Events, error) {
	switch text {
	case "all":
		return AllEvents, nil
	case "none":
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("events %q: want all, none, or for how many policies", text)
	}
	return Events(n), nil
}

// String is the text that ParseEvents reads.
func (e Events) String() string {
	switch e {
	case AllEvents:
		return "all"
	case 0:
		return "none"
	}
	return strconv.Itoa(int(e))
}

// Of is for how many of so many policies events are kept.
func (e Events) Of(policies int) int { return min(int(e), policies) }
