package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/report/document"
	"shadow/report/format"
	"shadow/request"
	"shadow/traffic/ingest"
)

// namedFiles is how many inputs are listed by name.
const namedFiles = 3

// Facts are what is known of the input, in the order in which reports list it.
func Facts(m *Model) []document.Fact {
	in := &m.Input
	all := []document.Fact{
		{Label: "read", Text: readText(in)},
		{Label: "format", Text: formatText(in.Formats)},
		{Label: "requests", Text: requestsText(in)},
		{Label: "stamps", Text: stampsText(in)},
		{Label: "judged", Text: unlessNone(in.Moved, format.Count(in.Moved, "request")+" when they began: at their stamp less the request time that is logged")},
		{Label: "band", Text: bandText(in)},
		{Label: "unreadable", Text: unreadableText(in), Details: faultLines(in.Faults)},
		{Label: "excluded", Text: unlessNone(in.Excluded, format.Count(in.Excluded, "request"))},
		{Label: "not HTTP", Text: notHTTPText(&in.NotHTTP)},
		{Label: "warm", Text: unlessNone(in.Warm, format.Count(in.Warm, "request")+" before --since: judged, not counted")},
		{Label: "late", Text: unlessNone(in.Late, lateText(in))},
		{Label: "carried", Text: unlessNone(in.Carried, format.Count(in.Carried, "request")+" that the run before had held back")},
		{Label: "held back", Text: heldText(in)},
		{Label: "enforced", Text: unlessNone(in.AlreadyRefused, format.Count(in.AlreadyRefused, "request")+
			" already answered with 429 or 503, counted like all others (--exclude-status 429,503 drops them)")},
		{Label: "agents", Text: agentsText(in)},
		{Label: "anonymous", Text: anonymousText(m.Anonymized)},
		{Label: "evidence", Text: in.Evidence.Text("clients")},
	}
	kept := all[:0]
	for _, f := range all {
		if f.Text != "" {
			kept = append(kept, f)
		}
	}
	return kept
}

func unlessNone(n int64, text string) string {
	if n == 0 {
		return ""
	}
	return text
}

func readText(in *Input) string {
	text := format.Count(in.Lines, "line") + ", " + format.Size(in.Bytes)
	switch {
	case len(in.Files) == 0:
		return text
	case in.Lines == 0 && in.passedOver():
		text = "nothing: all of it was read before, or lies before --since"
	}
	if len(in.Files) > namedFiles {
		return text + ", " + format.Count(int64(len(in.Files)), "file")
	}
	names := make([]string, len(in.Files))
	for i, f := range in.Files {
		names[i] = inputName(f.Name)
	}
	return text + ": " + strings.Join(names, ", ")
}

// passedOver reports whether there is something in the inputs, of which nothing was read: a plain file is searched
// for --since, and what lies before it is not read.
func (in *Input) passedOver() bool {
	return slices.ContainsFunc(in.Files, func(f File) bool { return f.Size > 0 && f.Format != "" && f.Problem == "" })
}

func formatText(formats []Format) string {
	texts := make([]string, len(formats))
	for i, f := range formats {
		texts[i] = cmp.Or(f.Format, "empty") // no format is chosen for an input without a line
		if f.Format == "custom" {
			texts[i] += " '" + f.Text + "'"
		}
		if len(formats) > 1 {
			texts[i] += " (" + format.Count(int64(f.Files), "file") + ")"
		}
	}
	return strings.Join(texts, ", ")
}

func requestsText(in *Input) string {
	if in.Span == nil {
		return "none to judge"
	}
	const layout = "2006-01-02 15:04:05"
	return fmt.Sprintf("%s from %s, %s to %s UTC (%s)", format.Thousands(in.Requests), format.Count(in.Clients, "client"),
		in.Span.First.Format(layout), in.Span.Last.Format(layout), format.Span(in.Span.Length()))
}

func stampsText(in *Input) string {
	zone := "; without a zone they are read as " + in.Timezone
	if in.Requests == 0 {
		return ""
	}
	if in.Resolution == "second" {
		return "whole seconds, in the order logged" + zone
	}
	return in.Resolution + "s" + zone
}

func unreadableText(in *Input) string {
	if in.Unreadable == 0 {
		return "none"
	}
	text := fmt.Sprintf("%s (%s%%)", format.Count(in.Unreadable, "line"), format.Percent(in.UnreadablePercent))
	if n := int64(len(in.Faults)); 0 < n && n < in.Unreadable {
		text += fmt.Sprintf(", the first %d:", n)
	}
	return text
}

// faultLines gives each fault two lines: where and why, then the line itself.
func faultLines(faults []Fault) []string {
	var lines []string
	for _, f := range faults {
		place := f.File
		if f.Line > 0 {
			place += ":" + fmt.Sprint(f.Line)
		}
		lines = append(lines, fmt.Sprintf("%s, column %d: %s", place, f.Column, f.Reason), "  "+f.Text)
	}
	return lines
}

// statusesNamed is how many statuses are named.
const statusesNamed = 5

func notHTTPText(n *NotHTTP) string {
	if n.Lines == 0 {
		return ""
	}
	most := slices.Clone(n.ByStatus)
	slices.SortStableFunc(most, func(a, b ingest.StatusLines) int { return cmp.Compare(b.Lines, a.Lines) })
	var statuses []string
	for _, s := range most[:min(len(most), statusesNamed)] {
		name := "without a status"
		if s.Status > 0 {
			name = fmt.Sprint("with status ", s.Status)
		}
		statuses = append(statuses, fmt.Sprintf("%s %s", format.Thousands(s.Lines), name))
	}
	if rest := len(most) - len(statuses); rest > 0 {
		statuses = append(statuses, "…")
	}
	verdict := "not judged: no limiter sees them (--not-http judge judges them)"
	if n.Judged {
		verdict = "judged like requests, though no limiter sees them (--not-http skip leaves them out)"
	}
	return fmt.Sprintf("%s (%s), %s", format.Count(n.Lines, "line"), strings.Join(statuses, ", "), verdict)
}

func lateText(in *Input) string {
	return fmt.Sprintf("%s (%s%%) came later than --lateness allows, judged as they came; a greater --lateness puts them in order",
		format.Count(in.Late, "request"), format.Percent(format.PercentOf(in.Late, in.Parsed)))
}

func heldText(in *Input) string {
	if in.HeldFrom == nil {
		return ""
	}
	return fmt.Sprintf("%s from %s UTC on, which the next run judges: until then older ones may come",
		format.Count(in.Held, "request"), in.HeldFrom.Format("2006-01-02 15:04:05"))
}

func anonymousText(mode string) string {
	switch mode {
	case "hash":
		return "clients are shown under a keyed hash of their names; texts of unreadable lines are left out"
	case "prefix":
		return "clients are shown as the networks of their addresses; texts of unreadable lines are left out"
	}
	return ""
}

func agentsText(in *Input) string {
	if in.AgentsLogged || in.Requests == 0 {
		return ""
	}
	return "not logged: every client is of class unknown"
}

// inputName is what people call an input.
func inputName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// ClassTitle returns what several clients of a class are called.
func ClassTitle(c request.Class) string {
	if c == request.Unknown {
		return c.String()
	}
	return c.String() + "s"
}
