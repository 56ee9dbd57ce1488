package commands

import (
	"errors"

	"github.com/spf13/cobra"

	"shadow/internal/commands/option"
	"shadow/internal/pipeline"
	"shadow/internal/pipeline/flagvalue"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/report/format"
)

func newKeys() *cobra.Command {
	f := new(pipeline.Keys)
	cmd := &cobra.Command{
		Use:   "keys LOG…",
		Short: "Say what limits should count by: which key tells bots from people in this log",
		Long: `Keys says what a limit should count by. For each key it takes the largest rolling window that still refuses so many
of the target's requests, and says how many of the protected visitors it hits. The key that hits fewest
separates best in this log. client+agent tells people apart behind one address, but agents are easily changed;
client/64 holds who takes a new IPv6 address for every request.

Keys:
  client         who --client says: the address, if nothing is said
  client/64      IPv6 addresses of one /64 together; client/24: IPv4 addresses of one /24
  client+agent   each user agent of a client for itself
  user           the user, or the client where a request has none
  …+action       each of these, per action
  client+path    each path of a client, if --by asks for it

People are counted as visitors, for all keys alike: one client with one agent, and with one user where the log tells
users. Who is target and who is protected goes by who the clients are, as in shadow suggest. With --limit, it is that
limit that is judged under each key.`,
		Example: `  shadow keys access.log
  shadow keys access.log --per 10s,1m,1h --refuse 80%
  shadow keys access.log --action login --target programs,disguised --refuse 95%
  shadow keys access.log --limit token:1/s,burst=20 --by client,client/64,client+agent
  shadow keys access.log --output html > keys.html
  shadow keys access.log --output json | jq '.answers[] | {refuse_percent, per, best}'`,
		Args: logArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Caller = callerOf(cmd)
			unlessGiven(cmd, "per", &f.Per)
			if len(f.Limits) > 0 && f.Per == nil {
				unlessGiven(cmd, "refuse", &f.Refuse)
			}
			return f.Run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.Per, f.Refuse = []limit.Time{limit.Minute}, []float64{50, 80, 95}
	option.Period.AddList(cmd, &f.Per, true, "per", "`lengths` of windows (where no key separates by 1m, 10m and 1h are "+
		"tried as well)")
	share := option.Domain[float64]{Text: flagvalue.FormatPercent, Parse: func(text string) (float64, error) {
		percent, err := flagvalue.ParsePercent(text)
		if err == nil && percent == 0 {
			err = errors.New("every limit refuses as much; want more than 0%")
		}
		return percent, err
	}}
	share.AddList(cmd, &f.Refuse, true, "refuse", "`shares` of the target's requests to refuse")
	flags.StringArrayVarP(&f.Limits, "limit", "l", nil, "judge this `limit` under each key, instead of windows "+
		"unless --per or --refuse asks for those (repeatable)")
	option.AddLimitCompletion(cmd)
	option.Key.AddList(cmd, &f.By, true, "by", "`keys` to compare (default all that the log has; "+keyTexts+")")
	clients := option.Domain[who.Set]{Parse: who.ParseSet, Text: who.Set.String, Words: who.Words()}
	clients.AddList(cmd, &f.Target, true, "target", "which `clients` to refuse (default as shadow suggest)")
	clients.AddList(cmd, &f.Protect, true, "protect", "which `clients` must not be hit (default as shadow suggest)")
	flags.StringVar(&f.Action, "action", "", "only requests of this action (`name`)")
	flags.BoolVar(&f.Details, "details", false, "bound what any limit can reach by all keys, not only by the best")
	addOutput(cmd, &f.Output, "report", format.PageOutputs())
	addEvidencePaths(cmd, &f.Evidence, "")
	addReading(cmd, &f.Reading)
	addConfig(cmd, &f.Source, "actions")
	addLogs(cmd, &f.Logs, "print nothing but the report and errors", "report on standard error what is chosen")
	option.AddProfiles(cmd, &f.Logs)
	return cmd
}
