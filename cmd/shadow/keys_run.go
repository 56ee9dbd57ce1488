package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"shadow/policy"
	"shadow/replay"
	"shadow/report"
	"shadow/report/keys"
	"shadow/request"
	"shadow/sweep"
	"shadow/traffic"
	"shadow/traffic/ingest"
)

// A keysRun is one call of `shadow keys`, with everything looked up that its flags name.
type keysRun struct {
	*keysFlags
	inputs
	question keys.Question
	options  sweep.KeysOptions
	policies []policy.Policy // of --limit: each limit by each key
	tried    []request.Key
	started  time.Time
}

// run verifies the flags, reads the logs, and reports.
func (f *keysFlags) run(cmd *cobra.Command, args []string) error {
	r := &keysRun{keysFlags: f, inputs: inputs{cmd: cmd}, started: time.Now()}
	if err := r.prepare(args); err != nil {
		return err
	}
	result, err := r.judge(cmd.Context())
	if err != nil {
		return err
	}
	return r.report(result)
}

// judge reads the logs and judges them by every key.
func (r *keysRun) judge(ctx context.Context) (*sweep.KeysResult, error) {
	keys := sweep.NewKeys(r.options)
	stats, err := r.read(ctx, r.reading, r.quiet, func(reader *ingest.Reader) error {
		if len(r.policies) > 0 {
			return r.engine(ctx, keys).Run(reader)
		}
		return keys.Run(reader)
	})
	if err != nil {
		return nil, err
	}
	if err := nothingRead(&stats); err != nil {
		return nil, err
	}
	if r.verbose {
		sayInputs(r.cmd.ErrOrStderr(), &stats)
	}
	result := keys.Result(stats)
	result.Action, err = meantAction("action", r.action, &r.reading, &stats)
	return result, err
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
	k := keys.New(result, r.question, report.Options{
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
	texts = append(texts, r.lumped(r.reading.Tables, &result.Claimed)...)
	return append(texts, actionWarnings(r.action, result.Action, result.Requests.Sum(), s)...)
}
