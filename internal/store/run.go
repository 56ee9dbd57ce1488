package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"shadow/internal/findings"
	"shadow/internal/store/duck"
	"shadow/internal/sweep"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/replay"
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
	place *workplace
	dir   string // of the files
	duck  *duck.Conn
	load  *loader
	over  bool
	after int32 // the last run when this one began

	// What Finish stores besides the result.
	Warnings []string // of what reading found unusual
	Findings []findings.Finding
	Curves   *sweep.Result // of the run's own requests; nil: none
	State    *State        // takes the place of the one of its name; nil: no replay goes on where the run ends
	Who      *who.Register // who the clients are; nil: not known
}

var (
	errOver      = errors.New("store: the run is over")
	errNoNumbers = errors.New("there are no run numbers left")
)

// Begin starts a run. When ctx is done, Write and Finish give up; the caller still calls Abort.
func (s *Store) Begin(ctx context.Context, info RunInfo) (*Run, error) {
	r := &Run{store: s, ctx: ctx, info: info}
	var err error
	if r.place, err = s.work(ctx); err != nil {
		return nil, err
	}
	if r.after, err = s.nextRun(); err == nil {
		r.after--
		r.dir, err = r.place.dir(nameOfPiece(1, 1))
	}
	if err == nil {
		r.duck, err = openDesk(r.place.overflow(), runMemoryMB)
	}
	if err == nil {
		r.load, err = startLoader(r.duck, r.dir, info.Events)
	}
	if err != nil {
		return nil, errors.Join(s.wrap(full(err)), r.leave())
	}
	return r, nil
}

// leave gives up what has not landed.
func (r *Run) leave() error {
	if r.duck != nil {
		r.duck.Close()
	}
	return r.place.leave()
}

// ID returns the run's number in the database, which it has when Finish has returned.
func (r *Run) ID() int32 { return r.id }

// Write takes events in; it keeps none of the slice. An error may belong to an earlier Write.
func (r *Run) Write(events []replay.Event, sets *replay.Sets) error {
	if r.over {
		return errOver
	}
	return r.store.wrap(r.load.write(r.ctx, events, sets))
}

// Finish stores the results and makes the run visible. After an error nothing of the run is in the database.
func (r *Run) Finish(res *replay.Result, finished time.Time) error {
	if r.over {
		return errOver
	}
	r.over = true
	err := r.load.stop()
	if err == nil {
		err = r.writeResult(res, finished)
	}
	if err == nil {
		err = writeTables(r.duck, r.dir)
	}
	if err == nil {
		err = r.writeState()
	}
	if err == nil {
		err = r.place.finish(r.ctx)
	}
	if err == nil {
		r.id, err = r.place.landRun(r.ctx, r.duck, r.stillLast)
	}
	err = errors.Join(err, r.leave())
	if err != nil && r.id == 0 {
		return r.store.wrap(fmt.Errorf("the run is not stored: %w", full(err)))
	}
	if r.State != nil {
		r.store.forgetNotes(stateNote+r.State.Name, r.id)
	}
	return nil
}

// Abort forgets the run. After Finish, or a second time, it does nothing.
func (r *Run) Abort() error {
	if r.over {
		return nil
	}
	r.over = true
	r.load.cancel()
	return r.store.wrap(r.leave())
}

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
