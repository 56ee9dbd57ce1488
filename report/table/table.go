// Package table lays out tables: rows of typed cells come in; text for a terminal, Markdown, CSV or HTML goes out, in
// which no text of a stranger can do harm.
package table

import (
	"strconv"

	"shadow/internal/mapped"
	"shadow/report/format"
)

// A Table is rows of cells under heads, the same for all writers. The first column names what a row is about.
type Table struct {
	Title   string // for those who cannot see a table on a page
	Columns []Column
	Rows    [][]Cell
	Whole   bool // not folded where it goes to a file
}

// New returns a table without rows.
func New(columns ...Column) *Table { return &Table{Columns: columns} }

// Head appends columns.
func (t *Table) Head(columns ...Column) { t.Columns = append(t.Columns, columns...) }

// Join appends columns that belong to the one before them.
func (t *Table) Join(columns ...Column) {
	for _, c := range columns {
		c.joined = true
		t.Columns = append(t.Columns, c)
	}
}

// Add appends a row.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, cells) }

// An Of is a table with a row for each T. Its columns say what stands in them.
type Of[T any] struct {
	Table
	cells []func(*T) Cell
}

// Head appends a column.
func (t *Of[T]) Head(c Column, cell func(*T) Cell) {
	t.Table.Head(c)
	t.cells = append(t.cells, cell)
}

// Join appends a column that belongs to the one before it.
func (t *Of[T]) Join(c Column, cell func(*T) Cell) {
	t.Table.Join(c)
	t.cells = append(t.cells, cell)
}

// Fill returns the table with its rows.
func (t *Of[T]) Fill(rows []T) *Table {
	for i := range rows {
		row := mapped.Of(t.cells, func(cell func(*T) Cell) Cell { return cell(&rows[i]) })
		t.Add(row...)
	}
	return &t.Table
}

// A Column is what stands above cells, and how they are laid out.
type Column struct {
	Head   string
	title  string // Head on a page, where there is more room; "" is Head
	right  bool   // numbers
	joined bool   // stays with the column before it when a table is folded
	least  int    // may be cut to so many columns of a terminal; 0: never
}

// The least columns of a terminal.
const (
	leastName = 45 // room for any IPv6 address
	leastLong = 24
)

// Words returns a column of short texts.
func Words(head string) Column { return Column{Head: head} }

// Name returns a column of names.
func Name(head string) Column { return Column{Head: head, least: leastName} }

// Long returns a column of texts of any length, such as agents.
func Long(head string) Column { return Column{Head: head, least: leastLong} }

// Number returns a column of numbers.
func Number(head string) Column { return Column{Head: head, right: true} }

// Numbers returns columns of numbers.
func Numbers(heads ...string) (columns []Column) {
	return mapped.Add(columns, heads, Number)
}

// Titled returns the column with another head on pages.
func (c Column) Titled(title string) Column {
	c.title = title
	return c
}

// A Cell is a value that each writer writes in its own way. The zero Cell is empty.
type Cell struct {
	kind  kind
	count int64
	share float64 // percent
	text  string  // for people
	value string  // for programs, and to sort by
	brief string  // what a page shows instead of the text, which is the title then; "": the text
}

type kind uint8

const (
	words kind = iota
	count
	share
	shown
)

// None stands where there is nothing to tell.
var None = Text("–")

// Text returns a cell that may hold a stranger's text.
func Text(text string) Cell { return Cell{text: text} }

// Brief returns a cell with a text of any length, of which a page has room for a few words only.
func Brief(text, brief string) Cell { return Cell{text: text, brief: brief} }

// Texts returns a cell for each text.
func Texts(texts ...string) (cells []Cell) {
	return mapped.Add(cells, texts, Text)
}

// Count returns a cell with a number of things.
func Count(n int64) Cell { return Cell{kind: count, count: n} }

// Counts returns a cell for each number.
func Counts(numbers ...int64) (cells []Cell) {
	return mapped.Add(cells, numbers, Count)
}

// Share returns a cell with a percentage, which a page shows as a bar as well.
func Share(percent float64) Cell { return Cell{kind: share, share: percent} }

// Shown returns a cell with a number or a time: as people read it, and as programs do.
func Shown(text, value string) Cell { return Cell{kind: shown, text: text, value: value} }

// String returns the cell for people.
func (c Cell) String() string {
	switch c.kind {
	case count:
		return format.Thousands(c.count)
	case share:
		return format.Percent(c.share)
	}
	return c.text
}

// Value returns the cell for programs.
func (c Cell) Value() string {
	switch c.kind {
	case count:
		return strconv.FormatInt(c.count, 10)
	case share:
		return strconv.FormatFloat(c.share, 'g', -1, 64)
	case shown:
		return c.value
	}
	return c.text
}
