package traffic

import (
	"slices"

	"shadow/limit"
)

// The columns of a Batch stand in one list, and all that is done with every column goes through it. A new column is a
// field of Batch, a line here, and whatever fills it; an optional one is a field of Columns as well. Seq alone goes by
// rules of its own.

// Columns says which of the optional columns a run has.
type Columns struct {
	Source, Host, User, Path, Upstream, Marks, Traces, Origins, Lines bool

	Values int // how many of Batch.Values
}

// usualColumns is the number of columns that are not Values.
const usualColumns = 17

// columns returns the columns of b beside Seq.
func (b *Batch) columns() (all [usualColumns + MaxValues]column) {
	usual := [usualColumns]column{
		{numbers[limit.Time]{series[limit.Time]{&b.At}}, noName, nil},
		{numbers[int32]{series[int32]{&b.Client}}, clientName, nil},
		{numbers[uint16]{series[uint16]{&b.Agent}}, agentName, nil},
		{numbers[uint16]{series[uint16]{&b.Action}}, actionName, nil},
		{numbers[uint16]{series[uint16]{&b.Status}}, noName, nil},
		{numbers[int64]{series[int64]{&b.Bytes}}, noName, nil},
		{numbers[uint32]{series[uint32]{&b.Source}}, noName, func(c Columns) bool { return c.Source }},
		{numbers[int32]{series[int32]{&b.Host}}, hostName, func(c Columns) bool { return c.Host }},
		{numbers[int32]{series[int32]{&b.User}}, userName, func(c Columns) bool { return c.User }},
		{numbers[int32]{series[int32]{&b.Path}}, pathName, func(c Columns) bool { return c.Path }},
		{numbers[int64]{series[int64]{&b.Upstream}}, noName, func(c Columns) bool { return c.Upstream }},
		{numbers[uint64]{series[uint64]{&b.Marks}}, noName, func(c Columns) bool { return c.Marks }},
		{traces{series[Trace]{&b.Traces}}, noName, func(c Columns) bool { return c.Traces }},
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
	kind   nameKind           // of which its values are ids; noName: they are numbers
	wanted func(Columns) bool // nil: every batch has it
}

// values holds a column of any type. A column that is nil stays nil until it is given room or others' rows.
type values interface {
	pointer() any
	has() bool                                   // whether it is there
	fit(n int, wanted bool)                      // empties it, with room for n rows; or makes it nil
	cut(i, j int)                                // keeps the rows i … j−1, where they are
	move(at, i, j int)                           // copies the rows i … j−1 up to row at
	take(of values, i, j int)                    // appends the rows i … j−1 of another
	pick(of values, rows []int32)                // appends rows of another
	save(to *Encoder, kind nameKind)             // writes all
	restore(from *Decoder, kind nameKind, n int) // appends n rows that were saved
	miss(from *Decoder, kind nameKind, n int)    // appends n rows of which nothing was saved
	pack(to []byte, i, j int) []byte             // appends the rows i … j−1, packed
	unpack(from *unpacker, n int)                // appends n rows that were packed
	rename(id func(int32) int32)                 // has do give each id another one

	below(n int, names []PackedNames, kind nameKind) bool // whether there are n rows, all of them ids of names of a kind
}

// A series is a column of any type; it has what needs no knowledge of the type.
type series[T any] struct{ rows *[]T }

func (s series[T]) pointer() any { return s.rows }

func (s series[T]) has() bool { return *s.rows != nil }

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

func (c numbers[T]) save(to *Encoder, kind nameKind) {
	if kind == noName {
		saveNumbers(to, *c.rows)
	} else {
		saveNames(to, kind, *c.rows)
	}
}

func (c numbers[T]) restore(from *Decoder, kind nameKind, n int) {
	if kind == noName {
		*c.rows = restoreNumbers(from, *c.rows, n)
	} else {
		*c.rows = restoreNames(from, kind, *c.rows, n)
	}
}

func (c numbers[T]) below(n int, names []PackedNames, kind nameKind) bool {
	if len(*c.rows) != n || kind == noName {
		return len(*c.rows) == n
	}
	lowest := int64(0)
	if mayLack(kind) {
		lowest = NoUser
	}
	return n == 0 || int64(slices.Min(*c.rows)) >= lowest && int64(slices.Max(*c.rows)) < int64(names[kind].n)
}

func (c numbers[T]) miss(from *Decoder, kind nameKind, n int) {
	var v T
	switch kind {
	case userName, valueName:
		none := int32(NoUser)
		v = T(none)
	case hostName, pathName:
		v = T(from.ids[kind]([]byte("-"))) // as one that was not logged
	}
	*c.rows = append(*c.rows, slices.Repeat([]T{v}, n)...)
}

// traces are a column of Traces.
type traces struct{ series[Trace] }

func (c traces) save(to *Encoder, _ nameKind) {
	for _, t := range *c.rows {
		to.Uint(uint64(t.Traits) | uint64(t.Page)<<16 | uint64(t.From)<<32)
	}
}

func (c traces) restore(from *Decoder, _ nameKind, n int) {
	for range n {
		v := from.Uint()
		*c.rows = append(*c.rows, Trace{Traits: Trait(v), Page: uint16(v >> 16), From: uint16(v >> 32)})
	}
}

func (c traces) below(n int, _ []PackedNames, _ nameKind) bool { return len(*c.rows) == n }

func (c traces) miss(_ *Decoder, _ nameKind, n int) { *c.rows = append(*c.rows, make([]Trace, n)...) }

// Save writes the rows to a checkpoint, column by column. Before each stands whether it is there.
func (b *Batch) Save(to *Encoder) {
	to.Uint(uint64(b.Len()))
	if b.Seq == nil {
		to.Uint(0)
	} else {
		to.Uint(1)
		saveNumbers(to, b.Seq)
	}
	for k, c := range b.columns() {
		if c.kind == visitorIDs {
			continue
		}
		if !c.has() {
			to.Uint(0)
			continue
		}
		to.Uint(1)
		if c.kind == valueName { // the next process may have another list of parts
			to.Text(to.parts[k-usualColumns].String())
		}
		c.save(to, c.kind)
	}
}

// Restore reads what Save has written into a batch that is empty. It keeps the columns that b has, and drops others.
func (b *Batch) Restore(from *Decoder) {
	n := from.Count()
	var seqs []limit.Time
	if from.Uint() == 1 {
		seqs = restoreNumbers(from, seqs, n)
	}
	for _, c := range b.columns() {
		if c.kind == visitorIDs {
			continue
		}
		wanted := c.has()
		switch saved := from.Uint() == 1; {
		case c.kind == valueName:
			if saved {
				b.restoreValue(from, n)
			}
			wanted = true
		case saved:
			c.restore(from, c.kind, n)
		case wanted && c.wanted == nil && n > 0:
			from.Fail(errCutShort) // no row lacks it
		case wanted:
			c.miss(from, c.kind, n)
		}
		if !wanted {
			c.fit(0, false)
		}
		if from.Err() != nil {
			b.Reset()
			return
		}
	}
	for i, column := range b.Values {
		if column != nil && len(column) < n {
			b.columns()[usualColumns+i].miss(from, valueName, n)
		}
	}
	for i, at := range b.At {
		b.At[i] = Bounded(int64(at))
	}
	for i, spent := range b.Upstream {
		b.Upstream[i] = max(0, spent)
	}
	if seqs != nil {
		b.NeedSeq()
		for i, at := range b.At {
			b.Seq[i] = max(at, Bounded(int64(seqs[i]))) // none is let in before its time
		}
		b.DropSeq()
	}
}

// restoreValue reads one of Values into the column that is for the same part now, if there is one.
func (b *Batch) restoreValue(from *Decoder, n int) {
	part, into := from.Text(), new([]int32)
	for i, p := range from.tables.Parts {
		if p.String() == part && b.Values[i] != nil && len(b.Values[i]) == 0 {
			into = &b.Values[i]
		}
	}
	*into = restoreNames(from, valueName, *into, n)
}
