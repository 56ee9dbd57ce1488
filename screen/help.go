package screen

import "shadow/tail"

// What keys do is written down once, for the line at the bottom, the page of help, and the hand that presses them.

// A binding is what some keys do.
type binding struct {
	keys  []string // as the terminal library calls them
	short string   // on the line at the bottom, "" if it has no place there
	long  string
	do    func(*Frame)
}

var bindings = []binding{
	{[]string{"q", "ctrl+c"}, "q quit", "q, Ctrl-C    end the tail and leave", nil},
	{[]string{"?", "h"}, "? help", "?            this page, and back", func(f *Frame) { f.Help = !f.Help }},
	{[]string{"down", "j"}, "↑↓ policy", "↓ ↑ or j k   choose the next policy, the one before", func(f *Frame) { f.choose(f.Policy + 1) }},
	{[]string{"up", "k"}, "", "", func(f *Frame) { f.choose(f.Policy - 1) }},
	{[]string{"end", "G"}, "", "Home End     the first, the last", func(f *Frame) { f.choose(len(f.policyNames()) - 1) }},
	{[]string{"home", "g"}, "", "", func(f *Frame) { f.choose(0) }},
	{[]string{"s"}, "s sort", "s            sort the lists: most first, latest first, by name", func(f *Frame) { f.Order = (f.Order + 1) % (tail.ByName + 1) }},
	{[]string{"tab"}, "tab clients/actions", "Tab          clients or actions, where only one list has room", func(f *Frame) { f.Actions = !f.Actions }},
	{[]string{"ctrl+z"}, "", "Ctrl-Z       suspend (the tail as well)", nil},
}

func (f *Frame) policyNames() []tail.Refused {
	if f.Glance == nil {
		return nil
	}
	return f.Glance.Policies
}

// choose chooses a policy.
func (f *Frame) choose(i int) { f.Policy = max(0, min(i, len(f.policyNames())-1)) }

// press does what a key does to the picture.
func (f *Frame) press(key string) {
	for _, b := range bindings {
		for _, k := range b.keys {
			if k == key && b.do != nil {
				b.do(f)
			}
		}
	}
}

// keys is the line at the bottom.
func (f *Frame) keys() string {
	line := ""
	for _, b := range bindings {
		if b.short != "" {
			line += b.short + "   "
		}
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

var explained = []string{
	"Everything is told by the clock of this machine, when it is judged.",
	"Nobody is blocked: refused is what a policy would have refused.",
	"now          share of the requests of the last 10 s",
	"peak         of what the line shows; _ is none, a blank is no request",
	"refused      in all, with what a checkpoint has kept",
	"lists        the last 5 min, in steps of 15 s",
	"latest       how long ago the latest refusal was told",
	"class        what the agent of that request claims to be",
	"≥            more than there was room to count",
	"waiting      for lines that may be older (--lateness)",
}
