package tui

import (
	"fmt"
	"strings"

	"shadow/internal/tail"
	"shadow/report/format"
)

// The lists show which clients and actions the chosen policy refuses of late. Where the terminal is wide enough they
// stand side by side, else one of them is shown. Their titles name the policy they are of: for a moment after another
// one was chosen they are still those of the one before.

const (
	bothWidth   = 150 // columns from which on both lists have room
	betweenThem = 3   // columns
)

// lists draws a title, a head and so many rows.
func (f *Frame) lists(rows int) []string {
	switch p := f.Snapshot.Asked.Policy; {
	case p < 0 || p >= len(f.Snapshot.Policies):
		return nil
	case f.Width < bothWidth && f.Actions:
		return f.list(actionList, f.Width, rows)
	case f.Width < bothWidth:
		return f.list(clientList, f.Width, rows)
	}
	half := (f.Width - betweenThem) * 3 / 5
	clients := f.list(clientList, half, rows)
	actions := f.list(actionList, f.Width-betweenThem-half, rows)
	for len(clients) < len(actions) {
		clients = append(clients, strings.Repeat(" ", half))
	}
	for i := range actions {
		clients[i] += strings.Repeat(" ", betweenThem) + actions[i]
	}
	return clients
}

// A listKind is one of the lists.
type listKind struct {
	noun   string
	of     func(*tail.Snapshot) *tail.List
	detail bool // whether class and action are shown
}

var (
	clientList = listKind{"client", func(g *tail.Snapshot) *tail.List { return &g.Clients }, true}
	actionList = listKind{"action", func(g *tail.Snapshot) *tail.List { return &g.Actions }, false}
)

// The columns of a list beside the name.
const (
	refusedWidth = 11
	latestWidth  = 8
	classWidth   = 11
	leastName    = 15 // an IPv4 address
	mostName     = 39 // an IPv6 address
	leastAction  = 12
)

// orders lists what the title calls them.
var orders = [...]string{
	tail.ByRefused: "most first", tail.ByLatest: "latest first", tail.ByName: "the most refused, by name",
}

// list draws one list; each line is as wide as it.
func (f *Frame) list(kind listKind, width, rows int) []string {
	l, asked, c := kind.of(f.Snapshot), f.Snapshot.Asked, kind.layout(width)
	names := format.Count(int64(l.Names), kind.noun)
	if l.Lost > 0 {
		names = "≥" + names
		rows--
	}
	title := fmt.Sprintf("%s: %s of %s in %s, %s", plain(f.Snapshot.Policies[asked.Policy].Name),
		format.Count(l.Total, "refusal"), names, lasting(tail.Span), orders[asked.Order])
	if asked.Filter != "" {
		title = fmt.Sprintf("%s of %s with %s: %s", format.Thousands(int64(l.Found)), names, plain(asked.Filter), title)
	}
	head := c.row(kind.noun, "refused", "share", "latest", "class", "action")
	lines := []string{f.paint(bold, left(title, width)), f.paint(dim, left(head, width))}
	for i := range max(0, min(rows, len(l.Top))) {
		r := &l.Top[i]
		refused := format.Thousands(r.Refused)
		if r.Missing > 0 {
			refused = "≥" + refused
		}
		share := format.Percentage(format.PercentOf(r.Refused, l.Total))
		row := c.row(plain(r.Name), refused, share, lasting(f.Now.Sub(r.Last)), r.Class, plain(r.Action))
		lines = append(lines, left(row, width))
	}
	if l.Lost > 0 {
		foot := fmt.Sprintf("too many to count: who has up to %s may be missing, ≥ may have as many more",
			format.Thousands(l.Lost))
		lines = append(lines, f.paint(yellow, left(foot, width)))
	}
	return lines
}

// A listLayout is how wide the columns of a list are; 0: it is left out.
type listLayout struct{ name, share, class, action int }

// layout leaves out what there is no room for: actions of clients, then their class, then shares.
func (k listKind) layout(width int) (l listLayout) {
	l.name = width - refusedWidth - latestWidth - 1
	if l.name >= leastName+shareWidth {
		l.share = shareWidth
		l.name -= shareWidth
	}
	if k.detail && l.name >= leastName+classWidth {
		l.class = classWidth
		l.name -= classWidth
	}
	if k.detail && l.name >= leastName+leastAction {
		l.action = max(leastAction, l.name-mostName)
		l.name -= l.action
	}
	return l
}

// row puts the columns of a line together.
func (l listLayout) row(what, refused, share, latest, class, action string) string {
	line := name(what, l.name) + " " + right(refused, refusedWidth) + right(share, l.share) + right(latest, latestWidth)
	if l.class > 0 {
		line += "  " + left(class, l.class-2)
	}
	return line + name(action, l.action)
}
