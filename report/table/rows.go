package table

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"shadow/report/format"
)

// Rows are the answer to a question, row by row.
type Rows interface {
	// Next returns the next row, or io.EOF after the last. Its values are what encoding/json understands.
	Next() ([]any, error)
}

// Slice are Rows that are there already.
type Slice [][]any

// Next implements Rows.
func (s *Slice) Next() ([]any, error) {
	if len(*s) == 0 {
		return nil, io.EOF
	}
	row := (*s)[0]
	*s = (*s)[1:]
	return row, nil
}

// mostRows is the most rows of a table for people; CSV and JSON go on forever.
const mostRows = 10_000

// WriteRows writes rows in one of Formats, with the same care for hostile texts as a report. Numbers stay as they
// are, so that they can be copied. width is that of the terminal, by which a table for people is cut and folded; 0 when
// it goes elsewhere: then nothing is. schema is that of the rows in JSON.
func WriteRows(w io.Writer, schema format.Schema, output string, width int, columns []string, rows Rows) error {
	b := bufio.NewWriter(w)
	var err error
	switch output {
	case "table", "markdown":
		err = writePeople(b, output, width, columns, rows)
	case "csv":
		err = writeCSV(b, columns, rows)
	case "json":
		err = writeJSON(b, schema, columns, rows)
	default:
		err = format.UnknownOutput(output, format.Outputs())
	}
	return errors.Join(err, b.Flush())
}

// each calls use with every row, until there is none or use returns an error. io.EOF ends it without one.
func each(rows Rows, use func(row []any) error) error {
	for {
		row, err := rows.Next()
		if err == nil {
			err = use(row)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// tableOf collects the first tableRows rows, and reports whether there are more.
func tableOf(columns []string, rows Rows) (t *Table, more bool, err error) {
	t = &Table{Columns: make([]Column, len(columns))}
	for i, name := range columns {
		t.Columns[i].Head = name
	}
	known := make([]bool, len(columns)) // whether a value told what the column holds
	err = each(rows, func(row []any) error {
		if more = len(t.Rows) == mostRows; more {
			return io.EOF
		}
		cells := make([]Cell, len(row))
		for i, v := range row {
			if v != nil && !known[i] {
				t.Columns[i].right, known[i] = isNumber(v), true
			}
			cells[i] = cellOf(v, "NULL")
		}
		t.Add(cells...)
		return nil
	})
	return t, more, err
}

func writePeople(w io.Writer, output string, width int, columns []string, rows Rows) error {
	t, more, err := tableOf(columns, rows)
	if err != nil || len(columns) == 0 {
		return err
	}
	switch {
	case output == "markdown":
		t.Markdown(w)
	case width > 0:
		t.yield()
		for i, lines := range t.Blocks(width, 0) {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintln(w, strings.Join(lines, "\n"))
		}
	default:
		fmt.Fprintln(w, strings.Join(t.Blocks(Unbounded, 0)[0], "\n"))
	}
	switch {
	case more:
		fmt.Fprintf(w, "\nThe first %s rows; csv and json have all.\n", format.Thousands(mostRows))
	case len(t.Rows) == 0:
		fmt.Fprintln(w, "(no rows)")
	}
	return nil
}

// yield lets columns be cut; numbers stay whole, only what stands above them does not.
func (t *Table) yield() {
	for j := range t.Columns {
		c := &t.Columns[j]
		c.least = leastLong
		for _, row := range t.Rows {
			if c.right {
				c.least = max(c.least, ColumnsOf(row[j].String()))
			}
		}
	}
}

func writeCSV(w io.Writer, columns []string, rows Rows) error {
	out := NewCSV(w, columns...)
	cells := make([]Cell, len(columns))
	err := each(rows, func(row []any) error {
		for i, v := range row {
			cells[i] = cellOf(v, "")
		}
		out.Add(cells...)
		return out.Err()
	})
	return errors.Join(err, out.Flush())
}

// writeJSON writes an object with an array of objects, a line each. Their keys stand in the order of the columns.
func writeJSON(w *bufio.Writer, schema format.Schema, columns []string, rows Rows) error {
	fmt.Fprintf(w, "{%s\"rows\":[", schema.Key())
	keys := jsonKeys(columns)
	between := "\n"
	err := each(rows, func(row []any) error {
		line := []byte(between + "{")
		for i, v := range row {
			value, err := json.Marshal(v)
			if err != nil {
				return err
			}
			line = append(append(line, keys[i]...), format.EscapeJSON(value)...)
		}
		between = ",\n"
		_, err := w.Write(append(line, '}'))
		return err
	})
	if err != nil {
		return err
	}
	if between == ",\n" {
		w.WriteByte('\n') //nolint:errcheck // Flush tells
	}
	_, err = w.WriteString("]}\n")
	return err
}

// jsonKeys are the columns' names as keys, with the comma before and the colon behind. Of columns with one name the
// later ones get a number: a, a_2.
func jsonKeys(columns []string) []string {
	keys := make([]string, len(columns))
	taken := map[string]bool{}
	for i, column := range columns {
		name := column
		for n := 2; taken[name]; n++ {
			name = column + "_" + strconv.Itoa(n)
		}
		taken[name] = true
		text, _ := json.Marshal(name) // a string always can be
		keys[i] = string(format.EscapeJSON(text)) + ":"
		if i > 0 {
			keys[i] = "," + keys[i]
		}
	}
	return keys
}

// A Figure is a number of things, which people read in groups of digits.
type Figure int64

func isNumber(v any) bool {
	switch v.(type) {
	case Figure, int, int32, int64, uint64, float64, json.Number:
		return true
	}
	return false
}

// cellOf returns the cell of a value.
func cellOf(v any, null string) Cell {
	if n, ok := v.(Figure); ok {
		return Count(int64(n))
	}
	text := cellText(v, null)
	if isNumber(v) {
		return Shown(text, text)
	}
	return Text(text)
}

// cellText writes a value; lists and structures are JSON.
func cellText(v any, null string) string {
	switch v := v.(type) {
	case nil:
		return null
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any, map[string]any:
		text, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(text)
	}
	return fmt.Sprint(v)
}
