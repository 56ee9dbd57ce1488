// Package table lays out tables: rows of typed cells come in; text for a terminal, Markdown, CSV or HTML goes out, in
// which no text of a stranger can do harm.
package table

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
		row := make([]Cell, len(t.cells))
		for j, cell := range t.cells {
			row[j] = cell(&rows[i])
		}
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
	for _, head := range heads {
		columns = append(columns, Number(head))
	}
	return columns
}

// Titled returns the column with another head on pages.
func (c Column) Titled(title string) Column {
	c.title = title
	return c
}
