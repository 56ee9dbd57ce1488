package help

import (
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/report/table"
)

// Prose wraps the paragraphs of a text at a width if it is above 0. An indented line goes on below its second column.
func Prose(text string, width int) string {
	var lines, paragraph []string
	flush := func() {
		if joined := strings.Join(paragraph, "\n"); tooWide(paragraph, width) {
			paragraph = table.Wrap(joined, width)
		}
		lines, paragraph = append(lines, paragraph...), nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && line[0] != ' ' {
			paragraph = append(paragraph, line)
			continue
		}
		flush()
		if tooWide([]string{line}, width) && !strings.HasPrefix(line, "  shadow ") {
			first := firstColumn().FindString(line)
			lines = append(lines, hanging(first, line[len(first):], width)...)
		} else {
			lines = append(lines, line)
		}
	}
	flush()
	return strings.Join(lines, "\n")
}

func tooWide(lines []string, width int) bool {
	return width > 0 && slices.ContainsFunc(lines, func(line string) bool { return table.ColumnsOf(line) > width })
}

// firstColumn finds the first column of an indented line with the gap behind it, or the indentation of a single column.
var firstColumn = lazy.Regexp(`^ +(?:\S+(?: \S+)*  +)?`)

// hanging wraps a text below itself, beside what stands in front of it.
func hanging(first, text string, width int) (lines []string) {
	indent := table.ColumnsOf(first)
	if width == 0 || indent > width/2 {
		return []string{first + text}
	}
	for _, part := range table.Wrap(text, width-indent) {
		lines = append(lines, first+part)
		first = strings.Repeat(" ", indent)
	}
	return lines
}
