package screen

import (
	"fmt"
	"strconv"
	"time"

	"shadow/report"
)

// Each policy has a line: its name, the share of the requests that it refuses now, the peak of what the sparkline shows,
// how many it has refused in all, and the sparkline, which is as high as its own peak.

// A policy has these columns beside its name and the sparkline.
const (
	markWidth  = 2
	shareWidth = 9
	countWidth = 13
)

// policies draws so many of them around the chosen one, below a head.
func (f *Frame) policies(shown int) []string {
	all := f.Glance.Policies
	name := f.nameWidth()
	line := f.Width - markWidth - name - 2*shareWidth - countWidth - 2 // for the sparkline
	head := "policy"
	first := max(0, min(f.Policy-shown/2, len(all)-shown))
	if shown < len(all) {
		head = fmt.Sprintf("policies %d–%d of %d", first+1, first+shown, len(all))
	}
	lines := []string{f.paint(dim, cut(left("", markWidth)+left(head, name)+right("now", shareWidth)+right("peak", shareWidth)+
		right("refused", countWidth)+"  "+sinceText(line), f.Width))}
	now := f.History.now()
	for i := first; i < first+shown; i++ {
		lines = append(lines, f.policy(i, name, line, &now))
	}
	return lines
}

// nameWidth is how wide names of policies are: as the longest, but no more than a third of the screen.
func (f *Frame) nameWidth() int {
	widest := 16
	for _, p := range f.Glance.Policies {
		widest = max(widest, columns(plain(p.Name)))
	}
	return min(widest, max(f.Width/3, f.Width-72), f.Width-markWidth-2*shareWidth-countWidth-2)
}

// sinceText says how far back n columns of a sparkline go.
func sinceText(n int) string {
	return "last " + lasting(columnTime*time.Duration(max(0, min(kept, n))))
}

func (f *Frame) policy(i, name, line int, now *column) string {
	p := f.Glance.Policies[i]
	values := f.History.values(max(0, min(kept, line)), func(c *column) float64 { return c.share(i) })
	peak := peakOf(values)
	mark, c := "  ", color(0)
	if i == f.Policy {
		mark, c = "▸ ", bold
	}
	return f.paint(c, mark+left(plain(p.Name), name)+right(shareText(now.share(i)), shareWidth)) +
		right(shareText(peak), shareWidth) + right(report.Thousands(p.Refused), countWidth) + "  " + f.paint(cyan, spark(values, peak))
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
