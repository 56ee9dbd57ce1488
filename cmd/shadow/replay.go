package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"shadow/limit"
	"shadow/parse"
	"shadow/policy"
	"shadow/replay"
	"shadow/report"
	"shadow/store"
	"shadow/traffic"
)

// replayFlags are the options of `shadow replay` as they are given.
type replayFlags struct {
	readingFlags
	outputFlags
	profileFlags
	limits  limit.List
	by      string
	config  string
	db      string
	noStore bool
	events  store.Events
	maxBad  percent
	quiet   bool
	verbose bool
	timing  bool
}

func newReplay() *cobra.Command {
	f := &replayFlags{events: store.DefaultEvents, maxBad: 5}
	cmd := &cobra.Command{
		Use:   "replay LOG… --limit LIMIT…",
		Short: "Judge the requests of access logs by one or more limits, and report who would be refused",
		Long: `Replay reads access logs (files, globs, directories, or - for standard input; plain, gzip, zstd,
bzip2 or xz), puts their requests in time order, judges each by every limit, and reports which
clients and which actions would be refused. Every would-block event goes into a DuckDB file.

A limit is [ALGORITHM:]COUNT/PERIOD[,OPTION…]:
  6/30s                 token, leaky and window with 6 requests per 30 seconds, side by side
  token:6/30s,burst=20  token bucket: refills 6 per 30 s, holds 20
  leaky:6/30s           leaky bucket: holds 6, leaks one per 5 s
  window:100/1h         rolling window: at most 100 in any hour
  5..50:5/30s           a range of limits: 5, 10, … 50;  6,10,20/30s  a list`,
		Example: `  shadow replay access.log --limit 6/30s
  shadow replay access.log access.log.*.gz --limit token:10/s,burst=20 --since yesterday
  shadow replay /var/log/nginx --limit 5..50:5/1m --by client+action --no-store
  shadow replay access.log --limit 6/30s --client-from x-forwarded-for --trusted-proxy 10.0.0.0/8
  ssh web1 cat /var/log/nginx/access.log | shadow replay - --limit 6/30s --output json | jq .policies`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.add(cmd)
	return cmd
}

func (f *replayFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.VarP(&f.limits, "limit", "l", "a limit to judge by, or a list or range of them (repeatable)")
	flags.StringVar(&f.by, "by", "client", "what limits count by: client, client+action, action, host or site")
	f.outputFlags.add(flags)
	f.readingFlags.add(flags)
	flags.StringVar(&f.config, "config", "", "YAML `file` with the actions (default "+defaultConfig+", if it is there)")
	flags.StringVar(&f.db, "db", "shadow.duckdb", "DuckDB `file` in which the run is kept")
	flags.BoolVar(&f.noStore, "no-store", false, "keep nothing")
	flags.Var(&f.events, "events", "keep the would-block events of this many limits: all, none or a number")
	flags.Var(&f.maxBad, "max-bad", "share of unreadable lines above which the exit code is 3")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but the report and errors")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "say on standard error what is chosen and done")
	flags.BoolVar(&f.timing, "timing", false, "say on standard error how long each stage took")
	f.profileFlags.add(flags)
	completeWords(cmd, "by", "client", "client+action", "action", "host", "site")
	completeWords(cmd, "output", report.Formats()...)
	completeWords(cmd, "sort", report.Sorts()...)
	completeWords(cmd, "parser", "auto", "gonx")
}

// completeWords makes the shell complete a flag to one of some words.
func completeWords(cmd *cobra.Command, flag string, words ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag does not exist: a mistake in this program
	}
}

// A replayRun is one call of `shadow replay`, with everything looked up that its flags name.
type replayRun struct {
	*replayFlags
	cmd      *cobra.Command
	names    []string
	policies []policy.Policy
	reading  traffic.Options
	started  time.Time
	clock    func() time.Time // nil unless --timing
}

// run verifies the flags, replays, and reports.
func (f *replayFlags) run(cmd *cobra.Command, args []string) error {
	r := &replayRun{replayFlags: f, cmd: cmd, started: time.Now()}
	if err := r.prepare(args); err != nil {
		return err
	}
	stop, err := f.profileFlags.start()
	if err != nil {
		return err
	}
	return errors.Join(r.replay(cmd.Context()), stop())
}

// prepare looks up everything that the flags name.
func (r *replayRun) prepare(args []string) error {
	if err := r.outputFlags.verify(); err != nil {
		return err
	}
	if len(r.limits) == 0 {
		return usage("which limit? Say, for instance, --limit 6/30s (6 requests per 30 seconds)")
	}
	key, err := policy.ParseKey(r.by)
	if err != nil {
		return usage("--by %w", err)
	}
	if r.policies, err = policy.FromSpecs(r.limits, key); err != nil {
		return usage("--limit %w", err)
	}
	config, err := loadConfig(r.config)
	if err != nil {
		return usage("%w", err)
	}
	r.reading, err = r.options(actionRules(config), key == policy.ByHost, longestHorizon(r.policies), r.started)
	if err != nil {
		return err
	}
	if r.timing {
		r.clock = time.Now
	}
	r.reading.Clock = r.clock
	r.names, r.reading.Guessed, err = parse.Expand(args)
	return err
}

// longestHorizon is how long before --since requests still matter.
func longestHorizon(policies []policy.Policy) (longest limit.Time) {
	for _, p := range policies {
		longest = max(longest, p.Limiter.Horizon())
	}
	return longest
}

// replay does the work: into the database, if there is to be one, and to the report.
func (r *replayRun) replay(ctx context.Context) error {
	if r.noStore {
		result, err := r.judge(ctx, nil)
		if err != nil {
			return err
		}
		return r.report(result, "", "")
	}
	db, err := store.Open(r.db, store.Options{})
	if err != nil {
		return err
	}
	result, id, err := r.keep(ctx, db)
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	return r.report(result, r.db, fmt.Sprint(id))
}

// keep replays into the database: all of it, or nothing.
func (r *replayRun) keep(ctx context.Context, db *store.Store) (*replay.Result, int32, error) {
	run, err := db.Begin(ctx, store.RunInfo{
		Command: strings.Join(os.Args, " "), Version: versionText(), Started: r.started, Events: r.events,
	})
	if err != nil {
		return nil, 0, err
	}
	result, err := r.judge(ctx, run)
	if err == nil {
		err = run.Finish(result, time.Now())
	}
	if err != nil {
		return nil, 0, errors.Join(err, run.Abort())
	}
	return result, run.ID(), nil
}

// judge reads the logs and judges their requests. sink may be nil.
func (r *replayRun) judge(ctx context.Context, sink replay.Sink) (*replay.Result, error) {
	reader, err := traffic.NewReader(ctx, r.names, r.cmd.InOrStdin(), r.reading)
	if err != nil {
		return nil, err
	}
	engine := replay.New(replay.Options{
		Tables: r.reading.Tables, Policies: r.policies, Lateness: r.reading.Lateness,
		Sink: sink, EventPolicies: r.events.Of(len(r.policies)), Clock: r.clock,
	})
	progress := r.startProgress(reader)
	err = engine.Run(reader)
	progress.stop()
	if ctx.Err() != nil { // at once: do not wait for a read under way
		return nil, errors.New("interrupted; nothing was kept")
	}
	if err := cmp.Or(err, reader.Close()); err != nil {
		return nil, err
	}
	stats := reader.Stats()
	r.say(&stats)
	if r.timing {
		writeTiming(r.cmd.ErrOrStderr(), &stats, reader.Times(), engine.Times(), time.Since(r.started))
	}
	return engine.Result(stats), nil
}

// say tells, with --verbose, what was chosen.
func (r *replayRun) say(s *traffic.Stats) {
	if !r.verbose || r.quiet {
		return
	}
	for _, in := range s.Inputs {
		fmt.Fprintf(r.cmd.ErrOrStderr(), "%s: %s, %d lines: %s\n", in.Name, cmp.Or(in.Format, "empty"), in.Lines, in.FormatText)
	}
}

// report prints the result, and complains if too much could not be read.
func (r *replayRun) report(result *replay.Result, database, run string) error {
	model := report.New(result, report.Options{
		Top: r.top, Sort: r.sort, Width: r.width(r.cmd.OutOrStdout()), Color: r.color(r.cmd.OutOrStdout()),
		Version: versionText(), Command: strings.Join(os.Args, " "), Timezone: r.timezone,
		Warnings: inputWarnings(&result.Stats), Database: database, Run: run,
	})
	if err := model.Write(r.cmd.OutOrStdout(), r.output); err != nil {
		return err
	}
	s := &result.Stats
	if share := 100 * float64(s.Unreadable) / float64(max(s.Lines, 1)); share > float64(r.maxBad) {
		return errUnreadable{share, float64(r.maxBad)}
	}
	return nil
}

// inputWarnings are what reading found odd, each text once.
func inputWarnings(s *traffic.Stats) []string {
	var texts []string
	first, more := map[string]string{}, map[string]int{}
	for _, in := range s.Inputs {
		warnings := in.Warnings
		if in.Problem != "" {
			warnings = append(warnings[:len(warnings):len(warnings)], "ended early: "+in.Problem)
		}
		for _, w := range warnings {
			if _, seen := first[w]; seen {
				more[w]++
				continue
			}
			first[w] = in.Name
			texts = append(texts, w)
		}
	}
	for i, w := range texts {
		texts[i] = first[w] + ": " + w
		if more[w] > 0 {
			texts[i] = fmt.Sprintf("%s, and %d more: %s", first[w], more[w], w)
		}
	}
	for _, err := range s.Passed {
		reason, _, _ := strings.Cut(err.Error(), "\n")
		texts = append(texts, "passed over: "+reason)
	}
	return texts
}
