package main

import (
	"github.com/spf13/cobra"

	"shadow/pipeline"
	"shadow/report/format"
	"shadow/request"
)

func newKeys() *cobra.Command {
	f := new(pipeline.Keys)
	cmd := &cobra.Command{
		Use:   "keys LOG…",
		Short: "Say what limits should count by: which key tells tools from browsers in this log",
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
users. A visitor is of the class that its agent claims; but a browser whose evidence contradicts that is disguised
(--claims believes it). With --limit, it is that limit that is judged under each key.`,
		Example: `  shadow keys access.log
  shadow keys access.log --per 10s,1m,1h --refuse 80%
  shadow keys access.log --action login --target tools,disguised --refuse 95%
  shadow keys access.log --limit token:1/s,burst=20 --by client,client/64,client+agent
  shadow keys access.log --output json | jq '.answers[] | {refuse_percent, per, best}'`,
		Args: logArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Caller = callerOf(cmd)
			unlessGiven(cmd, "per", &f.Per)
			unlessGiven(cmd, "target", &f.Target)
			return f.Run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&f.Per, "per", []string{"1m"}, "`lengths` of windows (where no key separates by 1m, 10m and 1h are tried as well)")
	flags.StringSliceVar(&f.Refuse, "refuse", []string{"50%", "80%", "95%"}, "`shares` of the target's requests to refuse")
	flags.StringArrayVarP(&f.Limits, "limit", "l", nil, "judge this `limit` under each key, instead of windows (repeatable)")
	flags.StringSliceVar(&f.By, "by", nil, "`keys` to hold against each other (default all that the log has; "+keyTexts+")")
	flags.StringSliceVar(&f.Target, "target", pipeline.DefaultTarget, "`classes` to refuse")
	flags.StringSliceVar(&f.Protect, "protect", pipeline.KeysProtect, "`classes` that must not be hit")
	flags.StringVar(&f.Action, "action", "", "only requests of this action (`name`)")
	addOutput(cmd, &f.Output, "report", format.Outputs())
	flags.BoolVar(&f.Claims, "claims", false, "believe what agents claim, without looking for evidence")
	addEvidencePaths(cmd, &f.Evidence, "")
	addReading(cmd, &f.Reading)
	addConfig(cmd, &f.Source, "actions")
	addLogs(cmd, &f.Logs, "print nothing but the report and errors", "say on standard error what is chosen")
	completeWords(cmd, "by", request.Keys()...)
	completeWords(cmd, "target", pipeline.ClassNames()...)
	completeWords(cmd, "protect", pipeline.ClassNames()...)
	clash(cmd, "--claims looks for no evidence: leave it out, or --evidence-path and --robots", "claims", "evidence-path", "robots")
	clash(cmd, "--limit names the limit; --per and --refuse look for one: state one or the other", "limit", "per", "refuse")
	clash(cmd, "--limit judges all requests: leave out --action", "limit", "action")
	return cmd
}
