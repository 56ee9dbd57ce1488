package commands

import (
	"strings"

	"github.com/spf13/cobra"

	"shadow/internal/calc"
	"shadow/internal/commands/option"
	"shadow/internal/pipeline"
	"shadow/limit"
	"shadow/report/explain"
	"shadow/report/plot"
)

// calcFlags are the options of `shadow limits calc` as they are given.
type calcFlags struct {
	bucket calc.Bucket
	left   int64
	output string
	noPlot bool
}

// calcMoments is the number of moments at which JSON tells how many tokens there are: each hundredth of the window.
const calcMoments = 101

func newCalc() *cobra.Command {
	f := &calcFlags{}
	cmd := &cobra.Command{
		Use:   "calc --capacity TOKENS --refill RATE",
		Short: "Work out the numbers of a token bucket, and try a client out on it",
		Long: `Calc works out what a token bucket sustains, without a log, and lets the limiter itself judge the requests
of a made-up client. A request takes a token; where there is no whole one left it is refused and takes nothing.

  sustains                 refill
  full after               (capacity − initial) / refill
  effective over a window  refill + capacity/window from a full bucket, refill + initial/window from the first filling
  left, without requests   min(capacity, initial + refill·window)
  left, with requests      what the simulated bucket holds at the end of the window

The first four follow from the definition: tokens(t) = min(capacity, initial + refill·t), and no more can be taken out
of a bucket than was in it and flows in. The simulation is the limiter token:COUNT/PERIOD,burst=…,initial=… that
shadow replay judges by (ATM Forum, Traffic Management 4.1, the continuous-state leaky bucket).

A RATE is 100/s, 30/m, 0.5/s or 5/20s; 100 alone is per second. A PATTERN is
  none              no requests
  constant:150/s    one each 1/150 s
  burst:500@10s     500 at once every 10 s
  random:150/s      as many as constant:150/s, at random moments, drawn with --seed
The first request or burst comes at 0; moments are rounded up to whole microseconds.

What an attacker still gets is what is admitted of more than the bucket sustains: of guesses at passwords, ten a
second for a day, say --pattern constant:10/s --window 24h.`,
		Example: `  shadow limits calc --capacity 5000 --refill 100/s --initial 2500 --window 300s
  shadow limits calc --capacity 5000 --refill 100/s --pattern constant:150/s
  shadow limits calc --capacity 200 --refill 20/s --initial 100 --pattern burst:50@2s --window 1m
  shadow limits calc --capacity 60 --refill 30/m --pattern random:0.6/s --seed 7 --window 1h --output json
  shadow limits calc --capacity 5000 --refill 100/s --initial 2500 --left 3750   who leaves so many after five minutes
  shadow limits calc --capacity 5 --refill 5/15m --pattern constant:10/s --window 24h   how many guesses an attacker has in a day`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	option.Capacity.Add(cmd, &f.bucket.Capacity, "capacity", "`tokens` that the bucket holds")
	option.Domain[calc.Rate]{Parse: calc.ParseRate, Text: calc.Rate.String}.Add(cmd, &f.bucket.Refill, "refill",
		"the `rate` at which tokens come: 100/s, 30/m, 0.5/s")
	option.AtLeast[int64](0, "").Add(cmd, &f.bucket.Initial, "initial", "`tokens` at the beginning (default as many as it holds)")
	f.bucket.Window = 5 * limit.Minute
	option.Domain[limit.Time]{What: "string", Parse: limit.ParsePeriod, Text: limit.FormatPeriod}.Add(cmd, &f.bucket.Window,
		"window", "how long to look at the bucket (`period`)")
	option.Domain[calc.Pattern]{Parse: calc.ParsePattern, Text: calc.Pattern.String}.Add(cmd, &f.bucket.Pattern, "pattern",
		"what the client sends (`pattern`): "+strings.Join(calc.Patterns(), ", "))
	option.AtLeast[int64](0, "").Add(cmd, &f.left, "left", "in place of a pattern, the steady client after whose window so many `tokens` are left")
	flags.Uint64Var(&f.bucket.Seed, "seed", 1, "`number` that a random pattern is drawn with")
	addOutput(cmd, &f.output, "answer", explain.CalcFormats())
	flags.BoolVar(&f.noPlot, "no-plot", false, "draw no plot of the tokens over time")
	return cmd
}

func (f *calcFlags) run(cmd *cobra.Command) error {
	if err := f.verify(cmd); err != nil {
		return err
	}
	view := explain.View{Width: widthOf(cmd.OutOrStdout()), Color: hasColor(cmd.OutOrStdout()), Plots: !f.noPlot}
	moments := plot.Moments(view.Width)
	if f.output == "json" {
		moments = calcMoments
	}
	figures, err := f.bucket.Calc(moments)
	if err != nil {
		return pipeline.Usage("%w", err)
	}
	return explain.WriteFigures(cmd.OutOrStdout(), f.output, figures, view)
}

// verify completes the options and says what is wrong with them.
func (f *calcFlags) verify(cmd *cobra.Command) error {
	b := &f.bucket
	given := cmd.Flags().Changed
	switch {
	case !given("capacity") || !given("refill"):
		return pipeline.Usage("which bucket? Say, for instance, --capacity 5000 --refill 100/s\nSee "+
			"`%s --help`.", cmd.CommandPath())
	case b.Initial > b.Capacity:
		return pipeline.Usage("--initial %d: is more than the %d tokens that the bucket holds; lower it, or raise "+
			"--capacity", b.Initial, b.Capacity)
	case given("seed") && !b.Pattern.Random():
		return pipeline.Usage("--seed goes with a random pattern, such as --pattern random:150/s")
	}
	if !given("initial") {
		b.Initial = b.Capacity
	}
	if !given("left") {
		return nil
	}
	pattern, err := b.Leaving(f.left)
	switch {
	case given("pattern"):
		return pipeline.Usage("--pattern and --left: state one")
	case err != nil:
		return pipeline.Usage("--left %d: %w", f.left, err)
	}
	b.Pattern = pattern
	return nil
}
