package client

import (
	"fmt"
	"io"
	"strings"
	"time"

	"shadow/escape"
	"shadow/limit"
	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/plot"
	"shadow/report/table"
)

// Write writes the account as a table for people or as JSON.
func (a *Account) Write(w io.Writer, output string, plots bool) error {
	if output == "json" {
		return format.WriteJSON(w, a)
	}
	t := &document.Terminal{View: a.model.View}
	t.Facts(report.Facts(a.model)...)
	t.Warnings(a.Warnings)
	t.Space()
	t.Facts(a.facts()...)
	if plots && a.Span != nil && a.Span.Seconds > 0 {
		t.Plot("requests in each column of "+format.Brief(a.column()),
			plot.Curve{Values: floats(a.Timeline), Length: a.Span.Length(), Rows: 6, Clock: true, Start: a.Span.First})
	}
	for i := range a.Policies {
		if a.Requests > 0 {
			a.Policies[i].writeTo(t, a, plots)
		}
	}
	_, err := w.Write(t.Bytes())
	return err
}

// column is the time between two moments of the timeline.
func (a *Account) column() limit.Time { return max(1, a.Span.Length()/limit.Time(len(a.Timeline)-1)) }

func floats(counts []int64) []float64 {
	values := make([]float64, len(counts))
	for i, n := range counts {
		values[i] = float64(n)
	}
	return values
}

// facts say who the client is.
func (a *Account) facts() []document.Fact {
	if a.Span == nil {
		text := a.Client + ": no request counts"
		if a.Warm > 0 {
			text += ", " + format.Count(a.Warm, "request") + " before --since"
		}
		return []document.Fact{{Label: "client", Text: text}}
	}
	at := a.layout()
	text := fmt.Sprintf("%s: %s from %s to %s (%s), class %s", a.Client, format.Count(a.Requests, "request"),
		a.Span.First.Format(at), a.Span.Last.Format(at), format.Span(a.Span.Length()), a.Class)
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
	all := []document.Fact{
		{Label: "client", Text: text},
		{Label: "actions", Text: list(actions, a.more.actions)},
		{Label: "answered", Text: list(statuses, a.more.statuses)},
	}
	if e := a.Evidence; e != nil {
		all = append(all, document.Fact{Label: "evidence", Text: e.Short(), Details: e.Reasons, Prose: true})
	}
	if a.Input.AgentsLogged {
		all = append(all, agentsFact(agents, a.more.agents))
	}
	return all
}

// agentsFact tells of the agents: one beside the label, several below each other.
func agentsFact(agents []string, more int) document.Fact {
	if len(agents) == 1 {
		return document.Fact{Label: "agents", Text: agents[0]}
	}
	f := document.Fact{Label: "agents", Text: format.Thousands(int64(len(agents) + more)), Details: agents}
	if more > 0 {
		f.Details = append(f.Details, fmt.Sprintf("and %s more", format.Thousands(int64(more))))
	}
	return f
}

// list writes texts after each other, and how many more there are.
func list(texts []string, more int) string {
	text := strings.Join(texts, ", ")
	if more > 0 {
		text += fmt.Sprintf(", and %s more", format.Thousands(int64(more)))
	}
	return text
}

// layout is how the times of the client are written: with the date, and with fractions of a second if the log has any.
func (a *Account) layout() string {
	switch a.Input.Resolution {
	case "millisecond":
		return time.DateTime + ".000"
	case "microsecond":
		return time.DateTime + ".000000"
	}
	return time.DateTime
}

// fate tells what became of the client under one policy.
func (p *Policy) writeTo(t *document.Terminal, a *Account, plots bool) {
	t.Heading(2, p.Policy, fateText(a, p))
	var facts []document.Fact
	if p.Range != nil {
		text := "what follows is under the assumption in the middle; under others the requests refused are as many as the range says"
		facts = append(facts, document.Fact{Label: "assumed", Text: text})
	}
	if l := p.Lockout; l != nil {
		facts = append(facts, document.Fact{Label: "locked out", Text: lockoutText(a, l)})
	}
	for i := range p.Limits {
		facts = append(facts, document.Fact{Label: "enough", Text: p.enoughText(&p.Limits[i])})
	}
	t.Facts(facts...)
	for _, l := range p.Limits {
		if plots && len(l.Levels) > 1 {
			title := "how full the limit was, the most in each column"
			if len(p.Limits) > 1 {
				title = l.Limit + ": " + title
			}
			t.Plot(title, plot.Curve{Values: l.Levels, Length: a.Span.Length(), Top: l.atOnce, Rows: 8, Clock: true, Start: a.Span.First})
		}
	}
	if len(p.Refusals) > 0 {
		t.Table(refusalTable(a, p))
		if p.MoreRefusals > 0 {
			fmt.Fprintf(t, "… and %s more; --top %d shows all\n", format.Thousands(p.MoreRefusals), p.Refused)
		}
		writeLines(t, p.Refusals)
	}
	t.Space()
	t.Facts(p.told.MeaningFacts()...)
}

func fateText(a *Account, p *Policy) string {
	text := "by " + strings.ReplaceAll(p.By, ", ", " and ")
	refused := format.Thousands(p.Refused)
	if p.Range != nil {
		text += ", as an approximation"
		refused += format.Between(p.Range.Refused)
	}
	if p.Refused == 0 && p.Range == nil {
		text += ", refuses none of its " + format.Count(a.Requests, "request")
	} else {
		text += fmt.Sprintf(", refuses %s of its %s (%s%%)", refused, format.Count(a.Requests, "request"), format.Percent(p.RefusedPercent))
	}
	if p.Delayed > 0 {
		text += fmt.Sprintf(", delays %s", format.Thousands(p.Delayed))
	}
	return text
}

func lockoutText(a *Account, l *Lockout) string {
	at := a.layout()
	if l.Requests == 1 {
		return "no two of its requests in a row"
	}
	if l.First == l.Last {
		return fmt.Sprintf("at %s: %s in a row, all with that time stamp", l.First.Format(at), format.Count(l.Requests, "request"))
	}
	return fmt.Sprintf("%s from the first to the last of %s in a row, %s to %s", format.Span(limit.Time(l.Last-l.First)),
		format.Count(l.Requests, "request"), l.First.Format(at), l.Last.Format(at))
}

// enoughText says what a limit would have had to be for the client.
func (p *Policy) enoughText(l *Limit) string {
	text := ""
	if len(p.Limits) > 1 {
		text = l.Limit + ": "
	}
	switch {
	case l.Shared:
		return text + "cannot be told, since it counts by " + l.By + ": other clients use it up as well, and were judged with this one"
	case l.Needs == nil:
		return text + "no " + l.Number + " would have been"
	case *l.Needs == l.Is:
		return text + "as it is: it refuses none"
	}
	return text + numberText(l.Number, *l.Needs, l.period) + " would have refused none of its requests"
}

// numberText writes a number to raise as it stands in a limit.
func numberText(name string, n int64, period string) string {
	if name == "burst" {
		return fmt.Sprintf("burst=%d", n)
	}
	return fmt.Sprintf("%d/%s", n, period)
}

// refusalTable has a row per refused request.
func refusalTable(a *Account, p *Policy) *table.Table {
	several, agents := len(p.Limits) > 1, len(a.Agents) > 1
	t := table.New(table.Words("refused at"), table.Long("action"), table.Number("status"), table.Number("admitted after"), table.Long("needs"))
	if several {
		t.Head(table.Long("refused by"))
	}
	if agents {
		t.Head(table.Long("agent"))
	}
	for i := range p.Refusals {
		r := &p.Refusals[i]
		row := table.Texts(r.Time.Format(a.layout()), r.Action, fmt.Sprint(r.Status), waitText(r.Wait), needText(r.Needs, several))
		if several {
			row = append(row, table.Text(strings.Join(r.By, ", ")))
		}
		if agents {
			row = append(row, table.Text(r.Agent))
		}
		t.Add(row...)
	}
	return t
}

func waitText(seconds *float64) string {
	if seconds == nil {
		return "–"
	}
	return format.LengthOf(*seconds)
}

func needText(needs []Need, several bool) string {
	if len(needs) == 0 {
		return "–"
	}
	texts := make([]string, len(needs))
	for i, n := range needs {
		if texts[i] = "no " + n.Number; n.To != nil {
			texts[i] = numberText(n.Number, *n.To, n.period)
		}
		if several {
			texts[i] = n.Limit + ": " + texts[i]
		}
	}
	return strings.Join(texts, "; ")
}

// mostLine is how many columns of a log line people see; a line may be a megabyte long, and JSON has all of it.
const mostLine = 2000

// lines writes the log lines of refusals.
func writeLines(t *document.Terminal, refusals []Refusal) {
	between := "\n"
	for i := range refusals {
		if l := refusals[i].Line; l != nil {
			fmt.Fprintf(t, "%s%s:%d: %s\n", between, escape.Visible(l.File), l.Line, table.Cut(escape.Visible(l.Text), mostLine))
			between = ""
		}
	}
}
