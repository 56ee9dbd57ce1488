package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"shadow/limit"
	"shadow/policy"
	"shadow/suggest"
	"shadow/sweep"
	"shadow/traffic"
)

// What to do with a suggestion: command lines that can be typed as they are, and what nginx wants to be told.

// next is what to try, for the best suggestion and the best token bucket, which most servers have.
func (r *suggestRun) next(a *suggest.Advice) (lines []string) {
	best := a.BestOfAll()
	if len(best) == 0 {
		return nil
	}
	text, ok := a.Text(best[0], steady(best[0]))
	if !ok {
		return nil
	}
	if a.Action != "" {
		lines = append(lines, r.policyLines(a.Action, text)...)
	} else {
		lines = append(lines, r.commandLine("replay", "--limit", text, "--evidence"))
		if kind, ok := a.Text(best[0], kindest(best[0])); ok && kind != text {
			lines = append(lines, r.commandLine("diff", "--limit", text, "--limit", kind))
		}
	}
	lines = append(lines, "shadow limits explain "+quoted(text))
	if bucket := a.Best(sweep.Token); bucket != nil {
		if text, ok := a.Text(bucket, steady(bucket)); ok {
			lines = append(lines, nginxLines(text, a.Action)...)
		}
	}
	return lines
}

// steady is the limit that was chosen or, if that does not hold on the rest, the one that keeps the promise on both parts.
func steady(s *suggest.Suggestion) int64 { return max(s.Chosen.Limit, s.Both.Limit) }

// kindest is the kindest of the runners-up.
func kindest(s *suggest.Suggestion) int64 { return s.Others[len(s.Others)-1].Limit }

// policyLines are a policy for one action, which needs a configuration.
func (r *suggestRun) policyLines(action, text string) []string {
	return []string{
		"# into " + defaultConfig + ":",
		"policies:",
		fmt.Sprintf("  - name: %q", "limit "+action),
		fmt.Sprintf("    limits: [{limit: %q, match: {action: %q}}]", text, action),
		r.commandLine("replay", "--policy", "limit "+action),
	}
}

// commandLine is a command of ours on the same requests.
func (r *suggestRun) commandLine(command string, more ...string) string {
	words := append([]string{"shadow", command}, r.args...)
	words = append(append(words, more...), readingWords(r.cmd)...)
	for i, word := range words {
		words[i] = quoted(word)
	}
	return strings.Join(words, " ")
}

// readingWords are the flags of a command that say how logs are read, as they were given.
func readingWords(cmd *cobra.Command) (words []string) {
	reading := &cobra.Command{}
	new(readingFlags).add(reading)
	reading.Flags().String("config", "", "")
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if reading.Flags().Lookup(f.Name) == nil {
			return
		}
		values := []string{f.Value.String()}
		if several, ok := f.Value.(pflag.SliceValue); ok {
			values = several.GetSlice()
		}
		for _, v := range values {
			words = append(words, "--"+f.Name+"="+v)
		}
	})
	return words
}

// quoted is a word as a shell reads it.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("-_./:=,+@%", c))
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// nginxLines are the directives for a token bucket.
func nginxLines(text, action string) []string {
	policies, err := policy.ParseLimits([]string{text}, policy.ByClient)
	if err != nil {
		return nil
	}
	part := policies[0].Parts[0]
	describer, ok := part.Limiter.(limit.Describer)
	if !ok {
		return nil
	}
	for _, e := range policy.Equivalents(part.Spec, describer.Shape()) {
		if e.Server != policy.Servers[0].Name || e.Setting == "" {
			continue
		}
		rate, burst, _ := strings.Cut(e.Setting, " ")
		where := "# nginx, for " + text + " (" + e.Deviation + "):"
		if action != "" {
			where = "# nginx, in the location of the action, for " + text + " (" + e.Deviation + "):"
		}
		return []string{
			where,
			"limit_req_zone $binary_remote_addr zone=perclient:10m " + rate + ";",
			strings.TrimSpace("limit_req zone=perclient "+burst) + ";",
			"limit_req_status 429;",
			"limit_req_dry_run on;   # blocks nobody: look at $limit_req_status in the log first",
		}
	}
	return nil
}

// nearestAction is a hint at the action that was likely meant.
func nearestAction(tables *traffic.Tables, action string) string {
	var names []string
	for id := range tables.Actions.Len() {
		names = append(names, tables.Actions.Name(int32(id)))
	}
	if near := limit.Nearest(action, names); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ""
}
