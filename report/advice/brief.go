package advice

import (
	"fmt"
	"slices"
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
	briefName  = 40 // of a name that somebody chose, or of a word
)

// whatText says in a line what the log is.
func (s *Report) whatText(a *Answer) string {
	in := &s.Input
	parts := []string{format.Count(in.Requests, "request") + " from " + format.Count(in.Clients, "client")}
	if in.Span != nil {
		parts[0] += " in " + format.Span(in.Span.Length())
	}
	if a.Action != "" {
		w := a.Advice.Whole
		parts = append(parts, fmt.Sprintf("%s of %s from %s", format.Thousands(w.Requests.Of(suggest.Everybody)),
			named(a.Action), format.Count(w.Groups.Of(suggest.Everybody), "client")))
	}
	for _, f := range in.Formats {
		if f.Format != "" {
			parts = append(parts, named(f.Format))
		}
	}
	if in.Resolution == "second" {
		parts = append(parts, "timestamps of 1 s")
	}
	return strings.Join(append(parts, a.Verdict.Site.Text()), " · ")
}

// named is a name that somebody chose, cut in its middle where it is long.
func named(name string) string { return table.CutMiddle(escape.Visible(name), briefName) }

// wrapped returns a text as so many lines at most, long words cut in their middle.
func wrapped(text string, width, most int) []string {
	words := strings.Fields(escape.Visible(text))
	for i, word := range words {
		words[i] = table.CutMiddle(word, briefName)
	}
	lines := table.Wrap(strings.Join(words, " "), width)
	if len(lines) > most {
		lines[most-1] = table.Cut(lines[most-1]+" …", width)
		lines = lines[:most]
	}
	return lines
}

// A screen is the lines of the answer in short.
type screen struct {
	w     *document.Writer
	lines []string
	most  int   // lines of one text
	extra []int // lines that may be left out where there is no room: from the last on
}

// say adds a text with a label, which is wrapped.
func (b *screen) say(label, text string) {
	if text == "" {
		return
	}
	for i, line := range wrapped(text, briefWidth-briefLabel, b.most) {
		shown := fmt.Sprintf("%-*s", briefLabel, label)
		if i > 0 {
			shown = strings.Repeat(" ", briefLabel)
		} else if b.w.Color && !b.w.Markdown {
			shown = b.w.Paint(document.Bold, label) + strings.Repeat(" ", max(briefLabel-len(label), 0))
		}
		b.lines = append(b.lines, shown+line)
	}
}

// sayExtra adds a text that may be left out, but for the first of its lines.
func (b *screen) sayExtra(label, text string, but int) {
	before := len(b.lines)
	b.say(label, text)
	for i := before + but; i < len(b.lines); i++ {
		b.extra = append(b.extra, i)
	}
}

// shrink leaves lines out until so many are left, as far as it may.
func (b *screen) shrink(most int) {
	for len(b.lines) > most && len(b.extra) > 0 {
		last := len(b.extra) - 1
		if i := b.extra[last]; b.most > 0 && strings.HasPrefix(b.lines[i], " ") { // of a text that goes on
			b.lines[i-1] = table.Cut(b.lines[i-1]+" …", briefWidth)
		}
		b.lines = slices.Delete(b.lines, b.extra[last], b.extra[last]+1)
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

// briefFacts say what the limit does; none without one.
func (s *Answer) briefFacts() (f document.Facts) {
	v := s.Verdict
	if v.Limit == nil {
		return nil
	}
	f.Add("limit", *v.Limit+", by "+named(s.Key))
	f.Add("protects", v.protectsText())
	f.Add("targets", v.targetsText())
	f.Add("allows", v.allowsText(findings.IsLogin(s.Action)))
	f.Add("exempt", v.Exempt.text())
	f.Add("search", v.searchText())
	if v.Best != nil {
		f.Add("of any", *v.Best+" stops at least half as much again; "+v.For+" has no such limit")
	}
	return f
}

// brief writes the answer in short.
func (s *Report) brief(w *document.Writer, a *Answer) {
	v := a.Verdict
	body, next := screen{w: w, most: 2}, screen{w: w}
	if v.Limit == nil {
		body.most = 5
	}
	body.say("verdict", v.text())
	for _, f := range a.briefFacts() {
		switch f.Label {
		case "search", "of any":
			body.sayExtra(f.Label, f.Text, 0)
		case "exempt":
			body.sayExtra(f.Label, f.Text, 1)
		default:
			body.say(f.Label, f.Text)
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
		if i > 0 {
			next.extra = append(next.extra, i)
		}
	}
	what, paste := wrapped(s.whatText(a), briefWidth, 2), v.pasteLines(a.Watch)
	found := 0 // lines of findings, which are told in one where there is no room
	if len(s.Findings) > 0 || len(s.OtherWarnings()) > 0 {
		found = 1
	}
	room := func() int { return briefLines - len(what) - len(body.lines) - len(paste) - len(next.lines) }
	gaps := 0
	for _, n := range []int{found, len(body.lines), len(paste), len(next.lines)} {
		gaps += min(n, 1)
	}
	next.shrink(len(next.lines) + room() - found - gaps)
	body.shrink(len(body.lines) + room() - found - gaps)
	left := max(gaps-max(room()-found, 0), 0) // of the gaps, the first ones
	if w.Markdown {
		left = 0 // gaps mean something there
	}
	for _, line := range what {
		w.WriteString(line + "\n")
	}
	for _, lines := range [][]string{s.notable(room() - gaps + left), body.lines, paste, next.lines} {
		if len(lines) == 0 {
			continue
		}
		if left--; left < 0 {
			w.WriteByte('\n')
		}
		body.write(lines)
	}
}

// pasteLines are what to paste, with how to watch it above.
func (v *Verdict) pasteLines(watch string) (lines []string) {
	if len(v.Paste) == 0 {
		return nil
	}
	lines = wrapped(watch, briefWidth, 2)
	if v.Note != "" {
		lines = append(lines, wrapped("# "+v.Note, briefWidth, 2)...)
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
