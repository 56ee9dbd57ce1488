package traffic

import (
	"slices"

	"shadow/limit"
)

// A Batch is a set of requests, one row each, as columns of integers. Rows stand in the order in which they were
// read; what counts is the order within a key, which a Group restores.
type Batch struct {
	At     []limit.Time // when the request began
	Client []int32      // Tables.Clients
	Agent  []uint16     // Tables.Agents; its class is Tables.Agents.Class
	Action []uint16     // Tables.Actions
	Status []uint16     // HTTP status, 0 when not logged
	Bytes  []int64      // sent to the client

	// The following columns are nil when nobody needs them or the log does not tell.
	Seq      []limit.Time // sequence time: At, or, of a late request, the moment when it was let in; nil: At
	Source   []uint32     // rank of the input: of two requests at one moment the lower rank comes first; nil: one input
	Host     []int32      // Tables.Hosts
	User     []int32      // Tables.Users, or NoUser
	Path     []int32      // Tables.Paths
	Upstream []int64      // microseconds spent by upstream servers
	Marks    []uint64     // bit i is set when the request fits the i-th of Options.Scopes
	Traces   []Trace      // what requests show of their senders

	seqRoom []limit.Time // for Seq

	// Warm requests lie before --since: they are judged, so that the limiters are in the state in which they would
	// have been, and counted nowhere.
	Warm bool

	Stamps Coarseness // of the times in At, if Options.Band
}

// Refusal reports whether a status says that the server itself turned the request away for being one too many.
func Refusal(status int32) bool { return status == 429 || status == 503 }

// NoUser is the user of a request that has none. Ids of Tables.Users are above it.
const NoUser = -1

// Len is the number of requests in the batch.
func (b *Batch) Len() int { return len(b.At) }

// NewBatch returns an empty batch with room for n rows, and with the optional columns that like has. Memory that is
// never written to is never resident, so generous room costs nothing.
func NewBatch(n int, like Columns) *Batch {
	b := &Batch{
		At:     make([]limit.Time, 0, n),
		Client: make([]int32, 0, n),
		Agent:  make([]uint16, 0, n),
		Action: make([]uint16, 0, n),
		Status: make([]uint16, 0, n),
		Bytes:  make([]int64, 0, n),
	}
	b.Refit(n, like)
	return b
}

// Columns says which of the optional columns a run has.
type Columns struct{ Source, Host, User, Path, Upstream, Marks, Traces bool }

// Reset empties the batch and keeps its room.
func (b *Batch) Reset() {
	b.Truncate(0)
	b.Seq, b.Warm = nil, false
}

// NeedSeq makes room for sequence times that differ from the rows' times.
func (b *Batch) NeedSeq() {
	if b.Seq != nil {
		return
	}
	if b.seqRoom == nil {
		b.seqRoom = make([]limit.Time, 0, cap(b.At))
	}
	b.Seq = append(b.seqRoom, b.At...)
	b.seqRoom = b.Seq[:0]
}

// DropSeq removes the sequence times if all are the rows' times.
func (b *Batch) DropSeq() {
	if b.Seq != nil && slices.Equal(b.Seq, b.At) {
		b.Seq = nil
	}
}

// Truncate keeps the first n rows.
func (b *Batch) Truncate(n int) {
	b.At, b.Client, b.Agent = b.At[:n], b.Client[:n], b.Agent[:n]
	b.Action, b.Status, b.Bytes = b.Action[:n], b.Status[:n], b.Bytes[:n]
	b.Seq, b.Source = head(b.Seq, n), head(b.Source, n)
	b.Host, b.Upstream, b.Marks = head(b.Host, n), head(b.Upstream, n), head(b.Marks, n)
	b.User, b.Path, b.Traces = head(b.User, n), head(b.Path, n), head(b.Traces, n)
}

// head is the first n rows of a column that may be nil.
func head[T any](column []T, n int) []T {
	if column == nil {
		return nil
	}
	return column[:n]
}

// Take appends the rows i … j−1 of src, which has the same optional columns apart from Seq.
func (b *Batch) Take(src *Batch, i, j int) {
	if src.Seq != nil && b.Seq == nil && !slices.Equal(src.Seq[i:j], src.At[i:j]) {
		b.NeedSeq()
	}
	if b.Seq != nil {
		b.Seq = append(b.Seq, src.Sequence()[i:j]...)
	}
	b.At = append(b.At, src.At[i:j]...)
	b.Client = append(b.Client, src.Client[i:j]...)
	b.Agent = append(b.Agent, src.Agent[i:j]...)
	b.Action = append(b.Action, src.Action[i:j]...)
	b.Status = append(b.Status, src.Status[i:j]...)
	b.Bytes = append(b.Bytes, src.Bytes[i:j]...)
	b.Source = appendRun(b.Source, src.Source, i, j)
	b.Host = appendRun(b.Host, src.Host, i, j)
	b.User = appendRun(b.User, src.User, i, j)
	b.Path = appendRun(b.Path, src.Path, i, j)
	b.Upstream = appendRun(b.Upstream, src.Upstream, i, j)
	b.Marks = appendRun(b.Marks, src.Marks, i, j)
	b.Traces = appendRun(b.Traces, src.Traces, i, j)
}

// appendRun appends the rows i … j−1 of a column that may be nil.
func appendRun[T any](dst, src []T, i, j int) []T {
	if src == nil {
		return dst
	}
	return append(dst, src[i:j]...)
}

// Sequence returns the sequence times of the rows.
func (b *Batch) Sequence() []limit.Time {
	if b.Seq != nil {
		return b.Seq
	}
	return b.At
}

// Refit gives the batch the optional columns that like has, and no others.
func (b *Batch) Refit(n int, like Columns) {
	b.Source = fit(b.Source, n, like.Source)
	b.Host = fit(b.Host, n, like.Host)
	b.User = fit(b.User, n, like.User)
	b.Path = fit(b.Path, n, like.Path)
	b.Upstream = fit(b.Upstream, n, like.Upstream)
	b.Marks = fit(b.Marks, n, like.Marks)
	b.Traces = fit(b.Traces, n, like.Traces)
}

// fit is an empty column with room for n rows, or nil if it is not wanted.
func fit[T any](column []T, n int, wanted bool) []T {
	switch {
	case !wanted:
		return nil
	case cap(column) < n:
		return make([]T, 0, n)
	}
	return column[:0]
}

// Move copies the rows i … j−1 up to row at.
func (b *Batch) Move(at, i, j int) {
	if at == i || i == j {
		return
	}
	moveRun(b.At, at, i, j)
	moveRun(b.Seq, at, i, j)
	moveRun(b.Client, at, i, j)
	moveRun(b.Agent, at, i, j)
	moveRun(b.Action, at, i, j)
	moveRun(b.Status, at, i, j)
	moveRun(b.Bytes, at, i, j)
	moveRun(b.Source, at, i, j)
	moveRun(b.Host, at, i, j)
	moveRun(b.User, at, i, j)
	moveRun(b.Path, at, i, j)
	moveRun(b.Upstream, at, i, j)
	moveRun(b.Marks, at, i, j)
	moveRun(b.Traces, at, i, j)
}

// moveRun is move for one column, which may be nil.
func moveRun[T any](column []T, at, i, j int) {
	if column != nil {
		copy(column[at:], column[i:j])
	}
}
