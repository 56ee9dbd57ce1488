package tail

import (
	"time"

	"shadow/limit"
	"shadow/traffic"
)

// A step reads what there is, but no more than so many bytes, so that what is due is done in time under any load.
const stepBytes = 16 << 20

// tick is how often requests are judged, and the clock is looked at.
const tick = 250 * time.Millisecond

// Step does one step. more says that there is more to read already.
func (t *Tail) Step() (more bool, err error) {
	now := t.options.Now() // before reading: what was written until now will have been read
	t.expand()
	for _, l := range t.logs {
		t.look(l)
	}
	if waits, err := t.pauses(); waits || err != nil {
		return false, err
	}
	drained, err := t.read()
	if err != nil {
		return false, err
	}
	t.advance(now)
	if drained {
		t.caughtUp = now
	}
	if err := t.release(now); err != nil {
		return false, err
	}
	t.due()
	return !drained, nil
}

// read reads the logs, always the one that is furthest back in time, and tells whether it came to the end of all.
func (t *Tail) read() (drained bool, err error) {
	for _, l := range t.logs {
		l.idle = false
	}
	for left := stepBytes; left > 0; {
		i := t.furthestBack()
		if i < 0 {
			return true, nil
		}
		n, err := t.readFrom(i)
		if err != nil {
			return false, err
		}
		left -= n
	}
	return false, nil
}

// furthestBack is the log to read next, −1 when nothing is left of any.
func (t *Tail) furthestBack() int {
	back := -1
	var least limit.Time
	for i, l := range t.logs {
		if l.idle {
			continue
		}
		if mark, _ := t.stream.Mark(i); back < 0 || mark < least {
			back, least = i, mark
		}
	}
	return back
}

// readFrom reads the next lines of a log, and returns how many bytes.
func (t *Tail) readFrom(i int) (int, error) {
	l := t.logs[i]
	if l.format == nil {
		if err := t.choose(l); err != nil || l.format == nil {
			l.idle = true
			return 0, err
		}
	}
	if !l.next(&t.block) {
		l.idle = true
		return 0, nil
	}
	taken := t.stream.Take(i, &t.block, l.format)
	t.tally.Bytes += int64(len(t.block.Data))
	t.count(taken)
	if t.spool != nil {
		t.spool.took(i, l.name, l.format, &taken)
	}
	t.watch(l, &taken)
	return len(t.block.Data), nil
}

// count adds what was taken in to the tally.
func (t *Tail) count(taken traffic.Taken) {
	t.tally.Lines += taken.Lines
	t.tally.Unreadable += taken.Unreadable
	t.tally.Excluded += taken.Excluded
	t.tally.Late += taken.Late
}

// advance sets the clocks of the logs. The clock of a log shows the latest moment that its lines have reached; where nothing
// was left to read when it was looked at, it goes on by itself. So it is never ahead of who writes, if he is not ahead of
// his own lines: a line that comes within the lateness of its stamp finds its place.
func (t *Tail) advance(now time.Time) {
	for i, l := range t.logs {
		mark, sure := t.stream.Mark(i)
		if !sure && mark > limit.Time(now.UnixMicro()) {
			mark = traffic.Dawn // a lone stamp in the future
		}
		if passed := now.Sub(l.set); l.idle && passed > 0 && l.clock != traffic.Dawn {
			l.clock += limit.Time(passed.Microseconds())
		}
		l.set, l.clock = now, max(l.clock, mark)
	}
}

// floor is the moment before which nothing can come any more.
func (t *Tail) floor() limit.Time {
	newest, back := traffic.Dawn, traffic.End
	for i, l := range t.logs {
		newest = max(newest, l.clock)
		if mark, _ := t.stream.Mark(i); !l.idle {
			back = min(back, mark)
		}
	}
	return max(traffic.Dawn, min(newest, back)-t.options.Read.Lateness)
}

// release judges what nothing older can come before: every tick, or when much has come since.
func (t *Tail) release(now time.Time) error {
	if now.Sub(t.released) < tick && t.stream.Waiting() < t.settled+batchRows {
		return nil
	}
	t.released = now
	if err := t.judgeUntil(t.floor()); err != nil {
		return err
	}
	t.settled = t.stream.Waiting()
	return t.emit()
}

// batchRows is how many requests may come before some are judged.
const batchRows = 256 << 10

// judgeUntil judges what nothing older can come before, as long as there is room for what is to be told.
func (t *Tail) judgeUntil(floor limit.Time) error {
	for more := true; more && t.out.odd == nil; {
		var b *traffic.Batch
		if b, more = t.stream.Release(floor); b.Len() == 0 {
			continue
		}
		if err := t.judge.Judge(b); err != nil {
			return err
		}
		if err := t.tidy(); err != nil {
			return err
		}
	}
	return nil
}
