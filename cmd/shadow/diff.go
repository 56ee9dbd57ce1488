package main

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"shadow/policy"
	"shadow/replay"
	"shadow/report"
	"shadow/report/diff"
)

func newDiff() *cobra.Command {
	f := &replayFlags{maxBad: 5, noStore: true}
	cmd := &cobra.Command{
		Use:   "diff LOG… --limit A --limit B",
		Short: "Compare two limits: who is newly hit, who is released, who is hit by both",
		Long: `Diff replays access logs by two policies, A and B, and says what would change for whom if B took the
place of A: which clients and actions only B would hit (newly hit), which only A (released), and which
both, of what class they are, and whose refused requests differ most. Requests are compared one by one:
two limits that refuse as many need not refuse the same ones.

Each policy is a --limit, several limits joined by +, or a --policy of the configuration; the first named
is A, those of --limit before those of --policy. Two --limit stand for themselves: the policies of the
configuration then take no part unless --policy names them.`,
		Example: `  shadow diff access.log --limit token:6/30s --limit token:6/30s,burst=20
  shadow diff access.log --limit token:10/s --limit token:10/s+window:1000/1h --top 20
  shadow diff access.log --policy login --policy stricter --output markdown`,
		Args: logArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDiff(cmd, f, args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.policyFlags.add(cmd)
	addOutput(cmd, &f.output, "comparison")
	flags.IntVar(&f.top, "top", report.DefaultTop, "`rows` per list of clients and actions")
	f.readingFlags.add(cmd)
	f.evidenceFlags.add(cmd)
	f.addJudging(cmd)
	return cmd
}

// addJudging adds the flags of commands that judge logs and keep nothing.
func (f *replayFlags) addJudging(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.config, "config", "", "YAML `file` with actions, tiers and policies (default "+defaultConfig+", if it is there)")
	flags.Var(&f.maxBad, "max-bad", "share of unreadable lines above which the exit code is 3 (in `percent`)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but the answer and errors")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "say on standard error what is chosen and done")
}

func runDiff(cmd *cobra.Command, f *replayFlags, args []string) error {
	f.sort = report.Sorts()[0]
	if err := verifyOutput(f.output); err != nil {
		return err
	}
	if len(f.limits) > 1 && len(f.picked) == 0 {
		f.picked = []string{policy.NoPolicy}
	}
	r := &replayRun{replayFlags: f, inputs: inputs{cmd: cmd}, started: time.Now()}
	if err := r.prepare(args); err != nil {
		return err
	}
	if err := r.two(); err != nil {
		return err
	}
	return r.diff(cmd.Context())
}

// two is the error of other than two policies.
func (r *replayRun) two() error {
	policies := r.policies
	switch {
	case len(policies) == 2:
		return nil
	case len(policies) == 1 && len(r.limits)+len(r.picked) > 1:
		return usage("A and B are both %s: diff compares two different policies", policies[0].Name)
	}
	names := make([]string, len(policies))
	for i, p := range policies {
		names[i] = p.Name
	}
	const shown = 6
	if more := len(names) - shown; more > 0 {
		names = append(names[:shown], "…")
	}
	return usage("diff compares two policies, and these are %d: %s; name two, such as --limit token:6/30s --limit token:10/30s",
		len(policies), strings.Join(names, ", "))
}

func (r *replayRun) diff(ctx context.Context) error {
	comparison := replay.NewComparison(r.reading.Tables)
	r.observers = append(r.observers, comparison)
	result, err := r.judge(ctx, nil)
	if err != nil {
		return err
	}
	d := diff.New(result, comparison, report.Options{
		Top: r.top, Width: widthOf(r.cmd.OutOrStdout()), Color: r.color(r.cmd.OutOrStdout()),
		Version: versionText(), Command: strings.Join(os.Args, " "), Timezone: r.timezone, Warnings: r.warnings(&result.Stats),
		Evidence: r.judging,
	})
	if err := d.Write(r.cmd.OutOrStdout(), r.output); err != nil {
		return err
	}
	return tooManyUnreadable(&result.Stats, r.maxBad)
}
