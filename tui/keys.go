package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"shadow/tail"
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
		keys: []string{"down", "j"}, long: "↓ ↑, j k     choose the next policy, the one before",
		do: func(f *Frame) { f.choose(f.Policy + 1) },
	},
	{keys: []string{"up", "k"}, do: func(f *Frame) { f.choose(f.Policy - 1) }},
	{keys: []string{"home", "g"}, long: "Home End     choose the first, the last", do: func(f *Frame) { f.choose(0) }},
	{keys: []string{"end", "G"}, do: func(f *Frame) { f.choose(f.policyCount() - 1) }},
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

// press does what a key does to the picture, and returns what it does to the program.
func (f *Frame) press(key string) tea.Cmd {
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

// choose chooses a policy, the nearest there is.
func (f *Frame) choose(i int) { f.Policy = max(0, min(i, f.policyCount()-1)) }

// keys is the line at the bottom.
func (f *Frame) keys() string {
	line := "q quit   ? help   ↑↓ policy   s sort   space pause"
	switch {
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
	for _, text := range explained {
		lines = append(lines, cut("  "+text, f.Width))
	}
	return lines
}

// explained is what the figures mean.
var explained = []string{
	"All times are by the clock of this machine, when requests are judged.",
	"Nobody is blocked: refused is what a policy would have refused.",
	"now          share of the requests of about the last 10 s",
	"peak         of the last 5 min; the line shows _ for none, a blank for no request",
	"refused      in all, with what a checkpoint has kept",
	"lists        the last 5 min, in steps of 15 s",
	"latest       how long ago the latest refusal was judged",
	"class        what the agent of that request claims to be",
	"≥            at least: there were more names than room to count them",
	"!            degraded: decided by this host alone, or not long after (--redis)",
	"waiting      for lines that may be older (--lateness)",
}
