package advice

import (
	"fmt"
	"strings"

	"shadow/escape"
	"shadow/findings"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/suggest"
)

// The answer in short fits on a screen: what the log is, what is notable about it, the verdict, the limit and what it
// does, the lines to paste, and what to try next.

const (
	briefLines = 25
	briefWidth = 100
	briefLabel = 11 // columns of a label
)

var siteTexts = map[string]string{"people": "a site for people", "api": "an API or app", "unknown": "clients unknown"}

// whatText says in a line what the log is.
func (s *Report) whatText(a *Answer) string {
	in := &s.Input
	parts := []string{format.Count(in.Requests, "request") + " from " + format.Count(in.Clients, "client")}
	if in.Span != nil {
		parts[0] += " in " + format.Span(in.Span.Length())
	}
	if a.Action != "" {
		w := a.Advice.Whole
		parts = append(parts, fmt.Sprintf("%s of %s from %s", format.Thousands(w.Requests.Of(suggest.Everybody)), a.Action,
			format.Count(w.Groups.Of(suggest.Everybody), "client")))
	}
	for _, f := range in.Formats {
		if f.Format != "" {
			parts = append(parts, f.Format)
		}
	}
	if in.Resolution == "second" {
		parts = append(parts, "timestamps of 1 s")
	}
	return strings.Join(append(parts, siteTexts[a.Verdict.Site]), " · ")
}

// A screen is the lines of the answer in short.
type screen struct {
	w     *document.Writer
	lines []string
}

// say adds a text with a label, which is wrapped.
func (b *screen) say(label, text string) {
	if text == "" {
		return
	}
	for i, line := range table.Wrap(escape.Visible(text), briefWidth-briefLabel) {
		shown := fmt.Sprintf("%-*s", briefLabel, label)
		if i > 0 {
			shown = strings.Repeat(" ", briefLabel)
		} else if b.w.Color && !b.w.Markdown {
			shown = b.w.Paint(document.Bold, label) + strings.Repeat(" ", max(briefLabel-len(label), 0))
		}
		b.lines = append(b.lines, shown+line)
	}
}

// write writes lines below an empty one; in Markdown as they are.
func (b *screen) write(lines []string) {
	if len(lines) == 0 {
		return
	}
	b.w.WriteByte('\n')
	for _, line := range lines {
		if b.w.Markdown {
			line = "    " + line
		}
		b.w.WriteString(line + "\n")
	}
}

// brief writes the answer in short.
func (s *Report) brief(w *document.Writer, a *Answer) {
	v := a.Verdict
	body, next := screen{w: w}, screen{w: w}
	body.say("verdict", v.text())
	if v.Limit != nil {
		body.say("limit", *v.Limit+", by "+a.Key)
		body.say("protects", v.protectsText())
		body.say("targets", v.targetsText())
		body.say("allows", v.allowsText(a.Action != ""))
		body.say("search", v.searchText())
		if v.Best != nil {
			body.say("of any", *v.Best+" stops at least half as much again; "+v.For+" has no such limit")
		}
	}
	for i, line := range v.Next {
		label := ""
		if i == 0 {
			label = "next"
		}
		line = escape.Visible(line)
		if len(line) > briefWidth-briefLabel && s.Logs != "" {
			line = strings.Replace(line, " "+escape.Visible(s.Logs), " LOG", 1)
		}
		next.lines = append(next.lines, fmt.Sprintf("%-*s%s", briefLabel, label, line))
	}
	paste := v.pasteLines(a.Watch)
	room := briefLines - 2 - len(body.lines) // with the first line, and the empty one below it
	for _, lines := range [][]string{next.lines, paste} {
		if len(lines) > 0 {
			room -= len(lines) + 1
		}
	}
	for _, line := range table.Wrap(escape.Visible(s.whatText(a)), briefWidth) {
		w.WriteString(line + "\n")
	}
	body.write(s.notable(room - 1))
	body.write(body.lines)
	body.write(paste)
	body.write(next.lines)
}

// pasteLines are what to paste, with how to watch it above.
func (v *Verdict) pasteLines(watch string) (lines []string) {
	if len(v.Paste) == 0 {
		return nil
	}
	lines = table.Wrap(watch, briefWidth)
	if v.Note != "" {
		lines = append(lines, table.Wrap("# "+v.Note, briefWidth)...)
	}
	for _, b := range v.Paste {
		place := "    # " + b.Place
		if len(b.Lines) == 1 && len(place)+len(b.Lines[0]) < briefWidth-4 {
			lines = append(lines, "    "+escape.Visible(b.Lines[0])+"   # in "+b.Place)
			continue
		}
		lines = append(lines, place)
		for _, line := range b.Lines {
			lines = append(lines, "    "+escape.Visible(line))
		}
	}
	return lines
}

// marks are how findings begin, by their severity.
var marks = [...]string{findings.Stop: "x", findings.Warn: "!", findings.Info: "i"}

// notable are findings and warnings, in so many lines at most, each cut at the end of its line.
func (s *Report) notable(room int) (lines []string) {
	var all []string
	for _, f := range s.Findings {
		all = append(all, marks[f.Severity]+"  "+escape.Visible(f.String()))
	}
	for _, text := range s.OtherWarnings() {
		all = append(all, "!  "+escape.Visible(text))
	}
	for i, text := range all {
		if left := len(all) - i; len(lines) >= max(room, 1)-1 && left > 1 {
			return append(lines, fmt.Sprintf("   %d more: shadow doctor LOG", left))
		}
		lines = append(lines, table.Cut(text, briefWidth))
	}
	return lines
}
