package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"shadow/report/advice"
	"shadow/servers"
	"shadow/suggest"
)

// What to do with a suggestion: command lines that can be typed as they are, and what nginx is to be told.

// next is what to try, for the answer and for what nginx makes of it.
func (r *Suggest) next(a *suggest.Advice, nginx *advice.Nginx) (lines []string) {
	best := a.BestOfAll()
	if len(best) == 0 && nginx == nil {
		return nil
	}
	if len(best) == 0 { // there is nobody to protect: the bound that nginx has
		lines = append(r.policyLines(a, a.Nginx.Limit, "--harm-action", a.Action),
			"shadow limits explain "+quoted(a.Nginx.Limit))
		return append(lines, r.nginxBlock(a, nginx)...)
	}
	text, ok := a.Text(best[0], best[0].Steady())
	if !ok {
		return nil
	}
	if a.Action != "" {
		lines = append(lines, r.policyLines(a, text)...)
	} else {
		lines = append(lines, r.commandLine("replay", "--limit", text, "--evidence"))
		loosest := best[0].Others[len(best[0].Others)-1]
		if kind, ok := a.Text(best[0], loosest.Limit); ok && kind != text {
			lines = append(lines, r.commandLine("diff", "--limit", text, "--limit", kind, "--evidence"))
		}
	}
	lines = append(lines, "shadow limits explain "+quoted(text))
	if nginx == nil {
		return lines
	}
	if !a.Nginx.Answer && a.Action == "" {
		lines = append(lines, r.commandLine("replay", "--limit", a.Nginx.Limit, "--limit", a.Nginx.Twin.Limit(),
			"--evidence"),
			r.commandLine("diff", "--limit", text, "--limit", a.Nginx.Twin.Limit(), "--evidence"))
	}
	return append(lines, r.nginxBlock(a, nginx)...)
}

// policyLines are a policy for one action, which needs a configuration, and one as nginx counts where that is another.
func (r *Suggest) policyLines(a *suggest.Advice, text string, more ...string) []string {
	own := "limit " + a.Action
	lines := []string{"# into " + DefaultConfig + ":", "policies:"}
	add := func(name, text string) {
		lines = append(lines, fmt.Sprintf("  - name: %q", name), fmt.Sprintf("    limits: [{limit: %q, match: {action: "+
			"%q}}]", text, a.Action))
	}
	add(own, text)
	if a.Nginx == nil || a.Nginx.Answer {
		return append(lines, r.commandLine("replay", append([]string{"--policy", own}, more...)...))
	}
	nginx := own + " in nginx"
	add(nginx, a.Nginx.Twin.Limit())
	lines = append(lines, r.commandLine("replay", append([]string{"--policy", own, "--policy", nginx}, more...)...))
	return append(lines, r.commandLine("diff", "--policy", own, "--policy", nginx, "--evidence"))
}

// commandLine is a command of ours on the same requests.
func (r *Suggest) commandLine(command string, more ...string) string {
	words := slices.Concat([]string{"shadow", command}, r.names, more, r.Again)
	for i, word := range words {
		words[i] = quoted(word)
	}
	return strings.Join(words, " ")
}

// quoted is a word as a shell reads it.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.ContainsRune("-_./:=,+@%", c))
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// nginx is what nginx is to be told, nil if nothing. What it wants once it is told by the first such answer.
func (r *Suggest) nginx(a *suggest.Advice, again bool) (*advice.Nginx, error) {
	if a.Nginx == nil {
		return nil, nil
	}
	where := r.where
	where.Action, where.Named = a.Action, r.named[a.Action]
	nginx, err := servers.Named("nginx")
	if err != nil {
		return nil, err
	}
	lines, err := nginx.Lines(a.Nginx.Twin.Limit(), where)
	if err != nil {
		return nil, err
	}
	n := &advice.Nginx{Key: lines.Key, Note: lines.Note}
	for _, b := range lines.Blocks {
		switch {
		case b.Once && again:
		case b.Place == "http":
			n.HTTP = append(n.HTTP, b.Lines...)
		default:
			n.Place = b.Lines
		}
	}
	return n, nil
}

// nginxBlock are the directives, and what to know of them.
func (r *Suggest) nginxBlock(a *suggest.Advice, n *advice.Nginx) (lines []string) {
	what := "# nginx, for " + a.Nginx.Limit + " (" + a.Nginx.Twin.Deviation + ")"
	if !a.Nginx.Answer && a.Nginx.Of != nil {
		what += ", the best bucket that it has"
	}
	lines = append(lines, what+":")
	if n.Note != "" {
		lines = append(lines, "# "+n.Note)
	}
	lines = append(lines, n.HTTP...)
	if a.Action != "" && !strings.HasPrefix(n.Place[0], "location") {
		lines = append(lines, "# in the location that serves "+a.Action+":")
	}
	return append(lines, n.Place...)
}
