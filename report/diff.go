package report

import "shadow/traffic"

// A Diff says what changes for whom when policy A gives way to policy B. Requests are compared one by one. Clients and
// actions are hit when a policy refuses at least one of their requests; one that B hits and A does not is newly hit, one
// that A hits and B does not is released. docs/diff.md defines every figure.
type Diff struct {
	Version  string     `json:"version"`
	Command  string     `json:"command"`
	Input    Input      `json:"input"`
	Warnings []string   `json:"warnings"`
	A        DiffPolicy `json:"a"`
	B        DiffPolicy `json:"b"`

	Requests Change        `json:"requests"` // refused
	Clients  Change        `json:"clients"`  // hit
	Actions  Change        `json:"actions"`  // hit
	ByClass  ChangeByClass `json:"by_class"`

	ByEvidence *ChangeByEvidence `json:"by_evidence,omitempty"` // the browsers of ByClass, divided; nil: not gathered

	ClientsMoved int64 `json:"clients_moved"` // of which the policies do not refuse equally many requests

	TopMovers     []DiffClient `json:"top_movers"`
	TopNewlyHit   []DiffClient `json:"top_newly_hit"`
	TopReleased   []DiffClient `json:"top_released"`
	TopHitByBoth  []DiffClient `json:"top_hit_by_both"`
	TopActionsHit []DiffAction `json:"top_actions"`

	model *Model // of both policies
}

// A DiffPolicy is one of the two.
type DiffPolicy struct {
	Policy     string `json:"policy"`
	By         string `json:"by"`
	Semantics  string `json:"semantics"`
	Refused    int64  `json:"refused"`
	ClientsHit int64  `json:"clients_hit"`
	Range      *Range `json:"range"` // nil when it is judged exactly
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
type ChangeByClass [traffic.ClassCount]ClassChange

// A DiffClient is a client that at least one of the policies hits.
type DiffClient struct {
	Client   string `json:"client"`
	Class    string `json:"class"`
	Agent    string `json:"agent"` // its latest
	Requests int64  `json:"requests"`
	DiffCounts

	Evidence *Evidence `json:"evidence,omitempty"` // nil: not gathered
}

// A DiffAction is an action that at least one of the policies hits.
type DiffAction struct {
	Action   string `json:"action"`
	Requests int64  `json:"requests"`
	DiffCounts
}

// DiffCounts are the refused requests of one client or action.
type DiffCounts struct {
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
func (c ChangeByClass) MarshalJSON() ([]byte, error) { return marshalEach[traffic.Class](c[:]) }
