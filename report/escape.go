package report

import (
	"strings"
	"unicode/utf8"

	"shadow/escape"
)

// What strangers wrote into a log can do more than package escape prevents: it can break a table, or wake up in a
// spreadsheet. Each reader has its own dangers, so each writer its own escapes.

// Visible makes a text of a stranger's harmless for a terminal.
func Visible(s string) string { return escape.Visible(s) }

func visible(s string) string { return escape.Visible(s) }

func escapeJSON(plain []byte) []byte { return escape.JSON(plain) }

// formula is what a spreadsheet may take for the beginning of one; the last four are for East Asian keyboards.
const formula = "=+-@\t\r＝＋－＠"

// csvText is visible, and with an apostrophe before what a spreadsheet would compute. A lone "-", the log's own sign
// for "nothing", stays: it computes nothing, and other programs want to join by it.
func csvText(s string) string {
	s = visible(s)
	if s == "-" || s == "" {
		return s
	}
	if first, _ := utf8.DecodeRuneInString(s); strings.ContainsRune(formula, first) {
		return "'" + s
	}
	return s
}

// markdownText is visible, and without any mark that Markdown or HTML would act upon.
func markdownText(s string) string { return markdownMarks.Replace(visible(s)) }

var markdownMarks = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`, "!", `\!`,
	"&", "&amp;", "<", "&lt;", ">", "&gt;",
)
