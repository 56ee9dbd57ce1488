package history

import (
	"cmp"
	"fmt"
	"strings"

	"shadow/internal/request"
	"shadow/internal/traffic/who"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
)

// What has changed, for people. Terminal and Markdown show the same sections.

// Facts returns what there is to say of the runs as a whole.
func (h *History) Facts() (f document.Facts) {
	switch {
	case len(h.Policies) == 0:
	case len(h.Base) == 0:
		f.Add("compared", "with nothing: there is no earlier run of these policies")
	default:
		f.Add("compared", format.Runs(h.Runs)+" with "+format.Runs(h.Base))
	}
	if h.NewActions > 0 {
		var names []string
		for _, a := range h.TopNewActions {
			names = append(names, fmt.Sprintf("%s (%s)", a.Action, format.Thousands(a.Requests)))
		}
		f.Add("actions", format.Count(h.NewActions, "new action")+": "+format.Named(names, h.NewActions))
	}
	f.Add("safe limits", h.SafeLimits.text())
	return f
}

// safeShown is the most limits that moved to be told in words.
const safeShown = 5

func (s *SafeLimits) text() string {
	if s == nil {
		return ""
	}
	who := fmt.Sprintf("the %s %s limit", format.ShortPercentage(s.Percent), s.Class)
	if s.People {
		who = fmt.Sprintf("the %s limit of clients that behave like browsers", format.ShortPercentage(s.Percent))
	}
	changed := s.Changed()
	if len(changed) == 0 {
		return fmt.Sprintf("%s is what it was, on %s (runs %d and %d)", who, format.Count(int64(len(s.Limits)), "curve"), s.Before, s.Now)
	}
	var texts []string
	for _, l := range changed[:min(safeShown, len(changed))] {
		text := fmt.Sprintf("was %s, now %s", l.Before, l.Now)
		if l.Action != "" {
			text += " of action " + l.Action
		}
		texts = append(texts, text)
	}
	text := who + " " + strings.Join(texts, "; ")
	if more := len(changed) - safeShown; more > 0 {
		text += fmt.Sprintf("; and %d more moved", more)
	}
	return fmt.Sprintf("%s (runs %d and %d)", text, s.Before, s.Now)
}

// Sections are the tables of a policy, apart from empty ones.
func (p *Policy) Sections(h *History, agents bool) []document.Section {
	var all []document.Section
	if len(p.Trend) > 1 {
		all = append(all, document.Section{Title: "From run to run", Table: p.trendTable(agents)})
	}
	return append(all, p.Moves(h)...)
}

// Moves are the tables of clients that moved, apart from empty ones.
func (p *Policy) Moves(h *History) (all []document.Section) {
	for _, list := range []struct {
		title   string
		moved   Moved
		movers  []Mover
		columns []table.Column
		cells   func(*Mover) []table.Cell
	}{
		{
			"Newly hit", p.NewlyHit, p.TopNewlyHit,
			[]table.Column{table.Number("requests"), table.Number("refused"), table.Words("was here before")},
			func(c *Mover) []table.Cell { return append(table.Counts(c.Requests, c.Refused), yesOrNo(c.Known)) },
		},
		{
			"Released: hit before, and not any more", p.Released, p.TopReleased,
			[]table.Column{table.Number("refused before"), table.Words("came again")},
			func(c *Mover) []table.Cell { return []table.Cell{table.Count(c.Refused), yesOrNo(c.Requests > 0)} },
		},
		{
			fmt.Sprintf("Repeat offenders, hit on at least %d of the last %d days", h.Repeat.HitDays, h.Repeat.OfDays), p.Repeating, p.TopRepeating, table.Numbers("days", "refused in all"),
			func(c *Mover) []table.Cell { return table.Counts(c.Days, c.Refused) },
		},
	} {
		if len(list.movers) == 0 {
			continue
		}
		t := table.New(table.Name("client"), table.Words("who"))
		t.Head(list.columns...)
		for i := range list.movers {
			c := &list.movers[i]
			t.Add(append(table.Texts(c.Client, cmp.Or(c.Identity, c.Class)), list.cells(c)...)...)
		}
		title := list.title + ": " + list.moved.text() + format.MoreThan(len(list.movers), list.moved.Clients)
		all = append(all, document.Section{Title: title, Table: t})
	}
	return all
}

func yesOrNo(yes bool) table.Cell {
	if yes {
		return table.Text("yes")
	}
	return table.Text("no")
}

// text counts clients by who they are: "12 clients (3 people, 9 programs)"; by class where that is not known.
func (c Moved) text() string {
	var parts []string
	if c.Identified() {
		for is, n := range c.ByIdentity {
			if n > 0 {
				parts = append(parts, format.Thousands(n)+" "+who.Identity(is).Counted(n))
			}
		}
	} else {
		for class, n := range c.ByClass {
			if n > 0 {
				parts = append(parts, format.Thousands(n)+" "+request.Class(class).String())
			}
		}
	}
	text := format.Count(c.Clients, "client")
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return text
}

func (p *Policy) trendTable(agents bool) *table.Table {
	moment := func(m *format.Moment) table.Cell {
		if m == nil {
			return table.None
		}
		return table.Text(m.Format("2006-01-02 15:04"))
	}
	t := table.Of[Trend]{}
	t.Head(table.Number("run"), func(r *Trend) table.Cell { return table.Text(fmt.Sprint(r.Run)) })
	t.Head(table.Words("requests from"), func(r *Trend) table.Cell { return moment(r.First) })
	t.Join(table.Words("to"), func(r *Trend) table.Cell { return moment(r.Last) })
	t.Head(table.Number("requests"), func(r *Trend) table.Cell { return table.Count(r.Requests) })
	t.Head(table.Number("refused"), func(r *Trend) table.Cell { return table.Count(r.Refused) })
	t.Join(table.Number("%"), func(r *Trend) table.Cell { return table.Share(r.RefusedPercent) })
	t.Join(table.Number("clients hit"), func(r *Trend) table.Cell { return table.Count(r.ClientsHit) })
	t.Join(table.Number("%"), func(r *Trend) table.Cell { return table.Share(r.ClientsHitPercent) })
	add := t.Head
	for class := range request.ClassCount {
		if agents {
			add(table.Number(class.String()), func(r *Trend) table.Cell { return table.Count(r.ByClass[class]) })
			add = t.Join
		}
	}
	return t.Fill(p.Trend)
}

// Headline says in a sentence what has become of a policy.
func (p *Policy) Headline(h *History, refusedPercent float64) string {
	if len(h.Base) == 0 {
		return fmt.Sprintf("refuses %s of requests", format.Percentage(refusedPercent))
	}
	if p.Before == nil {
		return fmt.Sprintf("refuses %s of requests; none of the runs that it is compared with has it", format.Percentage(refusedPercent))
	}
	return fmt.Sprintf("refuses %s of requests, before %s; newly hit %s, released %s", format.Percentage(refusedPercent),
		format.Percentage(p.Before.RefusedPercent), p.NewlyHit.text(), p.Released.text())
}

// Newest returns how the newest run stands against those before it, in a sentence, and whether it refuses or hits more
// than each of them; "" where they are fewer than two, or the limits are not the same.
func (p *Policy) Newest() (text string, more bool) {
	n := len(p.Trend) - 1
	if n < 2 || p.Changed {
		return "", false
	}
	against := func(of string, figure func(*Trend) float64) string {
		now, least, most := figure(&p.Trend[n]), figure(&p.Trend[0]), figure(&p.Trend[0])
		for i := range p.Trend[:n] {
			least, most = min(least, figure(&p.Trend[i])), max(most, figure(&p.Trend[i]))
		}
		before := format.Percentage(least) + " to " + format.Percentage(most)
		switch {
		case now > most:
			more = true
			return fmt.Sprintf("%s of %s, more than each (%s)", format.Percentage(now), of, before)
		case now < least:
			return fmt.Sprintf("%s of %s, less than each (%s)", format.Percentage(now), of, before)
		}
		return fmt.Sprintf("%s of %s, as they did (%s)", format.Percentage(now), of, before)
	}
	refused := against("requests", func(t *Trend) float64 { return t.RefusedPercent })
	hit := against("clients", func(t *Trend) float64 { return t.ClientsHitPercent })
	text = fmt.Sprintf("against the %d runs before, the newest refuses %s, and hits %s", n, refused, hit)
	return text, more
}

// The history in the table of the report: rows of level "trend" (name is the run), "newly hit", "released", "repeat
// offender" and "new action".

// Records are the rows of a policy.
func (p *Policy) Records() (all []table.Record) {
	for i := range p.Trend {
		r := &p.Trend[i]
		all = append(all, table.Record{
			"level": table.Text("trend"), "name": table.Count(int64(r.Run)), "requests": table.Count(r.Requests), "refused": table.Count(r.Refused),
			"clients": table.Count(r.Clients), "clients_hit": table.Count(r.ClientsHit),
		})
	}
	for i, movers := range p.Lists() {
		for _, c := range movers {
			all = append(all, table.Record{
				"level": table.Text([]string{"newly hit", "released", "repeat offender"}[i]),
				"name":  table.Text(c.Client), "class": table.Text(c.Class), "identity": table.Text(c.Identity), "requests": table.Count(c.Requests), "refused": table.Count(c.Refused),
			})
		}
	}
	return all
}

// Lists are the clients that moved: newly hit, released, and hit again and again.
func (p *Policy) Lists() [3][]Mover {
	return [3][]Mover{p.TopNewlyHit, p.TopReleased, p.TopRepeating}
}

// Records are the rows of new actions.
func (h *History) Records() (all []table.Record) {
	for _, a := range h.TopNewActions {
		all = append(all, table.Record{"level": table.Text("new action"), "name": table.Text(a.Action), "requests": table.Count(a.Requests)})
	}
	return all
}
