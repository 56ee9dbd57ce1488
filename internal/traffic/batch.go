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

	// The following columns are nil when they are not needed or the log does not have them.
	Seq      []limit.Time // sequence time: At, or, of a late request, the moment when it was let in; nil: At
	Source   []uint32     // rank of the input: of two requests at one moment the lower rank comes first; nil: one input
	Host     []int32      // Tables.Hosts
	User     []int32      // Tables.Users, or NoUser
	Path     []int32      // Tables.Paths
	Upstream []int64      // microseconds spent by upstream servers
	Took     []int64      // microseconds from the beginning of the request to its end
	Marks    []uint64     // bit i is set when the request fits the i-th of Options.Scopes
	Clues    []Clue       // what requests show of their senders
	Origin   []uint32     // a hash of the address that a proxy's header names behind the client; 0: none. See match.Origins
	Leftmost []uint32     // a hash of that header's first entry, and in its last two bits what that is; 0: none
	Line     []int64      // the line of the input that tells the request, from 1
	Visitor  []int32      // evidence.Visitors, once they have seen the batch

	Values [MaxValues][]int32 // for each of Tables.Parts: Tables.Values, or NoValue

	seqRoom []limit.Time // for Seq

	// Warm requests lie before --since: they are judged, so that the limiters are in the state in which they would
	// have been, and counted nowhere.
	Warm bool

	Stamps Coarseness // of the times in At, if Options.Band
}

// Refusal reports whether a status says that the server itself turned the request away for being one too many.
func Refusal(status int32) bool { return status == 429 || status == 503 }

// MaxValues is the most texts of a line that keys can go by, beside the usual fields.
const MaxValues = 8

// NoUser is the user of a request that has none, NoValue its value. Ids of Tables.Users and Tables.Values are above it.
const (
	NoUser  = -1
	NoValue = NoUser
)

// Len returns the number of requests in the batch.
func (b *Batch) Len() int { return len(b.At) }

// NewBatch returns an empty batch with room for n rows, and with the optional columns that like has. Memory that is
// never written to is never resident, so generous room costs nothing.
func NewBatch(n int, like Columns) *Batch {
	b := new(Batch)
	b.Refit(n, like)
	return b
}

// Refit empties the batch and gives it room for n rows, the optional columns that like has, and no others.
func (b *Batch) Refit(n int, like Columns) {
	for _, c := range b.columns() {
		c.fit(n, c.wanted == nil || c.wanted(like))
	}
}

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
		b.seqRoom, b.Seq = b.Seq[:0], nil
	}
}

// Truncate keeps the first n rows.
func (b *Batch) Truncate(n int) {
	if b.Seq != nil {
		b.Seq = b.Seq[:n]
	}
	for _, c := range b.columns() {
		c.cut(0, n)
	}
}

// Rows returns the rows i … j−1 of b, in the same memory.
func (b *Batch) Rows(i, j int) *Batch {
	rows := *b
	rows.seqRoom = nil
	if b.Seq != nil {
		rows.Seq = b.Seq[i:j:j]
	}
	for _, c := range rows.columns() {
		c.cut(i, j)
	}
	return &rows
}

// Take appends the rows i … j−1 of src, which has the same optional columns apart from Seq.
func (b *Batch) Take(src *Batch, i, j int) {
	if src.Seq != nil && b.Seq == nil && !slices.Equal(src.Seq[i:j], src.At[i:j]) {
		b.NeedSeq()
	}
	if b.Seq != nil {
		b.Seq = append(b.Seq, src.Sequence()[i:j]...)
	}
	theirs := src.columns()
	for k, c := range b.columns() {
		c.take(theirs[k].values, i, j)
	}
}

// Append adds rows of src, which must have the same optional columns apart from Seq. With its first rows, b gets them.
func (b *Batch) Append(src *Batch, rows []int32) {
	if b.Seq == nil {
		b.Seq = b.seqRoom
	}
	b.Seq = slices.Grow(b.Seq, len(rows))
	seqs := src.Sequence()
	for _, row := range rows {
		b.Seq = append(b.Seq, seqs[row])
	}
	theirs := src.columns()
	for k, c := range b.columns() {
		c.pick(theirs[k].values, rows)
	}
}

// Sequence returns the sequence times of the rows.
func (b *Batch) Sequence() []limit.Time {
	if b.Seq != nil {
		return b.Seq
	}
	return b.At
}

// Move copies the rows i … j−1 up to row at.
func (b *Batch) Move(at, i, j int) {
	if at == i || i == j {
		return
	}
	if b.Seq != nil {
		copy(b.Seq[at:], b.Seq[i:j])
	}
	for _, c := range b.columns() {
		c.move(at, i, j)
	}
}

// InOrder returns all rows in the order of time, in the array of room if that is large enough.
func (b *Batch) InOrder(room []int32) []int32 {
	rows := room[:0]
	for row := range b.Len() {
		rows = append(rows, int32(row))
	}
	if !slices.IsSortedFunc(rows, b.Compare) {
		slices.SortFunc(rows, b.Compare)
	}
	return rows
}

// RowsOf returns the rows of a client, in the order of time.
func (b *Batch) RowsOf(client int32) []int32 {
	var rows []int32
	for row, c := range b.Client {
		if c == client {
			rows = append(rows, int32(row))
		}
	}
	new(rowSorter).sort(b, rows)
	return rows
}
