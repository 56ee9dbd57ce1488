package traffic

import (
	"slices"

	"shadow/internal/request"
	"shadow/limit"
)

// The columns of a Batch stand in one list, and all that is done with every column goes through it. A new column is a
// field of Batch, a line here, and whatever fills it; an optional one is a field of Columns as well. Seq alone goes by
// rules of its own.

// Columns says which of the optional columns a run has.
type Columns struct {
	Source, Host, User, Path, Upstream, Took, Marks, Clues, Origins, Lines bool

	Values int // how many of Batch.Values
}

// usualColumns is the number of columns that are not Values.
const usualColumns = 18

// columns returns the columns of b beside Seq.
func (b *Batch) columns() (all [usualColumns + MaxValues]column) {
	usual := [usualColumns]column{
		{numbers[limit.Time]{series[limit.Time]{&b.At}}, noName, nil},
		{numbers[int32]{series[int32]{&b.Client}}, ClientName, nil},
		{numbers[uint16]{series[uint16]{&b.Agent}}, AgentName, nil},
		{numbers[uint16]{series[uint16]{&b.Action}}, ActionName, nil},
		{numbers[uint16]{series[uint16]{&b.Status}}, noName, nil},
		{numbers[int64]{series[int64]{&b.Bytes}}, noName, nil},
		{numbers[uint32]{series[uint32]{&b.Source}}, noName, func(c Columns) bool { return c.Source }},
		{numbers[int32]{series[int32]{&b.Host}}, hostName, func(c Columns) bool { return c.Host }},
		{numbers[int32]{series[int32]{&b.User}}, userName, func(c Columns) bool { return c.User }},
		{numbers[int32]{series[int32]{&b.Path}}, PathName, func(c Columns) bool { return c.Path }},
		{numbers[int64]{series[int64]{&b.Upstream}}, noName, func(c Columns) bool { return c.Upstream }},
		{numbers[int64]{series[int64]{&b.Took}}, noName, func(c Columns) bool { return c.Took }},
		{numbers[uint64]{series[uint64]{&b.Marks}}, noName, func(c Columns) bool { return c.Marks }},
		{clues{series[Clue]{&b.Clues}}, noName, func(c Columns) bool { return c.Clues }},
		{numbers[uint32]{series[uint32]{&b.Origin}}, noName, func(c Columns) bool { return c.Origins }},
		{numbers[uint32]{series[uint32]{&b.Leftmost}}, noName, func(c Columns) bool { return c.Origins }},
		{numbers[int64]{series[int64]{&b.Line}}, noName, func(c Columns) bool { return c.Lines }},
		{numbers[int32]{series[int32]{&b.Visitor}}, visitorIDs, func(Columns) bool { return false }},
	}
	copy(all[:], usual[:])
	for i := range b.Values {
		all[usualColumns+i] = column{numbers[int32]{series[int32]{&b.Values[i]}}, valueName, wantsValue[i]}
	}
	return all
}

// wantsValue report whether a run has each of Batch.Values.
var wantsValue = func() (wants [MaxValues]func(Columns) bool) {
	for i := range wants {
		wants[i] = func(c Columns) bool { return i < c.Values }
	}
	return wants
}()

// A column is one of a Batch's.
type column struct {
	values
	kind   NameKind           // of which its values are ids; noName: they are numbers
	wanted func(Columns) bool // nil: every batch has it
}

// values holds a column of any type. A column that is nil stays nil until it is given room or others' rows.
type values interface {
	pointer() any
	has() bool                            // whether it is there
	fit(n int, wanted bool)               // empties it, with room for n rows; or makes it nil
	cut(i, j int)                         // keeps the rows i … j−1, where they are
	move(at, i, j int)                    // copies the rows i … j−1 up to row at
	take(of values, i, j int)             // appends the rows i … j−1 of another
	pick(of values, rows []int32)         // appends rows of another
	fill(n int, with int32)               // appends n rows that are all the same
	renumber(number func(id int32) int32) // replaces each id
	pack(to []byte, i, j int) []byte      // appends the rows i … j−1, packed
	unpack(from *unpacker, n int)         // appends n rows that were packed
	length() int
}

// A series is a column of any type; it has what needs no knowledge of the type.
type series[T any] struct{ rows *[]T }

func (s series[T]) pointer() any { return s.rows }

func (s series[T]) has() bool { return *s.rows != nil }

func (s series[T]) length() int { return len(*s.rows) }

func (s series[T]) fit(n int, wanted bool) {
	switch {
	case !wanted:
		*s.rows = nil
	case *s.rows == nil || cap(*s.rows) < n:
		*s.rows = make([]T, 0, n)
	default:
		*s.rows = (*s.rows)[:0]
	}
}

func (s series[T]) cut(i, j int) {
	if *s.rows != nil {
		*s.rows = (*s.rows)[i:j]
	}
}

func (s series[T]) move(at, i, j int) {
	if *s.rows != nil {
		copy((*s.rows)[at:], (*s.rows)[i:j])
	}
}

func (s series[T]) take(of values, i, j int) {
	if theirs := *of.pointer().(*[]T); theirs != nil {
		*s.rows = append(*s.rows, theirs[i:j]...)
	}
}

func (s series[T]) pick(of values, rows []int32) {
	if theirs := *of.pointer().(*[]T); theirs != nil {
		mine := slices.Grow(*s.rows, len(rows))
		for _, row := range rows {
			mine = append(mine, theirs[row])
		}
		*s.rows = mine
	}
}

// numbers are a column of numbers, or of ids.
type numbers[T integer] struct{ series[T] }

func (c numbers[T]) fill(n int, with int32) {
	*c.rows = append(*c.rows, slices.Repeat([]T{T(with)}, n)...)
}

func (c numbers[T]) renumber(number func(id int32) int32) {
	for i, v := range *c.rows {
		(*c.rows)[i] = T(number(int32(v)))
	}
}

// clues are a column of Clues.
type clues struct{ series[Clue] }

func (c clues) fill(n int, _ int32) { *c.rows = append(*c.rows, make([]Clue, n)...) }

func (c clues) renumber(func(id int32) int32) {}

// Save writes the rows to a checkpoint, with the parts that Values are of: the next process may have others.
func (b *Batch) Save(to *Encoder) {
	to.Uint(uint64(len(to.tables.Parts)))
	for _, part := range to.tables.Parts {
		to.Text(part.String())
	}
	to.Uint(uint64(b.Len()))
	for i := 0; i < b.Len(); i += pieceRows {
		to.saveRows(b, i, min(b.Len(), i+pieceRows))
	}
}

// Restore reads what Save has written into a batch that is empty. It keeps the columns that b has, and drops others.
func (b *Batch) Restore(from *Decoder) {
	var values [MaxValues]int // + 1: the place of a part in b
	for i := range from.Count() {
		part := from.Text()
		at := slices.IndexFunc(from.tables.Parts, func(p request.Part) bool { return p.String() == part })
		if i < MaxValues {
			values[i] = at + 1
		}
	}
	n, saved := from.Count(), new(Batch)
	for saved.Len() < n && from.err == nil {
		from.restoreRows(saved, min(n-saved.Len(), pieceRows))
	}
	if from.err == nil {
		from.Fail(saved.Verify())
	}
	if from.err != nil {
		return
	}
	packed := saved.Values
	saved.Values = [MaxValues][]int32{}
	for i, at := range values {
		if at > 0 {
			saved.Values[at-1] = packed[i]
		}
	}
	from.Fail(b.Adopt(saved, from.absent))
}

// absent returns what a request has of a column that was not kept, as one that was not logged.
func (d *Decoder) absent(kind NameKind) int32 {
	switch {
	case mayLack(kind):
		return NoUser
	case kind == hostName || kind == PathName:
		return d.names.take[kind]([]byte("-"))
	}
	return 0
}

// Adopt appends the rows of another batch, in the columns that this one has. Where the other one lacks a column, its rows
// get what absent returns; if that is nil, Adopt fails.
func (b *Batch) Adopt(src *Batch, absent func(kind NameKind) int32) error {
	theirs := src.columns()
	for k, c := range b.columns() {
		if c.has() && !theirs[k].has() && src.Len() > 0 && absent == nil {
			return errPacked
		}
	}
	if src.Seq != nil {
		b.NeedSeq()
	}
	if b.Seq != nil {
		b.Seq = append(b.Seq, src.Sequence()...)
	}
	for k, c := range b.columns() {
		switch {
		case !c.has():
		case theirs[k].has():
			c.take(theirs[k].values, 0, src.Len())
		case src.Len() > 0:
			c.fill(src.Len(), absent(c.kind))
		}
	}
	return nil
}

// Verify fails unless the rows make sense: all columns are of one length, times are within bounds, and no request was
// let in before its time.
func (b *Batch) Verify() error {
	for _, c := range b.columns() {
		if n := c.length(); n != b.Len() && (n > 0 || c.wanted == nil) {
			return errPacked
		}
	}
	seqs := b.Sequence()
	for i, at := range b.At {
		if at < MinTime || seqs[i] > MaxTime || seqs[i] < at || b.Upstream != nil && b.Upstream[i] < 0 ||
			b.Took != nil && b.Took[i] < 0 {
			return errPacked
		}
	}
	return nil
}
