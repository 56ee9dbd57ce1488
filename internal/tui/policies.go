package tui

import (
	"fmt"
	"strconv"
	"time"

	"shadow/report/format"
)

// Each policy has a line: its name, the share of the requests that it refuses now, the peak of the last five minutes,
// how many it has refused in all, and a sparkline, in which that peak is as high as can be.

// A policy has these columns beside its name and the sparkline.
const (
	markWidth  = 2 // with Redis one more: a policy may be degraded
	shareWidth = 9
	countWidth = 13
)

// A policyLayout is how wide the columns of policies are.
type policyLayout struct{ mark, name, peak, line int }

// layout makes names as wide as the longest, but no more than a third of the screen, and leaves out the peak and the
// sparkline where there is no room for them.
func (f *Frame) layout() (l policyLayout) {
	l.name = 16
	for _, p := range f.Snapshot.Policies {
		l.name = max(l.name, columns(plain(p.Name)))
	}
	if l.mark = markWidth; f.Snapshot.Redis != nil {
		l.mark++
	}
	rest := f.Width - l.mark - shareWidth - countWidth
	if rest >= 40 {
		l.peak = shareWidth
	}
	l.name = min(l.name, max(f.Width/3, f.Width-72), rest-l.peak)
	if l.line = rest - l.peak - l.name - 2; l.line < 5 {
		l.line = 0
	}
	return l
}

// row puts the columns of a line together; what is painted comes before and behind the peak.
func (l policyLayout) row(mark, what, now, peak, refused string) (before, behind string) {
	return left(mark, l.mark) + name(what, l.name) + right(now, shareWidth), right(peak, l.peak) + right(refused, countWidth)
}

// policies draws so many of them around the chosen one, below a head.
func (f *Frame) policies(shown int) []string {
	all := f.Snapshot.Policies
	l := f.layout()
	head := "policy"
	first := max(0, min(f.Policy-shown/2, len(all)-shown))
	if shown < len(all) {
		head = fmt.Sprintf("policies %d–%d of %d", first+1, first+shown, len(all))
	}
	before, behind := l.row("", cut(head, l.name), "now", "peak", "refused")
	since := "last " + lasting(columnTime*time.Duration(min(kept, l.line)))
	if l.line < columns(since) {
		since = ""
	}
	lines := []string{f.paint(dim, cut(before+behind+"  "+since, f.Width))}
	now := f.History.now()
	for i := first; i < first+shown; i++ {
		lines = append(lines, f.policy(i, l, &now))
	}
	return lines
}

func (f *Frame) policy(i int, l policyLayout, now *column) string {
	p := f.Snapshot.Policies[i]
	values := f.History.values(kept, func(c *column) float64 { return c.share(i) })
	peak := max(peakOf(values), now.share(i))
	mark, c := " ", color(0)
	if !p.Degraded.IsZero() {
		c = yellow
	}
	if i == f.Policy {
		mark, c = "▸", bold
	}
	if !p.Degraded.IsZero() {
		mark += degradedMark
	}
	before, behind := l.row(mark, plain(p.Name), shareText(now.share(i)), shareText(peak), format.Thousands(p.Refused))
	return f.paint(c, before) + behind + "  " + f.paint(cyan, spark(lastOf(values, l.line), peak))
}

// shareText writes a share in percent.
func shareText(share float64) string {
	switch {
	case share < 0:
		return "–"
	case share > 0 && share < 0.0001:
		return "<0.01 %"
	}
	return strconv.FormatFloat(100*share, 'f', 2, 64) + " %"
}
