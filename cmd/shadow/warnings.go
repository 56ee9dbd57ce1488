package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"shadow/logfile"
	"shadow/policy"
	"shadow/request"
	"shadow/traffic/ingest"
)

// Warnings are for figures that are right and yet not what was meant. The report shows them; it adds its own about
// clients that send too much.

// warnings are what reading found odd, and flags that came to nothing.
func (r *replayRun) warnings(s *ingest.Stats) []string {
	texts := slices.Concat(passedByName(r.found.Passed), inputWarnings(s), r.idleFlags(s), idleScopes(r.policies, s))
	if r.resumed != nil {
		texts = append(texts, r.resumed.notes...)
	}
	if r.curves != nil {
		texts = append(texts, thinCurves(r.curves)...)
	}
	texts = append(texts, noUsers(&r.reading, s)...)
	return append(texts, foldedPaths(&r.reading, policyKeys(r.policies))...)
}

// noUsers tells of keys by user that come to no more than clients.
func noUsers(o *ingest.Options, s *ingest.Stats) []string {
	if !o.Users || o.Tables.Users.Len() > 0 || s.Taken() == 0 {
		return nil
	}
	return []string{"no request has a user: what counts by user counts by client"}
}

// policyKeys are what policies count by, each once, in their order.
func policyKeys(policies []policy.Policy) (keys []request.Key) {
	for _, p := range policies {
		for _, key := range p.Keys() {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// notePaths has the paths of actions noted where something counts by action.
func notePaths(o *ingest.Options, keys []request.Key) {
	if slices.ContainsFunc(keys, request.Key.ByActions) {
		o.Actions.NotePaths()
	}
}

// actionsNamed is how many of the actions that stand for several paths a warning names.
const actionsNamed = 3

// foldedPaths tells of keys by action that count several paths as one.
func foldedPaths(o *ingest.Options, keys []request.Key) []string {
	folded, more := o.Actions.Folded()
	if len(folded) == 0 {
		return nil
	}
	var named, actions []string
	for _, key := range keys {
		if key.ByActions() {
			named = append(named, key.String())
		}
	}
	paths, atLeast := 0, ""
	for i, f := range folded {
		if paths += f.Paths; i < actionsNamed {
			actions = append(actions, fmt.Sprintf("%s for %d", f.Action, f.Paths))
		}
	}
	if len(folded) > actionsNamed {
		actions = append(actions, "…")
	}
	if more {
		atLeast = "at least "
	}
	stand := "actions stand"
	if len(folded) == 1 {
		stand = "action stands"
	}
	return []string{fmt.Sprintf("what counts by %s counts several paths as one: %d %s for %s%d paths (%s); "+
		"a server that counts by path refuses less: see the key client+path",
		strings.Join(named, ", "), len(folded), stand, atLeast, paths, strings.Join(actions, ", "))}
}

// idleFlags tell of flags that left everything out, or nothing, and of those whose zone may not be the one that was meant.
func (f *readingFlags) idleFlags(s *ingest.Stats) []string {
	bounded := f.since != "" || f.until != ""
	texts := slices.Clone(f.notes)
	if bounded && s.Taken() == s.Warm {
		texts = append(texts, "no request lies in the time of "+f.bounds()+": `shadow parse LOG` shows the times of the first lines")
	}
	if len(f.exclude) > 0 && !bounded && s.Excluded == 0 {
		texts = append(texts, "no request fits --exclude "+strings.Join(f.exclude, ", ")+
			"; a * does not cross a slash: /health/** is all below /health/")
	}
	return texts
}

// idleScopes tell of limits that concern no request: what they go by may be misspelt.
func idleScopes(policies []policy.Policy, s *ingest.Stats) (texts []string) {
	if s.Taken() == 0 {
		return nil
	}
	for _, p := range policies {
		for _, part := range p.Parts {
			if idle(part.Match, s) {
				texts = append(texts, fmt.Sprintf("policy %s: no request is one that %s may refuse (%s)", p.Name, part.Spec, part.MatchText))
			} else if idle(part.Count, s) {
				texts = append(texts, fmt.Sprintf("policy %s: no request is one that %s counts (%s)", p.Name, part.Spec, part.CountText))
			}
		}
	}
	return texts
}

// idle reports whether no request is in a scope.
func idle(scope policy.Scope, s *ingest.Stats) bool {
	return scope > 0 && s.Marked>>(scope-1)&1 == 0
}

// bounds are --since and --until as they were given.
func (f *readingFlags) bounds() string {
	var texts []string
	if f.since != "" {
		texts = append(texts, "--since "+f.since)
	}
	if f.until != "" {
		texts = append(texts, "--until "+f.until)
	}
	return strings.Join(texts, " ")
}

// filesNamed is how many files of a directory are passed over by name; the others are counted.
const filesNamed = 3

// passedByName tell of files in directories that were not even looked at.
func passedByName(passed []logfile.PassedOver) []string {
	texts := make([]string, len(passed))
	for i, p := range passed {
		text := "passed over %d files in %s that are no access logs by their names: %s; name a file to read it anyway"
		if len(p.Files) == 1 {
			text = "passed over %d file in %s that is no access log by its name: %s; name it to read it anyway"
		}
		some := strings.Join(p.Files[:min(len(p.Files), filesNamed)], ", ")
		if len(p.Files) > filesNamed {
			some += ", …"
		}
		texts[i] = fmt.Sprintf(text, len(p.Files), p.Dir, some)
	}
	return texts
}

// inputWarnings are what reading found odd.
func inputWarnings(s *ingest.Stats) []string {
	var c collector
	for i := range s.Inputs {
		in := &s.Inputs[i]
		for _, text := range in.Warnings {
			c.add(in.Name, text)
		}
		c.addProblem(in)
	}
	var passed collector
	for _, err := range s.Passed {
		passed.add(passedOver(err))
	}
	texts := slices.Concat(copyWarnings(s.Copies), c.all())
	for _, text := range passed.all() {
		texts = append(texts, "passed over: "+text)
	}
	return append(texts, unlikelyNotHTTP(s)...)
}

// copiesNamed is how many copies a warning names; the others are counted, and JSON has all.
const copiesNamed = 20

// copyWarnings name the files that are not read because others hold their lines, and those of which that is not certain.
func copyWarnings(c logfile.Copies) (texts []string) {
	switch n := len(c.Found); {
	case n == 1:
		texts = append(texts, "1 file is a copy and is not read: "+copiesText(c.Found))
	case n > 1:
		texts = append(texts, fmt.Sprintf("%d files are copies and are not read: %s", n, copiesText(c.Found)))
	}
	if n := len(c.Doubts); n > 0 {
		others := ""
		if n > 1 {
			others = fmt.Sprintf(", and %d more files begin alike", n-1)
		}
		texts = append(texts, fmt.Sprintf("%s begins as %s does%s: too short to prove a copy, so their lines count; leave out what is one",
			c.Doubts[0].Name, c.Doubts[0].Of, others))
	}
	return texts
}

// copiesText lists copies.
func copiesText(found []logfile.Copy) string {
	texts := make([]string, 0, copiesNamed)
	for _, c := range found[:min(len(found), copiesNamed)] {
		what := map[logfile.How]string{
			logfile.SameFile: "another name of", logfile.SameLines: "the same as", logfile.Beginning: "the beginning of",
		}[c.How]
		texts = append(texts, fmt.Sprintf("%s (%s %s)", c.Name, what, c.Of))
	}
	text := strings.Join(texts, ", ")
	if more := len(found) - copiesNamed; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// nothingRead is an error if the inputs gave no line at all and damage is why: then there is nothing to report. As long
// as one gave a line, what is wrong with the others is a warning.
func nothingRead(s *ingest.Stats) error {
	var c collector
	for i := range s.Inputs {
		c.addProblem(&s.Inputs[i])
	}
	if s.Lines > 0 || c.texts == nil {
		return nil
	}
	return fmt.Errorf("no line could be read: %s", strings.Join(c.all(), "; "))
}

// passedOver takes apart why an input was passed over: its name, and the reason without details.
func passedOver(err error) (name, reason string) {
	text := err.Error()
	if cause := errors.Unwrap(err); cause != nil {
		reason = cause.Error()
	}
	name = strings.TrimSuffix(strings.TrimSuffix(text, reason), ": ")
	reason, _, _ = strings.Cut(reason, "\n")
	return name, reason
}

// A collector gathers texts about inputs, each once: "a.log.gz, and 3 more: truncated gzip".
type collector struct {
	texts []string
	first map[string]string // by text: the input that it came with first
	more  map[string]int    // by text: how many others
}

func (c *collector) add(input, text string) {
	if c.first == nil {
		c.first, c.more = map[string]string{}, map[string]int{}
	}
	if _, seen := c.first[text]; seen {
		c.more[text]++
		return
	}
	c.first[text] = input
	c.texts = append(c.texts, text)
}

func (c *collector) addProblem(in *ingest.InputStats) {
	if in.Problem != "" {
		c.add(in.Name, in.Problem)
	}
}

func (c *collector) all() []string {
	var all []string
	for _, text := range c.texts {
		inputs := c.first[text]
		if n := c.more[text]; n > 0 {
			inputs += fmt.Sprintf(", and %d more", n)
		}
		all = append(all, inputs+": "+text)
	}
	return all
}
