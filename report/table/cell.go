package table

import (
	"strconv"

	"shadow/report/format"
)

// A Cell is a value that each writer writes in its own way. The zero Cell is empty.
type Cell struct {
	kind  kind
	count int64
	share float64 // percent
	text  string  // for people
	value string  // for programs, and to sort by
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

// Texts returns a cell for each text.
func Texts(texts ...string) (cells []Cell) {
	for _, text := range texts {
		cells = append(cells, Text(text))
	}
	return cells
}

// Count returns a cell with a number of things.
func Count(n int64) Cell { return Cell{kind: count, count: n} }

// Counts returns a cell for each number.
func Counts(numbers ...int64) (cells []Cell) {
	for _, n := range numbers {
		cells = append(cells, Count(n))
	}
	return cells
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
