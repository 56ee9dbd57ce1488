package tail

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

// emit writes would-blocks. Its error is that they can never be written; a full disk is none, but said once.
func (t *Tail) emit() error {
	err := t.out.flush()
	switch {
	case err == nil && t.out.told:
		t.say("would-blocks can be written again")
	case err != nil && t.out.file == nil && !isFull(err): // whoever reads a pipe may be gone forever
		return err
	case err != nil && !t.out.told:
		t.say("would-blocks cannot be written, so nothing more is read until they can: %v", err)
	}
	t.out.told = err != nil
	return nil
}
