package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"shadow/limit"
	"shadow/logfile"
	"shadow/replay"
	"shadow/store"
	"shadow/traffic"
	"shadow/traffic/ingest"
)

// A replay with --resume goes on where the last one of its name stopped: it reads what has come to the logs since, its
// limits remember what they remembered, and the requests that were held back because older ones might still come are
// judged now.
//
//	state ──▶ what is to be read, what limits remember ──▶ replay ──▶ run + state, in one transaction

// ResumeWords are what Replay.Resume may be: with the options of last time, with others as well, as if there had been
// no last time.
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

// resumeHead is what a state says for people, and before anything else is read.
type resumeHead struct {
	Version int           `json:"version"` // of all that follows, and of the body
	Options resumeOptions `json:"options"`
	Since   *limit.Time   `json:"since_us,omitempty"` // what lies before it warms the limits only
	Held    int64         `json:"held"`               // requests held back
}

// stateVersion is that of the states that this shadow writes, and can read.
const stateVersion = 2

// begin finds out what is to be read, and with what the limits begin.
func (c *resumption) begin(ctx context.Context, run *store.Run, r *Replay) error {
	var saved []logfile.SavedLog
	if c.how != resumeFresh {
		if err := c.recall(run, &saved); err != nil {
			return err
		}
	}
	var err error
	if c.plan, err = logfile.Plan(ctx, r.found.Names, saved); err != nil {
		return err
	}
	known := func(l logfile.ResumeLog) bool { return l.Saved != nil && l.Given }
	if len(saved) > 0 && !slices.ContainsFunc(c.plan.Logs, known) { // none that was read the last time
		var names []string
		for _, l := range saved[:min(len(saved), filesNamed)] {
			names = append(names, l.Name)
		}
		return Usage("--resume: none of the logs read by run %d (%s) were given; use --resume-as NAME for a different set of logs",
			c.last.Run, strings.Join(names, ", "))
	}
	c.notes = append(c.notes, c.plan.Notes...)
	r.tellCopies(c.plan.Copies)
	c.ranges = c.plan.Ranges()
	r.found.Names = nil
	for _, p := range c.ranges {
		r.found.Names = append(r.found.Names, p.Name)
	}
	c.prepare(r, len(saved))
	return nil
}

// recall reads the last state.
func (c *resumption) recall(run *store.Run, saved *[]logfile.SavedLog) (err error) {
	if c.last, err = run.State(c.name); err != nil || c.last == nil {
		return err
	}
	if err = json.Unmarshal([]byte(c.last.Options), &c.before); err == nil {
		err = json.Unmarshal([]byte(c.last.Logs), saved)
	}
	if err != nil {
		return fmt.Errorf("--resume: the state %s makes no sense: %w; --resume=fresh starts over", c.name, err)
	}
	if c.before.Version != stateVersion {
		return fmt.Errorf("--resume: run %d, which is to be gone on with, is of a shadow that remembers other things; --resume=fresh starts over", c.last.Run)
	}
	changes := c.options.changes(c.before.Options)
	if len(changes) > 0 && c.how != resumeAnyway {
		return Usage("--resume: run %d, which is to be gone on with, had other options:\n%s"+
			"Say those again; or --resume=anyway: limits that are the same keep what they remember, others begin with nothing, and no line is read twice;\n"+
			"or --resume-as NAME, to go on with both apart; or --resume=fresh, to read all that is given from its beginning",
			c.last.Run, changes.text())
	}
	return nil
}

// prepare tells the reader how to go on.
func (c *resumption) prepare(r *Replay, logs int) {
	resume := &ingest.Resume{Ranges: c.ranges, Logs: logs, Now: c.now}
	r.Read.Resume = resume
	if c.last == nil {
		return
	}
	changes := c.options.changes(c.before.Options)
	c.carried = traffic.NewDecoder(c.last.Body, r.Read.Tables, r.Read.Actions.Named)
	resume.Carried = c.carried
	if resume.Drop = changes.touch(ofRequests); resume.Drop && c.before.Held > 0 {
		c.notes = append(c.notes, fmt.Sprintf("--resume=anyway: %d requests that run %d held back do not fit the new options, and are in no run", c.before.Held, c.last.Run))
	}
	r.Read.HasSince = c.before.Since != nil
	if r.Read.HasSince {
		r.Read.Since = *c.before.Since
	}
}

// restore gives the limits what they remembered.
func (c *resumption) restore(engine *replay.Engine) error {
	if c == nil || c.carried == nil {
		return nil
	}
	from := c.carried
	if !c.options.changes(c.before.Options).touch(ofClients) {
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
	head := resumeHead{Version: stateVersion, Options: c.options, Held: stats.Held}
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
		Name: c.name, Written: limit.Time(time.Now().UnixMicro()), Options: string(options), Logs: string(logs), Body: body.Bytes(),
	}
	return nil
}
