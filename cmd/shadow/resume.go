package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"shadow/limit"
	"shadow/parse"
	"shadow/replay"
	"shadow/store"
	"shadow/traffic"
)

// A replay with --resume goes on where the last one of its name stopped: it reads what has come to the logs since, its limits
// remember what they remembered, and the requests that were held back because older ones might still come are judged now.
//
//	state ──▶ what is to be read, what limits remember ──▶ replay ──▶ run + state, in one transaction

// resumeFlags are the options for that.
type resumeFlags struct {
	resume   string // "": not wanted
	resumeAs string
}

// What --resume may be.
const (
	resumeOn     = "on"     // with the options of last time
	resumeAnyway = "anyway" // with others as well
	resumeFresh  = "fresh"  // as if there had been no last time
)

func (f *resumeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.resume, "resume", "", "judge only what has come to the logs since the last replay with --resume, and go on with its limits; `how`: on, anyway (with other options than then), fresh (from the beginning)")
	flags.Lookup("resume").NoOptDefVal = resumeOn
	flags.StringVar(&f.resumeAs, "resume-as", "replay", "`name` of what is gone on with, where a database serves several replays with --resume")
	completeWords(cmd, "resume", resumeOn, resumeAnyway, resumeFresh)
}

// verifyResume looks whether the flags go with the others.
func (f *replayFlags) verifyResume(cmd *cobra.Command, logs []string) error {
	if f.resume == "" {
		if cmd.Flags().Changed("resume-as") {
			return usage("--resume-as is of use with --resume only")
		}
		return nil
	}
	if !slices.Contains([]string{resumeOn, resumeAnyway, resumeFresh}, f.resume) {
		return usage("--resume=%s: want on, anyway or fresh", f.resume)
	}
	if err := store.CheckStateName(f.resumeAs); err != nil {
		return usage("--resume-as %q: %w", f.resumeAs, err)
	}
	switch {
	case f.noStore:
		return usage("--resume keeps in the database where to go on, and --no-store keeps nothing: state one")
	case f.band:
		return usage("--resume and --band: state one: where a band places requests is not kept from night to night")
	case f.redisFlags.inUse():
		return usage("--resume and --redis: state one: what Redis remembers is not kept from night to night")
	case slices.Contains(logs, "-"):
		return usage("--resume: standard input has no place in it to go on from; name files")
	case f.until != "":
		return usage("--resume reads each line once: what --until leaves out would be lost")
	}
	return nil
}

// A resumption is a replay that goes on.
type resumption struct {
	name    string
	how     string
	options resumeOptions
	now     limit.Time

	last    *store.State // nil: there was none
	before  resumeHead   // of the last state
	sequel  *parse.Sequel
	parts   []parse.Part
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
const stateVersion = 1

// newResumption is nil unless --resume is given.
func (r *replayRun) newResumption() *resumption {
	if r.resume == "" {
		return nil
	}
	return &resumption{name: r.resumeAs, how: r.resume, options: r.resumeOptions(), now: limit.Time(r.started.UnixMicro())}
}

// begin finds out what is to be read, and with what the limits begin.
func (c *resumption) begin(run *store.Run, r *replayRun) error {
	var saved []parse.SavedLog
	if c.how != resumeFresh {
		if err := c.recall(run, &saved); err != nil {
			return err
		}
	}
	var err error
	if c.sequel, err = parse.Continue(r.found.Names, saved); err != nil {
		return err
	}
	if err := c.checkLogs(saved); err != nil {
		return err
	}
	c.notes = append(c.notes, c.sequel.Notes...)
	c.parts = c.sequel.Parts()
	r.found.Names = nil
	for _, p := range c.parts {
		r.found.Names = append(r.found.Names, p.Name)
	}
	return c.prepare(r, len(saved))
}

// recall reads the last state.
func (c *resumption) recall(run *store.Run, saved *[]parse.SavedLog) (err error) {
	if c.last, err = run.State(c.name); err != nil || c.last == nil {
		return err
	}
	if err = json.Unmarshal([]byte(c.last.Options), &c.before); err == nil {
		err = json.Unmarshal([]byte(c.last.Logs), saved)
	}
	if err != nil {
		return fmt.Errorf("--resume: the state %s makes no sense: %w; --resume=fresh begins anew", c.name, err)
	}
	if c.before.Version != stateVersion {
		return fmt.Errorf("--resume: run %d, which is to be gone on with, is of a shadow that remembers other things; --resume=fresh begins anew", c.last.Run)
	}
	changes := c.options.changes(c.before.Options)
	if len(changes) > 0 && c.how != resumeAnyway {
		return usage("--resume: run %d, which is to be gone on with, had other options:\n%s"+
			"Say those again; or --resume=anyway: limits that are the same keep what they remember, others begin with nothing, and no line is read twice;\n"+
			"or --resume-as NAME, to go on with both apart; or --resume=fresh, to read all that is given from its beginning",
			c.last.Run, changes.text())
	}
	return nil
}

// checkLogs wants some log that was read the last time.
func (c *resumption) checkLogs(saved []parse.SavedLog) error {
	if len(saved) == 0 || slices.ContainsFunc(c.sequel.Logs, func(l parse.SequelLog) bool { return l.Saved != nil && l.Given }) {
		return nil
	}
	names := make([]string, 0, len(saved))
	for _, l := range saved {
		names = append(names, l.Name)
	}
	return usage("--resume: run %d, which is to be gone on with, has read %s, of which nothing is given now; --resume-as NAME keeps other logs apart",
		c.last.Run, strings.Join(names[:min(len(names), filesNamed)], ", "))
}

// prepare tells the reader how to go on.
func (c *resumption) prepare(r *replayRun, logs int) error {
	resume := &traffic.Resume{Parts: c.parts, Logs: logs, Now: c.now}
	r.reading.Resume = resume
	if c.last == nil {
		return nil
	}
	changes := c.options.changes(c.before.Options)
	c.carried = traffic.NewDecoder(c.last.Body, r.reading.Tables, r.reading.Actions)
	resume.Carried = c.carried
	if resume.Drop = changes.touch(ofRequests); resume.Drop && c.before.Held > 0 {
		c.notes = append(c.notes, fmt.Sprintf("--resume=anyway: %d requests that run %d held back do not fit the new options, and are in no run", c.before.Held, c.last.Run))
	}
	r.reading.HasSince = c.before.Since != nil
	if r.reading.HasSince {
		r.reading.Since = *c.before.Since
	}
	return nil
}

// restore gives the limits what they remembered.
func (c *resumption) restore(engine *replay.Engine) error {
	if c == nil || c.carried == nil {
		return nil
	}
	from := c.carried
	if !c.options.changes(c.before.Options).touch(ofClients) {
		engine.Restore(from)
	}
	if err := from.Err(); err != nil {
		return fmt.Errorf("--resume: the state %s is damaged: %w; --resume=fresh begins anew", c.name, err)
	}
	return nil
}

// leave makes the state that the next replay goes on with. The reader must have come to its end.
func (c *resumption) leave(r *replayRun, reader *traffic.Reader, engine *replay.Engine) error {
	if c == nil {
		return nil
	}
	stats := reader.Stats()
	head := resumeHead{Version: stateVersion, Options: c.options, Held: stats.Held}
	if r.reading.HasSince {
		head.Since = &r.reading.Since
	}
	options, err := json.Marshal(head)
	if err != nil {
		return err
	}
	logs, err := json.Marshal(c.sequel.Save(c.parts, reader.Resumed()))
	if err != nil {
		return err
	}
	to := traffic.NewEncoder(r.reading.Tables, nil)
	reader.Save(to)
	engine.Save(to)
	c.next = &store.State{
		Name: c.name, Written: limit.Time(time.Now().UnixMicro()), Options: string(options), Logs: string(logs), Body: to.Out(),
	}
	return nil
}

// keep leaves the state with the run.
func (c *resumption) keep(run *store.Run) {
	if c != nil {
		run.Leave(c.next)
	}
}

// idle tells whether nothing has come since the last time.
func (c *resumption) idle(s *traffic.Stats) bool { return c != nil && s.Lines == 0 && c.last != nil }

// tellNothingNew reports a replay that had nothing to judge. Nothing of it is kept: what is held back stays so.
func (r *replayRun) tellNothingNew(result *replay.Result) error {
	if !r.quiet {
		fmt.Fprintf(r.cmd.ErrOrStderr(), "nothing has come to the logs since run %d: no run is stored\n", r.resumed.last.Run)
	}
	return r.report(result, "", "")
}

// errNothingNew ends a run that has read no line: there is nothing to keep.
var errNothingNew = errors.New("nothing new")
