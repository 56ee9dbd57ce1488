// Package table lays out tables: rows of texts come in; text for a terminal, Markdown, CSV or JSON goes out, in which no text of
// a stranger can do harm.
package table

import (
	"fmt"
	"io"
	"shadow/escape"
	"strings"
)

func (g *Table) Markdown(b io.Writer) {
	heads, rules := make([]string, len(g.Columns)), make([]string, len(g.Columns))
	for i, c := range g.Columns {
		heads[i] = MarkdownText(c.Head)
		if rules[i] = ":--"; c.right {
			rules[i] = "--:"
		}
	}
	fmt.Fprintf(b, "\n| %s |\n| %s |\n", strings.Join(heads, " | "), strings.Join(rules, " | "))
	for _, row := range g.Rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = MarkdownText(Cut(escape.Visible(cell), markdownCell))
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}

// markdownCell is the most that one cell shows, in columns.
const markdownCell = 100

// A Table is a table before anyone writes it: raw texts, and what each column is like. Terminal and Markdown share it.
type Table struct {
	Columns []Column
	Rows    [][]string
}

// A Column of a grid.
type Column struct {
	Head   string
	right  bool // numbers
	joined bool // belongs to the column before it, and stays with it when a table is folded
	Least  int  // may be cut to so many columns of a terminal; 0: never
}

func (g *Table) Add(cells ...string) { g.Rows = append(g.Rows, cells) }

func Text(head string) Column { return Column{Head: head} }

func Number(head string) Column { return Column{Head: head, right: true} }

// With joins columns to the one before them.
func With(columns ...Column) []Column {
	for i := range columns {
		columns[i].joined = true
	}
	return columns
}

const (
	LeastName  = 45 // columns: room for any IPv6 address
	LeastAgent = 24
)
