package moves

import (
	"cmp"
	"context"
	"fmt"

	"shadow/internal/escape"
	"shadow/internal/pipeline"
	"shadow/internal/policy"
	"shadow/internal/servers"
	"shadow/internal/traffic"
	"shadow/replay"
	"shadow/report/diff"
	"shadow/report/moves"
)

// An Export writes limits as a server is told them. With logs it says what rounding them changes.
type Export struct {
	pipeline.Diff
	To    string
	Check string // the configuration in which the server's own program judges the lines; CheckAlone; "": it does not

	target  *servers.Target
	where   servers.Where
	wanted  []servers.Wanted
	written *servers.Export
}

// CheckAlone is a Check of the lines without a configuration.
const CheckAlone = "alone"

// A NotWantedError says that so much of what is written is not as wanted.
type NotWantedError int

func (n NotWantedError) Error() string {
	return fmt.Sprintf("%d of what was wanted cannot be said there, and is left out: see above", int(n))
}

// Run verifies what is asked, writes, and replays if there are logs.
func (x *Export) Run(ctx context.Context, logs []string) error {
	if len(x.Limits) > 0 && len(x.Chosen) == 0 {
		x.Chosen = []string{policy.NoPolicy}
	}
	if err := x.aim(); err != nil {
		return err
	}
	report, unreadable := x.replayed(ctx, logs)
	if report == nil {
		return unreadable
	}
	if err := report.Write(x.Out, x.Output); err != nil {
		return err
	}
	return cmp.Or(x.finish(ctx, x.Output == "json"), unreadable)
}

// aim looks up the server, and has a policy be judged beside what it becomes there.
func (x *Export) aim() (err error) {
	if x.target, err = servers.TargetNamed(x.To); err != nil {
		return pipeline.Usage("--to: %w", err)
	}
	x.Derive = func(c *policy.Config, policies []policy.Policy) ([]policy.Policy, error) {
		if err := one(policies); err != nil {
			return nil, err
		}
		x.wanted = wantedOf(c, policies[0])
		x.written = x.target.Export(x.wanted, x.where)
		b, ok, err := moved(policies[0], x.written)
		if err != nil || !ok {
			return policies, err
		}
		return append(policies, b), nil
	}
	return x.place()
}

// replayed is the report, with what rounding changes if there are logs. It comes with the error of too many unreadable
// lines, and with no other.
func (x *Export) replayed(ctx context.Context, logs []string) (*moves.Report, error) {
	if len(logs) == 0 {
		if _, err := x.Build(x.Started, x.Choose); err != nil {
			return nil, err
		}
		return moves.New(x.written, nil), nil
	}
	var comparison *replay.Comparison
	result, o, err := x.Judge(ctx, logs, func(t *traffic.Tables) replay.Observer {
		comparison = replay.NewComparison(t)
		return whole{comparison}
	})
	if result == nil {
		return nil, err
	}
	defer x.Release() //nolint:errcheck // a temporary file
	if len(x.Policies) < 2 {
		return moves.New(x.written, nil), err
	}
	return moves.New(x.written, diff.New(result, comparison, o)), err
}

// whole is a comparison that waits for two policies.
type whole struct{ *replay.Comparison }

// Observe implements replay.Observer.
func (w whole) Observe(b *traffic.Batch, verdicts []replay.Verdicts) error {
	if len(verdicts) < 2 {
		return nil
	}
	return w.Comparison.Observe(b, verdicts)
}

// finish says what is not as wanted, and has the server's program judge the rest.
func (x *Export) finish(ctx context.Context, quiet bool) error {
	for _, text := range x.written.Lost {
		fmt.Fprintf(x.Err, "warning: %s\n", escape.Visible(text))
	}
	if x.written.Target.Comment == "" && !quiet && !x.Quiet {
		for _, text := range x.written.Said() {
			fmt.Fprintf(x.Err, "note: %s\n", escape.Visible(text))
		}
	}
	if x.Check != "" && len(x.written.Blocks) > 0 {
		if err := x.written.Check(ctx); err != nil {
			return err
		}
		if !x.Quiet {
			fmt.Fprintf(x.Err, "%s takes these lines (judged %s)\n", x.written.Target.Title, x.written.Judged())
		}
	}
	if n := len(x.written.Lost); n > 0 {
		return NotWantedError(n)
	}
	return nil
}
