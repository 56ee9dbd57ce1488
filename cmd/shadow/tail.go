package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"shadow/escape"
	"shadow/limit"
	"shadow/logfile"
	"shadow/logfile/follow"
	"shadow/tail"
)

// tailFlags are the options of `shadow tail` as they are given.
type tailFlags struct {
	readingFlags
	policyFlags
	redisFlags
	clockFlag
	tailStoreFlags
	config  string
	from    string
	state   string
	events  string
	every   period
	save    period
	listen  string
	maxKeys int
	quiet   bool
	ui      bool
}

func newTail() *cobra.Command {
	f := &tailFlags{every: period(limit.Minute), save: period(5 * limit.Second)}
	cmd := &cobra.Command{
		Use:   "tail LOG… --limit LIMIT…",
		Short: "Follow access logs as they grow, and tell who would be blocked as it happens",
		Long: `Tail follows access logs (files, globs, directories, pipes, or - for standard input) through rotation, truncation and
restarts, judges their requests as shadow replay does, and writes each would-block as a line of JSON. Nobody is blocked.

A log need not be there yet. New files join a glob or a directory; of files that differ in a date only the latest is followed.

With --state everything that has to be known to go on is kept in a file: after a restart, or a kill -9, no line
is judged twice and none is left out, also when the log was rotated meanwhile.

With --redis the tails of several hosts count together; while Redis does not answer each goes on by itself.

With --ui a terminal shows what comes in, what each policy refuses, and whom; ? explains it, q leaves. Would-blocks are
then written to the file of --would-blocks only, and not at all without it.

SIGINT and SIGTERM end it with exit code 0, or 3 if part of a log was not found; SIGHUP makes it open the file of --would-blocks anew.`,
		Example: `  shadow tail /var/log/nginx/access.log --limit 6/30s
  shadow tail '/var/log/nginx/*.log' --limit token:6/30s --state /var/lib/shadow/state --would-blocks /var/log/shadow/would-blocks.json
  shadow tail /var/log/nginx/access.log --limit 6/30s --redis redis://counts.internal --listen 127.0.0.1:9598
  shadow tail /var/log/nginx/access.log --limit 6/30s --ui
  shadow tail /var/log/nginx/access.log --limit 6/30s --state /var/lib/shadow/state --db shadow.duckdb   # shadow report, meanwhile
  ssh web1 tail -F /var/log/nginx/access.log | shadow tail - --limit 6/30s | jq -r .client`,
		Args: logArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.add(cmd)
	return cmd
}

func (f *tailFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	f.policyFlags.add(cmd)
	flags.StringVar(&f.from, "from", "", "where to begin (`place`): start, end, or checkpoint (default checkpoint with --state, else end)")
	flags.StringVar(&f.state, "state", "", "`file` that keeps what has to be known to go on after a restart")
	flags.StringVar(&f.events, "would-blocks", "", "`file` to which would-blocks are appended (default standard output)")
	flags.Var(&f.every, "every", "how often a summary is written to standard error")
	flags.Var(&f.save, "save-every", "how often --state is written")
	flags.StringVar(&f.listen, "listen", "", "serve metrics for Prometheus at this `address`: 127.0.0.1:9598 (/metrics, /healthz)")
	flags.IntVar(&f.maxKeys, "max-keys", 0, "remember at most this many clients, or other keys of a kind; beyond that those idle for longest are forgotten (`number`, 0: no bound)")
	f.redisFlags.add(cmd)
	f.clockFlag.add(cmd)
	flags.BoolVar(&f.ui, "ui", false, "show a live screen on this terminal; would-blocks then need --would-blocks to be written")
	f.tailStoreFlags.add(cmd)
	f.addWho(cmd, tail.DefaultLateness)
	flags.StringVar(&f.config, "config", "", "YAML `file` with actions, tiers and policies (default "+defaultConfig+", if it is there)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "write no summaries")
	needs(cmd, []string{"state"}, "save-every")
	completeWords(cmd, "from", "start", "end", "checkpoint")
}

// options verifies the flags.
func (f *tailFlags) options(cmd *cobra.Command, args []string) (o tail.Options, err error) {
	if err := f.verify(args); err != nil {
		return o, err
	}
	config, err := loadConfig(f.config)
	if err != nil {
		return o, err
	}
	if o.Policies, err = f.choose(&config); err != nil {
		return o, err
	}
	if o.Read, err = f.readingFlags.options(&config, o.Policies, time.Now()); err != nil {
		return o, err
	}
	notePaths(&o.Read, policyKeys(o.Policies))
	if o.From, err = f.begin(); err != nil {
		return o, err
	}
	o.Names, o.Stdin, o.Out, o.Err = args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	o.State, o.Events, o.MaxKeys = f.state, f.events, f.maxKeys
	o.Save, o.Visible = durationOf(f.save), escape.Visible
	if !f.quiet {
		o.Every = durationOf(f.every)
	}
	kept, err := f.keepIn(cmd.Context(), &o, f.timezone)
	if err != nil {
		return o, err
	}
	if err := o.Verify(); err != nil {
		return o, usage("%w", err)
	}
	return o, kept.verify()
}

// verify finds what is wrong with names and flags by themselves.
func (f *tailFlags) verify(names []string) error {
	for _, name := range names {
		if _, err := filepath.Match(name, ""); err != nil {
			return usage("%s: no file of that name, and not a pattern either: %w", name, err)
		}
	}
	if !slices.ContainsFunc(names, func(name string) bool { return !logfile.IsCompressed(name) }) {
		return usage("%s: is compressed, so that nothing is added to it; shadow replay reads it", names[0])
	}
	if f.maxKeys < 0 {
		return usage("--max-keys %d: want 0 or more", f.maxKeys)
	}
	if _, _, err := net.SplitHostPort(f.listen); f.listen != "" && err != nil {
		return usage("--listen %s: want an address with a port, such as 127.0.0.1:9598", f.listen)
	}
	return nil
}

// begin is where to begin.
func (f *tailFlags) begin() (follow.From, error) {
	switch from := follow.From(f.from); from {
	case "":
		if f.state != "" {
			return follow.FromCheckpoint, nil
		}
		return follow.FromEnd, nil
	case follow.FromCheckpoint:
		if f.state == "" {
			return from, usage("--from checkpoint needs --state FILE")
		}
		return from, nil
	case follow.FromStart, follow.FromEnd:
		return from, nil
	}
	return "", usage("--from %s: want start, end or checkpoint", f.from)
}

func durationOf(p period) time.Duration { return time.Duration(p) * time.Microsecond }

// run follows the logs until a signal comes.
func (f *tailFlags) run(cmd *cobra.Command, args []string) (err error) {
	collectOften()
	o, err := f.options(cmd, args)
	if err != nil {
		return err
	}
	watched, err := f.watched(&o)
	if err != nil {
		return err
	}
	o.Out, o.Err = &patientWriter{cmd.Context(), o.Out}, &patientWriter{cmd.Context(), o.Err}
	shared, err := f.share(&o) // what it says goes by way of the screen
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shared.close()) }()
	if f.listen != "" {
		o.Metrics = new(tail.Metrics)
		stop, err := tail.Listen(f.listen, shared.handler(o.Metrics))
		if err != nil {
			return fmt.Errorf("--listen: %w", err)
		}
		defer stop()
	}
	if stdin, ok := o.Stdin.(io.Writer); ok && isTerminal(stdin) && slices.Contains(args, "-") && !f.ui {
		fmt.Fprintln(o.Err, "shadow: lines of a log are read from this terminal; Ctrl-D ends them")
	}
	t, err := tail.New(o)
	if err != nil {
		return err
	}
	ctx, reopen, stop := hangups(cmd.Context(), func() bool { return f.ui && !isTerminal(cmd.OutOrStdout()) })
	defer stop()
	err = watched(ctx, func(ctx context.Context) error { return t.Run(ctx, reopen) })
	for _, text := range foldedPaths(&o.Read, policyKeys(o.Policies)) {
		fmt.Fprintln(o.Err, "shadow: "+escape.Visible(text))
	}
	return err
}
