package tail

import (
	"context"
	"errors"
	"os"
	"time"
)

// breath is the least time between two looks at a busy log, so that each look finds something to do.
const breath = 20 * time.Millisecond

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
		t.heed(reopen)
		if ctx.Err() != nil || !more && t.set.Ended() && t.out.odd == nil {
			return t.Finish()
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		case <-t.set.Wake:
			time.Sleep(breath)
		}
	}
}

// heed looks whether it is to reopen, which must not wait until all is read.
func (t *Tail) heed(reopen <-chan os.Signal) {
	select {
	case <-reopen:
		if err := t.Reopen(); err != nil {
			t.say("would-blocks go on in the old file: %v", err)
		}
	default:
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
