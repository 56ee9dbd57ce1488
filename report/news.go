package report

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"shadow/internal/findings"
	"shadow/internal/traffic/who"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/history"
	"shadow/report/table"
)

// The news of a run: what has changed since others, before all else, in so few lines that they are read in the morning.

const (
	newsLines   = 60
	newsApart   = 17 // lines between tables, of their titles and heads, and behind them
	newsBrought = 3  // findings at most

	newlyHit, repeating = 0, 2 // of history.Policy.Lists
)

// tellsNews reports whether people read what has changed in the place of the whole report.
func (m *Model) tellsNews() bool {
	return !m.Details && m.History != nil && len(m.History.Base) > 0 && len(m.Policies) > 0
}

// writeNews writes what has changed. Warnings are told whole, lists are cut.
func (m *Model) writeNews(w *document.Writer) {
	h, in := m.History, &m.Input
	w.Title("What has changed")
	facts := h.Facts()
	facts.Add("requests", in.requestsText())
	facts.Add("clients are", in.identitiesText())
	w.Facts(facts...)
	told := 0
	for i := range m.Findings {
		if f := &m.Findings[i]; f.Severity < findings.Info && told < newsBrought {
			told++
			w.Alert(levels[f.Severity], cmp.Or(f.Brief, f.String()))
		}
	}
	switch more := len(m.Findings) - told; {
	case more > 0 && told == 0:
		w.Alert(document.Note, format.Count(int64(more), "finding")+": shadow doctor LOG")
	case more > 0:
		w.Alert(document.Note, moreFindings(more))
	}
	for _, text := range m.OtherWarnings() {
		w.Alert(document.Warning, text)
	}
	left := max(newsLines-newsApart-bytes.Count(w.Bytes(), []byte("\n")), 9)
	limits := min(len(m.Policies), left/3)
	w.Table(m.newsTable(limits))
	if more := len(m.Policies) - limits; more > 0 {
		w.Note(format.Count(int64(more), "more limit"))
	}
	list := func(title string, of int, room int) {
		all := m.moved(of)
		if len(all) == 0 {
			return
		}
		shown, most := all[:min(len(all), room)], int64(len(all))
		for i := range h.Policies { // of which the lists may hold the first alone
			most = max(most, []history.Moved{h.Policies[i].NewlyHit, h.Policies[i].Released, h.Policies[i].Repeating}[of].Clients)
		}
		if int64(len(shown)) < most {
			title += fmt.Sprintf(", the first %d", len(shown))
		}
		document.Section{Title: title, Table: movedTable(shown, of == repeating)}.Write(w, 0)
	}
	room := left - limits
	list("Newly hit, people first", newlyHit, room*2/3)
	list(fmt.Sprintf("Hit on at least %d of the last %d days", h.Repeat.HitDays, h.Repeat.OfDays), repeating, room/3)
	w.Space()
	w.Facts(document.Fact{Label: "all of it", Text: "shadow report --details"})
}

// newsTable has a row for each limit.
func (m *Model) newsTable(rows int) *table.Table {
	of := func(moved *history.Moved, some ...who.Identity) table.Cell {
		if !moved.Identified() {
			return table.None
		}
		sum := int64(0)
		for _, is := range some {
			sum += moved.ByIdentity[is]
		}
		return table.Count(sum)
	}
	t := table.New(table.Name("limit"))
	t.Head(table.Number("refused %"), table.Number("before %"), table.Number("clients hit"), table.Number("newly hit"),
		table.Number("people"), table.Number("undecided"), table.Number("released"))
	for i := range rows {
		p, was := &m.Policies[i], &m.History.Policies[i]
		before := table.None
		if was.Before != nil {
			before = table.Share(was.Before.RefusedPercent)
		}
		n := &was.NewlyHit
		t.Add(table.Text(p.Policy), table.Share(p.RefusedPercent), before, table.Count(p.ClientsHit), table.Count(n.Clients),
			of(n, who.Person, who.Office), of(n, who.Undecided), table.Count(was.Released.Clients))
	}
	return t
}

// A movedClient is one with the limit that refuses most of it.
type movedClient struct {
	history.Mover
	policy string
}

// moved are the clients of one of history.Policy.Lists over all limits, people first, then by refused requests.
func (m *Model) moved(list int) (all []movedClient) {
	at := map[string]int{}
	for i := range m.History.Policies {
		p := &m.History.Policies[i]
		for _, c := range p.Lists()[list] {
			k, known := at[c.Client]
			switch {
			case !known:
				at[c.Client] = len(all)
				all = append(all, movedClient{c, p.Policy})
			case c.Refused > all[k].Refused:
				all[k] = movedClient{c, p.Policy}
			}
		}
	}
	rank := func(c *movedClient) int {
		return slices.Index([]string{who.Undecided.One(), who.Office.One(), who.Person.One()}, c.Identity)
	}
	slices.SortStableFunc(all, func(a, b movedClient) int {
		return cmp.Or(cmp.Compare(rank(&b), rank(&a)), cmp.Compare(b.Refused, a.Refused))
	})
	return all
}

func movedTable(all []movedClient, days bool) *table.Table {
	t := table.Of[movedClient]{}
	t.Head(table.Name("client"), func(c *movedClient) table.Cell { return table.Text(c.Client) })
	t.Head(table.Words("who"), func(c *movedClient) table.Cell { return table.Text(cmp.Or(c.Identity, c.Class)) })
	t.Head(table.Number("refused"), func(c *movedClient) table.Cell { return table.Count(c.Refused) })
	t.Head(table.Words("most by"), func(c *movedClient) table.Cell { return table.Text(c.policy) })
	if days {
		t.Head(table.Number("days"), func(c *movedClient) table.Cell { return table.Count(c.Days) })
	}
	return t.Fill(all)
}
