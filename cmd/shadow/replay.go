package main

import (
	"github.com/spf13/cobra"

	"shadow/store"
)

// replayFlags are the options of `shadow replay` as they are given.
type replayFlags struct {
	readingFlags
	outputFlags
	profileFlags
	policyFlags
	evidenceFlags
	nightlyFlags
	redisFlags
	resumeFlags
	config     string
	db         string
	noStore    bool
	events     store.Events
	maxBad     percent
	quiet      bool
	verbose    bool
	timing     bool
	harm       bool
	harmAction string
	retain     period
	band       bool
	sweep      bool
}

func newReplay() *cobra.Command {
	f := &replayFlags{events: store.DefaultEvents, maxBad: 5}
	cmd := &cobra.Command{
		Use:   "replay LOG… [--limit LIMIT…]",
		Short: "Judge the requests of access logs by one or more limits, and report who would be refused",
		Long: `Replay reads access logs (files, globs, directories, or - for standard input; plain, gzip, zstd,
bzip2 or xz), puts their requests in time order, judges each by every limit, and reports which
clients and which actions would be refused. Every would-block event goes into a DuckDB file.

A limit is [ALGORITHM:]COUNT/PERIOD[,OPTION…]:
  6/30s                 token, leaky and window with 6 requests per 30 seconds, side by side
  token:6/30s,burst=20  token bucket: refills 6 per 30 s, holds 20
  leaky:6/30s           leaky bucket: holds 6, leaks one per 5 s
  window:100/1h         rolling window: at most 100 in any hour
  5..50:5/30s           a range of limits: 5, 10, … 50;  6,10,20/30s  a list
  10/s+window:1000/1h   one policy of two limits, which must both admit
  6/30s,cooldown=5m     token bucket: who is refused stays out for 5 minutes; on any limit
There are more algorithms, also those of nginx, HAProxy, Envoy and other servers: shadow limits lists them all.

Policies of limits with keys, scopes and tiers of their own stand in the configuration; they are judged
besides, or some of them with --policy.`,
		Example: `  shadow replay access.log --limit 6/30s
  shadow replay access.log access.log.*.gz --limit token:10/s,burst=20 --since yesterday
  shadow replay /var/log/nginx --limit 5..50:5/1m --by client+action --no-store
  shadow replay access.log --limit 6/30s --client-from x-forwarded-for --trusted-proxy 10.0.0.0/8
  ssh web1 cat /var/log/nginx/access.log | shadow replay - --limit 6/30s --output json | jq .policies`,
		Args: logArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.add(cmd)
	return cmd
}

func (f *replayFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	f.policyFlags.add(cmd)
	f.outputFlags.add(cmd)
	f.readingFlags.add(cmd)
	f.evidenceFlags.add(cmd)
	f.redisFlags.add(cmd)
	flags.StringVar(&f.config, "config", "", "YAML `file` with actions, tiers and policies (default "+defaultConfig+", if it is there)")
	flags.StringVar(&f.db, "db", defaultDB, "DuckDB `file` in which the run is kept")
	flags.BoolVar(&f.noStore, "no-store", false, "keep nothing")
	flags.Var(&f.events, "events", "keep the would-block events of this many limits: all, none or a `number`")
	flags.Var(&f.maxBad, "max-bad", "share of unreadable lines above which the exit code is 3 (in `percent`)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false,
		"no progress, and no report (but of JSON) unless there is something to say: a --fail-if condition holds, or, without any, a limit refuses requests")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "say on standard error what is chosen and done")
	flags.BoolVar(&f.timing, "timing", false, "say on standard error how long each stage took")
	flags.BoolVar(&f.harm, "harm", false, "tell of each limit which page views it breaks, whom it locks out longest, and what one client still gets")
	flags.StringVar(&f.harmAction, "harm-action", "", "tell besides what is left of this action (`name`): how often one client can guess at /login; implies --harm")
	f.resumeFlags.add(cmd)
	flags.BoolVar(&f.sweep, "sweep", false, "keep the curves of shadow sweep with the run, for its page and for reports: what every limit would refuse, by the key of --by")
	f.nightlyFlags.add(cmd)
	flags.Var(&f.retain, "retain", "delete runs that were stored longer ago than this `duration`, such as 90d, once this one is stored")
	addBand(cmd, &f.band)
	f.profileFlags.add(flags)
	completeWords(cmd, "events", "all", "none")
}

// addBand adds --band.
func addBand(cmd *cobra.Command, band *bool) {
	cmd.Flags().BoolVar(band, "band", false, "report each figure as a range: the least and the most that it may be, wherever in its whole-second timestamp each request came")
}

// completeWords makes the shell complete a flag to one of some words.
func completeWords(cmd *cobra.Command, flag string, words ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag does not exist: a mistake in this program
	}
}
