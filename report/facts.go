package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"shadow/internal/request"
	"shadow/limit"
	"shadow/report/document"
	"shadow/report/format"
)

// namedFiles is the most inputs that are listed by name.
const namedFiles = 3

// Facts returns what is known of the input, in the order in which reports list it.
func (h *Head) Facts() (f document.Facts) {
	in := &h.Input
	requests := func(label string, n int64, what string) {
		if n > 0 {
			f.Add(label, format.Count(n, "request")+what)
		}
	}
	f.Add("read", in.readText())
	f.Add("format", in.formatText())
	f.Add("requests", in.requestsText())
	f.Add("timestamps", in.timestampsText())
	if !h.found("judged_at_start") {
		requests("judged", in.Moved, " when they began: at their timestamp less the request time that is logged")
	}
	f.Add("band", in.bandText())
	f = append(f, in.unreadable())
	requests("excluded", in.Excluded, "")
	if !h.found("not_http") {
		f.Add("not HTTP", in.NotHTTP.text())
	}
	requests("warm", in.Warm, " before --since: judged, not counted")
	if !h.found("clock") {
		requests("late", in.Late, fmt.Sprintf(" (%s) came later than --lateness allows, judged as they came; a greater "+
			"--lateness puts them in order",
			format.Percentage(format.PercentOf(in.Late, in.Parsed))))
	}
	requests("carried", in.Carried, " that the run before had held back")
	if in.HeldFrom != nil {
		requests("held back", in.Held, fmt.Sprintf(" from %s UTC on, which the next run judges: until then older ones may "+
			"come",
			in.HeldFrom.Format(time.DateTime)))
	}
	if !h.found("enforced") {
		requests("enforced", in.AlreadyRefused,
			" already answered with 429 or 503, counted like all others (--exclude-status 429,503 drops them)")
	}
	if !in.AgentsLogged && in.Requests > 0 && !h.found("no_agents") {
		f.Add("agents", "not logged: every client is of class unknown")
	}
	if shown := map[string]string{
		"hash":   "under a keyed hash of their names",
		"prefix": "as the networks of their addresses",
	}[h.Anonymized]; shown != "" {
		f.Add("anonymous", "clients are shown "+shown+"; lines of logs are left out")
	}
	f.Add("clients are", in.identitiesText())
	return f
}

func (in *Input) readText() string {
	text := format.Count(in.Lines, "line") + ", " + format.Size(in.Bytes)
	// A plain file is searched for --since, and what lies before it is not read.
	passedOver := func(f File) bool { return f.Size > 0 && f.Format != "" && f.Problem == "" }
	switch {
	case len(in.Files) == 0:
		return text
	case in.Lines == 0 && slices.ContainsFunc(in.Files, passedOver):
		text = "nothing: all of it was read before, or lies before --since"
	}
	if len(in.Files) > namedFiles {
		return text + ", " + format.Count(int64(len(in.Files)), "file")
	}
	names := make([]string, len(in.Files))
	for i, f := range in.Files {
		if names[i] = f.Name; f.Name == "-" {
			names[i] = "standard input"
		}
	}
	return text + ": " + strings.Join(names, ", ")
}

func (in *Input) formatText() string {
	texts := make([]string, len(in.Formats))
	for i, f := range in.Formats {
		texts[i] = cmp.Or(f.Format, "empty") // no format is chosen for an input without a line
		if f.Format == "custom" {
			texts[i] += " '" + f.Text + "'"
		}
		if len(in.Formats) > 1 {
			texts[i] += " (" + format.Count(int64(f.Files), "file") + ")"
		}
	}
	return strings.Join(texts, ", ")
}

// SpanText returns how long the log is, in days with requests where it has holes.
func (in *Input) SpanText() string {
	if spanned := int64(in.Span.Length()/limit.Day) + 1; in.Days > 0 && spanned >= 7 && 100*in.Days < 80*spanned {
		return fmt.Sprintf("%s of %s days", format.Thousands(in.Days), format.Thousands(spanned))
	}
	return format.Span(in.Span.Length())
}

func (in *Input) requestsText() string {
	if in.Span == nil {
		return "none to judge"
	}
	return fmt.Sprintf("%s from %s, %s to %s UTC (%s)", format.Thousands(in.Requests), format.Count(in.Clients, "client"),
		in.Span.First.Format(time.DateTime), in.Span.Last.Format(time.DateTime), in.SpanText())
}

func (in *Input) timestampsText() string {
	zone := "; without a zone they are read as " + in.Timezone
	switch {
	case in.Requests == 0:
		return ""
	case in.Resolution == "second":
		return "whole seconds" + zone
	}
	return in.Resolution + "s" + zone
}

// unreadable tells how many lines are, and of each of the first few in two lines: where and why, then the line itself.
func (in *Input) unreadable() document.Fact {
	fact := document.Fact{Label: "unreadable", Text: "none"}
	if in.Unreadable > 0 {
		fact.Text = fmt.Sprintf("%s (%s)", format.Count(in.Unreadable, "line"), format.Percentage(in.UnreadablePercent))
	}
	if n := int64(len(in.Faults)); 0 < n && n < in.Unreadable {
		fact.Text += fmt.Sprintf(", the first %d:", n)
	}
	for _, f := range in.Faults {
		place := f.File
		if f.Line > 0 {
			place += ":" + fmt.Sprint(f.Line)
		}
		fact.Details = append(fact.Details, fmt.Sprintf("%s, column %d: %s", place, f.Column, f.Reason), "  "+f.Text)
	}
	return fact
}

func (n *NotHTTP) text() string {
	if n.Lines == 0 {
		return ""
	}
	verdict := "not judged: no limiter sees them (--not-http judge judges them)"
	if n.Judged {
		verdict = "judged like requests, though no limiter sees them (--not-http skip leaves them out)"
	}
	return fmt.Sprintf("%s (%s), %s", format.Count(n.Lines, "line"), n.ByStatus, verdict)
}

// ClassTitle returns what several clients of a class are called.
func ClassTitle(c request.Class) string {
	if c == request.Unknown {
		return c.String()
	}
	return c.String() + "s"
}
