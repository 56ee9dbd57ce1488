package screen

import (
	"fmt"
	"strings"

	"shadow/report"
	"shadow/tail"
)

// The lists say whom and what the chosen policy refuses of late: clients, and actions. Where the terminal is wide enough they
// stand side by side, else one of them is shown.

const (
	bothWidth   = 120 // columns from which on both lists have room
	betweenThem = 3   // columns
)

// lists draws a title, a head and so many rows.
func (f *Frame) lists(rows int) []string {
	if f.Glance.Asked.Policy != f.Policy { // the answer is on its way
		return []string{f.paint(dim, "…")}
	}
	if f.Width < bothWidth {
		if f.Actions {
			return f.list(actionList, f.Width, rows)
		}
		return f.list(clientList, f.Width, rows)
	}
	half := (f.Width - betweenThem) * 3 / 5
	clients := f.list(clientList, half, rows)
	actions := f.list(actionList, f.Width-betweenThem-half, rows)
	lines := make([]string, max(len(clients), len(actions)))
	for i := range lines {
		lines[i] = lineOf(clients, i, half) + strings.Repeat(" ", betweenThem) + lineOf(actions, i, 0)
	}
	return lines
}

// lineOf is a line, or blanks where there is none.
func lineOf(lines []string, i, width int) string {
	if i < len(lines) {
		return lines[i]
	}
	return strings.Repeat(" ", width)
}

// A listKind is one of the lists.
type listKind struct {
	noun   string
	of     func(*tail.Glance) *tail.List
	detail bool // whether class and action are shown
}

var (
	clientList = listKind{"client", func(g *tail.Glance) *tail.List { return &g.Clients }, true}
	actionList = listKind{"action", func(g *tail.Glance) *tail.List { return &g.Actions }, false}
)

// The columns of a list beside the name.
const (
	refusedWidth = 12
	latestWidth  = 8
	classWidth   = 9
	leastAction  = 12
)

// list draws one list; each line is as wide as it.
func (f *Frame) list(kind listKind, width, rows int) []string {
	l := kind.of(f.Glance)
	name, action := kind.widths(width)
	head := left(kind.noun, name) + right("refused", refusedWidth) + right("share", shareWidth) + right("latest", latestWidth)
	if kind.detail {
		head += "  " + left("class", classWidth) + left("action", action)
	}
	lines := []string{f.paint(bold, left(f.listTitle(kind, l), width)), f.paint(dim, left(head, width))}
	foot := lossText(l)
	if foot != "" {
		rows--
	}
	for i := range min(rows, len(l.Top)) {
		lines = append(lines, f.row(kind, l, &l.Top[i], name, action, width))
	}
	if foot != "" {
		lines = append(lines, f.paint(yellow, left(foot, width)))
	}
	return lines
}

// widths are those of the name and of the latest action.
func (k listKind) widths(width int) (name, action int) {
	rest := width - refusedWidth - shareWidth - latestWidth
	if !k.detail {
		return rest, 0
	}
	rest -= 2 + classWidth
	if rest < 2*leastAction {
		return max(rest, leastAction), 0
	}
	name = min(40, max(16, rest*3/5))
	return name, rest - name
}

// orders are how the title calls them.
var orders = [...]string{tail.ByRefused: "most first", tail.ByLatest: "latest first", tail.ByName: "the most refused, by name"}

func (f *Frame) listTitle(kind listKind, l *tail.List) string {
	return fmt.Sprintf("%s: %s of %s in %s, %s", plain(f.Glance.Policies[f.Policy].Name), report.Count(l.Total, "refusal"),
		report.Count(int64(l.Names), kind.noun), lasting(tail.Span), orders[f.Glance.Asked.Order])
}

// row is the line of one name.
func (f *Frame) row(kind listKind, l *tail.List, r *tail.Recent, name, action, width int) string {
	refused := report.Thousands(r.Refused)
	if r.Missing > 0 {
		refused = "≥" + refused
	}
	line := left(plain(r.Name), name-1) + " " + right(refused, refusedWidth) +
		right(report.Percent(r.Refused, l.Total)+" %", shareWidth) + right(lasting(f.Now.Sub(r.Last)), latestWidth)
	if kind.detail {
		line += "  " + left(r.Class, classWidth)
		if action > 0 {
			line += left(plain(r.Action), action)
		}
	}
	return left(line, width)
}

// lossText says what was dropped for want of room, "" if nothing was.
func lossText(l *tail.List) string {
	if l.Lost == 0 {
		return ""
	}
	return fmt.Sprintf("too many to count: whoever has %s or fewer may be missing, ≥ may have as many more", report.Thousands(l.Lost))
}
