package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/logfile"
	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/store"
	"shadow/internal/sweep"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/report/format"
)

// Warnings are for figures that are right and yet not what was meant. The report shows them; it adds its own about
// clients that send too much.

// warnings returns what reading found unusual, and which flags came to nothing.
func (l *Logs) warnings(s *ingest.Stats) []string {
	texts := slices.Concat(l.imported, passedByName(l.found.Passed), inputWarnings(s), l.idleFlags(s), l.roomWarnings())
	if l.idle != "" {
		texts = append(texts, l.idle)
	}
	return append(texts, underWay(&l.Read, s)...)
}

// underWay tells of requests that limits on those under way do not count as the server does.
func underWay(o *ingest.Options, s *ingest.Stats) (texts []string) {
	if s.Untimed > 0 {
		texts = append(texts, fmt.Sprintf("how long %s took is not logged: that counts as under way for no time",
			format.Count(s.Untimed, "request")))
	}
	if o.Took && s.Late > 0 {
		texts = append(texts, "a request that took longer than --lateness has its key begin again, as if nothing were "+
			"under way: choose more than any takes")
	}
	return texts
}

// noUsers tells of keys by user that come to no more than clients.
func noUsers(o *ingest.Options, s *ingest.Stats) []string {
	if !o.Users || o.Tables.Users.Len() > 0 || s.Taken() == 0 {
		return nil
	}
	return []string{"no request has a user: what counts by user counts by client"}
}

// PolicyKeys returns what policies count by, each once, in their order.
func PolicyKeys(policies []policy.Policy) (keys []request.Key) {
	for _, p := range policies {
		for _, key := range p.Keys() {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// NotePaths has the paths of actions noted where something counts by action.
func NotePaths(o *ingest.Options, keys []request.Key) {
	if slices.ContainsFunc(keys, request.Key.ByActions) {
		o.Actions.NotePaths()
	}
}

// actionsNamed is the most actions that a warning names, of those that stand for several paths.
const actionsNamed = 3

// FoldedPaths tell of keys by action that count several paths as one.
func FoldedPaths(o *ingest.Options, keys []request.Key) []string {
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

// idleFlags tell of flags that left nothing out, and of those whose zone may not be the one that was meant.
func (f *Reading) idleFlags(s *ingest.Stats) []string {
	texts := slices.Clone(f.notes)
	if len(f.Exclude) > 0 && len(f.bounds()) == 0 && s.Excluded == 0 {
		texts = append(texts, "no request fits --exclude "+strings.Join(f.Exclude, ", ")+
			"; a * does not cross a slash: /health/** is all below /health/")
	}
	return texts
}

// smallBursts tell of token buckets that hold less than what they gain in a period: elsewhere a burst comes on top.
func smallBursts(policies []policy.Policy) (texts []string) {
	for _, p := range policies {
		for _, part := range p.Parts {
			held, ok := policy.Held(part.Spec)
			if !ok || held >= part.Spec.Count {
				continue
			}
			text := fmt.Sprintf("%s holds %d in all, fewer than the %d of a period, and is stricter than it would be without "+
				"burst=; a burst of nginx comes on top", part.Spec, held, part.Spec.Count)
			if !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// countsRequests tells of costs in the configuration where figures do not go by them.
func (p *Pipeline) countsRequests() []string {
	var names []string
	for _, set := range p.Config.Policies {
		if slices.ContainsFunc(set.Policies, policy.Policy.Weighed) {
			names = append(names, set.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the configuration has policies with costs (%s), and these figures count each request as one; "+
		"`shadow sweep --policy NAME` goes by costs", strings.Join(names, ", "))}
}

// thinCurves tells of curves that are too long to be stored whole.
func thinCurves(result *sweep.Result) []string {
	long := 0
	for _, c := range result.Curves {
		if len(c.Points) > store.MostPoints {
			long++
		}
	}
	if long == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d curves change at more than %d limits; the database holds a selection of them, "+
		"--output json and csv of shadow sweep have all", long, len(result.Curves), store.MostPoints)}
}

// actionWarnings are about --action: what is taken for it, and that none of the requests read is of it.
func (l *Logs) actionWarnings(asked, meant string, requests int64, s *ingest.Stats) []string {
	texts := l.takenFor("action", asked, meant)
	if asked != "" && requests == 0 && s.Taken() > s.Warm {
		texts = append(texts, fmt.Sprintf("no request is of action %q", asked))
	}
	return texts
}

// takenFor says that a name of an action was taken for others, and which one like it has more requests.
func (l *Logs) takenFor(flag, name, meant string) (texts []string) {
	actions := l.Read.Tables.Actions
	all := match.ResolveAction(actions, meant)
	switch {
	case len(all) > 1:
		texts = append(texts, fmt.Sprintf("--%s %s is taken for %s (%s) and %s (%s), judged as one", flag, name, all[0],
			format.Count(l.requestsOf(all[0]), "request"), all[1], format.Count(l.requestsOf(all[1]), "request")))
	case name != meant:
		texts = append(texts, fmt.Sprintf("--%s %s is taken for %s", flag, name, meant))
	}
	if name == "" {
		return nil
	}
	more := slices.DeleteFunc(match.NearestActions(actions, meant), func(near string) bool {
		return slices.Contains(all, near) || l.requestsOf(near) <= l.requestsOf(meant)
	})
	if named := l.mostRequested(more); named != "" {
		texts = append(texts, fmt.Sprintf("%s has %s; more are of %s: --%s %s", meant, format.Count(l.requestsOf(meant), "request"), named,
			flag, more[0]))
	}
	return texts
}

// anonymousClients tells of requests that are of no client in particular. Those without what --client asks for are the
// client "-". Many people are behind it, and a limit by client has them share one bucket.
func (l *Logs) anonymousClients() []string {
	n := l.look.Anonymous()
	if n == 0 {
		return nil
	}
	text := fmt.Sprintf("%d requests have no %s: they are judged as one client, -", n, l.Client)
	if l.Client == "user" {
		text += ", whatever their address; as a key of replay, sweep and keys (--by user), " +
			"user counts these by their address"
	}
	return []string{text}
}

// What is unusual about files, and about what their lines came to.

// filesNamed is the most files of a directory that are passed over by name; the others are counted.
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

// inputWarnings returns what reading found unusual.
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
	for _, err := range s.Passed { // its name, and the reason without details
		reason := ""
		if cause := errors.Unwrap(err); cause != nil {
			reason = cause.Error()
		}
		name := strings.TrimSuffix(strings.TrimSuffix(err.Error(), reason), ": ")
		reason, _, _ = strings.Cut(reason, "\n")
		passed.add(name, reason)
	}
	texts := slices.Concat(copyWarnings(s.Copies), c.all())
	texts = mapped.Add(texts, passed.all(), func(text string) string { return "passed over: " + text })
	return append(texts, unlikelyNotHTTP(s)...)
}

// copiesNamed is the most copies that a warning names; the others are counted, and JSON has all.
const copiesNamed = 20

// copyWarnings name the files that are not read because others hold their lines, and those of which that is not
// certain.
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
		texts = append(texts, fmt.Sprintf("%s begins as %s does%s: too short to prove a copy, so their lines count; leave "+
			"out what is one",
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

// unlikelyNotHTTP warns of skipped lines that may be requests all the same, in another writing than the format's: most
// lines are skipped, or the server has answered some as it answers requests.
func unlikelyNotHTTP(s *ingest.Stats) []string {
	skipped := s.NotHTTP.Lines()
	if s.JudgesNotHTTP || skipped == 0 {
		return nil
	}
	all, answered := s.Parsed-s.Excluded, int64(0)
	for _, n := range s.NotHTTP {
		if n.Status >= 200 && n.Status < 400 {
			answered += n.Lines
		}
	}
	const advice = "if the log writes requests in another way, state its --format; " +
		"--not-http judge takes these lines for requests"
	switch {
	case 100*answered > all:
		return []string{fmt.Sprintf("%d of %d lines have no request line of HTTP and are not judged, though the server "+
			"answered %d of them with a status "+
			"from 200 to 399: %s", skipped, all, answered, advice)}
	case 2*skipped > all:
		return []string{fmt.Sprintf("%d of %d lines have no request line of HTTP and are not judged: "+
			"%s", skipped, all, advice)}
	}
	return nil
}

// A collector gathers texts about inputs, each once: "a.log.gz, and 3 more: truncated gzip".
type collector struct {
	texts  []string
	inputs map[string][]string // by text
}

func (c *collector) add(input, text string) {
	if c.inputs == nil {
		c.inputs = map[string][]string{}
	}
	if c.inputs[text] == nil {
		c.texts = append(c.texts, text)
	}
	c.inputs[text] = append(c.inputs[text], input)
}

func (c *collector) addProblem(in *ingest.InputStats) {
	if in.Problem != "" {
		c.add(in.Name, in.Problem)
	}
}

func (c *collector) all() (all []string) {
	for _, text := range c.texts {
		inputs := c.inputs[text][0]
		if more := len(c.inputs[text]) - 1; more > 0 {
			inputs += fmt.Sprintf(", and %d more", more)
		}
		all = append(all, inputs+": "+text)
	}
	return all
}

// roomWarnings say that there was no room for what further passes want.
func (l *Logs) roomWarnings() (texts []string) {
	if l.lost != nil {
		texts = append(texts, fmt.Sprintf("requests wait in memory for further passes: %v; "+
			"the variable TMPDIR names another folder", l.lost))
	}
	return texts
}
