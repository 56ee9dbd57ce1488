package tui

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
	"Everything is told by the clock of this machine, when it is judged.",
	"Nobody is blocked: refused is what a policy would have refused.",
	"now          share of the requests of about the last 10 s",
	"peak         of the last 5 min; the line shows _ for none, a blank for no request",
	"refused      in all, with what a checkpoint has kept",
	"lists        the last 5 min, in steps of 15 s",
	"latest       how long ago the latest refusal was told",
	"class        what the agent of that request claims to be",
	"≥            at least: there were more names than room to count them",
	"!            degraded: decided by this host alone, or not long after (--redis)",
	"waiting      for lines that may be older (--lateness)",
}
