package table

import (
	"strings"
	"unicode/utf8"

	"shadow/internal/escape"
)

// What strangers wrote into a log can do more than package escape prevents: it can break a table, or wake up in a
// spreadsheet. Each reader has its own dangers, so each writer its own escapes.

// formula holds what a spreadsheet may take for the beginning of a formula; the last four are for East Asian keyboards.
const formula = "=+-@\t\r＝＋－＠"

// csvText is visible, and with an apostrophe before what a spreadsheet would compute. A lone "-", the log's own sign
// for "nothing", stays: it computes nothing, and other programs want to join by it.
func csvText(s string) string {
	s = escape.Visible(s)
	if s == "-" || s == "" {
		return s
	}
	if first, _ := utf8.DecodeRuneInString(s); strings.ContainsRune(formula, first) {
		return "'" + s
	}
	return s
}

// MarkdownText is visible, and without any mark that Markdown or HTML would act upon.
func MarkdownText(s string) string { return markdownMarks.Replace(escape.Visible(s)) }

var markdownMarks = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`, "!", `\!`,
	"&", "&amp;", "<", "&lt;", ">", "&gt;",
)
