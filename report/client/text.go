package client

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"shadow/internal/escape"
	"shadow/internal/mapped"
	"shadow/limit"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/html"
	"shadow/report/plot"
	"shadow/report/table"
)

// Outputs returns the formats of an account.
func Outputs() []string { return []string{"table", "json", "html"} }

// Write writes the account in one of Outputs.
func (a *Account) Write(w io.Writer, output string, plots bool) error {
	switch output {
	case "json":
		return format.WriteJSON(w, format.ExplainSchema, a)
	case "html":
		return (&html.Document{Head: &a.Head, Text: func(w *document.Writer) { a.writeTo(w, plots) }}).Write(w)
	}
	t := &document.Writer{View: a.View}
	a.writeTo(t, plots)
	_, err := w.Write(t.Bytes())
	return err
}

// writeTo writes the account for people.
func (a *Account) writeTo(t *document.Writer, plots bool) {
	a.Begin(t, "What one client did")
	t.Space()
	t.Facts(a.facts()...)
	if plots && a.Span != nil && a.Span.Seconds > 0 {
		values := mapped.Of(a.Timeline, func(n int64) float64 { return float64(n) })
		column := max(1, a.Span.Length()/limit.Time(len(a.Timeline)-1))
		t.Plot("requests in each column of "+format.Brief(column),
			plot.Curve{Values: values, Length: a.Span.Length(), Rows: 6, Clock: true, Start: a.Span.First})
	}
	for i := range a.Policies {
		if a.Requests > 0 {
			a.Policies[i].writeTo(t, a, plots)
		}
	}
}

// facts say who the client is.
func (a *Account) facts() (f document.Facts) {
	if a.Span == nil {
		text := a.Client + ": no request counts"
		if a.Warm > 0 {
			text += ", " + format.Count(a.Warm, "request") + " before --since"
		}
		f.Add("client", text)
		return f
	}
	at := a.layout()
	f.Add("client", fmt.Sprintf("%s: %s from %s to %s (%s), class %s", a.Client, format.Count(a.Requests, "request"),
		a.Span.First.Format(at), a.Span.Last.Format(at), format.Span(a.Span.Length()), a.Class))
	var agents, actions, statuses []string
	for _, c := range a.Agents {
		agents = append(agents, fmt.Sprintf("%s %s (%s)", format.Thousands(c.Requests), c.Agent, c.Class))
	}
	for _, c := range a.Actions {
		actions = append(actions, format.Thousands(c.Requests)+" "+c.Action)
	}
	for _, c := range a.Statuses {
		statuses = append(statuses, fmt.Sprintf("%s with %d", format.Thousands(c.Requests), c.Status))
	}
	f.Add("actions", format.Named(actions, int64(len(actions)+a.more.actions)))
	f.Add("answered", format.Named(statuses, int64(len(statuses)+a.more.statuses)))
	if is := a.Identity; is != nil {
		f = append(f, document.Fact{Label: "identity", Text: is.Identity, Details: is.Reasons, Prose: true})
	}
	if a.Network != nil {
		f.Add("network", a.Network.String())
	}
	if a.Crawler != "" {
		f.Add("crawler", a.Crawler)
	}
	switch {
	case !a.Input.AgentsLogged:
	case len(agents) == 1:
		f.Add("agents", agents[0])
	default: // several stand below each other
		all := format.Thousands(int64(len(agents) + a.more.agents))
		if more := a.more.agents; more > 0 {
			agents = append(agents, fmt.Sprintf("and %s more", format.Thousands(int64(more))))
		}
		f = append(f, document.Fact{Label: "agents", Text: all, Details: agents})
	}
	return f
}

// layout returns the layout for the client's times: with the date, and with fractions of a second if the log has any.
func (a *Account) layout() string {
	switch a.Input.Resolution {
	case "millisecond":
		return time.DateTime + ".000"
	case "microsecond":
		return time.DateTime + ".000000"
	}
	return time.DateTime
}

// writeTo writes what became of the client under one policy.
func (p *Policy) writeTo(t *document.Writer, a *Account, plots bool) {
	t.Heading(2, p.Policy, p.headline(a))
	var facts document.Facts
	if p.Range != nil {
		facts.Add("assumed", "what follows is under the assumption in the middle; under others the requests refused are "+
			"as many as the range says")
	}
	if p.Lockout != nil {
		facts.Add("locked out", p.Lockout.text(a.layout()))
	}
	for i := range p.Limits {
		facts.Add("enough", p.enoughText(&p.Limits[i]))
	}
	t.Facts(facts...)
	for _, l := range p.Limits {
		if plots && len(l.Levels) > 1 {
			title := "how full the limit was, the most in each column"
			if len(p.Limits) > 1 {
				title = l.Limit + ": " + title
			}
			t.Plot(title, plot.Curve{
				Values: l.Levels, Length: a.Span.Length(), Top: l.atOnce, Rows: 8, Clock: true,
				Start: a.Span.First,
			})
		}
	}
	if len(p.Refusals) > 0 {
		t.Table(p.table(a))
		if p.MoreRefusals > 0 {
			t.Note(fmt.Sprintf("… and %s more; --top %d shows all", format.Thousands(p.MoreRefusals), p.Refused))
		}
		var lines []string
		for i := range p.Refusals {
			if l := p.Refusals[i].Line; l != nil {
				text := table.Cut(escape.Visible(l.Text), mostLine)
				lines = append(lines, fmt.Sprintf("%s:%d: %s", escape.Visible(l.File), l.Line, text))
			}
		}
		switch {
		case lines == nil:
		case t.Page != nil:
			t.Lines(lines)
		default: // from the margin, as editors read them
			fmt.Fprintf(t, "\n%s\n", strings.Join(lines, "\n"))
		}
	}
	t.Space()
	t.Facts(p.of.MeaningFacts()...)
}

func (p *Policy) headline(a *Account) string {
	text := "by " + strings.ReplaceAll(p.By, ", ", " and ")
	refused := format.Thousands(p.Refused)
	if p.Range != nil {
		text += ", as an approximation"
		refused += format.Between(p.Range.Refused)
	}
	if p.Refused == 0 && p.Range == nil {
		text += ", refuses none of its " + format.Count(a.Requests, "request")
	} else {
		text += fmt.Sprintf(", refuses %s of its %s (%s)", refused, format.Count(a.Requests, "request"),
			format.Percentage(p.RefusedPercent))
	}
	if p.Delayed > 0 {
		text += fmt.Sprintf(", delays %s", format.Thousands(p.Delayed))
	}
	return text
}

func (l *Lockout) text(layout string) string {
	if l.Requests == 1 {
		return "no two of its requests in a row"
	}
	first, requests := l.First.Format(layout), format.Count(l.Requests, "request")
	if l.First == l.Last {
		return fmt.Sprintf("at %s: %s in a row, all with that timestamp", first, requests)
	}
	return fmt.Sprintf("%s from the first to the last of %s in a row, %s to %s",
		format.Span(limit.Time(l.Last-l.First)), requests, first, l.Last.Format(layout))
}

// enoughText says what a limit would have had to be for the client.
func (p *Policy) enoughText(l *Limit) string {
	text := ""
	if len(p.Limits) > 1 {
		text = l.Limit + ": "
	}
	switch {
	case l.Shared:
		return text + "not known, as it counts by " + l.By +
			": other clients use it up as well, and were judged with this one"
	case l.Needs == nil:
		return text + "no " + l.Number + " would have been"
	case *l.Needs == l.Is:
		return text + "as it is: it refuses none"
	}
	return text + numberText(l.Number, *l.Needs, l.period) + " would have refused none of its requests"
}

// numberText writes a number to raise as it stands in a limit.
func numberText(name string, n int64, period string) string {
	switch {
	case name == "burst":
		return fmt.Sprintf("burst=%d", n)
	case period == "":
		return fmt.Sprintf("%d at once", n)
	}
	return fmt.Sprintf("%d/%s", n, period)
}

// table has a row per refused request.
func (p *Policy) table(a *Account) *table.Table {
	several, at := len(p.Limits) > 1, a.layout()
	t := table.Of[Refusal]{}
	t.Head(table.Words("refused at"), func(r *Refusal) table.Cell { return table.Text(r.Time.Format(at)) })
	t.Head(table.Long("action"), func(r *Refusal) table.Cell { return table.Text(r.Action) })
	t.Head(table.Number("status"), func(r *Refusal) table.Cell { return table.Text(fmt.Sprint(r.Status)) })
	t.Head(table.Number("admitted after"), func(r *Refusal) table.Cell {
		switch {
		case r.never:
			return table.Text("never")
		case r.Wait == nil:
			return table.None
		}
		return table.Text(format.LengthOf(*r.Wait))
	})
	t.Head(table.Long("needs"), func(r *Refusal) table.Cell {
		texts := make([]string, len(r.Needs))
		for i, n := range r.Needs {
			if texts[i] = "no " + n.Number; n.To != nil {
				texts[i] = numberText(n.Number, *n.To, n.period)
			}
			if several {
				texts[i] = n.Limit + ": " + texts[i]
			}
		}
		return table.Text(cmp.Or(strings.Join(texts, "; "), "–"))
	})
	if several {
		t.Head(table.Long("refused by"), func(r *Refusal) table.Cell { return table.Text(strings.Join(r.By, ", ")) })
	}
	if len(a.Agents) > 1 {
		t.Head(table.Long("agent"), func(r *Refusal) table.Cell { return table.Text(r.Agent) })
	}
	return t.Fill(p.Refusals)
}

// mostLine is the most columns of a log line that people see; a line may be a megabyte long, and JSON has all of it.
const mostLine = 2000
