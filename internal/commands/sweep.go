package commands

import (
	"github.com/spf13/cobra"

	"shadow/internal/commands/option"
	"shadow/internal/pipeline"
	"shadow/internal/sweep"
	"shadow/report/format"
)

func newSweep() *cobra.Command {
	f := new(pipeline.Sweep)
	var exact bool
	cmd := &cobra.Command{
		Use:   "sweep LOG…",
		Short: "Say of every limit at once what it would refuse, and which clients it would hit",
		Long: `Sweep reads access logs and says, for windows of several lengths and token buckets of several rates, what
every limit would do: how many requests it refuses and how many clients it hits, by class. Where shadow replay
answers for one limit, sweep draws the whole curve, exactly.

Kinds of limits:
  window             rolling window: at most N admitted in any span of --per
  fixed              at most N in each window of --per on the epoch's grid
  window,charge=all  rolling window in which refused requests count as well
  conn               at most N requests under way at once, where the log says how long they take
  token              token bucket that refills at --rate and holds N: which clients every N hits, and what
                     the N of --bursts refuse, and those of the table (--exact)

The table shows the smallest N that spares 50, 90, 99, 99.9 and 100 % of the clients. --output json and csv have
every N at which anything changes.

Browsers are clients that claim to be one. With --evidence, those that do what no browser does are shown separately, as
disguised, as in shadow suggest. Limits that spare browsers then spare the rest of the browsers.`,
		Example: `  shadow sweep access.log
  shadow sweep access.log access.log.*.gz --per 30s,1m,1h
  shadow sweep access.log --action login --kind window --per 5m,1h
  shadow sweep access.log --evidence --output html > curves.html
  shadow sweep access.log --kind token --rate 1/s,10/s --bursts 10,50
  shadow sweep access.log --by client+action --output json --no-store | jq '.curves[0].points[:3]'`,
		Args: logArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Caller, f.Exact = callerOf(cmd), &exact
			unlessGiven(cmd, "exact", &f.Exact)
			if f.Key = &f.By; len(f.Chosen) > 0 {
				unlessGiven(cmd, "by", &f.Key)
				unlessGiven(cmd, "bursts", &f.Bursts)
			}
			return f.Run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	addShapes(cmd, &f.Shapes, "all but conn", " for one client")
	f.Bursts = sweep.DefaultBursts()
	option.Capacity.AddList(cmd, &f.Bursts, true, "bursts",
		"`sizes` of token buckets to count refusals for")
	flags.BoolVar(&exact, "exact", false, "make a second pass to count what "+
		"the token buckets of the table refuse (default for up to 500,000 requests)")
	option.Key.Add(cmd, &f.By, "by", "what limits count by (`key`): "+keyTexts)
	flags.StringVar(&f.Action, "action", "", "only requests of this action (`name`)")
	flags.StringArrayVar(&f.Chosen, "policy", nil, "instead, try every N of the limit of this policy of the configuration, "+
		"exactly, by what its requests cost (`name`, repeatable); with --per, --kind or --rate, of these limits in its place")
	addOutput(cmd, &f.Output, "report", format.PageOutputs())
	addReading(cmd, &f.Reading)
	addEvidence(cmd, &f.Evidence)
	addConfig(cmd, &f.Source, "actions, tiers and policies")
	addStore(cmd, &f.Keeping)
	addLogs(cmd, &f.Logs, "print nothing but the report and errors", "report on standard error what is chosen")
	addBand(cmd, &f.Band)
	option.Needs(cmd, []string{kindOf(sweep.Token)}, "bursts", "exact")
	option.Clash(cmd, "--policy and --band: state one: what requests cost has no bounds", "policy", "band")
	option.AddProfiles(cmd, &f.Logs)
	return cmd
}
