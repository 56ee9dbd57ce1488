package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"shadow/internal/lazy"
)

// A picture counts the columns of each character by itself, as wcwidth does: the vowel sign of हि has one of its own. So
// do xterm, tmux and most terminals. The terminal library gives one cell to all that belongs together (a grapheme
// cluster), whatever the terminal does. Other terminals do so as well, and say it (mode 2027). What is drawn is fitted:
//
//	                each by itself       in clusters
//	the picture     ह ि  12              ह ि  12
//	is given as     ह·ि  12              हि   12
//	which shows as  हि  12               हि   12
//
// A dot is a break, which keeps the library from joining what it separates. It goes no further, since the library drops
// what has no width.

// clusterBreak is a zero-width space. No text of a stranger has one: it is shown as its code.
const clusterBreak = "\u200b"

// agreed reports whether the picture and the terminal library count the same columns for a character by itself.
func agreed(r rune) bool { return ansi.WcWidth.StringWidth(string(r)) == columns(string(r)) }

// together reports whether a text is one cluster.
func together(s string) bool {
	cluster, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return cluster == s
}

// mostInCell is the most characters that a cluster may have. Five consonants with a vowel have ten; strangers can chain
// any number of them, which a terminal would draw into one cell.
const mostInCell = 16

// bounded writes as codes what a cluster has beyond the most.
func bounded(s string) string {
	var b strings.Builder
	for s != "" {
		cluster, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		n := 0
		for _, r := range cluster {
			if n++; n <= mostInCell {
				b.WriteRune(r)
			} else {
				b.WriteString(code(r))
			}
		}
		s = s[len(cluster):]
	}
	return b.String()
}

// cells fits a picture to the terminal: one that counts in clusters, or one that counts characters.
func cells(picture string, clusters bool) string {
	if strings.IndexFunc(picture, joining) < 0 {
		return picture
	}
	if !clusters {
		return apart(picture)
	}
	lines := strings.Split(picture, "\n")
	for i, line := range lines {
		lines[i] = filled(line)
	}
	return strings.Join(lines, "\n")
}

// joining reports whether a character has a column, and may belong to the cluster before it.
func joining(r rune) bool {
	return r >= 0x300 && (unicode.IsLetter(r) && !joins(r) || unicode.Is(unicode.Mc, r))
}

// apart puts breaks between characters that have columns of their own.
func apart(picture string) string {
	var b strings.Builder
	before := rune(0)
	for _, r := range picture {
		if before >= utf8.RuneSelf && joining(r) {
			b.WriteString(clusterBreak)
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// gaps matches what stands between columns.
var gaps = lazy.Regexp(`  +|$`)

// filled widens the gap behind clusters that take fewer columns than their characters.
func filled(line string) string {
	var b strings.Builder
	from, missing := 0, 0
	for _, gap := range gaps().FindAllStringIndex(line, -1) {
		text := line[from:gap[0]]
		missing += columns(ansi.Strip(text)) - ansi.GraphemeWidth.StringWidth(text)
		b.WriteString(text)
		if gap[0] < gap[1] {
			b.WriteString(strings.Repeat(" ", max(0, missing)))
			missing = min(0, missing)
		}
		from = gap[0]
	}
	return b.String() + line[from:]
}
