package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"shadow/internal/logfile"
	"shadow/internal/mapped"
	"shadow/internal/pipeline/flagvalue"
	"shadow/internal/policy"
	"shadow/internal/store"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/replay"
)

// A replay with --resume goes on where the last one of its name stopped: it reads what has come to the logs since, its
// limits remember what they remembered, and the requests that were held back because older ones might still come are
// judged now.
//
//	state ──▶ what is to be read, what limits remember ──▶ replay ──▶ run + state, in one step

// ResumeWords lists the values of Replay.Resume: with the options of last time, with others as well, as if there had
// been no last time.
var ResumeWords = []string{resumeOn, resumeAnyway, resumeFresh}

const (
	resumeOn     = "on"
	resumeAnyway = "anyway"
	resumeFresh  = "fresh"
)

// verifyResume looks whether the logs can be gone on with.
func (r *Replay) verifyResume(logs []string) error {
	if r.Resume == "" {
		return nil
	}
	if slices.Contains(logs, standardInput) {
		return Usage("--resume: standard input has no place in it to go on from; name files")
	}
	if i := slices.IndexFunc(logs, logfile.IsObject); i >= 0 {
		return Usage("--resume: %s: objects do not grow, so none is read on from where reading stopped; "+
			"leave out --resume and name the new ones, such as s3://bucket/logs/2026-11-25/", logs[i])
	}
	return nil
}

// errNothingNew ends a run that has read no line: there is nothing to keep.
var errNothingNew = errors.New("nothing new")

// A resumption is a replay that goes on.
type resumption struct {
	name    string
	how     string
	options resumeOptions
	now     limit.Time

	last    *store.State // nil: there was none
	before  resumeHead   // of the last state
	plan    *logfile.Resume
	ranges  []logfile.Range
	notes   []string
	carried *traffic.Decoder // what the last state remembers; nil: nothing
	next    *store.State
}

// resumeHead holds what a state says for people, and before anything else is read.
type resumeHead struct {
	Version int           `json:"version"` // of all that follows, and of the body
	Options resumeOptions `json:"options"`
	Since   *limit.Time   `json:"since_us,omitempty"` // what lies before it warms the limits only
	Held    int64         `json:"held"`               // requests held back

	Stamps traffic.Coarseness `json:"stamps"` // that the bounds of a band went by
}

// begin finds out what is to be read, and with what the limits begin. Without a run, nothing is kept of it: the next
// replay begins in the same place.
func (c *resumption) begin(ctx context.Context, run *store.Run, r *Replay) error {
	var saved []logfile.SavedLog
	if c.how != resumeFresh {
		last := func(name string) (*store.State, error) { return store.LastState(r.DB, name) }
		if run != nil {
			last = run.LastState
		}
		if err := c.recall(last, &saved); err != nil {
			return err
		}
	}
	var err error
	if c.plan, err = logfile.Plan(ctx, r.found.Names, saved); err != nil {
		return err
	}
	known := func(l logfile.ResumeLog) bool { return l.Saved != nil && l.Given }
	if len(saved) > 0 && !slices.ContainsFunc(c.plan.Logs, known) { // none that was read the last time
		names := mapped.Of(saved[:min(len(saved), filesNamed)], func(l logfile.SavedLog) string { return l.Name })
		return Usage("--resume: none of the logs read by run %d (%s) were given; "+
			"use --resume-as NAME for a different set of logs",
			c.last.Run, strings.Join(names, ", "))
	}
	c.notes, r.missing = slices.Concat(c.notes, c.plan.Notes, c.plan.Lost), c.plan.Lost
	r.tellCopies(c.plan.Copies)
	c.ranges = c.plan.Ranges()
	r.found.Names = mapped.Add(nil, c.ranges, func(p logfile.Range) string { return p.Name })
	r.sparse = c.last != nil // a log that has not grown since is no fault
	c.prepare(r, len(saved))
	return nil
}

// recall reads the last state.
func (c *resumption) recall(last func(string) (*store.State, error), saved *[]logfile.SavedLog) (err error) {
	if c.last, err = last(c.name); err != nil || c.last == nil {
		return err
	}
	if err = json.Unmarshal([]byte(c.last.Options), &c.before); err == nil {
		err = json.Unmarshal([]byte(c.last.Logs), saved)
	}
	if err != nil {
		return fmt.Errorf("--resume: the state %s makes no sense: %w; --resume=fresh starts over", c.name, err)
	}
	if c.before.Version != traffic.TraceVersion {
		return fmt.Errorf("--resume: run %d, which is to be gone on with, is of a shadow that remembers other things; "+
			"--resume=fresh starts over", c.last.Run)
	}
	changes := c.options.changes(c.before.Options)
	if len(changes) > 0 && c.how != resumeAnyway {
		return Usage("--resume: run %d, which is to be gone on with, had other options:\n%s"+
			"Say those again; or --resume=anyway: limits that are the same keep what they remember, others begin with "+
			"nothing, and no line is read twice;\n"+
			"or --resume-as NAME, to go on with both apart; or --resume=fresh, to read all that is given from its beginning",
			c.last.Run, changes.text())
	}
	return nil
}

// prepare tells the reader how to go on.
func (c *resumption) prepare(r *Replay, logs int) {
	resume := &ingest.Resume{Ranges: c.ranges, Logs: logs, Now: c.now, Stamps: c.before.Stamps}
	r.Read.Resume = resume
	if r.Read.HasUntil { // lines are read once: what lies behind waits for the next replay
		resume.Until, r.Read.HasUntil = r.Read.Until, false
	}
	if c.last == nil {
		return
	}
	changes := c.options.changes(c.before.Options)
	c.carried = traffic.NewDecoder(c.last.Body, r.Read.Tables, r.Read.Actions.Named)
	resume.Carried = c.carried
	if resume.Drop = changes.touch(ofRequests); resume.Drop && c.before.Held > 0 {
		c.notes = append(c.notes, fmt.Sprintf("--resume=anyway: %d requests that run %d held back do not fit the new "+
			"options, and are in no run", c.before.Held, c.last.Run))
	}
	if r.Band && slices.ContainsFunc(changes, func(x resumeChange) bool { return x.name == "--band" }) {
		c.notes = append(c.notes, "--resume=anyway: no band was kept before, so what the bounds remember begins with this run")
	}
	r.Read.HasSince = c.before.Since != nil
	if r.Read.HasSince {
		r.Read.Since = *c.before.Since
	}
}

// restore gives the limits what they remembered.
func (c *resumption) restore(engine *replay.Engine, reader *ingest.Reader) error {
	if c == nil || c.carried == nil {
		return nil
	}
	from := c.carried
	if !c.options.changes(c.before.Options).touch(ofClients) {
		engine.Expect(reader.Stamps())
		engine.Restore(from)
		from.End()
	}
	if err := from.Err(); err != nil {
		return fmt.Errorf("--resume: the state %s is damaged: %w; --resume=fresh starts over", c.name, err)
	}
	return nil
}

// leave makes the state that the next replay continues with. The reader must have come to its end.
func (c *resumption) leave(read *ingest.Options, reader *ingest.Reader, engine *replay.Engine) error {
	if c == nil {
		return nil
	}
	stats := reader.Stats()
	head := resumeHead{Version: traffic.TraceVersion, Options: c.options, Held: stats.Held}
	if read.Band {
		head.Stamps = reader.Stamps()
	}
	if read.HasSince {
		head.Since = &read.Since
	}
	options, err := json.Marshal(head)
	if err != nil {
		return err
	}
	logs, err := json.Marshal(c.plan.Save(c.ranges, reader.Resumed()))
	if err != nil {
		return err
	}
	var body bytes.Buffer
	to := traffic.NewEncoder(read.Tables, &body)
	reader.Save(to)
	engine.Save(to)
	if err := to.Flush(); err != nil {
		return err
	}
	c.next = &store.State{
		Name: c.name, Written: limit.Time(time.Now().UnixMicro()), Options: string(options), Logs: string(logs),
		Body: body.Bytes(),
	}
	return nil
}

// What a replay was told has to be the same for its limits to go on: else what they remember was reached by other
// rules. Each of these options says what a change of it makes useless.

// A resumeOption is one of them, as text.
type resumeOption struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type resumeOptions []resumeOption

// What an option is about.
const (
	ofLimits   = "limits"   // what limits remember is found by the limit: others begin with nothing
	ofLines    = "lines"    // which lines are requests, and of when
	ofRequests = "requests" // what is known of a request that is held back
	ofClients  = "clients"  // who a client is, and with it what all limits remember
)

// resumeSubjects say what each option is about.
var resumeSubjects = map[string][]string{
	"limits": {ofLimits}, "--band": {ofLimits}, "--lateness": {ofLines}, "--format": {ofLines}, "--nginx-conf": {ofLines},
	"--log-name": {ofLines}, "--field": {ofLines},
	"--timezone": {ofLines}, "--exclude": {ofLines}, "--exclude-status": {ofLines}, "--not-http": {ofLines},
	"--client": {ofRequests, ofClients}, "--client-from": {ofRequests, ofClients},
	"--trusted-proxy": {ofRequests, ofClients},
	"actions":         {ofRequests}, "scopes": {ofRequests}, "columns": {ofRequests},
}

// resumeOptions are the options of this replay. Who is in a tier may change from night to night, as with a server: it
// does not count among them. What an action is matters where limits go by actions.
func (r *Replay) resumeOptions() resumeOptions {
	columns := fmt.Sprintf("hosts %t, users %t", r.Read.Hosts, r.Read.Users)
	if r.Read.Paths { // named only where they are, as they came later
		columns += ", paths true"
	}
	if r.Read.NginxPaths {
		columns += ", paths of nginx"
	}
	if len(r.Read.Tables.Parts) > 0 {
		columns += fmt.Sprintf(", values %v", r.Read.Tables.Parts)
	}
	actions := ""
	if slices.ContainsFunc(r.Policies, func(p policy.Policy) bool {
		return slices.ContainsFunc(p.Parts, func(part policy.Part) bool {
			return slices.Max(part.Scopes()) > 0 || strings.Contains(part.By.String(), "action")
		})
	}) {
		actions = fingerprint(r.Config.Actions)
		if strings.Contains(strings.Trim(r.Asked, "/"), "/") { // it may be taken out of another one
			actions += " " + r.Asked
		}
	}
	band := ""
	if r.Band {
		band = "stated"
	}
	return resumeOptions{
		{"limits", strings.Join(policyTexts(r.Policies), "; ")},
		{"--band", band},
		{"--client", r.Client},
		{"--client-from", r.ClientFrom},
		{"--trusted-proxy", strings.Join(r.Trusted, ",")},
		{"--exclude", strings.Join(r.Exclude, " ")},
		{"--exclude-status", strings.Join(r.ExcludeStatus, ",")},
		{"--not-http", flagvalue.NotHTTPWords[r.NotHTTP]},
		{"--lateness", limit.FormatPeriod(r.Lateness)},
		{"--format", r.Format},
		{"--nginx-conf", r.NginxConf},
		{"--log-name", r.LogName},
		{"--field", r.Fields},
		{"--timezone", r.Timezone.String()},
		{"actions", actions},
		{"scopes", fingerprint(r.Config.Scopes)},
		{"columns", columns},
	}
}

// policyTexts say what each policy is.
func policyTexts(policies []policy.Policy) (texts []string) {
	for _, p := range policies {
		var parts []string
		for _, part := range p.Parts {
			text := part.Spec.String() + " by " + part.By.String()
			if part.MatchText != "" {
				text += " for " + part.MatchText
			}
			if part.CountText != "" {
				text += " counting " + part.CountText
			}
			parts = append(parts, text)
		}
		text := strings.Join(parts, " + ")
		if p.Combine != policy.Together {
			text = p.Combine.String() + ": " + text
		}
		texts = append(texts, text)
	}
	return texts
}

// fingerprint is a short text that is another one when things are.
func fingerprint(thing any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", thing))
	return fmt.Sprintf("%x", sum[:8])
}

// A resumeChange is an option that is not as it was.
type resumeChange struct{ name, before, now string }

type resumeChanges []resumeChange

// changes are the options that were others before.
func (o resumeOptions) changes(before resumeOptions) (all resumeChanges) {
	for _, now := range o {
		was := ""
		if i := slices.IndexFunc(before, func(b resumeOption) bool { return b.Name == now.Name }); i >= 0 {
			was = before[i].Value
		}
		if was != now.Value {
			all = append(all, resumeChange{now.Name, was, now.Value})
		}
	}
	return all
}

// touch reports whether a change is about something.
func (c resumeChanges) touch(subject string) bool {
	return slices.ContainsFunc(c, func(x resumeChange) bool { return slices.Contains(resumeSubjects[x.name], subject) })
}

// text says what is not as it was, a line each.
func (c resumeChanges) text() string {
	var lines strings.Builder
	for _, x := range c {
		switch x.name {
		case "actions", "scopes":
			fmt.Fprintf(&lines, "  %s of the configuration: changed\n", x.name)
		case "columns": // follows from the limits
		default:
			fmt.Fprintf(&lines, "  %s: %s, now %s\n", x.name, cmp.Or(x.before, "(none)"), cmp.Or(x.now, "(none)"))
		}
	}
	return lines.String()
}
