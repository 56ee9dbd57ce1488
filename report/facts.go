package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/traffic"
)

// A fact is one thing to know about the input, in a word and a sentence; terminal and Markdown show the same ones.
type fact struct {
	label, text string
	details     []string // further lines
	prose       bool     // details are sentences, which a terminal wraps; else it cuts them
}

// namedFiles is how many inputs are listed by name.
const namedFiles = 3

func facts(m *Model) []fact {
	in := &m.Input
	all := []fact{
		{label: "read", text: readText(in)},
		{label: "format", text: formatText(in.Formats)},
		{label: "requests", text: requestsText(in)},
		{label: "stamps", text: stampsText(in)},
		{label: "judged", text: unlessNone(in.Moved, count(in.Moved, "request")+" when they began: at their stamp less the request time that is logged")},
		{label: "band", text: bandText(in)},
		{label: "unreadable", text: unreadableText(in), details: faultLines(in.Faults)},
		{label: "excluded", text: unlessNone(in.Excluded, count(in.Excluded, "request"))},
		{label: "not HTTP", text: notHTTPText(&in.NotHTTP)},
		{label: "warm", text: unlessNone(in.Warm, count(in.Warm, "request")+" before --since: judged, not counted")},
		{label: "late", text: unlessNone(in.Late, lateText(in))},
		{label: "carried", text: unlessNone(in.Carried, count(in.Carried, "request")+" that the run before had held back")},
		{label: "held back", text: heldText(in)},
		{label: "enforced", text: unlessNone(in.AlreadyRefused, count(in.AlreadyRefused, "request")+
			" already answered with 429 or 503, counted like all others (--exclude-status 429,503 drops them)")},
		{label: "agents", text: agentsText(in)},
		{label: "anonymous", text: anonymousText(m.Anonymized)},
		{label: "evidence", text: in.Evidence.text("clients")},
	}
	kept := all[:0]
	for _, f := range all {
		if f.text != "" {
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
	text := count(in.Lines, "line") + ", " + size(in.Bytes)
	switch {
	case len(in.Files) == 0:
		return text
	case in.Lines == 0 && in.passedOver():
		text = "nothing: all of it was read before, or lies before --since"
	}
	if len(in.Files) > namedFiles {
		return text + ", " + count(int64(len(in.Files)), "file")
	}
	names := make([]string, len(in.Files))
	for i, f := range in.Files {
		names[i] = inputName(f.Name)
	}
	return text + ": " + strings.Join(names, ", ")
}

// passedOver tells whether there is something in the inputs, of which nothing was read: a plain file is searched for --since, and
// what lies before it is not read.
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
			texts[i] += " (" + count(int64(f.Files), "file") + ")"
		}
	}
	return strings.Join(texts, ", ")
}

func requestsText(in *Input) string {
	if in.Span == nil {
		return "none to judge"
	}
	const layout = "2006-01-02 15:04:05"
	return fmt.Sprintf("%s from %s, %s to %s UTC (%s)", thousands(in.Requests), count(in.Clients, "client"),
		in.Span.First.format(layout), in.Span.Last.format(layout), span(in.Span.length()))
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
	text := fmt.Sprintf("%s (%s%%)", count(in.Unreadable, "line"), percent(in.UnreadablePercent))
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
	slices.SortStableFunc(most, func(a, b traffic.StatusLines) int { return cmp.Compare(b.Lines, a.Lines) })
	var statuses []string
	for _, s := range most[:min(len(most), statusesNamed)] {
		name := "without a status"
		if s.Status > 0 {
			name = fmt.Sprint("with status ", s.Status)
		}
		statuses = append(statuses, fmt.Sprintf("%s %s", thousands(s.Lines), name))
	}
	if rest := len(most) - len(statuses); rest > 0 {
		statuses = append(statuses, "…")
	}
	verdict := "not judged: no limiter sees them (--not-http judge judges them)"
	if n.Judged {
		verdict = "judged like requests, though no limiter sees them (--not-http skip leaves them out)"
	}
	return fmt.Sprintf("%s (%s), %s", count(n.Lines, "line"), strings.Join(statuses, ", "), verdict)
}

func lateText(in *Input) string {
	return fmt.Sprintf("%s (%s%%) came later than --lateness allows, judged as they came; a greater --lateness puts them in order",
		count(in.Late, "request"), percent(percentOf(in.Late, in.Parsed)))
}

func heldText(in *Input) string {
	if in.HeldFrom == nil {
		return ""
	}
	return fmt.Sprintf("%s from %s UTC on, which the next run judges: until then older ones may come",
		count(in.Held, "request"), in.HeldFrom.format("2006-01-02 15:04:05"))
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
