package tail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"shadow/traffic"
)

// pollInterval is the least time between two looks at a busy log, so that each look finds something to do.
const pollInterval = 20 * time.Millisecond

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
	if t.options.State != "" && t.out.err == nil && t.mustSave(now) {
		t.tryToSave(now)
	}
	t.sayStored()
	if t.options.Every > 0 && now.Sub(t.summary.at) >= t.options.Every {
		t.summarize()
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
		t.summarize()
	}
	err = errors.Join(err, t.Close())
	if err == nil && t.losses > 0 {
		err = &LossError{t.losses}
	}
	return err
}

// A LossError reports that a tail has come to its end without having read all that was to be read. What is lost was told when it
// was known, and counted.
type LossError struct{ Files int }

func (e *LossError) Error() string {
	if e.Files == 1 {
		return "the rest of a file that was being read was never found: requests are missing"
	}
	return fmt.Sprintf("the rest of %d files that were being read was never found: requests are missing", e.Files)
}
