package table

import (
	"bufio"
	"encoding/csv"
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

// mostRows is how many rows a table for people has at most; CSV and JSON go on for ever.
const mostRows = 10_000

// WriteRows writes rows in one of Formats, with the same care for hostile texts as a report. Numbers stay as they
// are, so that they can be copied. width is that of the terminal, by which a table for people is cut and folded; 0 when
// it goes elsewhere: then nothing is.
func WriteRows(w io.Writer, output string, width int, columns []string, rows Rows) error {
	b := bufio.NewWriter(w)
	var err error
	switch output {
	case "table", "markdown":
		err = writePeople(b, output, width, columns, rows)
	case "csv":
		err = writeCSV(b, columns, rows)
	case "json":
		err = writeJSON(b, columns, rows)
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

// gridOf collects the first tableRows rows, and tells whether there are more.
func gridOf(columns []string, rows Rows) (g *Table, more bool, err error) {
	g = &Table{Columns: make([]Column, len(columns))}
	for i, name := range columns {
		g.Columns[i].Head = name
	}
	known := make([]bool, len(columns)) // whether a value told what the column holds
	err = each(rows, func(row []any) error {
		if more = len(g.Rows) == mostRows; more {
			return io.EOF
		}
		cells := make([]string, len(row))
		for i, v := range row {
			if v != nil && !known[i] {
				g.Columns[i].right, known[i] = isNumber(v), true
			}
			cells[i] = cellText(v, "NULL")
		}
		g.Add(cells...)
		return nil
	})
	return g, more, err
}

func writePeople(w io.Writer, output string, width int, columns []string, rows Rows) error {
	g, more, err := gridOf(columns, rows)
	if err != nil || len(columns) == 0 {
		return err
	}
	switch {
	case output == "markdown":
		g.Markdown(w)
	case width > 0:
		g.yield()
		for i, lines := range g.Blocks(width, 0) {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintln(w, strings.Join(lines, "\n"))
		}
	default:
		fmt.Fprintln(w, strings.Join(g.whole(), "\n"))
	}
	switch {
	case more:
		fmt.Fprintf(w, "\nThe first %s rows; csv and json have all.\n", format.Thousands(mostRows))
	case len(g.Rows) == 0:
		fmt.Fprintln(w, "(no rows)")
	}
	return nil
}

// yield lets columns be cut; numbers stay whole, only what stands above them does not.
func (g *Table) yield() {
	for j := range g.Columns {
		c := &g.Columns[j]
		c.Least = LeastAgent
		for _, row := range g.Rows {
			if c.right {
				c.Least = max(c.Least, ColumnsOf(row[j]))
			}
		}
	}
}

func writeCSV(w io.Writer, columns []string, rows Rows) error {
	out := csv.NewWriter(w)
	cells := make([]string, len(columns))
	for i, name := range columns {
		cells[i] = CsvText(name)
	}
	if err := out.Write(cells); err != nil {
		return err
	}
	err := each(rows, func(row []any) error {
		for i, v := range row {
			if cells[i] = cellText(v, ""); !isNumber(v) {
				cells[i] = CsvText(cells[i])
			}
		}
		return out.Write(cells)
	})
	out.Flush()
	return errors.Join(err, out.Error())
}

// writeJSON writes an array of objects, a line each. Their keys stand in the order of the columns.
func writeJSON(w io.Writer, columns []string, rows Rows) error {
	keys := jsonKeys(columns)
	between := "[\n"
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
	end := "\n]\n"
	if between == "[\n" {
		end = "[]\n"
	}
	_, err = io.WriteString(w, end)
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

func isNumber(v any) bool {
	switch v.(type) {
	case int, int32, int64, uint64, float64, json.Number:
		return true
	}
	return false
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
