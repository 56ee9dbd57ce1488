package tail

import (
	"time"

	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// While a log is silent, time goes on: by the clock of this machine, but who writes the log may have another one. How far that
// is ahead is told by the lines, since none is written before its stamp, and none is read before it is written:
//
//	stamp ≤ writer's clock when it was written ≤ this machine's clock when it was read + how far the writer's is ahead
//
// So the writer's clock is ahead by stamp − reading of a line at least, and by the largest of those about. Only those of late
// count, as the writer's clock may be set back, or lose time. Then the clock of the log stands still until the writer's has
// come as far: time does not go back.
//
// As in a replay, a lone stamp in the future is believed no more than the line before it.

// A clock tells how far the clock of the server that writes a log is ahead of this machine's, which may be less than
// nothing. Differences are Dawn where nothing is known.
type clock struct {
	late   time.Duration // by how much lines may be late
	newer  limit.Time    // the largest difference since begun
	older  limit.Time    // the largest in the span before
	begun  time.Time
	latest limit.Time // the difference of the last line
}

// ahead returns how far it is ahead, as far as is known.
func (c *clock) ahead() limit.Time { return max(c.newer, c.older) }

// update takes in what lines tell that were read now. Each counts for as long as a request may wait, and for up to twice as long
// while lines come.
func (c *clock) update(lines *ingest.BlockStats, now time.Time) {
	if lines.Last == traffic.MinTime {
		return // there was no request
	}
	difference := c.believed(lines, limit.Time(now.UnixMicro()))
	if passed := now.Sub(c.begun); passed < 0 || passed > c.late+time.Second {
		c.older, c.newer, c.begun = c.newer, traffic.MinTime, now
	}
	c.newer = max(c.newer, difference)
}

// believed is the largest difference that does not hang on one stamp: two lines in a row have it, it is not more than was
// known, or the stamp is about right by this machine's clock.
func (c *clock) believed(lines *ingest.BlockStats, now limit.Time) limit.Time {
	before, latest, newest := c.latest, lines.Last-now, lines.Newest-now
	c.latest = latest
	if latest > c.ahead() && (latest > 0 || c.ahead() != traffic.MinTime) {
		latest = min(latest, before)
	}
	if newest >= -limit.Time(c.late.Microseconds()) {
		latest = max(latest, newest)
	}
	return max(traffic.MinTime, latest, lines.Reached-now)
}

// shift takes in that this machine's clock was set, and the other one not, as far as is known.
func (c *clock) shift(by limit.Time) {
	for _, difference := range []*limit.Time{&c.newer, &c.older, &c.latest} {
		if *difference != traffic.MinTime {
			*difference += by
		}
	}
}

// A machineClock is the clock of this machine, held against those of the servers that write.
type machineClock struct {
	now   limit.Time // when the last step began
	ahead limit.Time // how far the clock that counts is ahead of it; MinTime: not known
}

// notice looks at this machine's clock. Between two looks time goes neither back nor further on than is needed to judge what
// waits: the clock may have been set, or the machine suspended. Lines tell soon what the time is.
func (t *Tail) notice(now time.Time) {
	moment := limit.Time(now.UnixMicro())
	passed := moment - t.clock.now
	for _, l := range t.logs {
		l.clock.shift(min(max(0, passed), t.options.Read.Lateness+limit.Minute) - passed)
	}
	t.clock.now = moment
}

// advance finds the clock that counts: the one nearest to this machine's. So a log whose clock is wrong does not make the lines
// of others late.
func (t *Tail) advance() {
	t.clock.ahead = traffic.MinTime
	for _, l := range t.logs {
		ahead := l.clock.ahead()
		if t.clock.ahead == traffic.MinTime || ahead != traffic.MinTime && max(ahead, -ahead) < max(t.clock.ahead, -t.clock.ahead) {
			t.clock.ahead = ahead
		}
	}
}

// watermark is the moment before which nothing can come any more. The moment that counts is from before the last lines were read:
// what had been written then, was.
func (t *Tail) watermark() limit.Time {
	earliest := max(traffic.MinTime, t.clock.now+t.clock.ahead)
	for _, l := range t.logs {
		if !l.idle {
			earliest = min(earliest, t.mark(l))
		}
	}
	return max(traffic.MinTime, earliest-t.options.Read.Lateness)
}

// mark returns how far a log has come.
func (t *Tail) mark(l *log) limit.Time {
	mark, last := t.stream.Progress(l.Number)
	if mark == traffic.MinTime {
		return last // of the only request
	}
	return mark
}

// top is the moment beyond which no line of one log makes others of it late. A single log is taken at its word, as in a replay.
func (t *Tail) top(now limit.Time) limit.Time {
	if len(t.logs) == 1 {
		return traffic.MaxTime
	}
	return now + max(0, t.clock.ahead)
}
