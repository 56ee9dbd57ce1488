// Package report turns the result of a replay into something to read: a replay.Result comes in; text for a terminal,
// JSON, CSV, Markdown or HTML goes out, by way of a Model, in which every figure is computed once.
//
// Names of clients, agents, actions and files were written by strangers. The Model holds them as they are; each writer
// makes them harmless for its own reader (see table/escape.go). docs/report.md defines every figure.
package report

import (
	"time"

	"shadow/internal/findings"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/history"
)

// A Model is a report as plain data, the same for all writers. Its JSON is the interface for other programs: keys may
// be added, and are neither renamed nor left out when there is nothing to say.
type Model struct {
	Head
	Policies []Policy `json:"policies"`
	Stored   *Stored  `json:"stored"` // nil: nowhere

	Apart *Apart `json:"judged_apart,omitempty"` // of several runs: what each of them judged by itself; nil: nothing

	History *history.History `json:"history,omitempty"` // nil: not asked for

	Detailed int  `json:"-"` // policies shown with their clients and actions
	Details  bool `json:"-"` // whether people read all of it where something may have changed

	clients    []compared[Client] // of several policies shown in detail
	actions    []compared[Action]
	clientsHit int64 // by any of them
}

// A Head is what every kind of report begins with.
type Head struct {
	Version  string   `json:"version"` // of shadow
	Command  string   `json:"command"` // as typed
	Input    Input    `json:"input"`
	Warnings []string `json:"warnings"`

	Findings []findings.Finding `json:"findings"` // the gravest first

	Anonymized string `json:"anonymized,omitempty"` // how people are renamed; "": not at all

	View document.View `json:"-"`

	identities bool // whether people read who the clients are; never where that is not known
}

// Input holds what was read, whatever the policies.
type Input struct {
	Lines             int64          `json:"lines"`
	Parsed            int64          `json:"parsed"`
	Unreadable        int64          `json:"unreadable"`
	UnreadablePercent float64        `json:"unreadable_percent"` // of the lines
	Excluded          int64          `json:"excluded"`
	NotHTTP           NotHTTP        `json:"not_http"`
	Warm              int64          `json:"warm"`
	Late              int64          `json:"late"`
	Carried           int64          `json:"carried"`   // of the requests: the run before had held them back
	Held              int64          `json:"held"`      // read, and held back for the next run
	HeldFrom          *format.Moment `json:"held_from"` // the earliest of these; nil without any
	Requests          int64          `json:"requests"`  // counted: neither excluded nor warm
	Clients           int64          `json:"clients"`   // with a counted request
	AlreadyRefused    int64          `json:"already_refused"`
	Bytes             int64          `json:"bytes"`
	AgentsLogged      bool           `json:"agents_logged"`
	UpstreamLogged    bool           `json:"upstream_logged"`

	Identities *PerIdentity[ClassTotal] `json:"identities"` // who the clients are; nil: not known

	Span       *Span  `json:"span"`       // of the counted requests, but for those that lie apart; nil without any
	Days       int64  `json:"days"`       // of the span that have a request; 0: not known
	Resolution string `json:"resolution"` // of the stamps: second, millisecond, microsecond or unknown
	Moved      int64  `json:"moved"`      // requests judged when they began: their stamp less the request time

	Band *BandInput `json:"band"` // nil when not asked for

	Timezone string   `json:"timezone"` // of stamps that do not name theirs
	Formats  []Format `json:"formats"`
	Files    []File   `json:"files"`
	Copies   []Copy   `json:"copies"` // files that were left out
	Faults   []Fault  `json:"faults"` // the first few unreadable lines
}

// NotHTTP is the lines whose request is not HTTP, which no limiter sees.
type NotHTTP struct {
	Lines    int64           `json:"lines"`
	Judged   bool            `json:"judged"` // whether they are among the requests all the same
	ByStatus ingest.ByStatus `json:"by_status"`
}

// A Format is a log format and how much came in it.
type Format struct {
	Format string `json:"format"` // its name
	Text   string `json:"text"`   // as a server's configuration would write it
	Files  int    `json:"files"`
	Lines  int64  `json:"lines"`
}

// A File is one input.
type File struct {
	Name        string         `json:"name"`
	Format      string         `json:"format"`
	Compression string         `json:"compression"` // "" for none
	Size        int64          `json:"size"`        // bytes on disk; -1 when unknown
	Lines       int64          `json:"lines"`
	Parsed      int64          `json:"parsed"`
	Unreadable  int64          `json:"unreadable"`
	First       *format.Moment `json:"first"` // of its counted requests; nil without any
	Last        *format.Moment `json:"last"`
	Problem     string         `json:"problem"` // what ended it early, or was left unread behind its end; "" if nothing
}

// A Copy is a file that was not read, because another one holds all its lines.
type Copy struct {
	Name string `json:"name"`
	Of   string `json:"of"`  // the file that was read
	How  string `json:"how"` // link (the same file), copy (the same content) or beginning (the other one has more)
}

// A Fault is an unreadable line.
type Fault struct {
	File   string `json:"file"`
	Line   int64  `json:"line"`   // from 1; 0 when unknown
	Column int    `json:"column"` // byte, from 1
	Reason string `json:"reason"`
	Text   string `json:"text"` // beginning of the line
}

// A Policy is what one candidate would have done.
type Policy struct {
	Policy    string `json:"policy"`  // canonical text of its limits, or its name
	By        string `json:"by"`      // key that it counts by, or several
	Parts     []Part `json:"parts"`   // its limits
	Combine   string `json:"combine"` // how they share a request: "together", "each", "in-turn"
	Semantics string `json:"semantics"`
	Nginx     string `json:"nginx"` // nearest equivalent

	history.Totals
	ByClass PerClass[ClassFigures] `json:"by_class"`

	ByIdentity *PerIdentity[ClassFigures] `json:"by_identity"` // nil: not known

	Delayed int64  `json:"delayed"` // requests that had to wait
	Delay   *Delay `json:"delay"`   // nil when no limit keeps requests waiting
	Range   *Range `json:"range"`   // nil when the policy is judged exactly
	Band    *Band  `json:"band"`    // nil when not asked for, or when there is none

	// of the requests: judged while hosts that share the limit might have decided otherwise together
	Degraded        int64 `json:"degraded"`
	DegradedRefused int64 `json:"degraded_refused"` // refused ones of these

	WorstMinute          *Minute  `json:"worst_minute"`                           // nil when nothing was refused
	WorstClientShare     *float64 `json:"requests_refused_share_of_worst_client"` // likewise
	BytesSaved           int64    `json:"bytes_saved"`
	UpstreamSecondsSaved *float64 `json:"upstream_seconds_saved"` // nil when not logged

	Harm *Harm `json:"harm"` // nil when not asked for

	Retries *Retries `json:"retries,omitempty"` // likewise

	TopClients []Client `json:"top_clients"`
	TopActions []Action `json:"top_actions"`

	combine policy.Combine

	Kind string `json:"-"` // policies of one kind differ in their numbers only
}

// A Part is one limit of a policy. Its scopes are "" for all requests.
type Part struct {
	Limit     string `json:"limit"` // canonical text
	By        string `json:"by"`
	Match     string `json:"match"` // requests that it may refuse
	Count     string `json:"count"` // requests that it counts
	Semantics string `json:"semantics"`
	Nginx     string `json:"nginx"`

	text string // all of the first four in words
}

// A Delay is how long those requests waited that had to.
type Delay struct {
	Total float64 `json:"total_seconds"`
	P50   float64 `json:"p50_seconds"`
	P99   float64 `json:"p99_seconds"`
}

// A Range is between what and what the figures of an approximation lie.
type Range struct {
	Refused    [2]int64 `json:"refused"`
	ClientsHit [2]int64 `json:"clients_hit"`
}

// PerClass has what there is of each class of clients, in the order of the classes.
type PerClass[T any] [request.ClassCount]T

// MarshalJSON writes an object with a key per class.
func (c PerClass[T]) MarshalJSON() ([]byte, error) { return format.EachJSON[request.Class](c[:]) }

// ClassFigures holds the figures of one class of clients, each of the class of most of its requests.
type ClassFigures struct {
	Requests   int64 `json:"requests"`
	Refused    int64 `json:"refused"`
	Clients    int64 `json:"clients"`
	ClientsHit int64 `json:"clients_hit"`
}

// A Minute is a minute of the clock (UTC) and what was refused in it.
type Minute struct {
	Start   format.Moment `json:"start"`
	Refused int64         `json:"refused"`
}

// A Client is one that a policy refused.
type Client struct {
	Client         string        `json:"client"`
	Requests       int64         `json:"requests"`
	Refused        int64         `json:"refused"`
	RefusedPercent float64       `json:"refused_percent"` // of its requests
	Class          string        `json:"class"`
	Agent          string        `json:"agent"` // its latest
	First          format.Moment `json:"first_refused"`
	Last           format.Moment `json:"last_refused"`

	Identity *Identity `json:"identity"`          // who it is; nil: not known
	Network  *Network  `json:"network,omitempty"` // nil: not known
	Crawler  string    `json:"crawler,omitempty"` // of a crawler: verified, forged or unknown; "": not asked for

	id int32 // of the run: several clients may be shown under one name
}

// A Network is what a database of networks tells of an address.
type Network struct {
	ASN     uint32 `json:"asn"` // of its autonomous system; 0: not known
	Name    string `json:"name"`
	Country string `json:"country"` // two letters; "": not known

	text string // all of it
}

// String is all that is known.
func (n *Network) String() string { return n.text }

// An Action is one with refused requests.
type Action struct {
	Action         string  `json:"action"`
	Requests       int64   `json:"requests"`
	Refused        int64   `json:"refused"`
	RefusedPercent float64 `json:"refused_percent"` // of its requests
	SharePercent   float64 `json:"share_percent"`   // of all that the policy refused

	id int32
}

// Stored says where the run was kept.
type Stored struct {
	Database string `json:"database"`
	Run      string `json:"run"`
}

// Apart holds what several runs of the same time have in common, such as those of several hosts that each judged their
// own requests: a limit that the hosts share would refuse more.
type Apart struct {
	Runs       []int32       `json:"runs"`
	Clients    int64         `json:"clients"`     // that two of the runs or more have
	Requests   int64         `json:"requests"`    // of these, in all of them
	TopClients []ApartClient `json:"top_clients"` // with most requests
}

// An ApartClient is a client that several runs judged.
type ApartClient struct {
	Client   string `json:"client"`
	Requests int64  `json:"requests"`
}

// A ClassTotal is what the clients of one class, or of one identity, did.
type ClassTotal struct {
	Requests int64 `json:"requests"`
	Clients  int64 `json:"clients"`
}

// A Span is the time from the first counted request to the last.
type Span struct {
	First   format.Moment `json:"first"`
	Last    format.Moment `json:"last"`
	Seconds float64       `json:"seconds"`
}

// NewSpan returns the time from one moment to another.
func NewSpan(first, last limit.Time) *Span {
	return &Span{First: format.Moment(first), Last: format.Moment(last), Seconds: format.InSeconds(last - first)}
}

// Length is the time from the first moment to the last.
func (s *Span) Length() limit.Time { return limit.Time(s.Last - s.First) }

// Layouts says how tables write times: with no more of the date than the span of the log needs.
type Layouts struct{ Second, Minute string }

// Layouts returns how tables write the times of a span, which may be nil.
func (s *Span) Layouts() Layouts {
	switch {
	case s == nil || s.First.Format(time.DateOnly) == s.Last.Format(time.DateOnly):
		return Layouts{"15:04:05", "15:04"}
	case s.First.Format("2006") == s.Last.Format("2006"):
		return Layouts{"01-02 15:04:05", "01-02 15:04"}
	}
	return Layouts{time.DateTime, "2006-01-02 15:04"}
}
