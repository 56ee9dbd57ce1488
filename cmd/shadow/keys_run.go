package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"shadow/limit"
	"shadow/parse"
	"shadow/policy"
	"shadow/replay"
	"shadow/report"
	"shadow/sweep"
	"shadow/traffic"
)

// A keysRun is one call of `shadow keys`, with everything looked up that its flags name.
type keysRun struct {
	*keysFlags
	cmd      *cobra.Command
	found    parse.Expansion
	reading  traffic.Options
	question report.KeysQuestion
	options  sweep.KeysOptions
	policies []policy.Policy // of --limit: each limit by each key
	tried    []policy.Key
	started  time.Time
}

// run verifies the flags, reads the logs, and reports.
func (f *keysFlags) run(cmd *cobra.Command, args []string) error {
	r := &keysRun{keysFlags: f, cmd: cmd, started: time.Now()}
	if err := r.prepare(args); err != nil {
		return err
	}
	result, err := r.read(cmd.Context())
	if err != nil {
		return err
	}
	return r.report(result)
}

// prepare looks up everything that the flags name.
func (r *keysRun) prepare(args []string) error {
	if err := r.verify(); err != nil {
		return err
	}
	config, err := loadConfig(r.config)
	if err != nil {
		return err
	}
	if r.tried, err = r.chosen(); err != nil {
		return err
	}
	if r.question, err = r.ask(); err != nil {
		return err
	}
	if err := r.choose(); err != nil {
		return err
	}
	if r.reading, err = r.readingFlags.options(&config, r.remembered(), r.started); err != nil {
		return err
	}
	r.reading.Users, r.reading.NoUsers = true, true // visitors are told apart by them
	if !r.claims {
		r.wanted = true
		if r.reading.Tracer, r.options.Evidence, err = r.evidenceFlags.choose(&config); err != nil {
			return err
		}
	}
	r.options.Tables, r.options.Lateness = r.reading.Tables, r.reading.Lateness
	r.options.Action, r.options.Stop = r.action, r.cmd.Context().Err
	r.found, err = parse.Expand(args)
	r.reading.Guessed = r.found.Guessed
	return err
}

// verify finds flags that contradict each other.
func (r *keysRun) verify() error {
	flags := r.cmd.Flags()
	switch {
	case r.quiet && r.verbose:
		return usage("--quiet and --verbose are opposites: state one")
	case r.claims && (r.beacon != "" || r.robots != ""):
		return usage("--claims looks for no evidence: leave it out, or --evidence-path and --robots")
	case len(r.limits) > 0 && (flags.Changed("per") || flags.Changed("refuse")):
		return usage("--limit names the limit; --per and --refuse look for one: state one or the other")
	case len(r.limits) > 0 && r.action != "":
		return usage("--limit judges all requests: leave out --action")
	}
	return verifyOutput(r.output)
}

// choose makes what the question needs: the limits by each key, or windows.
func (r *keysRun) choose() error {
	if len(r.limits) == 0 {
		r.options.Keys = r.question.By
		var err error
		r.options.Periods, err = periods(r.per)
		return err
	}
	r.question.Refuse = nil
	for _, key := range r.tried {
		policies, err := policy.ParseLimits(r.limits, key)
		if err != nil {
			return badFlag("limit", "", err)
		}
		r.policies = append(r.policies, policies...)
	}
	r.arrange()
	r.options.Limits = len(r.policies)
	return nil
}

// arrange puts the policies of each limit together, in the order of the keys.
func (r *keysRun) arrange() {
	n := len(r.policies) / len(r.tried)
	byKey := r.policies
	r.policies = nil
	for i := range n {
		r.question.Limits = append(r.question.Limits, byKey[i].Name)
		for j := range r.tried {
			r.policies = append(r.policies, byKey[j*n+i])
		}
	}
}

// remembered are the limits that remember for longest by any key, as policies: how logs are read goes by that.
func (r *keysRun) remembered() []policy.Policy {
	if len(r.policies) > 0 {
		return r.policies
	}
	spec := limit.Spec{Algorithm: "window", Count: 1, Period: slices.Max(r.options.Periods)}
	var all []policy.Policy
	for _, key := range r.tried {
		if p, err := policy.New(spec, key); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// read reads the logs and judges them by every key.
func (r *keysRun) read(ctx context.Context) (*sweep.KeysResult, error) {
	reader, err := interruptible(ctx, func() (*traffic.Reader, error) {
		return traffic.NewReader(ctx, r.found.Names, r.cmd.InOrStdin(), r.reading)
	})
	if err != nil {
		return nil, err
	}
	keys := sweep.NewKeys(r.options)
	progress := startProgress(r.cmd.ErrOrStderr(), reader, r.quiet)
	if len(r.policies) > 0 {
		err = r.engine(ctx, keys).Run(reader)
	} else {
		err = keys.Run(reader)
	}
	progress.stop()
	if ctx.Err() != nil { // at once: do not wait for a read under way
		return nil, errInterrupted
	}
	if err := cmp.Or(err, reader.Close()); err != nil {
		return nil, err
	}
	stats := reader.Stats()
	if err := nothingRead(&stats); err != nil {
		return nil, err
	}
	if r.verbose {
		sayInputs(r.cmd.ErrOrStderr(), &stats)
	}
	return keys.Result(stats), nil
}

// engine judges the limits, and tells keys what they refuse.
func (r *keysRun) engine(ctx context.Context, keys *sweep.Keys) *replay.Engine {
	return replay.New(replay.Options{
		Tables: r.reading.Tables, Policies: r.policies, Lateness: r.reading.Lateness, Stop: ctx.Err,
		Observer: keysObserver{keys},
	})
}

// A keysObserver is the replay.Observer that passes on what each limit refuses.
type keysObserver struct{ keys *sweep.Keys }

func (o keysObserver) Observe(b *traffic.Batch, verdicts []replay.Verdicts) error {
	o.keys.Take(b)
	for i := range verdicts {
		o.keys.Refuse(i, verdicts[i].Refused)
	}
	return nil
}

// report prints what was found, and complains if too much could not be read.
func (r *keysRun) report(result *sweep.KeysResult) error {
	out := outputFlags{}
	w := r.cmd.OutOrStdout()
	k := report.NewKeys(result, r.question, report.Options{
		Width: widthOf(w), Color: out.color(w), Version: versionText(), Command: strings.Join(os.Args, " "),
		Timezone: r.timezone, Warnings: r.warnings(result),
	})
	if err := k.Write(w, r.output); err != nil {
		return err
	}
	return tooManyUnreadable(&result.Stats, r.maxBad)
}

// warnings are what reading found odd, and flags that came to nothing.
func (r *keysRun) warnings(result *sweep.KeysResult) []string {
	s := &result.Stats
	texts := slices.Concat(passedByName(r.found.Passed), inputWarnings(s), r.idleFlags(s))
	if r.action != "" && result.Requests.Sum() == 0 && s.Parsed > s.Excluded+s.Warm {
		texts = append(texts, fmt.Sprintf("no request is of action %q", r.action))
	}
	return texts
}
