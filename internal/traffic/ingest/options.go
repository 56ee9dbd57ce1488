package ingest

import (
	"time"

	"shadow/internal/logfile"
	"shadow/internal/traffic"
	"shadow/internal/traffic/evidence"
	"shadow/internal/traffic/match"
	"shadow/limit"
	"shadow/parse"
	"shadow/parse/detect"
)

// DefaultLateness is the longest time that a replay lets requests come out of order.
const DefaultLateness = 20 * limit.Minute

// What Options.Batch and Options.Waiting are unless they say otherwise.
const (
	defaultBatch   = 256 << 10
	defaultWaiting = 4 << 20
)

// Options says what to read and how.
type Options struct {
	Tables     *traffic.Tables
	Clients    match.ClientRule
	Actions    *match.Actions
	Exclude    *match.Exclude       // nil: nothing
	NotHTTP    NotHTTP              // what becomes of lines whose request is not HTTP
	Scopes     *match.Scopes        // nil: requests have no marks
	ClueFinder *evidence.ClueFinder // nil: requests leave no clues
	Format     detect.Choice
	Guessed    map[string]string // inputs found in a directory, and its name: passed over when they cannot be read
	Lateness   limit.Time
	Future     limit.Time    // stamps beyond it are those of a wrong clock; 0: none are
	Hosts      bool          // whether the Host column is needed
	Users      bool          // whether the User column is needed
	NoUsers    bool          // whether it may be empty: inputs that do not tell users are as good
	Paths      bool          // whether the Path column is needed
	NginxPaths bool          // whether its paths are as match.NginxURI makes them
	Trial      *Trial        // of the values; nil: they are asked for
	Values     *match.Values // what Batch.Values are, as Tables.Parts says; nil: none are needed
	Sizes      bool          // whether inputs must tell how many bytes were sent
	Took       bool          // whether the Took column is needed
	Origins    bool          // whether the columns Origin and Leftmost are wanted where the log has headers of proxies
	Lines      bool          // whether the Line column is needed: inputs are then read from their beginnings
	Band       bool          // whether it is wanted to know how coarse stamps are, see Coarseness

	Resume *Resume // nil: inputs are read as they are, to their ends

	Spans  []logfile.Span // what is to be read of each of the inputs; nil: all of them
	AsRead bool           // whether requests come in the order of the inputs and their lines instead, a block at a time

	Since, Until limit.Time // requests outside are left out, if there are such bounds
	HasSince     bool
	HasUntil     bool
	Warmup       limit.Time // how long before Since requests are judged to warm the limiters; limit.Never: from the first line on

	Workers int // goroutines that parse; 0: one per core
	Batch   int // rows at which a batch is handed out; 0: 256 Ki
	Waiting int // rows that may wait for older ones, beyond which the oldest are let go early; 0: four million

	Clock func() time.Duration // see Stopwatch; nil: stages are not timed
}

// StepBack returns by how much the time of a key must step back for its limiters to begin again: a clock was set, or older logs were
// appended. Less counts at the key's latest moment, however short the Lateness is: it comes from lines that are late.
func (o *Options) StepBack() limit.Time { return max(o.Lateness, DefaultLateness) }

// What limits may go by besides the client.
const (
	TheHost = "the host"
	TheUser = "the user"
	ThePath = "the path"
	TheSize = "the bytes sent"
	TheTime = "the request time"
)

// A MissingFieldError reports that no input logs the field that identifies clients, hosts, users or paths, that is a part
// of a key, or by which requests cost something.
type MissingFieldError struct {
	Field string // TheHost, TheUser, ThePath, TheSize, TheTime, a part of a key, or what a client is
	text  string
}

func (u *MissingFieldError) Error() string { return u.text }

// lacks names what requests are told apart by and a format does not have, or is empty.
func (o *Options) lacks(f *parse.Format) string {
	if o.Hosts && !f.Has(parse.FieldHost) {
		return TheHost
	}
	if o.Users && !o.NoUsers && !f.Has(parse.FieldUser) {
		return TheUser
	}
	if o.Paths && !f.Has(parse.FieldPath) {
		return ThePath
	}
	if o.Sizes && !f.Has(parse.FieldBytes) {
		return TheSize
	}
	if o.Took && !f.Has(parse.FieldRequestTime) {
		return TheTime
	}
	return o.Clients.Lacks(f)
}

// Columns returns the optional columns of batches from so many inputs, of which some may tell upstream times and what
// proxies say.
func (o *Options) Columns(inputs int, upstream, forwarded bool) traffic.Columns {
	return traffic.Columns{
		Source: inputs > 1, Host: o.Hosts || o.Scopes.ByHost(), User: o.Users, Path: o.Paths, Upstream: upstream,
		Took:  o.Took,
		Marks: o.Scopes != nil, Clues: o.ClueFinder != nil, Origins: forwarded && o.Origins && o.Clients.IsAddress(), Lines: o.Lines,
		Values: len(o.Values.Parts()),
	}
}

// takesPart returns what reports of a request whether it takes part, for where that is asked of few.
func (o *Options) takesPart() func(*parse.Record) bool {
	span := o.span()
	return func(r *parse.Record) bool {
		return span.holds(r.Start) && !o.Exclude.Match(r) && (!r.NotHTTP || o.NotHTTP == JudgeNotHTTP)
	}
}

// span returns the time that takes part.
func (o *Options) span() span {
	s := span{warm: traffic.MinTime, since: traffic.MinTime, until: traffic.MaxTime}
	if o.HasSince {
		s.since = o.Since
		if o.Warmup < o.Since-traffic.MinTime {
			s.warm = o.Since - o.Warmup
		}
	}
	if o.HasUntil {
		s.until = o.Until
	}
	return s
}
