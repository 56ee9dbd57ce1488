package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"shadow/internal/commands/option"
	"shadow/internal/mapped"
	"shadow/internal/pipeline"
	"shadow/internal/pipeline/flagvalue"
	"shadow/internal/pipeline/stored"
	"shadow/internal/store/duck"
	"shadow/internal/sweep"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/parse/detect"
	"shadow/report"
	"shadow/report/format"
)

// Flags that several commands have.

// unlessGiven empties the variable of a flag whose value by default stands for something that depends on other flags.
func unlessGiven[T any](cmd *cobra.Command, flag string, value *T) {
	if !cmd.Flags().Changed(flag) {
		*value = *new(T)
	}
}

// addFormat adds the flags that say how lines are read.
func addFormat(cmd *cobra.Command, f *pipeline.LineFormat) {
	flags := cmd.Flags()
	flags.StringVar(&f.Format, "format", "auto", "log `format`: auto, a name from `shadow doctor formats`, an nginx "+
		"log_format or an Apache LogFormat string")
	flags.StringVar(&f.NginxConf, "nginx-conf", "", "take the format from the log_format in this nginx.conf `file`")
	flags.StringVar(&f.LogName, "log-name", "", "`name` of the log_format in --nginx-conf (default main)")
	flags.StringVar(&f.Fields, "field", "", "what logs call their fields: time=ts,client=remote_addr (`names`)")
	f.Parser, f.Timezone = pipeline.Parsers[0], time.UTC
	option.OneOf(pipeline.Parsers...).Add(cmd, &f.Parser, "parser", "`how` to read lines: auto, or gonx (by the gonx library, "+
		"slower)")
	option.Needs(cmd, []string{"nginx-conf"}, "log-name")
	option.CompleteWords(cmd, "format", formatNames()...)
	option.Zone.Add(cmd, &f.Timezone, "timezone", "`zone` of timestamps and dates that name none, such as "+
		"Europe/Berlin, +02:00 or Local")
}

// formatNames returns the formats that have names.
var formatNames = sync.OnceValue(func() []string {
	names := []string{"auto"}
	names = mapped.Add(names, detect.Catalogue(), func(known detect.Known) string { return known.Name })
	return names
})

// addReading adds the flags that say which requests take part.
func addReading(cmd *cobra.Command, f *pipeline.Reading) {
	addWho(cmd, f, ingest.DefaultLateness)
	addCrawlerRanges(cmd, f)
	flags := cmd.Flags()
	option.Moment.Add(cmd, &f.Since, "since", "count from this `moment` on: 2026-11-19T08:00:00Z, 2026-11-19, yesterday, 24h")
	option.Moment.Add(cmd, &f.Until, "until", "leave out requests from this `moment` on")
	flags.BoolVar(&f.Cold, "cold", false,
		"start with empty limiters at --since; by default, the day before, or as much as they remember, warms them "+
			"(clients that were busy for longer are exact only without --since)")
	option.Needs(cmd, []string{"since"}, "cold")
}

// addCrawlerRanges adds the flag that says where crawlers come from.
func addCrawlerRanges(cmd *cobra.Command, f *pipeline.Reading) {
	cmd.Flags().StringArrayVar(&f.CrawlerRanges, "crawler-ranges", nil, "a JSON `file` with a crawler's addresses, as search "+
		"engines publish it: googlebot.json, or NAME=FILE (repeatable)")
}

// addWho adds those of them that do not go by the time of a request.
func addWho(cmd *cobra.Command, f *pipeline.Reading, lateness limit.Time) {
	flags := cmd.Flags()
	addFormat(cmd, &f.LineFormat)
	f.Lateness = lateness
	flags.StringVar(&f.Client, "client", "addr", "`who` a client is: addr, addr/24, addr/24,/64, user, header:NAME, or "+
		"a field of the line")
	option.CompleteWords(cmd, "client", "addr", "addr/24", "addr/64", "addr/24,/64", "user", "header:")
	flags.StringVar(&f.ClientFrom, "client-from", "", "take the address from this `header` that proxies write: "+
		"x-forwarded-for")
	flags.StringSliceVar(&f.Trusted, "trusted-proxy", nil, "proxies whose entries in --client-from are believed: "+
		"`CIDR`, or private (repeatable)")
	flags.StringArrayVar(&f.Exclude, "exclude", nil, "leave out requests by `what` they are: 10.0.0.0/8, /health, "+
		"/status/**, agent:kube-probe, status:404 (repeatable)")
	flags.StringSliceVar(&f.ExcludeStatus, "exclude-status", nil, "leave out requests by `status`: 429,503 (what the "+
		"server refused already)")
	option.Named[ingest.NotHTTP](flagvalue.NotHTTPWords...).Add(cmd, &f.NotHTTP, "not-http", "`what` to do with lines whose "+
		"request is not HTTP (empty, -, a TLS handshake): skip, as servers answer them before they ask a limiter, or judge")
	flags.StringSliceVar(&f.NetworkDB, "network-db", nil, "local `MMDB` files that map addresses to networks: ASN, name, "+
		"country (repeatable)")
	option.Period.Add(cmd, &f.Lateness, "lateness", "how far out of order requests may be")
}

// addEvidence adds the flags that say what shows who clients are.
func addEvidence(cmd *cobra.Command, f *pipeline.Evidence) {
	cmd.Flags().BoolVar(&f.Wanted, "evidence", false, "begin with which clients are hit, by who they are")
	addEvidencePaths(cmd, f, "; implies --evidence")
}

// evidenceByDefault has people read who the clients are unless a flag says not to.
func evidenceByDefault(cmd *cobra.Command, f *pipeline.Evidence) {
	f.Wanted, cmd.Flags().Lookup("evidence").DefValue = true, "true"
}

// addEvidencePaths adds the flags that say more than that.
func addEvidencePaths(cmd *cobra.Command, f *pipeline.Evidence, implied string) {
	option.Verified(func(path string) error {
		if path == "" || path[0] != '/' && path[0] != '*' {
			return errors.New("fits no path; want a slash at its beginning")
		}
		return nil
	}).Add(cmd, &f.Beacon, "evidence-path", "a `path` that only real browsers load: who loads it is one (a glob"+implied+")")
	cmd.Flags().StringVar(&f.Robots, "robots", "", "the site's robots.txt, to find clients that disobey it (`file`"+implied+")")
}

// addPolicies adds the flags that say what to judge by.
func addPolicies(cmd *cobra.Command, f *pipeline.Choice) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.Limits, "limit", "l", nil, "a `limit` to judge by, a list or range of them, or several "+
		"joined by +, with each: or in-turn: in front (repeatable)")
	option.AddLimitCompletion(cmd)
	option.Key.Add(cmd, &f.By, "by", "what --limit counts by (`key`): "+keyTexts)
	flags.StringArrayVar(&f.Chosen, "policy", nil, "judge by this policy of the configuration (`name`, repeatable), or "+
		"by none (default all)")
	option.Needs(cmd, []string{"limit", "sweep"}, "by")
}

// keyTexts lists for --help what limits can count by.
const keyTexts = "client, client/20 (a network), asn, country, network (of --network-db), user, agent, host, path, " +
	"segment:2, field:NAME, header:NAME, cookie:NAME, action, or several joined by +; or site"

// addConfig adds --config, which says what is named.
func addConfig(cmd *cobra.Command, f *pipeline.Source, what string) {
	cmd.Flags().Var(option.Config{Source: f}, "config",
		"YAML `file` with "+what+" (default "+pipeline.DefaultConfig+", if it is there)")
}

// addLogs adds the flags of commands that read logs to their ends: how much may be unreadable, and how much is said.
func addLogs(cmd *cobra.Command, f *pipeline.Logs, quiet, verbose string) {
	f.MaxBad = 5
	flags := cmd.Flags()
	option.Percent.Add(cmd, &f.MaxBad, "max-bad", "share of unreadable lines above which the exit code is 3 (in `percent`; "+
		"100% takes damaged files, too)")
	flags.BoolVarP(&f.Quiet, "quiet", "q", false, quiet)
	flags.BoolVarP(&f.Verbose, "verbose", "v", false, verbose)
	addAnonymity(cmd, &f.Anonymity)
	f.Memory = new(pipeline.Memory)
	option.Size.Add(cmd, &f.Memory.Most, "max-memory", "stop with an error rather than take more memory than this, the "+
		"database aside (default: a warning when the machine has less)")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.Memory.Machine = pipeline.MemoryLeft()
		warn := func(text string) {
			if !f.Quiet {
				fmt.Fprintln(cmd.ErrOrStderr(), "warning:", text)
			}
		}
		return f.Memory.Within(cmd.Context(), warn, func(ctx context.Context) error {
			cmd.SetContext(ctx)
			return run(cmd, args)
		})
	}
}

// addStore adds the flags that say where a run is kept.
func addStore(cmd *cobra.Command, f *pipeline.Keeping) {
	cmd.Flags().StringVar(&f.DB, "db", pipeline.DefaultDB, "`folder` to store the run in")
	cmd.Flags().BoolVar(&f.NoStore, "no-store", !duck.Built, "store nothing")
}

// addBand adds --band.
func addBand(cmd *cobra.Command, band *bool) {
	cmd.Flags().BoolVar(band, "band", false, "report each figure as a range, from least to most, to allow for "+
		"whole-second timestamps")
}

// addShapes adds the flags that say which shapes of limits to look at.
func addShapes(cmd *cobra.Command, f *pipeline.Shapes, kinds, rates string) {
	option.Period.AddList(cmd, &f.Per, true, "per", "`lengths` of windows (default 1s,10s,30s,1m,5m,15m,1h,24h)")
	words := sweep.Kinds()
	kind := option.Domain[sweep.Kind]{Parse: sweep.ParseKind, Text: sweep.Kind.String, Words: words}
	kind.AddList(cmd, &f.Kinds, false, "kind",
		"`kind` of limits: "+strings.Join(words, "; ")+" (repeatable; default "+kinds+")")
	rate := option.Domain[sweep.Rate]{Text: sweep.Rate.String}
	rate.AddLists(cmd, &f.Rates, true, sweep.ParseRates, "rate", "`rates` of token buckets: 10/s,30/m (default 20, "+
		"from 6/h to 100/s"+rates+")")
	option.Needs(cmd, []string{kindOf(sweep.Token)}, "rate")
	option.Needs(cmd, []string{kindOf(sweep.Window), kindOf(sweep.Fixed), kindOf(sweep.WindowAll)}, "per")
}

func kindOf(kind sweep.Kind) string { return "kind=" + kind.String() }

// addRedis adds the flags that say where state is shared.
func addRedis(cmd *cobra.Command, f *pipeline.Redis) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.Addresses, "redis", nil, "keep the state of limits in Redis at this `address`: "+
		"redis://HOST (rediss:// for TLS), redis+cluster://HOST, redis+sentinel://HOST/MASTER or unix:///PATH; several of "+
		"the first kind make a ring")
	flags.StringVar(&f.PasswordFile, "redis-password-file", "", "read the password of Redis from `file` (default: the "+
		"variable "+pipeline.PasswordVariable+")")
	f.Timeout, f.MaxLag = time.Second, time.Hour
	option.Waits(true).Add(cmd, &f.Timeout, "redis-timeout", "how long (`time`) to wait for Redis before deciding locally")
	option.Waits(false).Add(cmd, &f.MaxLag, "max-lag", "how much longer (`time`) than the limit needs it Redis keeps a "+
		"key, for hosts that lag behind")
	option.Needs(cmd, []string{"redis"}, "redis-password-file", "redis-timeout", "max-lag")
}

// addNightly adds the flags of reports that run unattended.
func addNightly(cmd *cobra.Command, f *pipeline.Nightly) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.FailIf, "fail-if", nil, "exit code 4 if this `condition` holds for any policy, such as "+
		"'browsers_hit_share > 0.001'; may be repeated; shadow help fail-if lists the names")
	flags.StringVar(&f.Notify, "notify-command", "", "shell `command` that gets the report as JSON on its standard input")
}

// addFailIf adds --fail-if to a command that compares two policies.
func addFailIf(cmd *cobra.Command, f *pipeline.Nightly, second string) {
	cmd.Flags().StringArrayVar(&f.FailIf, "fail-if", nil, "exit code 4 if this `condition` holds for "+second+
		", such as 'newly_hit_people + newly_hit_offices > 0'; may be repeated; shadow help fail-if lists the names")
}

// addAnonymity adds the flags that say under which names people are shown.
func addAnonymity(cmd *cobra.Command, f *pipeline.Anonymity) {
	option.OneOf(report.Anonymizations()...).Add(cmd, &f.Anonymize, "anonymize", "show clients under other names: `how` "+
		"is "+strings.Join(report.Anonymizations(), " or "))
	cmd.Flags().StringVar(&f.AnonymizeKey, "anonymize-key", "", "`file` with the key of hashes (default "+
		"$SHADOW_ANONYMIZE_KEY, or a new key for each report)")
	option.Needs(cmd, []string{"anonymize"}, "anonymize-key")
}

// addLook adds the flags that say how a report is written.
func addLook(cmd *cobra.Command, f *pipeline.Look) {
	addOutput(cmd, &f.Output, "report", format.PageOutputs())
	addTop(cmd, &f.Top)
	f.Sort = report.Sorts()[0]
	option.OneOf(report.Sorts()...).Add(cmd, &f.Sort, "sort", "`order` of the lists: "+strings.Join(report.Sorts(), ", "))
}

func addTop(cmd *cobra.Command, top *int) {
	*top = report.DefaultTop
	option.AtLeast(1, "").Add(cmd, top, "top", "`rows` per list of clients and actions")
}

// pageTop sets the rows per list on a page: more than elsewhere, unless --top says otherwise.
func pageTop(cmd *cobra.Command, f *pipeline.Look) {
	f.PageTop = f.Top
	unlessGiven(cmd, "top", &f.PageTop)
}

// addOutput adds the flag --output to a command that prints something in one of some formats.
func addOutput(cmd *cobra.Command, output *string, what string, formats []string) {
	*output = formats[0]
	option.OneOf(formats...).Add(cmd, output, "output,o", "`format` of the "+what+": "+strings.Join(formats, ", "))
}

// addDatabase adds the flag that says which database is read.
func addDatabase(flags *pflag.FlagSet, d *stored.Database) {
	flags.StringVar(&d.Path, "db", pipeline.DefaultDB, "`folder` of the runs")
}
