package tui

import (
	"slices"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"shadow/internal/mapped"
	"shadow/internal/tail"
)

// What keys do is written down once, for the page of help and for the keys themselves.

// A binding is what some keys do: to the picture, or to the program.
type binding struct {
	keys []string // as the terminal library calls them
	long string   // on the page of help; "" if it stands with another one
	do   func(*Frame)
	cmd  tea.Cmd
}

var bindings = []binding{
	{keys: []string{"q", "ctrl+c"}, long: "q, Ctrl-C    end the tail and leave", cmd: tea.Quit},
	{keys: []string{"?", "h"}, long: "?            this page, and back", do: func(f *Frame) { f.Help = !f.Help }},
	{
		keys: []string{"down", "j"}, long: "↓ ↑, j k     choose the next policy, or client; the one before",
		do: func(f *Frame) { f.move(1) },
	},
	{keys: []string{"up", "k"}, do: func(f *Frame) { f.move(-1) }},
	{keys: []string{"home", "g"}, long: "Home End     choose the first, the last", do: func(f *Frame) { f.move(-far) }},
	{keys: []string{"end", "G"}, do: func(f *Frame) { f.move(far) }},
	{
		keys: []string{"enter"}, long: "Enter, Esc   show the first client of the list with its requests, and back",
		do: func(f *Frame) { f.chooseClient(0) },
	},
	{
		keys: []string{"/"}, long: "/            list only names with a text; Enter keeps it, Esc clears it",
		do: func(f *Frame) { f.Typing, f.Client, f.Help = true, "", false },
	},
	{keys: []string{"esc"}, do: (*Frame).back},
	{
		keys: []string{"s"}, long: "s            lists: most refused first, latest first, by name",
		do: func(f *Frame) { f.Order = (f.Order + 1) % (tail.ByName + 1) },
	},
	{
		keys: []string{"tab"}, long: "Tab          clients or actions, where only one list has room",
		do: func(f *Frame) { f.Actions = !f.Actions },
	},
	{keys: []string{"space"}, long: "space        pause the picture, and go on", do: func(f *Frame) { f.Paused = !f.Paused }},
	{keys: []string{"ctrl+z"}, long: "Ctrl-Z       suspend, the tail as well", cmd: tea.Suspend},
}

// mostTyped is the longest filter, in bytes.
const mostTyped = 100

// edit does what a key does to the filter.
func (f *Frame) edit(key, text string) {
	switch key {
	case "enter":
		f.Typing = false
	case "esc":
		f.Typing, f.Filter = false, ""
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(f.Filter)
		f.Filter = f.Filter[:len(f.Filter)-n]
	default:
		if len(f.Filter)+len(text) <= mostTyped {
			f.Filter += text
		}
	}
}

// press does what a key does to the picture, and returns what it does to the program. text is what it writes.
func (f *Frame) press(key, text string) tea.Cmd {
	if f.Typing && key != "ctrl+c" && key != "ctrl+z" {
		f.edit(key, text)
		return nil
	}
	for _, b := range bindings {
		if !slices.Contains(b.keys, key) {
			continue
		}
		if b.do != nil {
			b.do(f)
		}
		return b.cmd
	}
	return nil
}

func (f *Frame) policyCount() int {
	if f.Snapshot == nil {
		return 0
	}
	return len(f.Snapshot.Policies)
}

// far is further than any list is long.
const far = 1 << 20

// move chooses the policy, or client, that is so much further on, or the nearest there is.
func (f *Frame) move(by int) {
	if f.Client == "" {
		f.Policy = max(0, min(f.Policy+by, f.policyCount()-1))
		return
	}
	f.chooseClient(f.listed() + by)
}

// chooseClient shows a client of the list, the nearest there is.
func (f *Frame) chooseClient(i int) {
	if f.Snapshot == nil || len(f.Snapshot.Clients.Top) == 0 {
		return
	}
	top := f.Snapshot.Clients.Top
	f.Client = top[max(0, min(i, len(top)-1))].Name
}

// back leaves what is shown for what was shown before.
func (f *Frame) back() {
	switch {
	case f.Help:
		f.Help = false
	case f.Client != "":
		f.Client = ""
	default:
		f.Filter = ""
	}
}

// keys is the line at the bottom.
func (f *Frame) keys() string {
	line := "q quit   ? help   ↑↓ policy   Enter client   / filter   s sort   space pause"
	if f.Filter != "" {
		line = "Esc all names   " + line
	}
	switch {
	case f.Typing:
		const keys = "   Enter keep   Esc clear"
		line = "/" + plain(f.Filter) + "_"
		return name(line, min(columns(line), f.Width-len(keys))) + f.paint(dim, keys)
	case f.Client != "":
		line = "Esc back   ↑↓ client   / filter   q quit   ? help   s sort   space pause"
	case f.Width >= bothWidth:
	case f.Actions:
		line += "   Tab clients"
	default:
		line += "   Tab actions"
	}
	return f.paint(dim, cut(line, f.Width))
}

// help is the page that explains the screen.
func (f *Frame) help() []string {
	lines := []string{f.paint(bold, "keys")}
	for _, b := range bindings {
		if b.long != "" {
			lines = append(lines, cut("  "+b.long, f.Width))
		}
	}
	lines = append(lines, f.paint(bold, "figures"))
	lines = mapped.Add(lines, explained, func(text string) string { return cut("  "+text, f.Width) })
	return lines
}

// explained says what the figures mean.
var explained = []string{
	"All times are by the clock of this machine, when requests are judged.",
	"No client is blocked: refused is what a policy would have refused.",
	"now          share of the requests of about the last 10 s",
	"peak         of the last 5 min; the line shows _ for none, a blank for no request",
	"refused      in all, with what a checkpoint has kept",
	"lists        the last 5 min, in steps of 15 s",
	"latest       how long ago the latest refusal was judged",
	"class        what the agent of that request claims to be",
	"≥            at least: there were more names than room to count them",
	"!            degraded: decided by this host alone, or not long after (--redis)",
	"waiting      for lines that may be older (--lateness)",
	"client       out of the latest 131,072 requests; wait: how long it had to stay away",
}
