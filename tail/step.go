package tail

import (
	"time"

	"shadow/limit"
	"shadow/traffic"
	"shadow/traffic/ingest"
)

// A step reads what there is, but no more than so many bytes, so that what is due is done in time under any load.
const stepBytes = 16 << 20

// Step does one step. more says that there is more to read already.
func (t *Tail) Step() (more bool, err error) {
	now := t.options.Now() // before reading: what was written until now will have been read
	t.notice(now)
	if t.whole = t.isWhole(now); t.whole {
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
	if drained && t.whole {
		t.caughtUp = now
		if t.unknown() == 0 {
			t.readAll = now
		}
	}
	if err := t.release(now); err != nil {
		return false, err
	}
	t.due()
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
	t.tally.Bytes += int64(len(t.block.Data))
	if l.format == nil {
		t.pass(l)
		return len(t.block.Data), nil
	}
	now := t.options.Now()
	moment := limit.Time(now.UnixMicro())
	taken := t.stream.Take(l.Number, &t.block, t.formatOf(l), moment, t.top(moment))
	l.clock.hear(&taken, now)
	t.count(taken)
	if t.spool != nil {
		t.spool.took(l.Number, l.Name, l.choice().format, &taken)
	}
	t.note(l, &taken)
	return len(t.block.Data), nil
}

// count adds what was taken in to the tally.
func (t *Tail) count(taken ingest.BlockStats) {
	t.tally.Lines += taken.Lines
	t.tally.Unreadable += taken.Unreadable
	t.tally.Excluded += taken.Excluded
	t.tally.NotHTTP.AddAll(taken.NotHTTP)
	t.tally.Moved += taken.Moved
	t.tally.Late += taken.Late
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
	return t.emit()
}

// batchRows is how many requests may come before some are judged.
const batchRows = 256 << 10

// judgeUntil judges what nothing older can come before, as long as there is room for what is to be told. What becomes too much
// to be held in memory goes to the spool in between.
func (t *Tail) judgeUntil(floor limit.Time) error {
	for more := true; more && t.out.odd == nil && !t.spool.full(); {
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
		if more && t.spool.heavy() {
			t.tryToSave(t.options.Now())
		}
	}
	return nil
}
