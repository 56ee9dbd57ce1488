package tail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"shadow/internal/traffic"
	"shadow/limit"
)

// There may be thousands of logs of which a few are busy. In a whole step names are looked up, all logs are read and requests
// are judged; that is done four times a second. In between only those logs are read that are active:
//
//	busy     │ │ │ │ │ │ │ │ │ │ │ │    each pollInterval
//	quiet    │           │           │    each tick
//	judge    │           │           │

const (
	tick         = 250 * time.Millisecond // how often requests are judged, and the clock is looked at
	pollInterval = 20 * time.Millisecond  // the least time between two looks at a busy log, so that each finds something to do
	activeFor    = time.Second            // how long a log of which something was read is read in each step

	// stepBytes is the most bytes that a step reads, so that what is due is done in time under any load.
	stepBytes = 16 << 20

	// batchRows is the most requests that may come before some are judged.
	batchRows = 256 << 10
)

// A progress is how far reading and judging have come.
type progress struct {
	whole    bool      // whether this step is
	active   []*log    // those that are read in this step, the one first that is furthest back
	readAll  time.Time // when everything had been read
	caughtUp time.Time // when everything had been read of which the format is known
	lags     bool      // whether that was too long ago to ask the Remote
	released time.Time // when requests were last judged
	settled  int       // how many waited after that
}

// Run follows the logs until ctx ends, or nothing can come any more. Each value from reopen makes it go on in a new file of
// would-blocks, should log rotation have renamed the old one.
func (t *Tail) Run(ctx context.Context, reopen <-chan os.Signal) error {
	t.set.Watch()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		more, err := t.Step()
		if err != nil {
			return errors.Join(err, t.Close())
		}
		select { // at once, and not when all is read
		case <-reopen:
			if err := t.Reopen(); err != nil {
				t.say("would-blocks go on in the old file: %v", err)
			}
		default:
		}
		if ctx.Err() != nil || !more && t.set.Ended() && t.out.err == nil {
			return t.Finish()
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		case <-t.set.Wake:
			time.Sleep(pollInterval)
		}
	}
}

// runTimers does what is due.
func (t *Tail) runTimers() {
	now := t.options.Now()
	t.showMetrics(now)
	t.leaveSnapshot(now)
	t.followOutput(now)
	if t.options.State != "" && t.out.err == nil && t.mustSave(now) {
		t.tryToSave(now)
	}
	t.sayStored()
	if t.options.Every > 0 && now.Sub(t.summary.at) >= t.options.Every {
		_ = t.summarize() // the end says so, if it cannot be written
	}
}

const (
	outputLook  = time.Second // how often it is looked at whether the would-blocks were rotated
	outputRetry = time.Minute // the same, where the new file could not be opened
)

// followOutput reopens the would-blocks when they were rotated or deleted.
func (t *Tail) followOutput(now time.Time) {
	if now.Sub(t.out.looked) < outputLook {
		return
	}
	t.out.looked = now
	if t.out.hasMoved() {
		if err := t.Reopen(); err != nil {
			t.say("would-blocks go on in the old file: %v", err)
			t.out.looked = now.Add(outputRetry)
		}
	}
}

// Reopen goes on in the file that has the name of the would-blocks now.
func (t *Tail) Reopen() error {
	if err := t.out.reopen(); err != nil {
		return err
	}
	if t.options.State != "" {
		t.tryToSave(t.options.Now())
	}
	return nil
}

// Finish ends the tail. With a checkpoint, requests that wait for older ones go on waiting in it; without one they are judged.
func (t *Tail) Finish() error {
	var err error
	if t.options.State == "" || t.set.Ended() {
		for err == nil && t.stream.Waiting() > 0 { // for older ones, which will not come
			err = errors.Join(t.out.flush(), t.judgeUntil(traffic.MaxTime))
		}
		if err == nil {
			err = t.out.flush()
		}
	}
	t.set.Finish()
	if err == nil && t.options.State != "" {
		err = t.save()
	}
	if err == nil && t.options.Every > 0 {
		err = t.summarize()
	}
	if err = errors.Join(err, t.Close()); isFull(err) {
		err = t.unwritten(err)
	}
	if err == nil && t.losses > 0 {
		err = &LossError{Files: t.losses}
	}
	return err
}

// unwritten says what becomes of what a full disk had no room for at the end. An old checkpoint holds, as after a crash.
func (t *Tail) unwritten(err error) error {
	if t.options.State == "" || !exists(t.options.State) {
		return &LossError{t.losses, err}
	}
	t.say("the disk is full: %v; the next tail goes on from the last checkpoint, and judges again what came after it", err)
	return nil
}

// A LossError reports that a tail has come to its end without having read all that was to be read. What is lost was told when it
// was known, and counted.
type LossError struct {
	Files     int
	Unwritten error // why what was judged last could not be kept, on a full disk without a checkpoint
}

// Unwrap returns why what was judged last could not be kept.
func (e *LossError) Unwrap() error { return e.Unwritten }

func (e *LossError) Error() string {
	if e.Unwritten != nil {
		return fmt.Sprintf("the disk is full, and there is no checkpoint to go on from: %v: "+
			"would-blocks and requests may be missing", e.Unwritten)
	}
	if e.Files == 1 {
		return "the rest of a file was never read: requests may be missing"
	}
	return fmt.Sprintf("the rest of %d files was never read: requests may be missing", e.Files)
}

// Step does one step. more says that there is more to read already.
func (t *Tail) Step() (more bool, err error) {
	now, p := t.options.Now(), &t.progress // before reading: what was written until now will have been read
	t.notice(now)
	renamed, passed := t.set.Renamed(), now.Sub(p.released)
	p.whole = renamed || passed <= 0 || passed >= tick || t.stream.Waiting() >= p.settled+batchRows
	if p.whole {
		t.set.Look()
	}
	if waits, err := t.pauses(); waits || err != nil {
		return false, err
	}
	drained, err := t.read(now)
	if err != nil {
		return false, err
	}
	t.advance()
	if p.whole { // else there might be something older in a log that was not looked at
		if drained {
			p.caughtUp = now
			if t.unknown() == 0 {
				p.readAll = now
			}
		}
		p.released = now
		if err := t.judgeUntil(t.watermark()); err != nil {
			return false, err
		}
		p.settled = t.stream.Waiting()
		if err := t.emit(); err != nil {
			return false, err
		}
	}
	t.runTimers()
	return !drained, nil
}

// read reads the logs, always the one that is furthest back in time, and reports whether it came to the end of all.
func (t *Tail) read(now time.Time) (drained bool, err error) {
	active := t.awake(now)
	for left := stepBytes; left > 0; {
		if len(active) == 0 {
			return true, nil
		}
		l := active[0]
		n, err := t.readFrom(l)
		if err != nil {
			return false, err
		}
		left -= n
		if l.idle {
			active = active[1:]
			continue
		}
		l.fed = now
		for i := 1; i < len(active) && t.mark(active[i]) < t.mark(l); i++ {
			active[i-1], active[i] = active[i], l
		}
	}
	return false, nil
}

// readFrom reads the next lines of a log, and returns how many bytes.
func (t *Tail) readFrom(l *log) (int, error) {
	if l.format == nil {
		if err := t.choose(l); err != nil || l.format == nil && !l.Overlong() {
			l.Abandon()
			l.idle = true
			return 0, err
		}
	}
	if !l.Next(&t.block) {
		l.idle = true
		return 0, nil
	}
	if l.format == nil {
		t.pass(l)
		return len(t.block.Data), nil
	}
	now := t.options.Now()
	moment := limit.Time(now.UnixMicro())
	taken := t.stream.Take(l.Number, &t.block, t.formatOf(l), moment, t.top(moment))
	l.clock.update(&taken, now)
	t.tally.take(&taken)
	if t.spool != nil {
		t.spool.took(l.Number, l.Name, l.choice().format, &taken)
	}
	t.note(l, &taken)
	return len(t.block.Data), nil
}

// awake are the logs that are read in a step, the one first that is furthest back.
func (t *Tail) awake(now time.Time) []*log {
	active := t.progress.active[:0]
	for _, l := range t.logs {
		l.asleep = !t.progress.whole && now.Sub(l.fed) >= activeFor
		if l.idle = l.asleep; !l.idle {
			active = append(active, l)
		}
	}
	slices.SortStableFunc(active, func(x, y *log) int { return cmp.Compare(t.mark(x), t.mark(y)) })
	t.progress.active = active
	return active
}

// judgeUntil judges what nothing older can come before, as long as there is room for what is to be told. What becomes too much
// to be held in memory goes to the spool in between.
func (t *Tail) judgeUntil(watermark limit.Time) error {
	for more := true; more && t.out.err == nil && !t.spool.full(); {
		var b *traffic.Batch
		if b, more = t.stream.Release(watermark); b.Len() == 0 {
			continue
		}
		if err := t.judge.Judge(b); err != nil {
			return err
		}
		if err := t.tidy(); err != nil {
			return err
		}
		if more && t.spool.aboveThreshold() {
			t.tryToSave(t.options.Now())
		}
	}
	return nil
}

// Where there is no room for what would be told, nothing more is read: so nothing is lost, and the lag tells. Would-blocks
// wait in memory then, no more of them than one batch of requests has; batches for the database wait on the disk.

// pauses reports whether reading has to wait. Then it does what is due all the same.
func (t *Tail) pauses() (bool, error) {
	if t.out.err != nil {
		if err := t.emit(); err != nil {
			return false, err
		}
	}
	if t.out.err == nil && !t.spool.full() {
		return false, nil
	}
	for _, l := range t.logs {
		l.Measure()
	}
	t.runTimers()
	return true, nil
}

// emit writes would-blocks. Its error is that they can never be written; a full disk is no error, but said once.
func (t *Tail) emit() error {
	err := t.out.flush()
	switch {
	case err == nil && t.out.told:
		t.say("would-blocks can be written again")
	case err != nil && t.out.file == nil && !isFull(err): // the reader of a pipe may be gone forever
		return err
	case err != nil && !t.out.told:
		t.say("would-blocks cannot be written, so nothing more is read until they can: %v", err)
	}
	t.out.told = err != nil
	return nil
}
