package tui

import (
	"fmt"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/tail"
	"shadow/limit"
	"shadow/report/format"
)

// The page of one client says what it requested of late, what each policy would have refused of that, and why: the
// limit that it would have had to wait for longest, and for how long. It stands in the place of policies and lists:
//
//	client    203.0.113.7 (1 of 61)
//	agent     curl/8.0 (tool)
//	requests  42, 31 refused; of the latest 1,234 of all clients, since 12:01:02 UTC by the log
//	actions   /login 30, /search 12
//
//	policy        refused     wait     share  limit
//	token:6/30s        31    4.8 s   73.81 %  token:6/30s by client
//
//	time      status  refused by                  wait  action
//	12:03:04     200  token:6/30s, window:6/30s  4.8 s  /login

// one draws so many lines about the client that was asked for.
func (f *Frame) one(rows int) []string {
	c := f.Snapshot.Client
	if c == nil || c.Name != f.Client {
		return []string{f.clientLine(), f.paint(dim, "wait …")}
	}
	lines := []string{
		f.clientLine(), f.labelled("agent", agentOf(c)), f.labelled("requests", f.requestsOf(c)),
		f.labelled("actions", actionsOf(c)),
	}
	if rows -= len(lines); rows >= 10 {
		lines, rows = append(lines, ""), rows-2
	}
	policies := f.clientPolicies(c, max(1, min(len(c.Policies), rows/3)))
	lines, rows = append(lines, policies...), rows-len(policies)
	if rows >= 8 {
		lines = append(lines, "")
	}
	return append(lines, f.clientRequests(c, rows-1)...)
}

// labelled is a line with a label before it.
func (f *Frame) labelled(label, text string) string {
	return left(label, labelWidth) + cut(text, f.Width-labelWidth)
}

// clientLine says which client it is, out of those that the list has.
func (f *Frame) clientLine() string {
	place := ""
	if i := f.listed(); i >= 0 {
		place = fmt.Sprintf(" (%d of %s)", i+1, format.Thousands(int64(f.Snapshot.Clients.Found)))
	}
	text := plain(f.Client)
	return left("client", labelWidth) + f.paint(bold, name(text, min(columns(text), f.Width-labelWidth-columns(place)))) + place
}

// listed is the place of the client in the list, -1 if it is not there.
func (f *Frame) listed() int {
	if f.Snapshot == nil {
		return -1
	}
	return slices.IndexFunc(f.Snapshot.Clients.Top, func(r tail.Recent) bool { return r.Name == f.Client })
}

func agentOf(c *tail.Client) string {
	if c.Requests == 0 {
		return "–"
	}
	return fmt.Sprintf("%s (%s)", plain(c.Agent), c.Class)
}

func (f *Frame) requestsOf(c *tail.Client) string {
	if c.Of == 0 {
		return "none is remembered yet"
	}
	return fmt.Sprintf("%s, %s refused; of the latest %s of all clients, since %s by the log",
		format.Thousands(c.Requests), format.Thousands(c.Refused), format.Thousands(c.Of), f.clock(c.Since))
}

// actionsOf are the actions, as many as a line has room for.
func actionsOf(c *tail.Client) string {
	return strings.Join(mapped.Of(c.Actions[:min(len(c.Actions), 20)], func(a tail.ClientAction) string {
		return fmt.Sprintf("%s %s", plain(a.Name), format.Thousands(a.Requests))
	}), ", ")
}

// waitWidth is the columns of a length of time.
const waitWidth = 9

// waitText says how long to stay away.
func waitText(r *tail.ClientRefusal) string {
	if r.After == limit.Never {
		return "never"
	}
	return format.Brief(r.After)
}

// clientPolicies draws so many policies around the chosen one, below a head.
func (f *Frame) clientPolicies(c *tail.Client, shown int) []string {
	all := f.Snapshot.Policies
	width := f.layout().name
	row := func(what, refused, wait, share, limit string) string {
		line := name(what, width) + right(refused, refusedWidth)
		for _, cell := range []struct {
			text  string
			width int
		}{{wait, waitWidth}, {share, shareWidth}} {
			if columns(line)+cell.width+2 <= f.Width {
				line += right(cell.text, cell.width)
			}
		}
		return line + "  " + name(limit, f.Width-columns(line)-2)
	}
	lines := []string{f.paint(dim, row("policy", "refused", "wait", "share", "limit"))}
	first := max(0, min(f.Policy-shown/2, len(all)-shown))
	for i := first; i < min(first+shown, len(c.Policies), len(all)); i++ {
		p := &c.Policies[i]
		wait, limit := "", ""
		if p.Refused > 0 {
			wait, limit = waitText(&p.Latest), plain(p.Latest.Limit)
		}
		share := format.Percentage(format.PercentOf(p.Refused, c.Requests))
		lines = append(lines, row(plain(all[i].Name), format.Thousands(p.Refused), wait, share, limit))
	}
	return lines
}

// clientRequests draws the latest requests, below a head.
func (f *Frame) clientRequests(c *tail.Client, rows int) []string {
	const timeWidth = 8
	statusWidth := 8
	if f.Width < 60 {
		statusWidth = 0
	}
	by := min(60, (f.Width-timeWidth-statusWidth-waitWidth)*3/5-2)
	row := func(at, status, refused, wait, action string) string {
		line := left(at, timeWidth) + right(status, statusWidth) + "  " + name(refused, by) + right(wait, waitWidth)
		return line + "  " + name(action, f.Width-columns(line)-2)
	}
	lines := []string{f.paint(dim, row("time", "status", "refused by", "wait", "action"))}
	for i := range c.Latest[:max(0, min(rows, len(c.Latest)))] {
		r := &c.Latest[i]
		refused, wait, longest := "–", "", limit.Time(-1)
		var names []string
		for j := range r.Refusals {
			why := &r.Refusals[j]
			names = append(names, plain(f.Snapshot.Policies[why.Policy].Name))
			if why.After > longest {
				longest, wait = why.After, waitText(why)
			}
		}
		if names != nil {
			refused = strings.Join(names, ", ")
		}
		status := ""
		if r.Status > 0 {
			status = fmt.Sprint(r.Status)
		}
		lines = append(lines, row(r.At.UTC().Format("15:04:05"), status, refused, wait, plain(r.Action)))
	}
	return lines
}
