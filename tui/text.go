package tui

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"shadow/escape"
)

// On this screen every character takes up one column, so lines can be cut and filled by counting. What would not, and
// what would turn or drive the terminal, is written as its code (\u4e2d): texts in logs come from strangers.

// plain is a text of a stranger's in characters that take up one column each and run from left to right.
func plain(s string) string {
	const most = 1 << 10 // bytes: no screen is wider
	s = escape.Visible(s[:min(most, len(s))])
	if strings.IndexFunc(s, func(r rune) bool { return !narrow(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case narrow(r):
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// narrow reports whether a character is ASCII, a Latin, Greek or Cyrillic letter in one piece, or the mark of what is
// left out, which names of actions have.
func narrow(r rune) bool {
	return ' ' <= r && r <= '~' || r == '…' || 0xa0 < r && r < 0x0530 && unicode.IsLetter(r)
}

// columns is how many columns a text takes up.
func columns(s string) int { return utf8.RuneCountInString(s) }

// cut shortens a text to n columns.
func cut(s string, n int) string {
	runes := []rune(s)
	switch {
	case len(runes) <= n:
		return s
	case n <= 0:
		return ""
	}
	return string(runes[:n-1]) + "…"
}

// left fills a text up to n columns, or cuts it.
func left(s string, n int) string { return fmt.Sprintf("%-*s", max(0, n), cut(s, n)) }

// right is left, with the blanks before the text.
func right(s string, n int) string { return fmt.Sprintf("%*s", max(0, n), cut(s, n)) }

// lasting writes a length of time in its largest unit: "3 s", "4 min".
func lasting(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d d", d/(24*time.Hour))
}

// A color is the number of a Select Graphic Rendition sequence.
type color int

const (
	bold   color = 1
	dim    color = 2
	yellow color = 33
	cyan   color = 36
)

// paint colours a text, if colours are wanted; 0 is no colour.
func (f *Frame) paint(c color, s string) string {
	if !f.Color || c == 0 || s == "" {
		return s
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", c, s)
}

// A sparkline has a character for each value: a blank where nothing is known, a line at the bottom for zero, and else a
// bar whose height is that of the value beside the greatest one:
//
//	  __▁▂▃▄▅▆▇█▂_

var bars = []rune("▁▂▃▄▅▆▇█")

// spark draws values from 0 to peak.
func spark(values []float64, peak float64) string {
	var b strings.Builder
	for _, v := range values {
		switch {
		case v < 0:
			b.WriteByte(' ')
		case v == 0:
			b.WriteByte('_')
		default:
			level := int(math.Ceil(v / peak * float64(len(bars))))
			b.WriteRune(bars[min(max(level, 1), len(bars))-1])
		}
	}
	return b.String()
}
