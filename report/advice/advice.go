// Package advice reports on what a limit should be: a suggest.Advice comes in; text, JSON, CSV or Markdown goes out.
package advice

import (
	"shadow/report"
	"shadow/report/format"
	"shadow/suggest"
)

// A Report is the report on what a limit should be. Its JSON is an interface for other programs, as that of Model;
// docs/suggest.md defines every word.
type Report struct {
	report.Head
	Answers []Answer `json:"answers"` // one, or one for each action
}

// An Answer is about the requests of one action, or all. Of those fields that are for JSON all but Next and the lines
// of Nginx are filled in by NewSuggest.
type Answer struct {
	Action      string    `json:"action"` // "" for all
	Protect     []Promise `json:"spare"`
	Target      []string  `json:"stop"`
	Scale       float64   `json:"scale"`
	Band        bool      `json:"band"`  // whether limits keep the promise wherever in its second each request came
	First       Part      `json:"first"` // on which limits are chosen
	Rest        *Part     `json:"rest"`  // on which they are proven; nil: nothing was held out
	PageLoads   PageLoads `json:"page_loads"`
	Findings    findings  `json:"findings"`
	Best        []string  `json:"best"` // limits, at most one of a kind, the best first
	Suggestions []Limit   `json:"suggestions"`
	Whole       *Whole    `json:"whole"`  // the answer over the whole log; nil without one
	Bounds      []Bound   `json:"bounds"` // limits by what they leave, where there is no one to protect
	Nginx       *Nginx    `json:"nginx"`  // what nginx is to be told; nil: it has none of the limits
	Next        []string  `json:"next"`   // what to try, line by line

	Advice *suggest.Advice `json:"-"`
	best   []*suggest.Suggestion
}

// A Promise is how many clients are protected, and what it takes.
type Promise struct {
	Who         string  `json:"who"`
	Percent     float64 `json:"percent"`
	Clients     int64   `json:"clients"`          // in the first part
	MayHit      int64   `json:"may_hit"`          // of these
	Sample      *int64  `json:"sample"`           // clients that it takes to promise as much; nil: no number does
	ProvablePct float64 `json:"provable_percent"` // that so many clients can promise at best
}

// A Part is a part of the log.
type Part struct {
	From     format.Moment `json:"from"`
	To       format.Moment `json:"to"`
	Requests int64         `json:"requests"`
	Clients  int64         `json:"clients"`
	ByGroup  groups        `json:"by_group"`
}

// PageLoads is how many requests the page loads of browsers took.
type PageLoads struct {
	Count int64 `json:"count"`
	P50   int64 `json:"p50"`
	P95   int64 `json:"p95"`
	P99   int64 `json:"p99"`
}

// A Limit is the limit of one shape, or why there is none.
type Limit struct {
	Kind   string  `json:"limit_kind"`
	Per    *string `json:"per"`    // of windows
	Rate   *string `json:"rate"`   // of token buckets
	Reason string  `json:"reason"` // why there is no limit; "" if there is one
	Proof  string  `json:"proof"`
	Chosen *Price  `json:"chosen"`
	Both   *Price  `json:"both"`       // the strictest that keeps the promise on both parts; nil if there is none, or no rest
	Beside []Price `json:"runners_up"` // from the strictest to the loosest; of the best of each kind only
	Others []Price `json:"-"`          // the same of each
	Knee   *Price  `json:"knee"`       // nil if the curve has none
	of     *suggest.Suggestion
}

// A Price is a limit, and what it would refuse.
type Price struct {
	Limit string   `json:"limit"` // as --limit takes it, with the scale in it; "" if its numbers do not fit
	N     int64    `json:"n"`     // without the scale: that which the figures are about
	First *Figures `json:"first"`
	Rest  *Figures `json:"rest"` // nil: nothing was held out
}

// Figures are what a limit would refuse of a part of the log.
type Figures struct {
	Keeps   bool          `json:"keeps_promise"`
	Refused *int64        `json:"refused"` // nil: not known
	Hit     int64         `json:"clients_hit"`
	ByGroup groupsFigures `json:"by_group"`
}

type (
	groups        [suggest.GroupCount]report.ClassTotal
	groupsFigures [suggest.GroupCount]groupFigures
)

type groupFigures struct {
	Refused *int64 `json:"refused"` // nil: not known
	Hit     int64  `json:"clients_hit"`
}

// MarshalJSON writes an object with a key per group, in their order.
func (g groups) MarshalJSON() ([]byte, error) { return format.EachJSON[suggest.Group](g[:]) }

// MarshalJSON writes an object with a key per group, in their order.
func (g groupsFigures) MarshalJSON() ([]byte, error) { return format.EachJSON[suggest.Group](g[:]) }

// A Bound is a limit with what it leaves to somebody who takes all he can get: all there is to go by where no one
// to protect is seen.
type Bound struct {
	Limit   string `json:"limit"`
	Minute  int64  `json:"first_minute"` // requests that one client is admitted in less than that time, at most
	Hour    int64  `json:"first_hour"`
	Day     int64  `json:"first_day"`
	Refused int64  `json:"refused"` // of the log's
	Hit     int64  `json:"clients_hit"`
	Nginx   string `json:"nginx"` // what limit_req is told; "": it has no such limit
}

// Nginx is what nginx is to be told, and what that does: nginx has no windows, and its buckets count in milliseconds
// and in whole thousandths of a request per second. Directives must be there; New fills in the rest.
type Nginx struct {
	Limit     string `json:"limit"`     // the bucket, as --limit takes it
	Answer    bool   `json:"is_answer"` // whether that is the answer itself
	Replay    string `json:"replay_as"` // the same as nginx counts, as --limit takes it
	Rate      string `json:"rate"`      // 6r/m
	Burst     int64  `json:"burst"`
	Deviation string `json:"deviation"`
	suggest.Directives
	First *Figures `json:"first"` // as nginx counts; nil: not measured
	Rest  *Figures `json:"rest"`
}

// Whole is what a replay of the whole log finds of the answer: nothing is cut in two there.
type Whole struct {
	Limit    string        `json:"limit"` // without the scale
	Refused  int64         `json:"refused"`
	Hit      int64         `json:"clients_hit"`
	ByGroup  groupsFigures `json:"by_group"`
	Crawlers []Crawler     `json:"crawlers"`
}

// A Crawler is a crawler, by what it calls itself.
type Crawler struct {
	Name     string `json:"name"`
	Search   bool   `json:"search_engine"`
	Requests int64  `json:"requests"`
	Refused  int64  `json:"refused"`
}
