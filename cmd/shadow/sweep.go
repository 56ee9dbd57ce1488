package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"shadow/limit"
	"shadow/request"
	"shadow/sweep"
)

// sweepFlags are the options of `shadow sweep` as they are given.
type sweepFlags struct {
	readingFlags
	evidenceFlags
	output  string
	per     []string
	kinds   []string
	rates   []string
	bursts  []int64
	by      string
	action  string
	config  string
	db      string
	noStore bool
	maxBad  percent
	quiet   bool
	verbose bool
	band    bool
	exact   bool
}

func newSweep() *cobra.Command {
	f := &sweepFlags{maxBad: 5}
	cmd := &cobra.Command{
		Use:   "sweep LOG…",
		Short: "Say of every limit at once what it would refuse, and whom it would hit",
		Long: `Sweep reads access logs and says, for windows of several lengths and token buckets of several rates, what
every limit would do: how many requests it refuses and how many clients it hits, by class. Where shadow replay
answers for one limit, sweep draws the whole curve, exactly.

Kinds of limits:
  window             rolling window: at most N admitted in any span of --per
  fixed              at most N in each window of --per on the epoch's grid
  window,charge=all  rolling window in which refused requests count as well
  token              token bucket that refills at --rate and holds N: whom every N hits, and what
                     the N of --bursts refuse, and those of the table (--exact)

The table shows the smallest N that leaves 50, 90, 99, 99.9 and 100 % of the clients alone. --output json and csv have
every N at which anything changes.

Browsers are those who say so. With --evidence, those that do what no browser does are told apart as disguised,
as shadow suggest does, and the limits that leave browsers alone are those that leave the others alone.`,
		Example: `  shadow sweep access.log
  shadow sweep access.log access.log.*.gz --per 30s,1m,1h
  shadow sweep access.log --action login --kind window --per 5m,1h
  shadow sweep access.log --evidence --output html > curves.html
  shadow sweep access.log --kind token --rate 1/s,10/s --bursts 10,50
  shadow sweep access.log --by client+action --output json --no-store | jq '.curves[0].points[:3]'`,
		Args: logArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.add(cmd)
	return cmd
}

func (f *sweepFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&f.per, "per", periodTexts(sweep.DefaultPeriods()), "`lengths` of windows")
	flags.StringArrayVar(&f.kinds, "kind", nil, "`kind` of limits: "+strings.Join(sweep.Kinds(), "; ")+" (repeatable; default all)")
	flags.StringSliceVar(&f.rates, "rate", nil, "`rates` of token buckets: 10/s,30/m (default 20, from 6/h to 100/s for one client)")
	flags.Int64SliceVar(&f.bursts, "bursts", sweep.DefaultBursts(), "`sizes` of token buckets of which to count what they refuse")
	flags.BoolVar(&f.exact, "exact", false, "read the logs twice to count what the token buckets of the table refuse (of up to 500,000 requests: default)")
	flags.StringVar(&f.by, "by", "client", "what limits count by (`key`): "+keyTexts())
	flags.StringVar(&f.action, "action", "", "only requests of this action (`name`)")
	addOutput(cmd, &f.output, "report", "html")
	f.readingFlags.add(cmd)
	f.evidenceFlags.add(cmd)
	flags.StringVar(&f.config, "config", "", "YAML `file` with actions (default "+defaultConfig+", if it is there)")
	flags.StringVar(&f.db, "db", defaultDB, "DuckDB `file` in which the run is kept")
	flags.BoolVar(&f.noStore, "no-store", false, "keep nothing")
	flags.Var(&f.maxBad, "max-bad", "share of unreadable lines above which the exit code is 3 (in `percent`)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but the report and errors")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "say on standard error what is chosen")
	addBand(cmd, &f.band)
	needsKinds(cmd)
	needs(cmd, []string{kindOf(sweep.Token)}, "bursts", "exact")
	completeWords(cmd, "kind", sweep.Kinds()...)
	completeWords(cmd, "by", request.Keys()...)
}

// needsKinds says of which kinds of limits --per and --rate tell something.
func needsKinds(cmd *cobra.Command) {
	needs(cmd, []string{kindOf(sweep.Token)}, "rate")
	needs(cmd, []string{kindOf(sweep.Window), kindOf(sweep.Fixed), kindOf(sweep.WindowAll)}, "per")
}

func kindOf(kind sweep.Kind) string { return "kind=" + kind.String() }

// periods reads --per.
func periods(texts []string) (all []limit.Time, err error) {
	for _, text := range texts {
		per, err := limit.ParsePeriod(text)
		if err != nil {
			return nil, badFlag("per", text, err)
		}
		if !slices.Contains(all, per) {
			all = append(all, per)
		}
	}
	return all, nil
}

func periodTexts(periods []limit.Time) (texts []string) {
	for _, p := range periods {
		texts = append(texts, limit.FormatPeriod(p))
	}
	return texts
}

// sweepOptions are what the flags ask for, apart from how the logs are read.
func (f *sweepFlags) sweepOptions() (o sweep.Options, err error) {
	key, err := request.ParseKey(f.by)
	if err != nil {
		return o, badFlag("by", f.by, err)
	}
	o.By, o.Action, o.Bursts = key, f.action, f.bursts
	if o.Periods, err = periods(f.per); err != nil {
		return o, err
	}
	for _, b := range f.bursts {
		if b < 1 {
			return o, usage("--bursts %d: a bucket that holds nothing admits nothing; want at least 1", b)
		}
	}
	if o.Kinds, err = f.kindsOf(); err != nil {
		return o, err
	}
	o.Rates, err = f.ratesOf(o.By)
	return o, err
}

// kindsOf are the chosen kinds, all if none is.
func (f *sweepFlags) kindsOf() (kinds []sweep.Kind, err error) {
	names := f.kinds
	if len(names) == 0 {
		names = sweep.Kinds()
	}
	for _, name := range names {
		kind, err := sweep.ParseKind(name)
		if err != nil {
			return nil, badFlag("kind", name, err)
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

// ratesOf are the chosen rates, or those that suit the key.
func (f *sweepFlags) ratesOf(by request.Key) (rates []sweep.Rate, err error) {
	for _, text := range f.rates {
		some, err := sweep.ParseRates(text)
		if err != nil {
			return nil, badFlag("rate", text, err)
		}
		for _, rate := range some {
			if rate.MostBurst() < 1 {
				return nil, usage("--rate %s: too large to be exact; take a shorter period or a rounder count", text)
			}
			if !slices.Contains(rates, rate) {
				rates = append(rates, rate)
			}
		}
	}
	if len(rates) == 0 {
		rates = sweep.DefaultRates(by)
	}
	return rates, nil
}
