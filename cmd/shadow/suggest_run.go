package main

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"shadow/limit"
	"shadow/replay"
	"shadow/suggest"
	"shadow/sweep"
	"shadow/traffic"
	"shadow/traffic/evidence"
	"shadow/traffic/ingest"
)

// A suggestRun is one call of `shadow suggest`. It reads the inputs three or four times, always the same lines:
//
//	survey   who each client is, and from when to when the log goes
//	curves   of the first part of the log and of the rest, and page loads
//	refused  by the token buckets that were chosen, which their curves do not tell, and then by those beside the best and by
//	         the answer over the whole log
type suggestRun struct {
	*suggestFlags
	inputs
	args    []string
	judging *evidence.Rules // nil: no evidence is gathered
	exempt  bool            // whether the configuration has exempt clients
	named   map[string]bool // the actions that the configuration names

	proxiesTold bool // whether nginx has been told whose header to believe: it wants to hear that once
	question    suggest.Question
	options     sweep.Options
	heldOut     suggest.Share

	meant  string // the action that --action names
	survey *replay.Result
	labels suggest.Labels
	cut    limit.Time // where the rest begins, if split
	split  bool
	tracks []*track
}

// A track is what is found out about the requests of one action, or all.
type track struct {
	action string
	parts  [2]*sweep.Sweep // of the first part and of the rest
	loads  suggest.LoadCounter
	advice *suggest.Advice
}

// mostActions is how many actions --each-action looks at.
const mostActions = 10

// small is how many requests can wait for each other all at once.
const small = 1 << 20

// run verifies the flags, reads, chooses, and reports.
func (f *suggestFlags) run(cmd *cobra.Command, args []string) error {
	r := &suggestRun{suggestFlags: f, inputs: inputs{cmd: cmd}, args: args}
	if err := r.prepare(args); err != nil {
		return err
	}
	ctx := cmd.Context()
	if err := r.look(ctx); err != nil {
		return err
	}
	if err := r.draw(ctx); err != nil {
		return err
	}
	r.choose()
	if err := r.countAll(ctx); err != nil {
		return err
	}
	return r.report()
}

// prepare looks up everything that the flags name.
func (r *suggestRun) prepare(args []string) error {
	if err := verifyOutput(r.output); err != nil {
		return err
	}
	switch {
	case r.quiet && r.verbose:
		return usage("--quiet and --verbose are opposites: state one")
	case r.action != "" && r.eachAction:
		return usage("--action and --each-action: state one")
	}
	config, err := loadConfig(r.config)
	if err != nil {
		return err
	}
	r.exempt, r.named = config.Exempt.Len() > 0, map[string]bool{}
	for _, a := range config.Actions {
		r.named[a.Name] = true
	}
	if r.question, err = r.suggestFlags.question(r.cmd.Flags().Changed("target")); err != nil {
		return err
	}
	if r.options, err = r.shapes(); err != nil {
		return err
	}
	if r.heldOut, err = r.suggestFlags.heldOut(); err != nil {
		return err
	}
	if r.reading, err = r.readingFlags.options(&config, nil, time.Now()); err != nil {
		return err
	}
	if r.reading.Tracer, r.judging, err = r.evidenceFlags.choose(&config); err != nil {
		return err
	}
	if r.reading.Tracer == nil { // page loads are told by traces, too
		if r.reading.Tracer, err = evidence.NewTracer(evidence.TraceRules{Background: config.Evidence.Background}); err != nil {
			return usage("evidence: %w", err)
		}
	}
	if err := r.expand(args); err != nil {
		return err
	}
	return readTwice(r.found.Names)
}

// readTwice is the error of an input that can be read once only.
func readTwice(names []string) error {
	if what := readOnce(names); what != "" {
		return usage("%s can be read only once, and suggest reads its logs several times: name files (compressed ones are read as they are)", what)
	}
	return nil
}

// read reads the inputs once and hands each batch to do.
func (r *suggestRun) read(ctx context.Context, o ingest.Options, do func(*traffic.Batch) error) (ingest.Stats, error) {
	return r.inputs.read(ctx, o, r.quiet, func(reader *ingest.Reader) error {
		for {
			b, err := reader.Next()
			if err == io.EOF {
				return nil
			}
			if err := cmp.Or(err, ctx.Err()); err != nil {
				return err
			}
			if err := do(b); err != nil {
				return err
			}
		}
	})
}

// look finds out who each client is, and where to split the log.
func (r *suggestRun) look(ctx context.Context) error {
	clock := new(suggest.Clock)
	engine := replay.New(replay.Options{
		Tables: r.reading.Tables, Lateness: r.reading.Lateness, Evidence: r.judging != nil, Observer: clock,
	})
	stats, err := r.read(ctx, r.reading, engine.Judge)
	if err != nil {
		return err
	}
	if err := nothingRead(&stats); err != nil {
		return err
	}
	if r.meant, err = meantAction("action", r.action, &r.reading, &stats); err != nil {
		return err
	}
	if r.verbose {
		sayInputs(r.cmd.ErrOrStderr(), &stats)
	}
	r.survey = engine.Result(stats)
	r.labels = suggest.Label(r.survey, r.judging)
	r.cut, r.split = clock.Cut(r.heldOut)
	return nil
}

// again is how to read the same requests once more: those of the first part as if they were warming up for the rest.
func (r *suggestRun) again() ingest.Options {
	o := r.reading
	o.HasUntil, o.Until = true, r.survey.Stats.LastAt+1 // a log may have grown since
	if n := int(r.survey.Stats.Parsed); 0 < n && n < small {
		o.Batch, o.Waiting = n, 2*n // all of it; room that was used before costs time to clear
	}
	if r.split {
		o.Warmup = limit.Never
		if o.HasSince {
			o.Warmup = r.cut - o.Since
		}
		o.HasSince, o.Since = true, r.cut
	}
	return o
}

// part says in which part a batch lies, and has it count there.
func (r *suggestRun) part(b *traffic.Batch) (part int, counted traffic.Batch) {
	counted = *b
	if counted.Warm = false; r.split && !b.Warm {
		part = 1
	}
	return part, counted
}

// draw draws the curves.
func (r *suggestRun) draw(ctx context.Context) error {
	who := suggest.Single
	if !r.survey.Stats.HasAgents {
		who = suggest.Everybody
	}
	for _, action := range r.actions() {
		t := &track{action: action, loads: suggest.LoadCounter{Tables: r.reading.Tables, Labels: r.labels, Who: who, Action: action}}
		for i := range t.parts {
			o := r.options
			o.Action, o.Tables, o.Lateness, o.Bursts, o.Stop = action, r.reading.Tables, r.reading.Lateness, nil, ctx.Err
			o.Band = r.band
			t.parts[i] = sweep.New(o)
		}
		r.tracks = append(r.tracks, t)
	}
	reading := r.again()
	reading.Band = r.band
	_, err := r.read(ctx, reading, func(b *traffic.Batch) error {
		part, counted := r.part(b)
		for _, t := range r.tracks {
			t.parts[part].Take(&counted)
			t.loads.Take(&counted)
		}
		return nil
	})
	return err
}

// actions are those to suggest limits for, "" for all together.
func (r *suggestRun) actions() []string {
	if !r.eachAction {
		return []string{r.meant}
	}
	ids := make([]int32, 0, len(r.survey.Actions))
	for id, requests := range r.survey.Actions {
		if requests > 0 {
			ids = append(ids, int32(id))
		}
	}
	name := r.reading.Tables.Actions.Name
	slices.SortFunc(ids, func(x, y int32) int {
		return cmp.Or(cmp.Compare(r.survey.Actions[y], r.survey.Actions[x]), strings.Compare(name(x), name(y)))
	})
	var names []string
	for _, id := range ids[:min(len(ids), mostActions)] {
		names = append(names, name(id))
	}
	return names
}

// choose chooses the limits.
func (r *suggestRun) choose() {
	s := &r.survey.Stats
	for _, t := range r.tracks {
		first, rest := r.partOf(t.parts[0], s.FirstAt, s.LastAt), (*suggest.Part)(nil)
		if r.split {
			first.Last = r.cut
			rest = r.partOf(t.parts[1], r.cut, s.LastAt)
		}
		t.advice = suggest.Advise(r.question, t.action, first, rest, t.loads.Result())
	}
}

// partOf is what a sweep found.
func (r *suggestRun) partOf(s *sweep.Sweep, first, last limit.Time) *suggest.Part {
	placements, clients, requests := suggest.Curves(s, r.labels)
	return &suggest.Part{First: first, Last: last, Clients: clients, Requests: requests, Placements: placements}
}
