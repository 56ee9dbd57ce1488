package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"shadow/request"
)

// keysFlags are the options of `shadow keys` as they are given.
type keysFlags struct {
	readingFlags
	evidenceFlags
	output  string
	per     []string
	refuse  []string
	limits  []string
	by      []string
	target  []string
	protect []string
	action  string
	claims  bool
	config  string
	maxBad  percent
	quiet   bool
	verbose bool
}

// keysTried are those that are held against each other unless --by names some: the simpler first, as of several that are
// as good the first is called best.
var keysTried = []request.Key{
	request.ByClient, request.ByClient64, request.ByClient24, request.ByClientAgent, request.ByUser,
	request.ByClientAction, request.ByClient64Action, request.ByClient24Action, request.ByClientAgentAction, request.ByUserAction,
}

func newKeys() *cobra.Command {
	f := &keysFlags{maxBad: 5}
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
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.add(cmd)
	return cmd
}

func (f *keysFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&f.per, "per", []string{"1m"}, "`lengths` of windows (where no key separates by 1m, 10m and 1h are tried as well)")
	flags.StringSliceVar(&f.refuse, "refuse", []string{"50%", "80%", "95%"}, "`shares` of the target's requests to refuse")
	flags.StringArrayVarP(&f.limits, "limit", "l", nil, "judge this `limit` under each key, instead of windows (repeatable)")
	flags.StringSliceVar(&f.by, "by", nil, "`keys` to hold against each other (default all that the log has; "+keyTexts()+")")
	flags.StringSliceVar(&f.target, "target", []string{"tools", "crawlers", "disguised"}, "`classes` to refuse")
	flags.StringSliceVar(&f.protect, "protect", []string{"browsers"}, "`classes` that must not be hit")
	flags.StringVar(&f.action, "action", "", "only requests of this action (`name`)")
	addOutput(cmd, &f.output, "report")
	flags.BoolVar(&f.claims, "claims", false, "believe what agents claim, without looking for evidence")
	f.evidenceFlags.addPaths(cmd, "")
	f.readingFlags.add(cmd)
	flags.StringVar(&f.config, "config", "", "YAML `file` with actions (default "+defaultConfig+", if it is there)")
	flags.Var(&f.maxBad, "max-bad", "share of unreadable lines above which the exit code is 3 (in `percent`)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but the report and errors")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "say on standard error what is chosen")
	completeWords(cmd, "by", request.Keys()...)
	completeWords(cmd, "target", classNames()...)
	completeWords(cmd, "protect", classNames()...)
}

// chosen are the keys of --by, or those that are tried by default.
func (f *keysFlags) chosen() (keys []request.Key, err error) {
	for _, text := range f.by {
		key, err := request.ParseKey(text)
		if err != nil {
			return nil, badFlag("by", text, err)
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return slices.DeleteFunc(slices.Clone(keysTried), func(k request.Key) bool {
			return f.action != "" && strings.HasSuffix(k.String(), "+action") // as good as without
		}), nil
	}
	return keys, nil
}

// shares reads --refuse.
func (f *keysFlags) shares() (shares []float64, err error) {
	for _, text := range f.refuse {
		var share percent
		if err := share.Set(text); err != nil {
			return nil, badFlag("refuse", text, err)
		}
		if share == 0 {
			return nil, usage("--refuse %s: every limit refuses as much; want more than 0%%", text)
		}
		if !slices.Contains(shares, float64(share)) {
			shares = append(shares, float64(share))
		}
	}
	return shares, nil
}
