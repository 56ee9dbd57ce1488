package replay

import (
	"time"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// An Addition holds what was judged since an earlier one: a batch on its way from a run that does not end into a
// database. It stands for itself: its ids are places in its own lists, so it can wait on a disk while the tables go on.
type Addition struct {
	Tail   string // whose it is
	Number uint64 // from 1; a database takes those of a tail in their order, each once
	Made   time.Time

	ingest.Counts
	JudgesNotHTTP bool // as in ingest.Stats
	Requests      int64

	AlreadyRefused int64      // requests that the server itself had refused
	First, Last    limit.Time // of the requests
	Resolution     limit.Time // of the stamps; 0: there were none

	Policies []PolicyText
	Did      []PolicyCounts // by policy, but for Requests
	Agents   []AgentPart
	Clients  []ClientPart
	Actions  []ActionPart
	Inputs   []InputPart
	Faults   []FaultPart // of the first few unreadable lines
	Events   []Event     // Client, Action and Set are places in these lists
	Sets     [][]Refuser
}

// A PolicyText is a policy in words.
type PolicyText struct {
	Name, By string
	Combine  string // how its limits share a request
	Parts    []PartText
}

// A PartText is one limit of a policy.
type PartText struct {
	By, Algorithm, Options, Text string
	Count, Period                int64
	Match, Counts                string // "": all requests
}

// An InputPart counts what was read of a log, judged or not.
type InputPart struct {
	Name, Format, FormatText  string
	Lines, Parsed, Unreadable int64
}

// A FaultPart is an unreadable line.
type FaultPart struct {
	Input, Reason, Text string
	Column              int
}

// An AgentPart is a user agent, which may be there several times.
type AgentPart struct{ Name, Class string }

// A ClientPart is the requests of a client, which may be in several parts.
type ClientPart struct {
	Name    string
	Agent   int32 // of the latest request: a place in Agents
	ByClass [request.ClassCount]int64
}

// An ActionPart is the requests of an action.
type ActionPart struct {
	Name     string
	Requests int64
}

// Empty reports whether there is nothing in it to be counted.
func (a *Addition) Empty() bool { return a.Lines == 0 && a.Bytes == 0 && a.Late == 0 }

// TextsOf puts policies into words.
func TextsOf(policies []policy.Policy) (texts []PolicyText) {
	for _, p := range policies {
		text := PolicyText{Name: p.Name, By: p.By(), Combine: p.Combine.String()}
		for _, part := range p.Parts {
			s := part.Spec
			text.Parts = append(text.Parts, PartText{
				By: part.By.String(), Algorithm: s.Algorithm, Options: s.Options, Text: s.String(),
				Count: s.Count, Period: int64(s.Period), Match: part.MatchText, Counts: part.CountText,
			})
		}
		texts = append(texts, text)
	}
	return texts
}
