package tui

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"shadow/internal/escape"
	"shadow/report/table"
)

// Texts in logs come from strangers. Letters, digits and punctuation of any script are shown as they are, with the marks
// above, below and beside them, and so are emoji of one character. The rest is written as its codes (\u200d):
//
//   - what drives the terminal, or cannot be seen, such as joiners of emoji
//   - figures of scripts that run to the left
//   - marks by themselves, and on ASCII where no letter has them built in, which the terminal library loses
//   - marks and letters beyond the most that one letter or one cell may have, and the few letters that join the next one

// plain is a text of a stranger's in characters whose columns are known.
func plain(s string) string {
	const most = 1 << 10 // bytes: no screen is wider
	if len(s) > most {
		s = s[:most/2] + "…" + s[len(s)-most/2:]
	}
	s = escape.Visible(norm.NFC.String(s))
	if strings.IndexFunc(s, func(r rune) bool { return !narrow(r) }) < 0 {
		return s
	}
	var b strings.Builder
	var l letter
	for _, r := range s {
		switch {
		case narrow(r), stands(r):
			l = letter{open: r >= utf8.RuneSelf, last: r}
		case !l.takes(r):
			b.WriteString(code(r))
			l = letter{}
			continue
		}
		b.WriteRune(r)
	}
	if s = bounded(b.String()); strings.ContainsFunc(s, leftwards) {
		return fence + s + fence
	}
	return s
}

func code(r rune) string {
	if r <= 0xffff {
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// stands reports whether a character stands by itself.
func stands(r rune) bool {
	switch {
	case unicode.IsLetter(r):
		return !joins(r) && !together(string(r)+" ") && !together("ก"+string(r))
	case unicode.Is(unicode.Nd, r):
		return !leftwards(r)
	case unicode.Is(unicode.So, r): // emoji, but for those whose width Unicode changed or a selector changes
		return r >= 0x1f300 && columns(string(r)) == 2 && agreed(r)
	}
	return unicode.Is(unicode.P, r) && agreed(r)
}

// A letter, or what stands like one, knows what has joined it so far.
type letter struct {
	open          bool // it may be joined
	marks, vowels int  // above and below it, and beside it
	last          rune // it, or the latest part of a Korean syllable
}

// takes reports whether a character joins the letter.
func (l *letter) takes(r rune) bool {
	n, last := &l.marks, rune(0)
	switch {
	case joins(r) && follows(l.last, r):
		last = r
	case unicode.Is(unicode.Mc, r) && agreed(r), unicode.IsLetter(r) && together("ก"+string(r)): // the letter ำ, too
		n = &l.vowels
	case !unicode.In(r, unicode.Mn, unicode.Me):
		return false
	}
	if !l.open || *n == mostMarks {
		return false
	}
	*n, l.last = *n+1, last
	return true
}

// fence stands on both sides of a text with letters that run to the left. Some terminals turn such letters around, and
// what is beside them up to the next letter that runs to the right, so that figures would change places. They ignore
// isolates, and the terminal library drops what has no width. An empty Braille pattern counts as such a letter, and looks
// like a blank.
const fence = "\u2800"

// mostMarks is the most marks of a letter: more would run into the lines above and below. As many may stand beside it.
const mostMarks = 4

// narrow reports whether a character is ASCII, a Latin, Greek or Cyrillic letter in one piece, or the mark of what is
// left out, which names of actions have.
func narrow(r rune) bool {
	return ' ' <= r && r <= '~' || r == '…' || 0xa0 < r && r < 0x0530 && unicode.IsLetter(r)
}

// leftwards reports whether a character is in a block of scripts that run from right to left.
func leftwards(r rune) bool {
	return 0x0590 <= r && r < 0x0900 || 0xfb1d <= r && r < 0xfe00 || 0xfe70 <= r && r < 0xff00 || 0x10800 <= r && r < 0x11000 ||
		0x1e800 <= r && r < 0x1f000
}

// joins reports whether a letter is the vowel or the end of a Korean syllable that is written in parts. Behind another
// part it has no column of its own.
func joins(r rune) bool { return 0x1160 <= r && r < 0x1200 || 0xd7b0 <= r && r < 0xd800 }

// follows reports whether a part of a Korean syllable is written in one with the part before it.
func follows(before, r rune) bool {
	vowel := func(r rune) bool { return 0x1160 <= r && r < 0x11a8 || 0xd7b0 <= r && r < 0xd7cb }
	switch open := 0xac00 <= before && before < 0xd7a4 && (before-0xac00)%28 == 0; {
	case 0x1100 <= before && before < 0x1160, 0xa960 <= before && before < 0xa97d:
		return vowel(r)
	case open, vowel(before):
		return true
	}
	return !vowel(r) && (joins(before) || 0xac00 <= before && before < 0xd7a4)
}

// columns returns how many columns a text takes up: each character that stands beside the one before it has its own.
func columns(s string) int {
	n := table.ColumnsOf(s)
	for _, r := range s {
		if joins(r) {
			n--
		}
	}
	return n
}

// cut shortens a text to n columns.
func cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	return fenced(s, n, table.Cut)
}

// fenced shortens a text, and closes the fence that may be lost. What joined a letter goes with it.
func fenced(s string, n int, cut func(string, int) string) string {
	if columns(s) <= n {
		return s
	}
	short := cut(s, n)
	if head, tail, ok := strings.Cut(short, "…"); ok {
		short = head + "…" + strings.TrimLeftFunc(tail, func(r rune) bool { return unicode.IsMark(r) || joins(r) })
	}
	if short != s && strings.ContainsFunc(short, leftwards) {
		return cut(s, n-1) + fence
	}
	return short
}

// left fills a text up to n columns, or cuts it.
func left(s string, n int) string { return fill(cut(s, n), n) }

// name is left for a name, which is cut in its middle: what tells addresses and paths from others is often at the end.
func name(s string, n int) string {
	if n <= 0 {
		return ""
	}
	return fill(fenced(s, n, table.CutMiddle), n)
}

func fill(s string, n int) string { return s + strings.Repeat(" ", max(0, n-columns(s))) }

// right is left, with the blanks before the text.
func right(s string, n int) string {
	s = cut(s, n)
	return strings.Repeat(" ", max(0, n-columns(s))) + s
}

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
