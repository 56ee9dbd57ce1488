package tui

import (
	"fmt"
	"time"
)

// Where hosts share limits by way of Redis, a line says whether it answers, and of how many policies the verdicts are degraded:
//
//	redis     away since 12:03:04 UTC, for 3 min; ! 3 of 3 policies degraded since 12:03:05 UTC
//
// Each of these policies bears the mark as well. They are degraded for a while after Redis is back, too.

// degradedMark is what a policy bears whose verdicts are degraded.
const degradedMark = "!"

// redis is that line, if there is one.
func (f *Frame) redis() []string {
	if f.Glance.Redis == nil {
		return nil
	}
	text, c := f.reach()
	rest := f.degraded()
	if rest != "" {
		rest, c = "; "+rest, yellow
	}
	room := f.Width - labelWidth
	text = cut(text, room)
	return []string{left("redis", labelWidth) + f.paint(c, text+cut(rest, room-columns(text)))}
}

// reach says whether Redis answers.
func (f *Frame) reach() (string, color) {
	switch r := f.Glance.Redis; {
	case r.Spared:
		return "not asked until all is read", yellow
	case !r.Away.IsZero():
		return fmt.Sprintf("away since %s, for %s", f.clock(r.Away), lasting(f.Now.Sub(r.Away))), yellow
	}
	return "answers", dim
}

// degraded says of how many policies the verdicts are, "" if of none.
func (f *Frame) degraded() string {
	all, n := f.Glance.Policies, 0
	var first time.Time
	for i := range all {
		at := all[i].Degraded
		if at.IsZero() {
			continue
		}
		if n++; first.IsZero() || at.Before(first) {
			first = at
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s %d of %d policies degraded since %s", degradedMark, n, len(all), f.clock(first))
}

// clock is a moment, with its day if that is not the one before now.
func (f *Frame) clock(t time.Time) string {
	if f.Now.Sub(t) >= 24*time.Hour {
		return t.UTC().Format("2006-01-02 15:04 UTC")
	}
	return t.UTC().Format("15:04:05 UTC")
}
