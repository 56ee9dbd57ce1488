// Package client reports on one client: what it sent and what became of it comes in; text or JSON goes out.
package client

import (
	"shadow/report"
	"shadow/report/format"
)

// An Account is what shadow explain tells of one client: what it sent, and what became of it under each policy.
// docs/explain.md defines every figure. Its JSON keeps its keys as that of a report does.
type Account struct {
	report.Head
	Client   string           `json:"client"`
	Class    string           `json:"class"`
	Requests int64            `json:"requests"` // counted
	Warm     int64            `json:"warm"`
	Span     *report.Span     `json:"span"` // from its first counted request to its last; nil without any
	Agents   []AgentCount     `json:"agents"`
	Actions  []ActionCount    `json:"actions"`
	Statuses []StatusCount    `json:"statuses"`
	Timeline []int64          `json:"timeline"` // requests since the moment before, at moments spread evenly over the span
	Evidence *report.Evidence `json:"evidence"` // nil when none was gathered, or without counted requests
	Policies []Policy         `json:"policies"`

	more  struct{ agents, actions, statuses int } // left out
	model *report.Model                           // of the whole log
}

// An AgentCount is an agent of the client, and how many requests it sent.
type AgentCount struct {
	Agent    string `json:"agent"`
	Class    string `json:"class"`
	Requests int64  `json:"requests"`
}

// An ActionCount is an action that the client asked for.
type ActionCount struct {
	Action   string `json:"action"`
	Requests int64  `json:"requests"`
}

// A StatusCount is a status that the client was answered with.
type StatusCount struct {
	Status   int   `json:"status"`
	Requests int64 `json:"requests"`
}

// A Policy is what became of the client under one policy.
type Policy struct {
	Policy         string    `json:"policy"`
	By             string    `json:"by"`
	Semantics      string    `json:"semantics"`
	Refused        int64     `json:"refused"`
	Range          *Range    `json:"range"` // nil when the policy is judged exactly
	RefusedPercent float64   `json:"refused_percent"`
	Delayed        int64     `json:"delayed"`
	Lockout        *Lockout  `json:"longest_lockout"` // nil when nothing was refused
	Limits         []Limit   `json:"limits"`
	Refusals       []Refusal `json:"refusals"`
	MoreRefusals   int64     `json:"more_refusals"` // that are not listed

	of *report.Policy
}

// A Range is between what and what lie an approximation's refusals of the client.
type Range struct {
	Refused [2]int64 `json:"refused"` // at least, at most
}

// A Lockout is a stretch of time in which all of the client's requests were refused.
type Lockout struct {
	First    format.Moment `json:"first_refused"`
	Last     format.Moment `json:"last_refused"`
	Seconds  float64       `json:"seconds"`
	Requests int64         `json:"requests"`
}

// A Limit is one limit of a policy.
type Limit struct {
	Limit  string    `json:"limit"`
	By     string    `json:"by"`
	Shared bool      `json:"shared"` // with other clients, so that what follows cannot be told
	Number string    `json:"number"` // the one to raise: "burst" or "count"
	Is     int64     `json:"is"`
	Needs  *int64    `json:"needs"`  // with which it would have refused none of the client's requests; nil: shared, or none would
	Levels []float64 `json:"levels"` // how full, at the moments of the timeline; nil: shared, or it does not tell

	atOnce float64
	period string
}

// A Refusal is a request that the policy refuses.
type Refusal struct {
	Time   format.Moment `json:"time"`
	Action string        `json:"action"`
	Status int           `json:"status"`
	Agent  string        `json:"agent"`
	By     []string      `json:"refused_by"`   // the limits that had no room; of shared ones, those that may be it
	Wait   *float64      `json:"wait_seconds"` // until it would have been admitted; nil: a shared limit refused it
	Needs  []Need        `json:"needs"`
	Line   *LogLine      `json:"line"` // nil unless asked for

	row int32
}

// A Need is what a limit would have had to be to refuse nothing of the client up to a refusal.
type Need struct {
	Limit  string `json:"limit"`
	Number string `json:"number"`
	To     *int64 `json:"to"` // nil: no number would do

	period string
}

// A LogLine is where a request stands in the inputs.
type LogLine struct {
	File string `json:"file"`
	Line int64  `json:"line"` // from 1
	Text string `json:"text"`
}
