package table

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"shadow/internal/escape"
	"shadow/internal/lazy"
)

// A table wider than the terminal is first cut where that is allowed (agents), and then folded: its columns go into
// several blocks below each other, and each repeats the first column.
//
//	limit        refused     %      limit        browser  crawler
//	token:6/30s      123  1.20      token:6/30s       20        3
//	leaky:6/30s      140  1.37  …   leaky:6/30s       21        3

// Of a long table, some rows are folded at a time, so that all there is to a row stands on one screen.

const (
	gap      = "  " // between two columns
	someRows = 20   // of a long table that is folded
	// Unbounded is the width of a table that is not folded.
	Unbounded = math.MaxInt / 2
)

// Blocks folds the table and sets each block as lines, the head first. Cells that may be cut have at
// most so many columns; 0: any number.
func (t *Table) Blocks(width, most int) [][]string {
	g := t.sheet(most)
	natural, need := g.widths()
	var blocks [][]string
	for _, shown := range fold(g.columns, need, width) {
		blocks = append(blocks, g.set(shown, spread(shown, natural, need, width)))
	}
	if len(blocks) > 1 && len(g.rows) > someRows {
		return deal(blocks)
	}
	return blocks
}

// deal cuts blocks after every someRows rows, and puts together what belongs to the same ones.
func deal(blocks [][]string) (dealt [][]string) {
	end := len(blocks[0])
	for from := 1; from < end; from += someRows {
		for _, lines := range blocks {
			dealt = append(dealt, slices.Concat(lines[:1], lines[from:min(from+someRows, end)]))
		}
	}
	return dealt
}

// A sheet is a table as a terminal may see it.
type sheet struct {
	columns []Column
	rows    [][]string
}

// sheet returns the table with cells of at most so many columns where they may be cut at all.
func (t *Table) sheet(most int) *sheet {
	clean := &sheet{columns: t.Columns, rows: make([][]string, len(t.Rows))}
	for i, row := range t.Rows {
		cells := make([]string, len(row))
		for j, cell := range row {
			cells[j] = escape.Visible(cell.String())
			if t.Columns[j].least > 0 && most > 0 {
				cells[j] = t.Columns[j].cut(cells[j], most)
			}
		}
		clean.rows[i] = cells
	}
	return clean
}

// cut shortens a cell. Names keep their ends, in which they differ.
func (c Column) cut(cell string, width int) string {
	if c.least == leastName {
		return CutMiddle(cell, width)
	}
	return Cut(cell, width)
}

// widths returns the widths that the columns would like, and those that they need.
func (g *sheet) widths() (natural, need []int) {
	natural, need = make([]int, len(g.columns)), make([]int, len(g.columns))
	for j, c := range g.columns {
		natural[j] = ColumnsOf(escape.Visible(c.Head))
		for _, row := range g.rows {
			natural[j] = max(natural[j], ColumnsOf(row[j]))
		}
		if need[j] = natural[j]; c.least > 0 {
			need[j] = min(natural[j], c.least)
		}
	}
	return natural, need
}

// fold deals the columns out to blocks that fit into width, joined ones together, each group to the first block that
// has room for it. Every block begins with column 0.
func fold(columns []Column, need []int, width int) [][]int {
	var blocks [][]int
	var used []int
	for from := 1; from < len(columns); {
		to, wide := from, 0
		for ; to < len(columns) && (to == from || columns[to].joined); to++ {
			wide += len(gap) + need[to]
		}
		i := slices.IndexFunc(used, func(u int) bool { return u+wide <= width })
		if i < 0 {
			i = len(blocks)
			blocks, used = append(blocks, []int{0}), append(used, need[0])
		}
		used[i] += wide
		for ; from < to; from++ {
			blocks[i] = append(blocks[i], from)
		}
	}
	if blocks == nil {
		blocks = [][]int{{0}}
	}
	return blocks
}

// spread gives the room that a block leaves to those of its columns that would like more than they need.
func spread(shown, natural, need []int, width int) []int {
	widths := make([]int, len(shown))
	spare := width + len(gap)
	for i, j := range shown {
		widths[i] = need[j]
		spare -= need[j] + len(gap)
	}
	for i, j := range shown {
		more := max(0, min(spare, natural[j]-need[j]))
		widths[i] += more
		spare -= more
	}
	return widths
}

// set lays some columns out as lines without trailing space.
func (g *sheet) set(shown, widths []int) []string {
	var b bytes.Buffer
	alignment := make(tw.Alignment, len(shown))
	head := make([]string, len(shown))
	for i, j := range shown {
		head[i] = Cut(escape.Visible(g.columns[j].Head), widths[i])
		if alignment[i] = tw.AlignLeft; g.columns[j].right {
			alignment[i] = tw.AlignRight
		}
	}
	t := plainTable(&b, alignment)
	t.Header(head)
	for _, row := range g.rows {
		cells := make([]string, len(shown))
		for i, j := range shown {
			cells[i] = g.columns[j].cut(row[j], widths[i])
		}
		_ = t.Append(cells) // into memory
	}
	_ = t.Render()
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// plainTable has neither borders nor lines: the columns carry it.
func plainTable(w io.Writer, alignment tw.Alignment) *tablewriter.Table {
	return tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Settings: tw.Settings{
				Separators: tw.Separators{BetweenColumns: tw.Off, ShowHeader: tw.Off},
				Lines:      tw.Lines{ShowHeaderLine: tw.Off},
			},
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithEastAsian(tw.Off), // by the text, not by the locale of the user
		tablewriter.WithPadding(tw.Padding{Right: gap, Overwrite: true}),
		tablewriter.WithAlignment(alignment),
	)
}

// ColumnsOf returns how many columns of a terminal s takes up.
func ColumnsOf(s string) int { return twwidth.WidthWithOptions(s, twwidth.Options{}) }

// Ellipsis tells that something is missing.
const Ellipsis = "…"

// Cut shortens s to at most width columns; the last tells that something is missing.
func Cut(s string, width int) string {
	if ColumnsOf(s) <= width {
		return s
	}
	used := 0
	for i, r := range s {
		if used += ColumnsOf(string(r)); used > width-1 {
			return s[:i] + Ellipsis
		}
	}
	return s
}

// aPiece matches what stays on one line: a word, a quotation, a flag with its value, a share with its sign.
var aPiece = lazy.Regexp("(?:--[a-z][-a-z]* )?(?:[(\"]*(?:'[^']*'|`[^`]*`)\\S*|\\S+)(?: %\\S*)?")

// pieces splits a text where it may be broken. Successive flags are one piece where a line has room for them.
func pieces(text string, width int) (all []string) {
	for _, piece := range aPiece().FindAllString(strings.Join(strings.Fields(text), " "), -1) {
		last := len(all) - 1
		if last >= 0 && strings.HasPrefix(all[last], "--") && strings.HasPrefix(piece, "--") &&
			ColumnsOf(all[last])+1+ColumnsOf(piece) <= width {
			all[last] += " " + piece
			continue
		}
		for !strings.ContainsAny(piece, "-'`") && ColumnsOf(piece) > width {
			begin := strings.TrimSuffix(Cut(piece, width+1), "…")
			if begin == "" { // not even a letter fits
				break
			}
			all, piece = append(all, begin), piece[len(begin):]
		}
		all = append(all, piece)
	}
	return all
}

// Wrap breaks a text into lines of at most width columns, but for quotations and flags that are longer: what is to be
// copied stays whole.
func Wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range pieces(text, width) {
		switch {
		case line == "":
			line = word
		case ColumnsOf(line)+1+ColumnsOf(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// CutMiddle shortens s to at most width columns; an ellipsis in its middle tells that something is missing.
func CutMiddle(s string, width int) string {
	if ColumnsOf(s) <= width {
		return s
	}
	end := []rune(s)
	for ColumnsOf(string(end)) > width/2 {
		end = end[max(1, (len(end)-width)/2):]
	}
	return Cut(s, width-ColumnsOf(string(end))) + string(end)
}

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
