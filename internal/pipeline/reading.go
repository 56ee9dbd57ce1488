package pipeline

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"os"
	"slices"
	"time"
	_ "time/tzdata" // --timezone works on machines without a zone database

	"shadow/internal/mapped"
	"shadow/internal/pipeline/flagvalue"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/textfile"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/network"
	"shadow/limit"
	"shadow/parse"
	"shadow/parse/detect"
	"shadow/report"
)

// A LineFormat says how lines are read.
type LineFormat struct {
	Format    string // auto, a name, or the text of a format
	NginxConf string // a file; its LogName says which format
	LogName   string
	Fields    string         // what JSON calls its fields
	Parser    string         // one of Parsers; "": the first
	Timezone  *time.Location // of what does not name its zone; nil: UTC
}

// Parsers lists what may read lines: ours, or the library gonx.
var Parsers = []string{"auto", "gonx"}

// choice says how the format is chosen. extra holds the names of further fields that are needed.
func (f *LineFormat) choice(extra []string) (detect.Choice, error) {
	choice := detect.Choice{
		Format: cmp.Or(f.Format, "auto"), NginxConf: f.NginxConf, LogName: f.LogName, Fields: f.Fields,
		Options: parse.Options{Zone: f.Timezone, Extra: extra, Gonx: f.Parser == Parsers[1]},
	}
	if err := choice.Verify(); err != nil {
		return choice, Usage("%w", err)
	}
	return choice, nil
}

// A Reading says which requests take part, and what they are taken for.
type Reading struct {
	LineFormat
	Client        string   // who one is: addr, user, header:NAME …
	ClientFrom    string   // a header that proxies write
	Trusted       []string // the proxies that are believed
	Exclude       []string
	ExcludeStatus []string
	NotHTTP       ingest.NotHTTP
	Lateness      limit.Time
	Since, Until  flagvalue.Moment // "": none
	Cold          bool             // limiters start empty at Since

	NetworkDB     []string // MMDB files, which tell whose networks addresses are in
	CrawlerRanges []string // files with the addresses of crawlers

	notes []string // on how these were read
	known network.Known
}

// NetworkError returns what went wrong with databases of networks while they were read.
func (f *Reading) NetworkError() error { return f.known.Owners.Err() }

// Verify finds what is wrong with them before there is a log.
func (f *Reading) Verify() error {
	_, err := f.options(new(policy.Config), nil, time.Now())
	return err
}

// leastWarmup is the time before --since whose requests warm limits that remember for less. Warmed by what it remembers
// alone, a limit would refuse another number of requests beside one that remembers for longer: a busy client's count
// depends on more.
const leastWarmup = limit.Day

// options puts together how requests are read that some policies will judge.
func (f *Reading) options(
	config *policy.Config, policies []policy.Policy, now time.Time,
) (o ingest.Options, err error) {
	o.Tables = traffic.NewTables()
	if o.Clients, err = match.ParseClientRule(f.Client, f.ClientFrom, f.Trusted); err != nil {
		return o, Usage("--%w", err)
	}
	if o.Exclude, err = f.excluded(o.Clients); err != nil {
		return o, err
	}
	if o.Actions, err = match.NewActions(config.Actions, o.Tables.Actions); err != nil {
		return o, Usage("%w", err)
	}
	if err = f.openKnown(); err != nil {
		return o, err
	}
	var extra []string
	if o.Scopes, extra, err = newScopes(config, policies, o.Clients.Extra(), f.known.Owners); err == nil {
		err = o.Scopes.NeedsOwners()
	}
	if err == nil && f.known.Owners == nil && slices.ContainsFunc(PolicyKeys(policies), request.Key.ByOwners) {
		err = errors.New("keys by asn, country or network need a database of networks: --network-db FILE.mmdb")
	}
	if err != nil {
		return o, Usage("%w", err)
	}
	if o.NginxPaths = config.NginxPaths; o.NginxPaths {
		o.Scopes.TakeNginxPaths()
	}
	o.Tables.Owners = f.known.Owners
	var costs []request.Part
	for _, p := range policies {
		costs = append(costs, p.CostFields()...)
	}
	if o.Values, extra, err = match.NewValues(PolicyKeys(policies), costs, extra); err != nil {
		return o, Usage("%w", err)
	}
	o.Tables.Parts = o.Values.Parts()
	if o.Format, err = f.choice(extra); err != nil {
		return o, err
	}
	if o.Lateness, o.NotHTTP = f.Lateness, f.NotHTTP; !now.IsZero() {
		o.Future = limit.Time(now.UnixMicro()) + limit.Day
	}
	f.need(&o, policies)
	err = f.bound(&o, now)
	return o, err
}

// excluded returns the requests that are left out by what they have and by their status, nil for none.
func (f *Reading) excluded(clients match.ClientRule) (*match.Exclude, error) {
	what := slices.Clone(f.Exclude)
	what = mapped.Add(what, f.ExcludeStatus, func(status string) string { return "status:" + status })
	if len(what) == 0 {
		return nil, nil
	}
	exclude, err := match.ParseExclude(what)
	if err != nil {
		return nil, Usage("--%w", err)
	}
	return exclude.Of(clients), nil
}

// openKnown opens the files that tell whose addresses are.
func (f *Reading) openKnown() (err error) {
	if f.known.Owners, err = network.Open(f.NetworkDB); err != nil {
		return Usage("--network-db: %w", err)
	}
	if f.known.Crawlers, err = network.ReadCrawlers(f.CrawlerRanges); err != nil {
		return Usage("--crawler-ranges: %w", err)
	}
	return nil
}

// need has the columns read that some policies count by, and as much before --since as they remember.
func (f *Reading) need(o *ingest.Options, policies []policy.Policy) {
	if !f.Cold {
		o.Warmup = leastWarmup
	}
	for _, p := range policies {
		o.Hosts = o.Hosts || slices.ContainsFunc(p.Keys(), request.Key.ByHosts)
		o.Users = o.Users || slices.ContainsFunc(p.Keys(), request.Key.ByUsers)
		o.Sizes, o.Took = o.Sizes || p.BySize(), o.Took || p.ByTime()
		o.Paths = o.Paths || slices.ContainsFunc(p.Keys(), request.Key.ByPaths)
		if !f.Cold {
			o.Warmup = max(o.Warmup, p.Horizon())
		}
	}
}

// bound says from when to when requests take part, and notes how --since and --until were read.
func (f *Reading) bound(o *ingest.Options, now time.Time) error {
	now = now.In(cmp.Or(f.Timezone, time.UTC))
	if o.HasSince = f.Since != ""; o.HasSince {
		o.Since = f.Since.At(now)
	}
	if o.HasUntil = f.Until != ""; o.HasUntil {
		o.Until = f.Until.At(now)
	}
	if o.HasSince && o.HasUntil && o.Since >= o.Until {
		return Usage("--since %s is not before --until %s", f.Since, f.Until)
	}
	f.notes = append(f.Since.ZoneNote("since", now), f.Until.ZoneNote("until", now)...)
	return nil
}

// An Anonymity says under which names people are shown.
type Anonymity struct {
	Anonymize    string // how; "": under their own
	AnonymizeKey string // a file

	Anonymizer *report.Anonymizer // after VerifyAnonymity; nil: under their own
}

// VerifyAnonymity makes the Anonymizer.
func (f *Anonymity) VerifyAnonymity() error {
	if f.Anonymize == "" {
		return nil
	}
	key, err := f.key()
	if err == nil {
		f.Anonymizer, err = report.NewAnonymizer(f.Anonymize, key)
	}
	return err
}

const (
	keyVariable = "SHADOW_ANONYMIZE_KEY"
	leastKey    = 16 // bytes; fewer can be guessed
)

// key returns that of the file, of the environment, or one that is not known to anyone.
func (f *Anonymity) key() (key []byte, err error) {
	where := keyVariable
	switch variable := os.Getenv(keyVariable); {
	case f.AnonymizeKey != "":
		where = "--anonymize-key " + f.AnonymizeKey
		if key, err = textfile.Read(f.AnonymizeKey, textfile.Most); err != nil {
			return nil, Usage("--anonymize-key: %w", err)
		}
	case variable != "":
		key = []byte(variable)
	default:
		key = make([]byte, 2*leastKey)
		rand.Read(key) // never fails
		return key, nil
	}
	if key = bytes.TrimSpace(key); len(key) < leastKey {
		return nil, Usage("%s: the key has %d bytes, which can be guessed: want at least %d", where, len(key), leastKey)
	}
	return key, nil
}
