package commands

import (
	"github.com/spf13/cobra"

	"shadow/internal/commands/option"
	"shadow/internal/logfile/follow"
	"shadow/internal/pipeline/live"
	"shadow/internal/redis"
	"shadow/internal/tail"
	"shadow/limit"
)

func newTail() *cobra.Command {
	f := &live.Tail{
		Every: limit.Minute, Save: 5 * limit.Second, Flush: 10 * limit.Second, SpoolMax: tail.DefaultSpool, Page: limit.Hour,
	}
	cmd := &cobra.Command{
		Use:   "tail LOG… --limit LIMIT…",
		Short: "Follow access logs as they grow, and tell who would be blocked as it happens",
		Long: `Tail follows access logs (files, globs, directories, pipes, or - for standard input) through rotation, truncation and
restarts, judges their requests as shadow replay does, and writes each would-block as a line of JSON. No client is
blocked.

A log need not be there yet. New files join a glob or a directory; of files that differ in a date only the latest is followed.

With --state everything that has to be known to go on is kept in a file: after a restart, or a kill -9, no line
is judged twice and none is left out, also when the log was rotated meanwhile.

With --redis the tails of several hosts count together; while Redis does not answer each goes on by itself.

With --ui a terminal shows what comes in, what each policy refuses, and of which clients; ? explains it, q leaves.
Would-blocks are then written to the file of --would-blocks only, and not at all without it.

SIGINT and SIGTERM end it with exit code 0, or 3 if part of a log was not found; SIGHUP makes it reopen the file of
--would-blocks.`,
		Example: `  shadow tail /var/log/nginx/access.log --limit 6/30s
  shadow tail '/var/log/nginx/*.log' --limit token:6/30s --state /var/lib/shadow/state --would-blocks /var/log/shadow/would-blocks.json
  shadow tail /var/log/nginx/access.log --limit 6/30s --redis redis://counts.internal --listen 127.0.0.1:9598
  shadow tail /var/log/nginx/access.log --limit 6/30s --redis redis+cluster://10.0.0.1,10.0.0.2,10.0.0.3
  shadow tail /var/log/nginx/access.log --limit 6/30s --ui
  shadow tail /var/log/nginx/access.log --limit 6/30s --state /var/lib/shadow/state --db shadow.db   # shadow report, meanwhile
  shadow tail /var/log/nginx/access.log --limit 6/30s --would-blocks would-blocks.json --output json | jq .policies
  ssh web1 tail -F /var/log/nginx/access.log | shadow tail - --limit 6/30s | jq -r .client`,
		Args: logArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Caller, f.IsTerminal = callerOf(cmd), isTerminal
			return f.Run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	addPolicies(cmd, &f.Choice)
	option.OneOf(follow.FromStart, follow.FromEnd, follow.FromCheckpoint).Add(cmd, &f.From, "from", "where to begin "+
		"(`place`): start, end, or checkpoint (default checkpoint with --state, else end)")
	flags.StringVar(&f.State, "state", "", "`file` that keeps what a restart continues from")
	flags.StringVar(&f.Events, "would-blocks", "", "`file` to which would-blocks are appended (default standard output)")
	option.Period.Add(cmd, &f.Every, "every", "how often a summary is written to standard error")
	option.Period.Add(cmd, &f.Save, "save-every", "how often --state is written")
	option.Address.Add(cmd, &f.Listen, "listen", "serve metrics for Prometheus at this `address`: 127.0.0.1:9598 (/metrics, "+
		"/healthz), and to a browser of this machine the page of shadow explore")
	option.Period.Add(cmd, &f.Page, "page", "how much of the logs (`time`, up to now) that page shows")
	option.AtLeast(0, "").Add(cmd, &f.MaxKeys, "max-keys", "remember at most this many clients, or other keys of a kind; "+
		"then forget those idle for longest (`number`, 0: no bound)")
	addRedis(cmd, &f.Redis)
	option.Named[redis.Clock]("log", "redis").Add(cmd, &f.Clock, "clock", "with --redis, take the time of the log or of redis "+
		"(`clock`)")
	flags.BoolVar(&f.UI, "ui", false, "show a live screen on this terminal; would-blocks are then written only with "+
		"--would-blocks")
	flags.StringVar(&f.DB, "db", "", "`folder` to store would-blocks and tallies in, "+
		"one run a day; needs --state")
	option.Period.Add(cmd, &f.Flush, "flush", "how often to store them")
	option.Size.Add(cmd, &f.SpoolMax, "spool-max", "how much may wait beside --state while it cannot be stored; beyond "+
		"that, reading pauses")
	addWho(cmd, &f.Reading, tail.DefaultLateness)
	addConfig(cmd, &f.Source, "actions, tiers and policies")
	addLimitsFrom(cmd, &f.Source)
	addOutput(cmd, &f.Output, "summaries, as lines on standard error or, as json, on standard output", []string{"text", "json"})
	flags.BoolVarP(&f.Quiet, "quiet", "q", false, "write no summaries, and serve no page")
	addAnonymity(cmd, &f.Anonymity)
	option.Needs(cmd, []string{"redis"}, "clock")
	option.Needs(cmd, []string{"listen"}, "page")
	option.Needs(cmd, []string{"db"}, "flush", "spool-max")
	option.Needs(cmd, []string{"state"}, "save-every")
	return cmd
}
