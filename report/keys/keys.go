// Package keys reports on what limits cost by what they count by: a sweep.KeysResult comes in; text, JSON, CSV,
// Markdown or a page goes out.
package keys

import (
	"shadow/internal/request"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/report"
	"shadow/report/format"
)

// Report is the report on keys: what limits cost protected clients, by what they count by. docs/keys.md
// defines every figure.
type Report struct {
	report.Head
	Action    string            `json:"action"` // whose requests this is about; "" for all
	Target    Group             `json:"stop"`
	Protected Group             `json:"spare"`
	Absent    []AbsentKey       `json:"absent"`          // keys that this log has nothing for
	Found     []string          `json:"found,omitempty"` // keys that were tried as well, since the usual ones do not separate
	Answers   []Answer          `json:"answers"`
	Bounds    *Bounds           `json:"bounds"` // nil: not known
	Log       sweep.ClientStats `json:"log"`
}

// Bounds says how much of the target any limit by some keys could reach under a promise. Unlike the answers they are
// about clients and their groups, as suggestions are.
type Bounds struct {
	Protect []string `json:"protect"` // the promises
	Target  string   `json:"target"`
	Keys    []Bound  `json:"keys"`
}

// A Bound is that of one key.
type Bound struct {
	Key string `json:"key"`
	Reach
	SharedBy int64 `json:"shared_by,omitempty"` // the most clients of the target in one bucket; 0: none share one
}

// Reach says how much of the target any windows and buckets together could reach under the promise.
type Reach struct {
	Requests        int64   `json:"requests"`
	OfRequests      int64   `json:"of_requests"`
	RequestsPercent float64 `json:"requests_percent"`
	Clients         int64   `json:"clients"`
	OfClients       int64   `json:"of_clients"`
}

// NewReach works out the share.
func NewReach(r *suggest.Reach) Reach {
	return Reach{r.Requests, r.OfRequests, format.PercentOf(r.Requests, r.OfRequests), r.Clients, r.OfClients}
}

// NewBounds returns what was found by each key.
func NewBounds(found []suggest.KeyReach) []Bound {
	bounds := []Bound{}
	for i := range found {
		bounds = append(bounds, Bound{found[i].Key.String(), NewReach(&found[i].Reach), found[i].Fullest})
	}
	return bounds
}

// A Group is visitors of some identities.
type Group struct {
	Who      string `json:"who"` // as --target takes it
	Visitors int64  `json:"visitors"`
	Requests int64  `json:"requests"`
}

// An AbsentKey is a key that the log has nothing for, and why.
type AbsentKey struct {
	Key string `json:"key"`
	Why string `json:"why"`
}

// An Answer holds the keys against each other on one question: the loosest limits of a window that refuse a share, or
// one limit.
type Answer struct {
	Refuse *float64 `json:"refuse_percent"` // of the target requests; nil: Limit is asked about
	Limit  string   `json:"limit"`          // "" for the loosest of each key
	Per    string   `json:"per"`            // the window; "" with a limit
	Keys   []Row    `json:"keys"`           // the best first; with a limit as they were asked for
	Best   string   `json:"best"`           // the best key; "" if none refuses the share, and with a limit
	// a longer window by which a key separates where none does by this one; "" if none was found
	Longer string `json:"longer_per"`
	// that key
	LongerKey string `json:"longer_key,omitempty"`
	// of the keys found, the best on the first part of the log's time; nil: none were tried
	Validated *Validated `json:"validated,omitempty"`

	longer *Row     // that key
	tried  []string // longer windows by which none does
}

// Validated holds what the limit that was best on the first part of the log's time does on the rest.
type Validated struct {
	Key              string  `json:"key"`
	Limit            string  `json:"limit"`
	ChosenOnPercent  int     `json:"chosen_on_percent"` // of the time
	Tried            int     `json:"tried"`             // keys of the log
	TargetRefused    int64   `json:"stopped"`
	TargetRequests   int64   `json:"of_requests"`
	TargetPercent    float64 `json:"stopped_percent"`
	ProtectedHit     int64   `json:"spare_hit"`
	Protected        int64   `json:"of_visitors"`
	ProtectedPercent float64 `json:"spare_hit_percent"`
	MostPercent      float64 `json:"spare_hit_percent_most"` // of all such visitors, with 95 % confidence for all keys tried together
}

// A Row is one key.
type Row struct {
	Key   string `json:"key"`
	Limit string `json:"limit"`
	// false: the figures are those of the strictest limit, which does not suffice
	Reached             bool    `json:"reached"`
	TargetRefused       int64   `json:"stopped"` // target requests that are refused
	TargetPercent       float64 `json:"stopped_percent"`
	ProtectedHit        int64   `json:"spare_hit"` // protected visitors with a refused request
	ProtectedHitPercent float64 `json:"spare_hit_percent"`
	ProtectedRefused    int64   `json:"spare_refused"` // their requests that are refused
	ProtectedPercent    float64 `json:"spare_refused_percent"`

	n int64 // of the limit
}

// A Split is what keys found in a log are chosen on, and what they are validated on.
type Split struct {
	Found       []request.Key // that were tried
	First, Rest *sweep.KeysResult
	Percent     int // of the log's time that is the first part
}

// Question says what a report on keys is to tell.
type Question struct {
	Target, Protected         []request.Class // as which the result counts them
	TargetName, ProtectedName string          // what they are called
	// so many periods of the result are further ones, tried for where the others do not separate
	Longer int
	Refuse []float64 // shares of the target requests, in percent
	By     []request.Key
	Limits []string // of the result's limits, each once for every key
	Split  *Split   // nil: no keys were looked for
}
