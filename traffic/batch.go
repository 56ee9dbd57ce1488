package traffic

import "shadow/limit"

// A Batch is a set of requests, one row each, as columns of integers. Rows stand in the order in which they were
// read; what counts is the order within a key, which is that of Order and then of the rows (see Group).
type Batch struct {
	At       []limit.Time // when the request began
	Order    []limit.Time // its place in time: At, or for a request that came too late, the moment it was let in; nil when it is At for every row
	Client   []int32      // Tables.Clients
	Agent    []int32      // Tables.Agents; its class is Tables.Agents.Class(id)
	Action   []int32      // Tables.Actions
	Host     []int32      // Tables.Hosts
	Status   []uint16     // HTTP status, 0 when not logged
	Bytes    []int64      // sent to the client
	Upstream []int64      // microseconds spent by upstream servers; nil when the log does not say

	// Warm requests lie before --since: they are judged, so that the limiters are in the state that they would have
	// been in, and counted nowhere.
	Warm bool
}

// Len is the number of requests in the batch.
func (b *Batch) Len() int { return len(b.At) }
