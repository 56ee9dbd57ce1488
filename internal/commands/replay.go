package commands

import (
	"github.com/spf13/cobra"

	"shadow/internal/calibrate"
	"shadow/internal/commands/option"
	"shadow/internal/pipeline"
	"shadow/internal/store"
)

func newReplay() *cobra.Command {
	f := &pipeline.Replay{Events: store.DefaultEvents}
	cmd := &cobra.Command{
		Use:   "replay LOG… [--limit LIMIT…]",
		Short: "Judge the requests of access logs by one or more limits, and report who would be refused",
		Long: `Replay reads access logs (files, globs, directories, or - for standard input; plain, gzip, zstd,
bzip2 or xz), puts their requests in time order, judges each by every limit, and reports which
clients and which actions would be refused. Every would-block event goes into a database.

A limit is [ALGORITHM:]COUNT/PERIOD[,OPTION…]:
  6/30s                 token, leaky and window with 6 requests per 30 seconds, side by side
  token:6/30s,burst=20  token bucket: refills 6 per 30 s, holds 20
  leaky:6/30s           leaky bucket: holds 6, leaks one per 5 s
  window:100/1h         rolling window: at most 100 in any hour
  5..50:5/30s           a range of limits: 5, 10, … 50;  6,10,20/30s  a list
  10/s+window:1000/1h   one policy of two limits, which must both admit
  6/30s,cooldown=5m     token bucket: who is refused stays out for 5 minutes; on any limit
There are more algorithms, also those of nginx, HAProxy, Envoy and other servers: shadow limits lists them all.

The configuration can define policies: limits with keys, scopes and tiers of their own. They are judged
as well; --policy selects some of them.`,
		Example: `  shadow replay access.log --limit 6/30s
  shadow replay access.log access.log.*.gz --limit token:10/s,burst=20 --since yesterday
  shadow replay /var/log/nginx --limit 5..50:5/1m --by client+action --no-store
  shadow replay access.log --limit 6/30s --client-from x-forwarded-for --trusted-proxy 10.0.0.0/8
  shadow replay s3://bucket/logs/2026-11-25/ --limit 6/30s
  ssh web1 cat /var/log/nginx/access.log | shadow replay - --limit 6/30s --output json | jq .policies`,
		Args: logArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Caller = callerOf(cmd)
			pageTop(cmd, &f.Look)
			return f.Run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	addPolicies(cmd, &f.Choice)
	addLook(cmd, &f.Look)
	addReading(cmd, &f.Reading)
	addEvidence(cmd, &f.Evidence)
	addRedis(cmd, &f.Redis)
	addConfig(cmd, &f.Source, "actions, tiers and policies")
	addLimitsFrom(cmd, &f.Source)
	addStore(cmd, &f.Keeping)
	events := option.Domain[store.Events]{Parse: store.ParseEvents, Text: store.Events.String, Words: []string{"all", "none"}}
	events.Add(cmd, &f.Events, "events", "keep the would-block events of this many limits: all, none or a `number`")
	addLogs(cmd, &f.Logs,
		"no progress, and no report (but JSON) unless a --fail-if condition holds or, without any, a limit refuses "+
			"requests",
		"report on standard error what is chosen and done")
	flags.BoolVar(&f.Timing, "timing", false, "report on standard error how much CPU time each stage took")
	flags.BoolVar(&f.Harm, "harm", false, "report which page views each limit breaks, which client it locks out "+
		"longest, and what one client still gets")
	flags.StringVar(&f.HarmAction, "harm-action", "", "also report what limits leave of this action (`name`): how often "+
		"one client can guess at /login; implies --harm")
	option.OneOf(pipeline.ResumeWords...).Add(cmd, &f.Resume, "resume", "judge only what the logs gained since the last "+
		"replay with --resume, and continue with its limits; `how`: on, anyway (even with other options), fresh (from "+
		"the beginning); --until then leaves the rest to the next, and --no-store all")
	flags.Lookup("resume").NoOptDefVal = pipeline.ResumeWords[0]
	f.ResumeAs = "replay"
	option.Verified(store.CheckStateName).Add(cmd, &f.ResumeAs, "resume-as", "`name` of the series to continue, where a "+
		"database serves several replays with --resume")
	flags.BoolVar(&f.Sweep, "sweep", false, "also store the curves of shadow sweep, for the run's page and "+
		"reports: what every limit by the key of --by would refuse")
	addNightly(cmd, &f.Nightly)
	option.Period.Add(cmd, &f.Retain, "retain", "after storing this run, delete runs stored longer ago than this `duration`, "+
		"such as 90d; 0s deletes none")
	addBand(cmd, &f.Band)
	option.Verified(pipeline.CheckVerdictsName).Add(cmd, &f.Verdicts, "verdicts", "write the verdict of each limit on each request to "+
		"this `file`, which ends in .csv, .jsonl or .parquet")
	option.Verified(pipeline.CheckTraceName).Add(cmd, &f.Trace, "trace", "write the requests, with a hash in the place of each "+
		"client, to this `file`, which ends in .parquet and is read like a log")
	f.Retries = calibrate.NoRetries
	option.OneOf(calibrate.RetryWords...).Add(cmd, &f.Retries, "retries", "have clients send refused requests again, and report the load; `how`: "+
		"none, immediate (at once, 5 times), backoff (after 1, 2, 4, 8, 16 s), or learned (as clients in this log do)")
	option.Needs(cmd, []string{"resume"}, "resume-as")
	option.Clash(cmd, "--verdicts and --resume: state one: the lines of a log that goes on have no numbers", "verdicts", "resume")
	option.Needs(cmd, []string{"anonymize", "trace"}, "anonymize-key")
	option.Clash(cmd, "--trace and --resume: state one: a trace holds all that was judged", "trace", "resume")
	option.Clash(cmd, "--retries and --resume: state one: what is still to come back is not kept from night to night", "retries", "resume")
	option.AddProfiles(cmd, &f.Logs)
	return cmd
}
