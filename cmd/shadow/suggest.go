package main

import (
	"strings"

	"github.com/spf13/cobra"

	"shadow/request"
	"shadow/suggest"
	"shadow/sweep"
)

// suggestFlags are the options of `shadow suggest` as they are given.
type suggestFlags struct {
	readingFlags
	evidenceFlags
	protect    []string
	target     []string
	per        []string
	kinds      []string
	rates      []string
	action     string
	eachAction bool
	holdout    string
	scale      string
	band       bool
	output     string
	config     string
	maxBad     percent
	quiet      bool
	verbose    bool
}

func newSuggest() *cobra.Command {
	f := &suggestFlags{maxBad: 5}
	cmd := &cobra.Command{
		Use:   "suggest LOG…",
		Short: "What should the limit be? The strictest that leaves browsers alone, and its price",
		Long: `Suggest answers the question "what should X be?": it names, for windows of several lengths and token buckets of
several rates, the strictest limit that hits at most the allowed share of the clients to protect, and says what that
limit would refuse of whom. It blocks nobody.

Limits are chosen on the first part of the log and proven on the rest (--holdout); both figures are shown.

Clients are told apart by what their agents claim, and browsers by what they do as well:
  browsers   claim to be one, and nothing they do contradicts it (shared: of these, addresses that many share)
  disguised  claim to be one, and what they do contradicts it
  crawlers, tools, monitors, unknown
  all        everybody

The log is read three or four times, so it must lie in files.`,
		Example: `  shadow suggest access.log
  shadow suggest access.log access.log.*.gz --protect browsers=99.9% --target tools,crawlers --per 30s,1m,5m
  shadow suggest access.log --action login --protect browsers=99%
  shadow suggest access.log --each-action --kind window
  shadow suggest access.log --scale 2 --holdout 50% --output json | jq '.answers[0].best'`,
		Args: logArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.add(cmd)
	return cmd
}

func (f *suggestFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&f.protect, "protect", []string{"browsers=99.9%"}, "the share of which clients must not be hit (`who=share`, repeatable)")
	flags.StringSliceVar(&f.target, "target", []string{"tools", "crawlers", "disguised"}, "the `clients` to refuse: the more of their requests a limit refuses, the better")
	flags.StringSliceVar(&f.per, "per", periodTexts(sweep.DefaultPeriods()), "`lengths` of windows")
	flags.StringArrayVar(&f.kinds, "kind", nil, "`kind` of limits: "+strings.Join(sweep.Kinds(), "; ")+" (repeatable; default window, fixed and token)")
	flags.StringSliceVar(&f.rates, "rate", nil, "`rates` of token buckets: 10/s,30/m (default 20, from 6/h to 100/s)")
	flags.StringVar(&f.action, "action", "", "a limit for the requests of this action (`name`)")
	flags.BoolVar(&f.eachAction, "each-action", false, "a limit for each of the ten actions with most requests")
	flags.StringVar(&f.holdout, "holdout", "30%", "the last `share` of the requests, on which limits are proven that the others chose; 0 for none")
	flags.StringVar(&f.scale, "scale", "1", "make room for clients that send so many times as much (`factor`)")
	flags.BoolVar(&f.band, "band", true, "where stamps are whole seconds, keep the promise wherever in its second each request came")
	addOutput(cmd, &f.output, "report")
	f.readingFlags.add(cmd)
	f.cold = true // neither part of the log is warmed
	if err := flags.MarkHidden("cold"); err != nil {
		panic(err) // the flag does not exist: a mistake in this program
	}
	f.evidenceFlags.add(cmd)
	f.wanted, flags.Lookup("evidence").DefValue = true, "true"
	flags.StringVar(&f.config, "config", "", "YAML `file` with actions and evidence (default "+defaultConfig+", if it is there)")
	flags.Var(&f.maxBad, "max-bad", "share of unreadable lines above which the exit code is 3 (in `percent`)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but the report and errors")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "say on standard error what is chosen")
	needsKinds(cmd)
	completeWords(cmd, "kind", sweep.Kinds()...)
	completeWords(cmd, "target", suggest.Words()...)
}

// question is what the flags ask.
// `--protect all` without --target implies `--target all`.
func (f *suggestFlags) question(targetGiven bool) (q suggest.Question, err error) {
	for _, text := range f.protect {
		p, err := suggest.ParsePromise(text)
		if err != nil {
			return q, badFlag("protect", text, err)
		}
		q.Promises = append(q.Promises, p)
	}
	for _, word := range f.target {
		who, err := suggest.ParseSet(word)
		if err != nil {
			return q, badFlag("target", word, err)
		}
		q.Stop |= who
	}
	if len(q.Promises) > 0 && q.Promises[0].Who == suggest.Everybody && !targetGiven {
		q.Stop = suggest.Everybody // no classification is needed
	}
	if len(q.Promises) == 0 || q.Stop == 0 {
		return q, usage("--protect and --target: name at least one group of clients each")
	}
	for _, p := range q.Promises {
		if both := p.Who & q.Stop; both != 0 && p.Who != suggest.Everybody && q.Stop != suggest.Everybody {
			return q, usage("--protect and --target: %s cannot be both", both)
		}
	}
	if q.Scale, err = suggest.ParseScale(f.scale); err != nil {
		return q, badFlag("scale", f.scale, err)
	}
	return q, nil
}

// shapes are the shapes of limits to choose from.
func (f *suggestFlags) shapes() (sweep.Options, error) {
	kinds := f.kinds
	if len(kinds) == 0 {
		kinds = []string{sweep.Window.String(), sweep.Fixed.String(), sweep.Token.String()}
	}
	same := sweepFlags{per: f.per, kinds: kinds, rates: f.rates, by: request.ByClient.String(), action: f.action}
	return same.sweepOptions()
}

// heldOut is the share of --holdout, 0 for none.
func (f *suggestFlags) heldOut() (suggest.Share, error) {
	if none := strings.TrimSuffix(f.holdout, "%"); none == "0" {
		return 0, nil
	}
	share, err := suggest.ParseShare(f.holdout)
	if err != nil || share.Percent() >= 100 {
		return 0, usage("--holdout %q: want a share from 0 (nothing is held out) to below 100%% (something must be left to choose limits on), such as 30%%", f.holdout)
	}
	return share, nil
}
