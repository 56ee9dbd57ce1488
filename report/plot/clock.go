package plot

import (
	"strings"
	"time"

	"github.com/guptarohit/asciigraph"

	"shadow/internal/lazy"
	"shadow/limit"
	"shadow/report/format"
)

// An axis of the time of day, below a curve that begins and ends at any moment: its ticks are at whole hours, minutes …
//
//	10 ┤  ╭───────────╮      ╭────────
//	 0 ┼──╯           ╰──────╯
//	   └─────┬───────────┬───────────┬
//	       13:40       13:50       14:00

// clockSteps are the distances that ticks may have.
var clockSteps = []limit.Time{
	1, 2, 5, 10, 20, 50, 100, 200, 500,
	limit.Millisecond, 2 * limit.Millisecond, 5 * limit.Millisecond, 10 * limit.Millisecond, 20 * limit.Millisecond,
	50 * limit.Millisecond,
	100 * limit.Millisecond, 200 * limit.Millisecond, 500 * limit.Millisecond,
	limit.Second, 2 * limit.Second, 5 * limit.Second, 10 * limit.Second, 20 * limit.Second, 30 * limit.Second,
	limit.Minute, 2 * limit.Minute, 5 * limit.Minute, 10 * limit.Minute, 20 * limit.Minute, 30 * limit.Minute,
	limit.Hour, 2 * limit.Hour, 3 * limit.Hour, 6 * limit.Hour, 12 * limit.Hour,
	limit.Day, 2 * limit.Day, 5 * limit.Day, 10 * limit.Day, 20 * limit.Day, 50 * limit.Day, 100 * limit.Day,
	200 * limit.Day, 500 * limit.Day,
}

// clockAxis returns the axis and its labels, below lines of a curve.
func (p Curve) clockAxis(curve []string) []string {
	line := escapes().ReplaceAllString(curve[0], "")
	margin := len([]rune(line[:max(0, strings.IndexAny(line, "┤┼"))])) // the column of the vertical axis
	columns := len(p.Values) - 1
	step, layout := p.clockStep(columns)
	axis := []rune(strings.Repeat(" ", margin) + "└" + strings.Repeat("─", columns))
	labels := []rune(strings.Repeat(" ", plotMargin+columns+1))
	free := 0 // the first column that no label has taken
	end := p.Start + format.Moment(p.Length)
	s := format.Moment(step)
	first := p.Start + ((-p.Start)%s+s)%s // a multiple of the step since the epoch
	for at := first; p.Start <= at && at <= end; at += s {
		column := margin + max(1, int(float64(at-p.Start)/float64(p.Length)*float64(columns)+0.5))
		axis[column] = '┬'
		label := []rune(at.Format(layout))
		if begin := min(max(0, column-len(label)/2), len(labels)-len(label)); begin >= free {
			copy(labels[begin:], label)
			free = begin + len(label) + 1
		}
	}
	return p.inGray(string(axis), strings.TrimRight(string(labels), " "))
}

// inGray paints lines as asciigraph paints its axes.
func (p Curve) inGray(lines ...string) []string {
	if p.color {
		for i, line := range lines {
			lines[i] = asciigraph.Gray.String() + line + asciigraph.Default.String()
		}
	}
	return lines
}

var escapes = lazy.Regexp("\x1b\\[[0-9;]*m")

// clockStep is the smallest distance at which labels do not meet, and how they are written then.
func (p Curve) clockStep(columns int) (limit.Time, string) {
	for _, step := range clockSteps {
		if layout := p.clockLayout(step); p.Length/step <= limit.Time(max(1, columns/(len(layout)+2))) {
			return step, layout
		}
	}
	last := max(p.Length, clockSteps[len(clockSteps)-1])
	return last, p.clockLayout(last)
}

// clockLayout writes no more of a moment than ticks at such a distance need.
func (p Curve) clockLayout(step limit.Time) string {
	from, to := p.Start, p.Start+format.Moment(p.Length)
	date := ""
	switch {
	case from.Format("2006") != to.Format("2006"):
		date = time.DateOnly
	case from.Format(time.DateOnly) != to.Format(time.DateOnly):
		date = "01-02"
	}
	switch {
	case step >= limit.Day && date != "":
		return date
	case date != "":
		date += " "
	}
	switch {
	case step >= limit.Minute:
		return date + "15:04"
	case step >= limit.Second:
		return date + "15:04:05"
	case step >= limit.Millisecond:
		return date + "15:04:05.000"
	}
	return date + "15:04:05.000000"
}
