package history

import (
	"fmt"
	"strings"

	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/traffic/useragent"
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

// A Section is a table of a policy's history with a title.
type Section struct {
	Title string
	Grid  *table.Table
}

// Sections are the tables of a policy, apart from empty ones.
func (p *Policy) Sections(h *History, agents bool) []Section {
	var all []Section
	if len(p.Trend) > 1 {
		all = append(all, Section{"From run to run", p.trendGrid(agents)})
	}
	for _, list := range []struct {
		title   string
		moved   Moved
		movers  []Mover
		columns []table.Column
		cells   func(*Mover) []string
	}{
		{"Newly hit", p.NewlyHit, p.TopNewlyHit, []table.Column{table.Number("requests"), table.Number("refused"), table.Text("was here before")}, func(c *Mover) []string {
			return []string{format.Thousands(c.Requests), format.Thousands(c.Refused), format.YesOrNo(c.Known)}
		}},
		{"Released: hit before, and not any more", p.Released, p.TopReleased, []table.Column{table.Number("refused before"), table.Text("came again")}, func(c *Mover) []string {
			return []string{format.Thousands(c.Refused), format.YesOrNo(c.Requests > 0)}
		}},
		{p.repeatTitle(h), p.Repeating, p.TopRepeating, []table.Column{table.Number("days"), table.Number("refused in all")}, func(c *Mover) []string {
			return []string{format.Thousands(c.Days), format.Thousands(c.Refused)}
		}},
	} {
		if len(list.movers) == 0 {
			continue
		}
		g := &table.Table{Columns: []table.Column{{Head: "client", Least: table.LeastName}, table.Text("class")}}
		g.Columns = append(g.Columns, list.columns...)
		for i := range list.movers {
			c := &list.movers[i]
			g.Add(append([]string{c.Client, c.Class}, list.cells(c)...)...)
		}
		title := list.title + ": " + list.moved.text() + format.MoreThan(len(list.movers), list.moved.Clients)
		all = append(all, Section{title, g})
	}
	return all
}

func (p *Policy) repeatTitle(h *History) string {
	return fmt.Sprintf("Repeat offenders, hit on at least %d of the last %d days", h.Repeat.HitDays, h.Repeat.OfDays)
}

// text counts clients, by class: "12 clients (3 browser, 9 tool)".
func (c Moved) text() string {
	var classes []string
	for class, n := range c.ByClass {
		if n > 0 {
			classes = append(classes, format.Thousands(n)+" "+useragent.Class(class).String())
		}
	}
	text := format.Count(c.Clients, "client")
	if len(classes) > 0 {
		text += " (" + strings.Join(classes, ", ") + ")"
	}
	return text
}

func (p *Policy) trendGrid(agents bool) *table.Table {
	g := &table.Table{Columns: []table.Column{table.Number("run"), table.Text("requests from")}}
	g.Columns = append(g.Columns, table.With(table.Text("to"))...)
	g.Columns = append(g.Columns, table.Number("requests"), table.Number("refused"))
	g.Columns = append(g.Columns, table.With(table.Number("%"), table.Number("clients hit"), table.Number("%"))...)
	if agents {
		g.Columns = append(g.Columns, table.Number("browser"))
		g.Columns = append(g.Columns, table.With(table.Number("crawler"), table.Number("tool"), table.Number("monitor"), table.Number("unknown"))...)
	}
	const minute = "2006-01-02 15:04"
	for i := range p.Trend {
		r := &p.Trend[i]
		from, to := "–", "–"
		if r.First != nil {
			from, to = r.First.Format(minute), r.Last.Format(minute)
		}
		row := []string{
			fmt.Sprint(r.Run), from, to, format.Thousands(r.Requests), format.Thousands(r.Refused), format.Percent(r.RefusedPercent),
			format.Thousands(r.ClientsHit), format.Percent(r.ClientsHitPercent),
		}
		if agents {
			for _, n := range r.ByClass {
				row = append(row, format.Thousands(n))
			}
		}
		g.Add(row...)
	}
	return g
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
