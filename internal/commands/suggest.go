package commands

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"shadow/internal/commands/option"
	"shadow/internal/pipeline"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/traffic/who"
	"shadow/report/format"
)

func newSuggest() *cobra.Command {
	f := new(pipeline.Suggest)
	cmd := &cobra.Command{
		Use:   "suggest LOG…",
		Short: "What should the limit be? One limit, what it does, and lines to paste",
		Long: `Suggest answers the question "what should X be?" with a verdict and one limit. It blocks no client.

  deploy          the limit keeps the promise (--protect) and refuses 5 % of the target requests or more; it is 95 %
                  sure that it hits at most 10 % of the clients to protect; it says so if fewer than ten came near
  ceiling         the limit hits no client to protect and refuses little: a safety net; UNSURE if it may refuse more, but
                  too few clients show that it spares people
  no limit can    no limit by this key reaches the target without breaking the promise
  not judgeable   something about the log forbids an answer; the reason says what

Limits are chosen on two parts of the log, and keep the promise on both. A third part (--holdout) validates the answer.
With --for the limit is one that this server has exactly.

Who a client is, shows in what it does. How fast it is, is no sign:
  people     behave like a person: files come with pages, steps follow from pages
  offices    several people behind one address
  undecided  claim to be browsers, and sent too little to tell; browsers are these and the two above
  programs   tools, libraries, apps, devices
  disguised  claim to be browsers, and behave like none
  attackers  scan, guess passwords, ask for what is not there; also many addresses that are one client
  search     crawlers of search engines; crawlers are all others that say so
  own, monitors, proxies are never protected and never refused unless you name them
  users, all users are all but these and attackers

The log is read once. Its requests, about 20 bytes each, wait in a temporary file (TMPDIR).`,
		Example: `  shadow suggest access.log
  shadow suggest access.log --for haproxy
  shadow suggest access.log access.log.*.gz --protect browsers=99.9% --target programs,crawlers --per 30s,1m,5m
  shadow suggest access.log --action login
  shadow suggest access.log --each-action --details
  shadow suggest access.log --output html > limit.html
  shadow suggest access.log --output json | jq -r '.answer.verdict, .answer.limit'`,
		Args: logArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Caller, f.Again = callerOf(cmd), again(cmd)
			if slices.Contains(f.Kinds, sweep.UnderWay) { // whose bounds are not known
				unlessGiven(cmd, "band", &f.Band)
			}
			return f.Run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.Holdout, f.Scale, f.Recover = pipeline.DefaultHoldout, pipeline.SameScale, suggest.DefaultRecover
	addGoals(cmd, f)
	flags.BoolVar(&f.Details, "details", false, "show all limits that were tried")
	addShapes(cmd, &f.Shapes, "window, fixed and token", "")
	flags.StringVar(&f.Action, "action", "", "a limit for the requests of this action (`name`)")
	flags.BoolVar(&f.EachAction, "each-action", false, "a limit for each of the ten actions with most requests, and of --action")
	share := option.Domain[suggest.Percent]{What: "string", Parse: pipeline.ParseHoldout, Text: suggest.Percent.String}
	share.Add(cmd, &f.Holdout, "holdout", "the last `share` of the requests, which only validates the limits that "+
		"the others chose; 0 for none")
	scale := option.Domain[suggest.Scale]{What: "string", Parse: suggest.ParseScale, Text: suggest.Scale.String}
	scale.Add(cmd, &f.Scale, "scale", "make room for clients that send so many times as much (`factor`)")
	option.Period.Add(cmd, &f.Recover, "recover", "who is refused is forgiven within this `time` (limits that --per names are not held to it)")
	flags.BoolVar(&f.Band, "band", true, "where timestamps are whole seconds, keep the promise wherever in its second each "+
		"request came")
	flags.StringArrayVar(&f.FailIf, "fail-if", nil, "exit code 4 if this `condition` holds, such as 'verdict != \"deploy\"'; "+
		"may be repeated")
	addOutput(cmd, &f.Output, "report", format.PageOutputs())
	addReading(cmd, &f.Reading)
	flags.Lookup("cold").Hidden = true
	f.Wanted = true
	addEvidencePaths(cmd, &f.Evidence, "")
	addConfig(cmd, &f.Source, "actions and evidence")
	addLogs(cmd, &f.Logs, "print nothing but the report and errors", "report on standard error what is chosen")
	option.AddProfiles(cmd, &f.Logs)
	return cmd
}

// addGoals adds the flags that say for which server a limit is, and what it is to do.
func addGoals(cmd *cobra.Command, f *pipeline.Suggest) {
	goal := option.Domain[suggest.Goal]{Parse: suggest.ParseGoal, Text: suggest.Goal.String}
	option.Server.Add(cmd, &f.For, "for", "the `server` whose limits are wanted, or any (default the one that "+
		"writes such a log, nginx where several do)")
	goal.AddList(cmd, &f.Protect, true, "protect", "the share of which clients must not be hit (`who=share`, repeatable; default "+
		"browsers=99.9% of a site for people; users=99% of an API, where one of 10 to 99 clients may be hit)")
	clients := option.Domain[who.Set]{Parse: who.ParseSet, Text: who.Set.String, Words: who.Words()}
	clients.AddList(cmd, &f.Target, true, "target", "the `clients` to refuse: the more of their requests a limit refuses, "+
		"the better (default disguised,attackers,programs,crawlers of a site for people, all who are not search engines of an API)")
}

// again returns the flags of a command that suggests another one, as they were given: as far as the other has them and
// they mean the same there. For suggest they are all but those that choose the action or the look.
func again(cmd *cobra.Command) func(command string) []string {
	shared := &cobra.Command{}
	addReading(shared, new(pipeline.Reading))
	addEvidencePaths(shared, new(pipeline.Evidence), "")
	addConfig(shared, new(pipeline.Source), "")
	addLogs(shared, new(pipeline.Logs), "", "")
	return func(command string) (words []string) {
		other, _, err := cmd.Root().Find([]string{command})
		if err != nil {
			panic(err) // the command does not exist: a mistake in this program
		}
		cmd.Flags().Visit(func(f *pflag.Flag) {
			switch f.Name {
			case "action", "each-action", "output", "details", "quiet", "verbose":
				return
			}
			if other.Flags().Lookup(f.Name) == nil || command != "suggest" && shared.Flags().Lookup(f.Name) == nil {
				return
			}
			words = append(words, option.WordsOf(f)...)
		})
		if command != "doctor" && command != "suggest" && cmd.Flags().Changed("since") && !cmd.Flags().Changed("cold") {
			words = append(words, "--cold") // suggest always starts cold
		}
		return words
	}
}
