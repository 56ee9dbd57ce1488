package table

import (
	"cmp"
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"shadow/internal/escape"
	"shadow/internal/mapped"
	"shadow/report/format"
)

// A table of a page stands there whole, without any script; tables.js makes its heads into buttons that sort and puts
// a field for searching above it. What a cell is sorted by stands beside its text where the two differ.

// PageTemplates are templates of html/template: "table" writes a Page, "grid" one that is neither sorted nor searched,
// "bare" one that never moves sideways.
//
//go:embed table.html
var PageTemplates string

const (
	// PageName is the most characters of a name on a page.
	PageName = 80
	// PageLong is the most of a text of any length.
	PageLong = 160

	searchable = 8 // rows, from which on searching is worth a field
)

// A Page is a table as a page has it.
type Page struct {
	ID, Class           string // of its element
	Title, Search, Note string
	Heads               []PageHead
	Rows                [][]PageCell
}

// A PageHead stands above a column.
type PageHead struct {
	Text  string
	Class string // of its element
}

// Page returns the first rows of the table, with a note if there are more in all. things are what a search is
// for; "": there is none.
func (t *Table) Page(most int, things string, all int64) *Page {
	p := &Page{Title: Clip(t.Title, PageName)}
	p.Heads = mapped.Add(p.Heads, t.Columns, Column.page)
	for _, row := range t.Rows[:min(len(t.Rows), max(most, 0))] {
		cells := make([]PageCell, len(row))
		for i, cell := range row {
			cells[i] = cell.page(t.Columns[i])
		}
		p.Rows = append(p.Rows, cells)
	}
	if len(p.Rows) >= searchable && things != "" {
		p.Search = "Search " + things
	}
	if shown := int64(len(p.Rows)); shown < all {
		p.Note = fmt.Sprintf("The first %s of %s.", format.Thousands(shown), format.Thousands(all))
	}
	return p
}

// Pages is Page for a table that may be too wide for a page: it returns several, which all begin with the first column.
func (t *Table) Pages(most int, things string, all int64) (pages []*Page) {
	need := make([]int, len(t.Columns))
	for j, c := range t.Columns {
		need[j] = longestWord(cmp.Or(c.title, c.Head)) + sortArrow
		for _, row := range t.Rows[:min(len(t.Rows), max(most, 0))] {
			if n := longestWord(row[j].String()); c.least == 0 {
				need[j] = max(need[j], n)
			} else {
				need[j] = max(need[j], min(n, pageName))
			}
		}
	}
	for i, block := range fold(t.Columns, need, pageWidth) {
		part := &Table{Title: t.Title}
		if i > 0 {
			part.Title += ", continued"
		}
		part.Columns = mapped.Add(part.Columns, block, func(j int) Column { return t.Columns[j] })
		for _, row := range t.Rows {
			cells := mapped.Of(block, func(j int) Cell { return row[j] })
			part.Rows = append(part.Rows, cells)
		}
		pages = append(pages, part.Page(most, things, all))
	}
	return pages
}

const (
	pageWidth = 144 // characters and gaps of a row that 1,280 pixels have room for
	pageName  = 16  // of these for a name, which breaks anywhere
	sortArrow = 1

	longWord = 16 // from which on a head breaks anywhere
)

// longestWord returns how many characters the longest word has; lines break between words.
func longestWord(text string) (longest int) {
	for word := range strings.FieldsSeq(text) {
		longest = max(longest, utf8.RuneCountInString(word))
	}
	return longest
}

func (c Column) page() PageHead {
	h := PageHead{Text: Clip(cmp.Or(c.title, c.Head), PageName)}
	var classes []string
	if c.right {
		classes = append(classes, "num")
	}
	if longestWord(h.Text) > longWord {
		classes = append(classes, "long")
	}
	h.Class = strings.Join(classes, " ")
	return h
}

// A PageCell is a cell as a page has it.
type PageCell struct {
	Text  string
	Title string // what Text stands for; "": nothing else
	Key   string // what to sort by; "" is the text
	Class string // of its element
	Lead  string // stands out before Text
	Link  string // where Lead and Text lead to; "": nowhere
}

func (c Cell) page(column Column) PageCell {
	most := PageName
	if column.least == leastLong {
		most = PageLong
	}
	p := PageCell{Text: Clip(c.String(), most)}
	if c.brief != "" && c.brief != c.text {
		p.Text, p.Title = Clip(c.brief, most), p.Text
	}
	if c.kind != words {
		p.Key = c.Value()
	}
	var classes []string
	if column.right {
		classes = append(classes, "num")
	}
	if column.least > 0 || longestWord(p.Text) > longWord {
		classes = append(classes, "name")
	}
	if !column.right && utf8.RuneCountInString(p.Text) > PageName/2 {
		classes = append(classes, "long")
	}
	if n := Twentieths(c.share); n > 0 {
		classes = append(classes, "bar", fmt.Sprintf("b%d", n))
	}
	p.Class = strings.Join(classes, " ")
	return p
}

// Twentieths returns a percentage in steps of five, rounded up, so that nothing is lost but nothing.
func Twentieths(p float64) int {
	switch {
	case p <= 0:
		return 0
	case p >= 100:
		return 20
	}
	return int(p/5) + 1
}

// Clip returns a stranger's text, made visible, with at most so many characters. It counts characters and not
// columns: thousands of accents fit into one column.
func Clip(s string, most int) string {
	if enough := utf8.UTFMax * (most + 1); len(s) > enough {
		s = s[:enough] // holds more characters than are shown; the rest may be a megabyte
	}
	s = escape.Visible(s)
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == most {
			return s[:i] + "…"
		}
	}
	return s
}
