package report

import (
	"bytes"
	"fmt"
	"strings"

	"shadow/traffic"
)

// What has changed, for people. Terminal and Markdown show the same sections.

// facts are what there is to say of the runs as a whole.
func (h *History) facts() []fact {
	var all []fact
	if len(h.Policies) > 0 {
		all = append(all, fact{label: "compared", text: h.compared()})
	}
	if h.NewActions > 0 {
		all = append(all, fact{label: "actions", text: count(h.NewActions, "new action") + ": " + h.actionNames()})
	}
	if text := h.SafeLimits.text(); text != "" {
		all = append(all, fact{label: "safe limits", text: text})
	}
	return all
}

func (h *History) compared() string {
	if len(h.Base) == 0 {
		return "with nothing: there is no earlier run of these policies"
	}
	return Runs(h.Runs) + " with " + Runs(h.Base)
}

func (h *History) actionNames() string {
	var names []string
	for _, a := range h.TopNewActions {
		names = append(names, fmt.Sprintf("%s (%s)", a.Action, thousands(a.Requests)))
	}
	if more := h.NewActions - int64(len(names)); more > 0 {
		names = append(names, fmt.Sprintf("and %s more", thousands(more)))
	}
	return strings.Join(names, ", ")
}

// safeShown is how many limits that moved are told in words.
const safeShown = 5

func (s *SafeLimits) text() string {
	if s == nil {
		return ""
	}
	who := fmt.Sprintf("the %s%% %s limit", amount(s.Percent), s.Class)
	if s.People {
		who = fmt.Sprintf("the %s%% limit of browsers that are not disguised", amount(s.Percent))
	}
	changed := s.Changed()
	if len(changed) == 0 {
		return fmt.Sprintf("%s is what it was, on %s (runs %d and %d)", who, count(int64(len(s.Limits)), "curve"), s.Before, s.Now)
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

// A historySection is a table of a policy's history with a title.
type historySection struct {
	title string
	grid  *grid
}

// sections are the tables of a policy, apart from empty ones.
func (p *PolicyHistory) sections(m *Model) []historySection {
	var all []historySection
	if len(p.Trend) > 1 {
		all = append(all, historySection{"From run to run", p.trendGrid(m)})
	}
	for _, list := range []struct {
		title   string
		moved   Moved
		movers  []Mover
		columns []column
		cells   func(*Mover) []string
	}{
		{"Newly hit", p.NewlyHit, p.TopNewlyHit, []column{number("requests"), number("refused"), text("was here before")}, func(c *Mover) []string {
			return []string{thousands(c.Requests), thousands(c.Refused), yesOrNo(c.Known)}
		}},
		{"Released: hit before, and not any more", p.Released, p.TopReleased, []column{number("refused before"), text("came again")}, func(c *Mover) []string {
			return []string{thousands(c.Refused), yesOrNo(c.Requests > 0)}
		}},
		{p.repeatTitle(m), p.Repeating, p.TopRepeating, []column{number("days"), number("refused in all")}, func(c *Mover) []string {
			return []string{thousands(c.Days), thousands(c.Refused)}
		}},
	} {
		if len(list.movers) == 0 {
			continue
		}
		g := &grid{columns: []column{{head: "client", least: leastName}, text("class")}}
		g.columns = append(g.columns, list.columns...)
		for i := range list.movers {
			c := &list.movers[i]
			g.add(append([]string{c.Client, c.Class}, list.cells(c)...)...)
		}
		title := list.title + ": " + list.moved.text() + moreThan(len(list.movers), list.moved.Clients)
		all = append(all, historySection{title, g})
	}
	return all
}

func (p *PolicyHistory) repeatTitle(m *Model) string {
	return fmt.Sprintf("Repeat offenders, hit on at least %d of the last %d days", m.History.Repeat.HitDays, m.History.Repeat.OfDays)
}

// text counts clients, by class: "12 clients (3 browser, 9 tool)".
func (c Moved) text() string {
	var classes []string
	for class, n := range c.ByClass {
		if n > 0 {
			classes = append(classes, thousands(n)+" "+traffic.Class(class).String())
		}
	}
	text := count(c.Clients, "client")
	if len(classes) > 0 {
		text += " (" + strings.Join(classes, ", ") + ")"
	}
	return text
}

func yesOrNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func (p *PolicyHistory) trendGrid(m *Model) *grid {
	g := &grid{columns: []column{number("run"), text("requests from")}}
	g.columns = append(g.columns, with(text("to"))...)
	g.columns = append(g.columns, number("requests"), number("refused"))
	g.columns = append(g.columns, with(number("%"), number("clients hit"), number("%"))...)
	if m.Input.AgentsLogged {
		g.columns = append(g.columns, number("browser"))
		g.columns = append(g.columns, with(number("crawler"), number("tool"), number("monitor"), number("unknown"))...)
	}
	const minute = "2006-01-02 15:04"
	for i := range p.Trend {
		r := &p.Trend[i]
		from, to := "–", "–"
		if r.First != nil {
			from, to = r.First.format(minute), r.Last.format(minute)
		}
		row := []string{
			fmt.Sprint(r.Run), from, to, thousands(r.Requests), thousands(r.Refused), percent(r.RefusedPercent),
			thousands(r.ClientsHit), percent(r.ClientsHitPercent),
		}
		if m.Input.AgentsLogged {
			for _, n := range r.ByClass {
				row = append(row, thousands(n))
			}
		}
		g.add(row...)
	}
	return g
}

// headline says in a sentence what has become of a policy.
func (p *PolicyHistory) headline(m *Model, now *Policy) string {
	if len(m.History.Base) == 0 {
		return fmt.Sprintf("refuses %s%% of requests", percent(now.RefusedPercent))
	}
	if p.Before == nil {
		return fmt.Sprintf("refuses %s%% of requests; none of the runs that it is compared with has it", percent(now.RefusedPercent))
	}
	return fmt.Sprintf("refuses %s%% of requests, before %s%%; newly hit %s, released %s", percent(now.RefusedPercent),
		percent(p.Before.RefusedPercent), p.NewlyHit.text(), p.Released.text())
}

// history writes what has changed for a terminal.
func (t *terminal) history(m *Model) {
	t.WriteByte('\n')
	for _, f := range m.History.facts() {
		t.fact(f)
	}
	for i := range m.Policies[:t.detailed] {
		p := &m.History.Policies[i]
		sections := p.sections(m)
		if len(m.History.Base) == 0 && len(sections) == 0 {
			continue
		}
		t.WriteByte('\n')
		t.heading(visible(p.Policy), visible(p.headline(m, &m.Policies[i])))
		for _, s := range sections {
			fmt.Fprintf(t, "\n%s\n", t.paint(bold, visible(s.title)))
			t.grid(s.grid)
		}
	}
}

// markdownHistory is the same for a page.
func (m *Model) markdownHistory(b *bytes.Buffer) {
	fmt.Fprint(b, "\n## What has changed\n\n")
	for _, f := range m.History.facts() {
		fmt.Fprintf(b, "- **%s**: %s\n", f.label, markdownText(f.text))
	}
	for i := range m.Policies[:m.view.detailed] {
		p := &m.History.Policies[i]
		sections := p.sections(m)
		if len(m.History.Base) == 0 && len(sections) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n### %s\n\n%s.\n", markdownText(p.Policy), markdownText(sentence(p.headline(m, &m.Policies[i]))))
		for _, s := range sections {
			fmt.Fprintf(b, "\n%s\n", markdownText(s.title))
			s.grid.markdown(b)
		}
	}
}
