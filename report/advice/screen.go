package advice

import (
	"fmt"
	"slices"
	"strings"

	"shadow/internal/escape"
	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/servers"
	"shadow/report/document"
	"shadow/report/table"
)

// A screen wraps lines with labels, and leaves some out where there is no room.

// named returns a name that a person chose, cut in its middle where it is long.
func named(name string) string { return table.CutMiddle(escape.Visible(name), briefName) }

// wrapped returns a text as so many lines at most, long words cut in their middle.
func wrapped(text string, width, most int) []string {
	lines := whole(text, width)
	if len(lines) > most {
		lines[most-1] = table.Cut(lines[most-1]+" …", width)
		lines = lines[:most]
	}
	return lines
}

// whole returns a text as lines, long words cut in their middle.
func whole(text string, width int) []string {
	words := strings.Fields(escape.Visible(text))
	for i, word := range words {
		words[i] = table.CutMiddle(word, briefName)
	}
	return table.Wrap(strings.Join(words, " "), width)
}

// A screen holds the lines of the answer in short.
type screen struct {
	w     *document.Writer
	lines []string
	width int     // columns
	most  int     // lines of one text
	extra []extra // what may be left out where there is no room: from the last on
}

// An extra is some lines, from the first on up to the last.
type extra struct{ from, to int }

// say adds a text with a label, which is wrapped, and cut where it is long.
func (b *screen) say(label, text string) {
	if text != "" {
		b.add(label, wrapped(text, b.width-briefLabel, b.most))
	}
}

// add adds lines with a label.
func (b *screen) add(label string, lines []string) {
	lines = labelled(label, lines)
	if b.w.Color && !b.w.Markdown && len(lines) > 0 {
		lines[0] = b.w.Paint(document.Bold, label) + strings.TrimPrefix(lines[0], label)
	}
	b.lines = append(b.lines, lines...)
}

// labelled returns lines with a label beside the first.
func labelled(label string, lines []string) (all []string) {
	for _, line := range lines {
		all = append(all, fmt.Sprintf("%-*s%s", briefLabel, label, line))
		label = ""
	}
	return all
}

// addExtra adds lines that may be left out.
func (b *screen) addExtra(lines ...string) {
	b.extra = append(b.extra, extra{len(b.lines), len(b.lines) + len(lines)})
	b.lines = append(b.lines, lines...)
}

// shrink leaves lines out until so many are left, as far as it may.
func (b *screen) shrink(most int) {
	for len(b.lines) > most && len(b.extra) > 0 {
		last := len(b.extra) - 1
		if i := b.extra[last].from; b.most > 0 && i < b.extra[last].to && strings.HasPrefix(b.lines[i], " ") { // of a text that goes on
			b.lines[i-1] = table.Cut(b.lines[i-1]+" …", b.width)
		}
		b.lines = slices.Delete(b.lines, b.extra[last].from, b.extra[last].to)
		b.extra = b.extra[:last]
	}
}

// write writes lines; in Markdown as they are.
func (b *screen) write(lines []string) {
	for _, line := range lines {
		if b.w.Markdown {
			line = "    " + line
		}
		b.w.WriteString(line + "\n")
	}
}

// packed are lines, several in one: a note of one line behind the head, and directives of nginx that end with a semicolon.
func packed(lines []string, width int) (all []string) {
	if more := lines[0] + "   " + lines[1]; strings.HasPrefix(lines[1], "# ") && !strings.HasPrefix(lines[2], "# ") && table.ColumnsOf(more) <= width {
		lines = append([]string{more}, lines[2:]...)
	}
	for _, line := range lines {
		if last := len(all) - 1; last >= 0 && strings.HasPrefix(line, "    ") && strings.HasSuffix(line, ";") {
			code, comment, _ := strings.Cut(all[last], "   # ")
			if comment != "" {
				comment = "   # " + comment
			}
			more := code + " " + strings.TrimSpace(line) + comment
			if strings.HasSuffix(code, ";") && table.ColumnsOf(more) <= width {
				all[last] = more
				continue
			}
		}
		all = append(all, line)
	}
	return all
}

// nextLines are commands. Those behind the first are left out where there is no room.
func nextLines(commands []string, width int) *screen {
	b := new(screen)
	for i, command := range commands {
		lines := continued(escape.Visible(command), width-briefLabel)
		if i == 0 {
			b.lines = labelled("next", lines)
		} else {
			b.addExtra(labelled("", lines)...)
		}
	}
	return b
}

// aWord is a word of a command, in quotes or not, or a flag with its value.
var aWord = lazy.Regexp(`(?:--[a-z-]+ )?(?:'[^']*'|\\'|[^' ])+`)

// continued is a command as a shell reads it from several lines, if one has no room for it. A word is never cut.
func continued(command string, width int) (lines []string) {
	line := ""
	for _, word := range aWord().FindAllString(command, -1) {
		switch {
		case line == "":
			line = word
		case table.ColumnsOf(line+" "+word) <= width-len(` \`):
			line += " " + word
		default:
			lines, line = append(lines, line+` \`), "  "+word
		}
	}
	return append(lines, line)
}

// indented are lines to paste.
func indented(lines []string) (all []string) {
	return mapped.Add(all, lines, func(line string) string { return "    " + escape.Visible(line) })
}

// placed are the lines of a block, with its place in a comment.
func placed(b servers.Block, width int) []string {
	place := "in " + escape.Visible(b.Place)
	if len(b.Lines) == 0 {
		return []string{"# " + place}
	}
	first, comment, commented := strings.Cut(b.Lines[0], "   # ")
	if first += "   # " + place; commented {
		first += ", " + comment
	}
	if table.ColumnsOf(first) > width-4 {
		return append([]string{"# " + place}, b.Lines...)
	}
	return append([]string{first}, b.Lines[1:]...)
}
