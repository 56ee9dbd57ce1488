package history

import (
	"fmt"
	"strings"

	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/request"
)

// What has changed, for people. Terminal and Markdown show the same sections.

// Facts are what there is to say of the runs as a whole.
func (h *History) Facts() []document.Fact {
	var all []document.Fact
	if len(h.Policies) > 0 {
		all = append(all, document.Fact{Label: "compared", Text: h.compared()})
	}
	if h.NewActions > 0 {
		all = append(all, document.Fact{Label: "actions", Text: format.Count(h.NewActions, "new action") + ": " + h.actionNames()})
	}
	if text := h.SafeLimits.text(); text != "" {
		all = append(all, document.Fact{Label: "safe limits", Text: text})
	}
	return all
}

func (h *History) compared() string {
	if len(h.Base) == 0 {
		return "with nothing: there is no earlier run of these policies"
	}
	return format.Runs(h.Runs) + " with " + format.Runs(h.Base)
}

func (h *History) actionNames() string {
	var names []string
	for _, a := range h.TopNewActions {
		names = append(names, fmt.Sprintf("%s (%s)", a.Action, format.Thousands(a.Requests)))
	}
	if more := h.NewActions - int64(len(names)); more > 0 {
		names = append(names, fmt.Sprintf("and %s more", format.Thousands(more)))
	}
	return strings.Join(names, ", ")
}

// safeShown is how many limits that moved are told in words.
const safeShown = 5

func (s *SafeLimits) text() string {
	if s == nil {
		return ""
	}
	who := fmt.Sprintf("the %s%% %s limit", format.Amount(s.Percent), s.Class)
	if s.People {
		who = fmt.Sprintf("the %s%% limit of browsers that are not disguised", format.Amount(s.Percent))
	}
	changed := s.Changed()
	if len(changed) == 0 {
		return fmt.Sprintf("%s is what it was, on %s (runs %d and %d)", who, format.Count(int64(len(s.Limits)), "curve"), s.Before, s.Now)
	}
	var texts []string
	for _, l := range changed[:min(safeShown, len(changed))] {
		texts = append(texts, fmt.Sprintf("was %s, now %s%s", l.Before, l.Now, ofAction(l.Action)))
	}
	text := who + " " + strings.Join(texts, "; ")
	if more := len(changed) - safeShown; more > 0 {
		text += fmt.Sprintf("; and %d more moved", more)
	}
	return fmt.Sprintf("%s (runs %d and %d)", text, s.Before, s.Now)
}

func ofAction(action string) string {
	if action == "" {
		return ""
	}
	return " of action " + action
}

// Sections are the tables of a policy, apart from empty ones.
func (p *Policy) Sections(h *History, agents bool) []document.Section {
	var all []document.Section
	if len(p.Trend) > 1 {
		all = append(all, document.Section{Title: "From run to run", Table: p.trendTable(agents)})
	}
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
			p.repeatTitle(h), p.Repeating, p.TopRepeating, table.Numbers("days", "refused in all"),
			func(c *Mover) []table.Cell { return table.Counts(c.Days, c.Refused) },
		},
	} {
		if len(list.movers) == 0 {
			continue
		}
		t := table.New(table.Name("client"), table.Words("class"))
		t.Head(list.columns...)
		for i := range list.movers {
			c := &list.movers[i]
			t.Add(append(table.Texts(c.Client, c.Class), list.cells(c)...)...)
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

func (p *Policy) repeatTitle(h *History) string {
	return fmt.Sprintf("Repeat offenders, hit on at least %d of the last %d days", h.Repeat.HitDays, h.Repeat.OfDays)
}

// text counts clients, by class: "12 clients (3 browser, 9 tool)".
func (c Moved) text() string {
	var classes []string
	for class, n := range c.ByClass {
		if n > 0 {
			classes = append(classes, format.Thousands(n)+" "+request.Class(class).String())
		}
	}
	text := format.Count(c.Clients, "client")
	if len(classes) > 0 {
		text += " (" + strings.Join(classes, ", ") + ")"
	}
	return text
}

func (p *Policy) trendTable(agents bool) *table.Table {
	t := table.New(table.Number("run"), table.Words("requests from"))
	t.Join(table.Words("to"))
	t.Head(table.Numbers("requests", "refused")...)
	t.Join(table.Numbers("%", "clients hit", "%")...)
	if agents {
		t.Head(table.Number(request.Browser.String()))
		for class := request.Browser + 1; class < request.ClassCount; class++ {
			t.Join(table.Number(class.String()))
		}
	}
	const minute = "2006-01-02 15:04"
	for i := range p.Trend {
		r := &p.Trend[i]
		from, to := "–", "–"
		if r.First != nil {
			from, to = r.First.Format(minute), r.Last.Format(minute)
		}
		row := []table.Cell{
			table.Text(fmt.Sprint(r.Run)), table.Text(from), table.Text(to), table.Count(r.Requests), table.Count(r.Refused),
			table.Share(r.RefusedPercent), table.Count(r.ClientsHit), table.Share(r.ClientsHitPercent),
		}
		if agents {
			row = append(row, table.Counts(r.ByClass[:]...)...)
		}
		t.Add(row...)
	}
	return t
}

// Headline says in a sentence what has become of a policy.
func (p *Policy) Headline(h *History, refusedPercent float64) string {
	if len(h.Base) == 0 {
		return fmt.Sprintf("refuses %s%% of requests", format.Percent(refusedPercent))
	}
	if p.Before == nil {
		return fmt.Sprintf("refuses %s%% of requests; none of the runs that it is compared with has it", format.Percent(refusedPercent))
	}
	return fmt.Sprintf("refuses %s%% of requests, before %s%%; newly hit %s, released %s", format.Percent(refusedPercent),
		format.Percent(p.Before.RefusedPercent), p.NewlyHit.text(), p.Released.text())
}
