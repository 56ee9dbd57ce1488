// Package diff reports on what changes when one policy gives way to another: a replay.Comparison comes in; text,
// JSON, CSV or Markdown goes out.
package diff

import (
	"shadow/report"
	"shadow/report/format"
	"shadow/request"
)

// A Report says what changes for which clients when policy A gives way to policy B. Requests are compared one by one. Clients
// and actions are hit when a policy refuses at least one of their requests; one that B hits and A does not is newly
// hit, one that A hits and B does not is released. docs/diff.md defines every figure.
type Report struct {
	report.Head
	A Policy `json:"a"`
	B Policy `json:"b"`

	Requests Change        `json:"requests"` // refused
	Clients  Change        `json:"clients"`  // hit
	Actions  Change        `json:"actions"`  // hit
	ByClass  ChangeByClass `json:"by_class"`

	ByEvidence *ChangeByEvidence `json:"by_evidence,omitempty"` // the browsers of ByClass, divided; nil: not gathered

	ClientsMoved int64 `json:"clients_moved"` // with different numbers of refused requests

	TopMovers     []Client `json:"top_movers"`
	TopNewlyHit   []Client `json:"top_newly_hit"`
	TopReleased   []Client `json:"top_released"`
	TopHitByBoth  []Client `json:"top_hit_by_both"`
	TopActionsHit []Action `json:"top_actions"`

	model *report.Model // of both policies
}

// A Policy is one of the two.
type Policy struct {
	Policy     string        `json:"policy"`
	By         string        `json:"by"`
	Semantics  string        `json:"semantics"`
	Refused    int64         `json:"refused"`
	ClientsHit int64         `json:"clients_hit"`
	Range      *report.Range `json:"range"` // nil when it is judged exactly
}

// A Change counts requests, clients or actions by who refuses or hits them.
type Change struct {
	OnlyA   int64 `json:"only_a"` // released
	OnlyB   int64 `json:"only_b"` // newly hit
	Both    int64 `json:"both"`
	Neither int64 `json:"neither"`
}

// ClassChange is what changes for the clients of one class.
type ClassChange struct {
	Requests Change `json:"requests"`
	Clients  Change `json:"clients"`
}

// ChangeByEvidence divides what changes for browsers, as ByEvidence does.
type ChangeByEvidence struct {
	People    ClassChange `json:"people"`
	Disguised ClassChange `json:"disguised"`
}

// ChangeByClass has the classes in their order.
type ChangeByClass [request.ClassCount]ClassChange

// A Client is a client that at least one of the policies hits.
type Client struct {
	Client   string `json:"client"`
	Class    string `json:"class"`
	Agent    string `json:"agent"` // its latest
	Requests int64  `json:"requests"`
	Counts

	Evidence *report.Evidence `json:"evidence,omitempty"` // nil: not gathered
}

// An Action is an action that at least one of the policies hits.
type Action struct {
	Action   string `json:"action"`
	Requests int64  `json:"requests"`
	Counts
}

// Counts are the refused requests of one client or action.
type Counts struct {
	Change     string `json:"change"` // "newly hit", "released", "hit by both"
	RefusedA   int64  `json:"refused_a"`
	RefusedB   int64  `json:"refused_b"`
	Difference int64  `json:"difference"` // B less A
	OnlyA      int64  `json:"only_a"`
	OnlyB      int64  `json:"only_b"`
	Both       int64  `json:"both"`
}

// The changes.
const (
	newlyHit  = "newly hit"
	released  = "released"
	hitByBoth = "hit by both"
)

// MarshalJSON writes an object with a key per class, in their order.
func (c ChangeByClass) MarshalJSON() ([]byte, error) { return format.EachJSON[request.Class](c[:]) }
