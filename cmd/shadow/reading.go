package main

import (
	"slices"
	"time"
	_ "time/tzdata" // --timezone works on machines without a zone database

	"github.com/spf13/cobra"

	"shadow/limit"
	"shadow/parse"
	"shadow/parse/detect"
	"shadow/policy"
	"shadow/request"
	"shadow/traffic"
	"shadow/traffic/ingest"
	"shadow/traffic/match"
)

// formatFlags say how lines are read.
type formatFlags struct {
	format    string
	nginxConf string
	logName   string
	fields    string
	parser    string
	timezone  string
}

func (f *formatFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "auto", "log `format`: auto, a name from `shadow formats`, an nginx log_format or an Apache LogFormat string")
	flags.StringVar(&f.nginxConf, "nginx-conf", "", "take the format from the log_format in this nginx.conf `file`")
	flags.StringVar(&f.logName, "log-name", "", "`name` of the log_format in --nginx-conf (default main)")
	flags.StringVar(&f.fields, "field", "", "what JSON logs call their fields: time=ts,client=remote_addr (`names`)")
	flags.StringVar(&f.parser, "parser", "auto", "`how` lines are read: auto, or gonx to read with the gonx library, slower")
	needs(cmd, []string{"nginx-conf"}, "log-name")
	completeWords(cmd, "parser", "auto", "gonx")
	completeWords(cmd, "format", formatNames()...)
	flags.StringVar(&f.timezone, "timezone", "UTC", "`zone` of time stamps and dates that do not name theirs, such as Europe/Berlin or Local")
}

// formatNames are the formats that have names.
func formatNames() []string {
	names := []string{"auto"}
	for _, known := range detect.Catalogue() {
		names = append(names, known.Name)
	}
	return names
}

// choice is how the format is chosen. extra are the names of further fields that are needed.
func (f *formatFlags) choice(extra []string) (detect.Choice, error) {
	zone, err := zoneOf(f.timezone)
	if err != nil {
		return detect.Choice{}, err
	}
	if f.parser != "auto" && f.parser != "gonx" {
		return detect.Choice{}, usage("--parser %s: want auto or gonx", f.parser)
	}
	choice := detect.Choice{
		Format: f.format, NginxConf: f.nginxConf, LogName: f.logName, Fields: f.fields,
		Options: parse.Options{Zone: zone, Extra: extra, Gonx: f.parser == "gonx"},
	}
	if err := choice.Verify(); err != nil {
		return choice, usage("%w", err)
	}
	return choice, nil
}

// zoneOf is the zone of --timezone.
func zoneOf(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, usage("--timezone %s: no such zone; want a name such as UTC, Europe/Berlin or Local", name)
	}
	return zone, nil
}

// readingFlags say which requests take part, and what they are taken for.
type readingFlags struct {
	formatFlags
	client        string
	clientFrom    string
	trusted       []string
	exclude       []string
	excludeStatus []string
	notHTTP       notHTTP
	lateness      period
	since, until  string
	notes         []string // on how these were read
	cold          bool
}

func (f *readingFlags) add(cmd *cobra.Command) {
	f.addWho(cmd, ingest.DefaultLateness)
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "count from this `moment` on: 2026-11-19T08:00:00Z, 2026-11-19, yesterday, 24h")
	flags.StringVar(&f.until, "until", "", "leave out requests from this `moment` on")
	flags.BoolVar(&f.cold, "cold", false,
		"start with empty limiters at --since, rather than warm them with the day before, or as much as they remember "+
			"(near the truth; for clients busy for longer only a replay without --since is exact)")
	needs(cmd, []string{"since"}, "cold")
}

// addWho adds the flags that do not go by the time of a request.
func (f *readingFlags) addWho(cmd *cobra.Command, lateness limit.Time) {
	flags := cmd.Flags()
	f.formatFlags.add(cmd)
	f.lateness = period(lateness)
	flags.StringVar(&f.client, "client", "addr", "`who` a client is: addr, addr/24, addr/24,/64, user, header:NAME, or a field of the line")
	completeWords(cmd, "client", "addr", "addr/24", "addr/24,/64", "user", "header:")
	flags.StringVar(&f.clientFrom, "client-from", "", "take the address from this `header` that proxies write: x-forwarded-for")
	flags.StringSliceVar(&f.trusted, "trusted-proxy", nil, "proxies whose entries in --client-from are believed: `CIDR`, or private (repeatable)")
	flags.StringArrayVar(&f.exclude, "exclude", nil, "leave out requests by `what` they are: 10.0.0.0/8, /health, /status/**, agent:kube-probe, status:404 (repeatable)")
	flags.StringSliceVar(&f.excludeStatus, "exclude-status", nil, "leave out requests by `status`: 429,503 (what the server refused already)")
	flags.Var(&f.notHTTP, "not-http", "`what` becomes of lines whose request is not HTTP (empty, -, a TLS handshake), which servers answer before they ask a limiter: skip, or judge")
	completeWords(cmd, "not-http", notHTTPWords[:]...)
	flags.Var(&f.lateness, "lateness", "how far out of order requests may come")
}

// leastWarmup is how much of the log before --since warms limits that remember for less. Warmed by what it remembers alone, a
// limit would refuse another number of requests beside one that remembers for longer: a busy client's count depends on more.
const leastWarmup = limit.Day

// options puts together how requests are read that some policies will judge.
func (f *readingFlags) options(config *policy.Config, policies []policy.Policy, now time.Time) (o ingest.Options, err error) {
	o.Tables = traffic.NewTables()
	if o.Clients, err = match.ParseClientRule(f.client, f.clientFrom, f.trusted); err != nil {
		return o, usage("--%w", err)
	}
	if o.Exclude, err = f.excluded(o.Clients); err != nil {
		return o, err
	}
	if o.Actions, err = match.NewActions(config.Actions, o.Tables.Actions); err != nil {
		return o, usage("%w", err)
	}
	var extra []string
	if o.Scopes, extra, err = newScopes(config, policies, o.Clients.Extra()); err != nil {
		return o, usage("%w", err)
	}
	if o.Format, err = f.choice(extra); err != nil {
		return o, err
	}
	o.Lateness, o.NotHTTP = limit.Time(f.lateness), ingest.NotHTTP(f.notHTTP)
	if !f.cold {
		o.Warmup = leastWarmup
	}
	for _, p := range policies {
		o.Hosts = o.Hosts || slices.Contains(p.Keys(), request.ByHost)
		o.Users = o.Users || slices.ContainsFunc(p.Keys(), request.Key.ByUsers)
		o.Paths = o.Paths || slices.ContainsFunc(p.Keys(), request.Key.ByPaths)
		if !f.cold {
			o.Warmup = max(o.Warmup, p.Horizon())
		}
	}
	return o, f.moments(&o, now.In(o.Format.Options.Zone))
}

func (f *readingFlags) excluded(clients match.ClientRule) (*match.Exclude, error) {
	what := f.exclude
	for _, status := range f.excludeStatus {
		what = append(what[:len(what):len(what)], "status:"+status)
	}
	if len(what) == 0 {
		return nil, nil
	}
	exclude, err := match.ParseExclude(what)
	if err != nil {
		return nil, usage("--%w", err)
	}
	return exclude.Of(clients), nil
}

// moments reads --since and --until.
func (f *readingFlags) moments(o *ingest.Options, now time.Time) (err error) {
	if f.since != "" {
		o.HasSince = true
		if o.Since, err = parseMoment(f.since, now); err != nil {
			return badFlag("since", f.since, err)
		}
	}
	if f.until != "" {
		o.HasUntil = true
		if o.Until, err = parseMoment(f.until, now); err != nil {
			return badFlag("until", f.until, err)
		}
	}
	if o.HasSince && o.HasUntil && o.Since >= o.Until {
		return usage("--since %s is not before --until %s", f.since, f.until)
	}
	f.notes = zoneNotes(now, "since", f.since, "until", f.until)
	return nil
}
