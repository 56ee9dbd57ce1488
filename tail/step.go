package tail

import (
	"time"

	"shadow/limit"
	"shadow/traffic"
)

// A step reads what there is, but no more than so many bytes, so that what is due is done in time under any load.
const stepBytes = 16 << 20

// Step does one step. more says that there is more to read already.
func (t *Tail) Step() (more bool, err error) {
	now := t.options.Now() // before reading: what was written until now will have been read
	if t.whole = t.isWhole(now); t.whole {
		t.expand()
		for _, l := range t.logs {
			t.look(l)
		}
	}
	if t.spool.full() {
		t.pause()
		return false, nil
	}
	drained, err := t.read(now)
	if err != nil {
		return false, err
	}
	t.advance(now)
	if drained && t.whole {
		t.caughtUp = now
	}
	if err := t.release(now); err != nil {
		return false, err
	}
	t.due()
	return !drained, nil
}

// pause does what is due, and reads nothing: the lag grows until there is room for what would be judged.
func (t *Tail) pause() {
	for _, l := range t.logs {
		l.measure()
	}
	t.due()
}

// read reads the logs, always the one that is furthest back in time, and tells whether it came to the end of all.
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
		for i := 1; i < len(active) && t.markOf(active[i]) < t.markOf(l); i++ {
			active[i-1], active[i] = active[i], l
		}
	}
	return false, nil
}

// readFrom reads the next lines of a log, and returns how many bytes.
func (t *Tail) readFrom(l *log) (int, error) {
	if l.format == nil {
		if err := t.choose(l); err != nil || l.format == nil {
			l.abandon()
			l.idle = true
			return 0, err
		}
	}
	more, err := l.next(&t.block)
	if err != nil || !more {
		l.idle = true
		return 0, err
	}
	taken := t.stream.Take(l.source, &t.block, l.format)
	t.tally.Bytes += int64(len(t.block.Data))
	t.count(taken)
	t.watch(l, &taken)
	return len(t.block.Data), nil
}

// count adds what was taken in to the tally.
func (t *Tail) count(taken traffic.Taken) {
	t.tally.Lines += taken.Lines
	t.tally.Unreadable += taken.Unreadable
	t.tally.Excluded += taken.Excluded
	t.tally.Late += taken.Late
	if t.spool != nil {
		t.spool.stamps(taken.Resolution)
	}
}

// advance sets the clocks of the logs. The clock of a log shows the latest moment that its lines have reached; where nothing
// was left to read when it was looked at, it goes on by itself. So it is never ahead of who writes, if he is not ahead of
// his own lines: a line that comes within the lateness of its stamp finds its place.
func (t *Tail) advance(now time.Time) {
	for _, l := range t.logs {
		if l.asleep {
			continue
		}
		mark, sure := t.stream.Mark(l.source)
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
	for _, l := range t.logs {
		newest = max(newest, l.clock)
		if mark, _ := t.stream.Mark(l.source); !l.idle {
			back = min(back, mark)
		}
	}
	return max(traffic.Dawn, min(newest, back)-t.options.Read.Lateness)
}

// release judges what nothing older can come before, in a whole step: else there might be something older in a log that was not
// looked at.
func (t *Tail) release(now time.Time) error {
	if !t.whole {
		return nil
	}
	t.released = now
	if err := t.judgeUntil(t.floor()); err != nil {
		return err
	}
	t.settled = t.stream.Waiting()
	return t.out.flush()
}

// batchRows is how many requests may come before some are judged.
const batchRows = 256 << 10

func (t *Tail) judgeUntil(floor limit.Time) error {
	for more := true; more; {
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
