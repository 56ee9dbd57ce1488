package tui

import (
	"fmt"
	"time"
)

// Where hosts share limits in Redis, a line says whether it answers, and how many policies have degraded verdicts:
//
//	redis     away since 12:03:04 UTC, for 3 min; ! 3 of 3 policies degraded since 12:03:05 UTC
//
// Each of these policies bears the mark as well. They are degraded for a while after Redis is back, too.

// degradedMark is what a policy bears whose verdicts are degraded.
const degradedMark = "!"

// redis is that line, if there is one.
func (f *Frame) redis() []string {
	r := f.Snapshot.Redis
	if r == nil {
		return nil
	}
	text, c := "answers", dim
	switch {
	case r.Skipped:
		text, c = "not asked until all is read", yellow
	case !r.Away.IsZero():
		text, c = fmt.Sprintf("away since %s, for %s", f.clock(r.Away), lasting(f.Now.Sub(r.Away))), yellow
	}
	n, first := 0, f.Now
	for _, p := range f.Snapshot.Policies {
		if at := p.Degraded; !at.IsZero() {
			n++
			if at.Before(first) {
				first = at
			}
		}
	}
	if n > 0 {
		text += fmt.Sprintf("; %s %d of %d policies degraded since %s", degradedMark, n, len(f.Snapshot.Policies), f.clock(first))
		c = yellow
	}
	return []string{left("redis", labelWidth) + f.paint(c, cut(text, f.Width-labelWidth))}
}

// clock is a moment, with its day if that is not the one before now.
func (f *Frame) clock(t time.Time) string {
	if f.Now.Sub(t) >= 24*time.Hour {
		return t.UTC().Format("2006-01-02 15:04 UTC")
	}
	return t.UTC().Format("15:04:05 UTC")
}
