package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"shadow/limit"
)

// Write writes the account as a table for people or as JSON.
func (a *Account) Write(w io.Writer, format string, plots bool) error {
	if format == "json" {
		return writeIndented(w, a)
	}
	t := &terminal{view: a.model.view}
	for _, f := range facts(a.model) {
		t.fact(f)
	}
	for _, text := range a.Warnings {
		t.entry("warning", text, yellow)
	}
	t.WriteByte('\n')
	for _, f := range a.facts() {
		t.fact(f)
	}
	if plots && a.Span != nil && a.Span.Seconds > 0 {
		fmt.Fprintf(t, "\n%s\n", t.paint(dim, "requests in each column of "+brief(a.column())))
		t.plot(plot{values: floats(a.Timeline), length: a.Span.length(), rows: 6, clock: true, start: a.Span.First})
	}
	for i := range a.Policies {
		if a.Requests > 0 {
			t.fate(a, &a.Policies[i], plots)
		}
	}
	_, err := w.Write(t.Bytes())
	return err
}

// column is the time between two moments of the timeline.
func (a *Account) column() limit.Time { return max(1, a.Span.length()/limit.Time(len(a.Timeline)-1)) }

func floats(counts []int64) []float64 {
	values := make([]float64, len(counts))
	for i, n := range counts {
		values[i] = float64(n)
	}
	return values
}

// facts say who the client is.
func (a *Account) facts() []fact {
	if a.Span == nil {
		text := a.Client + ": no request counts"
		if a.Warm > 0 {
			text += ", " + count(a.Warm, "request") + " before --since"
		}
		return []fact{{label: "client", text: text}}
	}
	at := a.layout()
	text := fmt.Sprintf("%s: %s from %s to %s (%s), class %s", a.Client, count(a.Requests, "request"),
		a.Span.First.format(at), a.Span.Last.format(at), span(a.Span.length()), a.Class)
	var agents, actions, statuses []string
	for _, c := range a.Agents {
		agents = append(agents, fmt.Sprintf("%s %s (%s)", thousands(c.Requests), c.Agent, c.Class))
	}
	for _, c := range a.Actions {
		actions = append(actions, thousands(c.Requests)+" "+c.Action)
	}
	for _, c := range a.Statuses {
		statuses = append(statuses, fmt.Sprintf("%s with %d", thousands(c.Requests), c.Status))
	}
	all := []fact{
		{label: "client", text: text},
		{label: "actions", text: list(actions, a.more.actions)},
		{label: "answered", text: list(statuses, a.more.statuses)},
	}
	if e := a.Evidence; e != nil {
		all = append(all, fact{label: "evidence", text: e.short(), details: e.Reasons, prose: true})
	}
	if a.Input.AgentsLogged {
		all = append(all, agentsFact(agents, a.more.agents))
	}
	return all
}

// agentsFact tells of the agents: one beside the label, several below each other.
func agentsFact(agents []string, more int) fact {
	if len(agents) == 1 {
		return fact{label: "agents", text: agents[0]}
	}
	f := fact{label: "agents", text: thousands(int64(len(agents) + more)), details: agents}
	if more > 0 {
		f.details = append(f.details, fmt.Sprintf("and %s more", thousands(int64(more))))
	}
	return f
}

// list writes texts after each other, and how many more there are.
func list(texts []string, more int) string {
	text := strings.Join(texts, ", ")
	if more > 0 {
		text += fmt.Sprintf(", and %s more", thousands(int64(more)))
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
func (t *terminal) fate(a *Account, p *AccountPolicy, plots bool) {
	t.WriteByte('\n')
	t.heading(visible(p.Policy), visible(fateText(a, p)))
	if p.Range != nil {
		t.entry("assumed", "what follows is under the assumption in the middle; under others the requests refused are as many as the range says", dim)
	}
	if l := p.Lockout; l != nil {
		t.entry("locked out", lockoutText(a, l), dim)
	}
	for i := range p.Limits {
		t.entry(onlyFirst(i, "enough"), p.enoughText(&p.Limits[i]), dim)
	}
	for _, l := range p.Limits {
		if plots && len(l.Levels) > 1 {
			title := "how full the limit was, the most in each column"
			if len(p.Limits) > 1 {
				title = l.Limit + ": " + title
			}
			fmt.Fprintf(t, "\n%s\n", t.paint(dim, visible(title)))
			t.plot(plot{values: l.Levels, length: a.Span.length(), top: l.atOnce, rows: 8, clock: true, start: a.Span.First})
		}
	}
	if len(p.Refusals) > 0 {
		t.grid(refusalGrid(a, p))
		if p.MoreRefusals > 0 {
			fmt.Fprintf(t, "… and %s more; --top %d shows all\n", thousands(p.MoreRefusals), p.Refused)
		}
		t.lines(p.Refusals)
	}
	t.WriteByte('\n')
	t.meaning(p.told)
}

func fateText(a *Account, p *AccountPolicy) string {
	text := "by " + strings.ReplaceAll(p.By, ", ", " and ")
	refused := thousands(p.Refused)
	if p.Range != nil {
		text += ", as an approximation"
		refused += between(p.Range.Refused)
	}
	if p.Refused == 0 && p.Range == nil {
		text += ", refuses none of its " + count(a.Requests, "request")
	} else {
		text += fmt.Sprintf(", refuses %s of its %s (%s%%)", refused, count(a.Requests, "request"), percent(p.RefusedPercent))
	}
	if p.Delayed > 0 {
		text += fmt.Sprintf(", delays %s", thousands(p.Delayed))
	}
	return text
}

func lockoutText(a *Account, l *Lockout) string {
	at := a.layout()
	if l.Requests == 1 {
		return "no two of its requests in a row"
	}
	if l.First == l.Last {
		return fmt.Sprintf("at %s: %s in a row, all with that time stamp", l.First.format(at), count(l.Requests, "request"))
	}
	return fmt.Sprintf("%s from the first to the last of %s in a row, %s to %s", span(limit.Time(l.Last-l.First)),
		count(l.Requests, "request"), l.First.format(at), l.Last.format(at))
}

// enoughText says what a limit would have had to be for the client.
func (p *AccountPolicy) enoughText(l *AccountLimit) string {
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

// refusalGrid has a row per refused request.
func refusalGrid(a *Account, p *AccountPolicy) *grid {
	several, agents := len(p.Limits) > 1, len(a.Agents) > 1
	g := &grid{columns: []column{text("refused at"), {head: "action", least: leastAgent}, number("status"), number("admitted after"), {head: "needs", least: leastAgent}}}
	if several {
		g.columns = append(g.columns, column{head: "refused by", least: leastAgent})
	}
	if agents {
		g.columns = append(g.columns, column{head: "agent", least: leastAgent})
	}
	for i := range p.Refusals {
		r := &p.Refusals[i]
		row := []string{r.Time.format(a.layout()), r.Action, fmt.Sprint(r.Status), waitText(r.Wait), needText(r.Needs, several)}
		if several {
			row = append(row, strings.Join(r.By, ", "))
		}
		if agents {
			row = append(row, r.Agent)
		}
		g.add(row...)
	}
	return g
}

func waitText(seconds *float64) string {
	if seconds == nil {
		return "–"
	}
	return lengthOf(*seconds)
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
func (t *terminal) lines(refusals []Refusal) {
	between := "\n"
	for i := range refusals {
		if l := refusals[i].Line; l != nil {
			fmt.Fprintf(t, "%s%s:%d: %s\n", between, visible(l.File), l.Line, cut(visible(l.Text), mostLine))
			between = ""
		}
	}
}
