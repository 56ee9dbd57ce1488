package table

import (
	"fmt"
	"io"
	"strings"

	"shadow/escape"
)

// markdownCell is the most that one cell shows, in columns.
const markdownCell = 100

// Markdown writes the table with an empty line above it. Nothing is folded.
func (t *Table) Markdown(w io.Writer) {
	heads, rules := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for i, c := range t.Columns {
		heads[i] = MarkdownText(c.Head)
		if rules[i] = ":--"; c.right {
			rules[i] = "--:"
		}
	}
	fmt.Fprintf(w, "\n| %s |\n| %s |\n", strings.Join(heads, " | "), strings.Join(rules, " | "))
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = MarkdownText(Cut(escape.Visible(cell.String()), markdownCell))
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
}
