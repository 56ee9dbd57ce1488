package table

import (
	"bytes"
	"encoding/csv"
	"io"

	"shadow/internal/escape"
)

// CSV writes a table for programs, row by row: texts of strangers cannot become formulas, and numbers stay as they are.
type CSV struct {
	w   *csv.Writer
	row []string
}

// NewCSV writes the head of a table.
func NewCSV(w io.Writer, head ...string) *CSV {
	c := &CSV{w: csv.NewWriter(w)}
	c.Add(Texts(head...)...)
	return c
}

// Add writes a row. Err and Flush report whether that failed.
func (c *CSV) Add(cells ...Cell) {
	c.row = c.row[:0]
	for _, cell := range cells {
		text := cell.Value()
		if cell.kind == words {
			text = csvText(text)
		}
		c.row = append(c.row, text)
	}
	_ = c.w.Write(c.row)
}

// Err returns the error of an Add.
func (c *CSV) Err() error { return c.w.Error() }

// Flush ends the table.
func (c *CSV) Flush() error {
	c.w.Flush()
	return c.w.Error()
}

// A Record is a row by the names of its columns.
type Record map[string]Cell

// Records writes records as one table. Where a record has no cell for a column, it is empty.
func Records(w io.Writer, head []string, records []Record) error {
	c := NewCSV(w, head...)
	row := make([]Cell, len(head))
	for _, r := range records {
		for i, name := range head {
			row[i] = r[name]
		}
		c.Add(row...)
	}
	return c.Flush()
}

// CSVText is a text as a row of CSV has it.
func CSVText(s string) []byte { return field(csvText(s)) }

// PlainText is CSVText for programs alone: what a spreadsheet would compute stays as it is.
func PlainText(s string) []byte { return field(escape.Visible(s)) }

// field puts a text in quotes where it needs them.
func field(s string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{s}) // to memory
	w.Flush()
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
