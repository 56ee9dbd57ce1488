package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"shadow/internal/tail"
	"shadow/report/format"
)

// A picture has, from top to bottom:
//
//	title             what is followed, and since when
//	requests          their rate
//	log               whether reading keeps up, and what was not as it should be
//	redis             whether it answers; only where limits are shared
//
//	policies          the share that each refuses; one of them is chosen
//
//	lists             which clients and actions the chosen one refuses
//
//	note              what the tail said last
//	keys

// A Frame is everything that a picture shows. Its text depends on nothing else.
type Frame struct {
	Title    string
	Snapshot *tail.Snapshot // nil: there is none yet
	History  *History
	Note     string // what the tail said last
	Now      time.Time

	Width, Height int // of the terminal
	Color         bool

	Policy  int // the chosen one
	Order   tail.Order
	Actions bool   // where only one list has room, it is that of actions
	Client  string // whose page is shown; "": none
	Filter  string // only names with that are listed
	Typing  bool   // what keys write goes into Filter
	Help    bool
	Paused  bool // Snapshot, History and Now stay as they are
}

// The least that a picture can be drawn in.
const (
	leastWidth  = 40
	leastHeight = 12
)

// Text draws the picture: at most Height lines of at most Width columns.
func (f *Frame) Text() string {
	var lines []string
	switch {
	case f.Width < leastWidth || f.Height < leastHeight:
		lines = []string{cut(fmt.Sprintf("too small: needs %d×%d", leastWidth, leastHeight), f.Width)}
	case f.Help:
		lines = f.help()
	case f.Snapshot == nil:
		lines = []string{f.title(), "", f.paint(dim, "nothing has been read yet")}
	default:
		lines = f.picture()
	}
	lines = lines[:max(0, min(len(lines), f.Height))]
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// picture divides the height: half of what is not fixed is for policies, if there are that many, and the rest for
// lists.
func (f *Frame) picture() []string {
	gap, redis := []string{""}, f.redis()
	free := f.Height - 10 - len(redis) // three lines on top, two on the bottom, heads of policies and lists (3), two gaps
	if free < 8 {
		gap = nil
		free += 2
	}
	lines := slices.Concat([]string{f.title(), f.requests(), f.log()}, redis, gap)
	if f.Client != "" {
		lines = append(lines, f.one(f.Height-2-len(lines))...)
	} else {
		shown := min(len(f.Snapshot.Policies), free/2)
		lines = slices.Concat(lines, f.policies(shown), gap, f.lists(free-shown))
	}
	for len(lines) < f.Height-2 {
		lines = append(lines, "")
	}
	return append(lines, f.paint(yellow, cut(plain(f.Note), f.Width)), f.keys())
}

func (f *Frame) title() string {
	since := ""
	if f.Snapshot != nil {
		since = "running for " + lasting(f.Now.Sub(f.Snapshot.Begun))
	}
	room := f.Width - columns(since) - 1
	return f.paint(bold, name("shadow tail "+plain(f.Title), room)) + " " + f.paint(dim, since)
}

// labelWidth is the columns of what stands before the first lines.
const labelWidth = 10

// requests is the line of their rate.
func (f *Frame) requests() string {
	now := f.History.now()
	rate := right(perSecond(now.rate()), rateWidth)
	values := f.History.values(kept, (*column).rate)
	peak := max(peakOf(values), now.rate())
	counted := fmt.Sprintf("  peak %s, %s judged", perSecond(peak), format.Thousands(f.Snapshot.Requests))
	room := f.Width - labelWidth - rateWidth - 2
	line := spark(lastOf(values, room-max(columns(counted), countedWidth)), peak)
	return left("requests", labelWidth) + f.paint(bold, rate) + "  " + f.paint(cyan, line) +
		f.paint(dim, cut(counted, room-columns(line)))
}

// The columns of figures in the line of requests. What was counted has room to grow before the sparkline gives way.
const (
	rateWidth    = 11
	countedWidth = 32
)

// lastOf is the last n values, as many as there are.
func lastOf(values []float64, n int) []float64 {
	return values[len(values)-max(0, min(n, len(values))):]
}

func perSecond(rate float64) string {
	if rate > 0 && rate < 9.95 {
		return fmt.Sprintf("%.1f/s", rate)
	}
	return format.Thousands(int64(rate+0.5)) + "/s"
}

// stale is the age at which a snapshot is so old that the screen says so.
const stale = 3 * time.Second

// log is the line that says whether reading keeps up.
func (f *Frame) log() string {
	g := f.Snapshot
	text, c := "up to date", dim
	if g.LagBytes > 0 {
		text, c = fmt.Sprintf("%s and %s behind", format.Size(g.LagBytes), lasting(g.Lag)), yellow
	}
	if g.Absent > 0 {
		text, c = fmt.Sprintf("%d not there yet, %s", g.Absent, text), yellow
	}
	if age := f.Now.Sub(g.At); f.Paused {
		text, c = "paused here, while the tail goes on", yellow
	} else if age > stale {
		text, c = "no news from the tail for "+lasting(age), yellow
	}
	rest := fmt.Sprintf(", %s waiting", format.Thousands(int64(g.Waiting)))
	for _, figure := range []struct {
		n      int64
		text   string
		always bool
	}{
		{g.Late, "late", true},
		{g.Unreadable, "unreadable", true},
		{g.Excluded, "left out", false},
		{g.NotHTTP, "not HTTP", false},
		{g.Forgotten, "keys forgotten", false},
	} {
		if figure.always || figure.n > 0 {
			rest += fmt.Sprintf(", %s %s", format.Thousands(figure.n), figure.text)
		}
	}
	room := f.Width - labelWidth
	text = cut(text, room)
	return left(format.Count(int64(g.Logs), "log"), labelWidth) + f.paint(c, text) + cut(rest, room-columns(text))
}

// Where hosts share limits in Redis, a line says whether it answers, and how many policies have degraded verdicts:
//
//	redis     away since 12:03:04 UTC, for 3 min; ! 3 of 3 policies degraded since 12:03:05 UTC
//
// Each of these policies bears the mark as well. They are degraded for a while after Redis is back, too.

// degradedMark marks a policy whose verdicts are degraded.
const degradedMark = "!"

// redis returns that line, if there is one.
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
