package replay

import (
	"shadow/internal/policy"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

// A Source hands over requests, batch by batch. No request has its place in time before one of an earlier batch, and
// all that have theirs at one moment come together.
type Source interface {
	// Next returns the next batch, or io.EOF. The batch is valid until the next call of Next.
	Next() (*traffic.Batch, error)
}

// A Sink takes the events of a run as they come. Write must not keep events; sets grows, and keeps what it has.
type Sink interface {
	Write(events []Event, sets *Sets) error
}

// A Result holds what one replay found. Names of clients, actions, agents and hosts are in Tables.
type Result struct {
	Stats    ingest.Stats
	Tables   *traffic.Tables
	Clients  *Paged[ClientTally] // by client id; a client all of whose requests were before --since has none
	Actions  []int64             // requests by action id
	OverTime *Stretches          // requests by time; nil: not known
	Who      *who.Register       // who the clients are; nil: not known
	Policies []PolicyTally
	Band     *Band // nil: not wanted
}

// ClientTally counts the requests of one client, apart from any policy.
type ClientTally = traffic.ClientTally

// A Paged is a growing array whose index is a dense id.
type Paged[T any] = intern.PagedSlice[T]

// PolicyTally counts what one policy did.
type PolicyTally struct {
	Policy policy.Policy
	PolicyCounts
	Hits     Hits    // the clients with a refused request
	ByAction []int64 // refused, by action id

	WorstMinute        limit.Time // start of the minute (UTC) with most refusals, the earliest of several
	WorstMinuteRefused int64
	UpstreamSaved      limit.Time // time that upstreams spent on them, if logged

	Delays *Delays // nil: no limit of the policy keeps requests waiting
	Range  *Range  // nil: the policy is judged exactly

	Bounds *[2]Bound // what it does at least and at most, wherever in their seconds requests came; nil: not wanted, or the stamps tell
}

// PolicyCounts are the figures of a policy that add up, over batches and nights.
type PolicyCounts struct {
	Requests   int64 // judged
	Refused    int64
	BytesSaved int64 // bytes that the refused requests were answered with
	Degraded   Degraded
}

// Add adds what was counted elsewhere.
func (c *PolicyCounts) Add(others *PolicyCounts) {
	c.Requests += others.Requests
	c.Refused += others.Refused
	c.BytesSaved = sum(c.BytesSaved, others.BytesSaved)
	c.Degraded.Requests += others.Degraded.Requests
	c.Degraded.Refused += others.Degraded.Refused
}

// Degraded counts what was judged while the verdicts may not have been those that all hosts would have reached
// together.
type Degraded struct {
	Requests int64
	Refused  int64 // of these
}

// Delays says how long a policy kept requests waiting that it admitted. The percentiles are of nearest rank, over the
// requests that had to wait.
type Delays struct {
	Requests int64      // that had to wait
	Total    limit.Time // of them all
	P50, P99 limit.Time // what half of them, and 99 %, did not exceed; 0 without any
}

// A Range is the lowest and the highest that an approximation comes to, under all assumptions about what is not known.
type Range struct {
	Refused    [2]int64
	ClientsHit [2]int64

	hits []*Hits // under each assumption
}

// Of returns how many requests of one client are refused, at least and at most.
func (r *Range) Of(client int32) (refused [2]int64) {
	for i, hits := range r.hits {
		hit, _ := hits.Find(client)
		if i == 0 {
			refused = [2]int64{hit.Refused, hit.Refused}
		}
		widen(&refused, hit.Refused)
	}
	return refused
}
