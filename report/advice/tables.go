package advice

import (
	"fmt"
	"slices"

	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/suggest"
	"shadow/sweep"
)

// The tables of a suggestion; terminal and Markdown share them.

// bucketsShown is how many token buckets the table has: the best ones. JSON and CSV have all.
const bucketsShown = 5

// sections are the tables of an answer.
func (s *Answer) sections() []document.Section {
	all := []document.Section{{Title: "Who is there" + s.about(), Table: s.clientsTable()}}
	if s.Whole != nil {
		all = append(all, document.Section{Title: s.Whole.Limit + " on the whole log, as a replay judges it", Table: s.wholeTable()})
	}
	if len(s.Bounds) > 0 {
		all = append(all, document.Section{
			Title: "What one client is admitted at most, from when it begins anew" + s.about(), Table: s.boundsTable(),
			Notes: []string{"In less than a minute, an hour, a day. A bucket leaves its burst and a token for each that comes meanwhile; a window its N each time anew."},
		})
	}
	if shown := s.shown(); len(shown) > 0 {
		title := "The strictest limits: hit, of those to spare; stopped, of the requests and clients to stop" + s.scaled()
		all = append(all, document.Section{Title: title, Table: s.limitsTable(shown), Notes: s.limitsNotes(shown)})
	}
	for _, best := range s.Advice.BestOfAll() {
		m := s.modelOf(best)
		all = append(all, document.Section{Title: m.Chosen.Limit + ", a little stricter and a little kinder", Table: s.runnersTable(m)})
	}
	return all
}

// limitsNotes explain the columns, and what the table leaves out.
func (s *Answer) limitsNotes(shown []*Limit) (notes []string) {
	note := "knee is the N from which on kindness buys little."
	if s.Rest != nil {
		note = "On the rest a limit holds if it keeps the promise there too; from is the least N that keeps it on both parts; " + note
	}
	notes = append(notes, note)
	found := 0
	for i := range s.Suggestions {
		if s.Suggestions[i].Chosen != nil {
			found++
		}
	}
	if found > len(shown) {
		notes = append(notes, fmt.Sprintf("Shown are all windows and the %d best of %d token buckets; --output csv has all %d limits.",
			bucketsShown, bucketsShown+found-len(shown), found))
	}
	return notes
}

func (s *Answer) about() string {
	if s.Action == "" {
		return ""
	}
	return ", in requests of " + s.Action
}

func (s *Answer) scaled() string {
	if s.Advice.Scale.One() {
		return ""
	}
	return fmt.Sprintf(", for clients that send %s times as much; the figures are those of such a day", s.Advice.Scale)
}

// modelOf is what JSON shows of a suggestion.
func (s *Answer) modelOf(of *suggest.Suggestion) *Limit {
	return &s.Suggestions[slices.IndexFunc(s.Suggestions, func(m Limit) bool { return m.of == of })]
}

// shown are the suggestions that the table has: all windows, and of token buckets the best ones.
func (s *Answer) shown() (shown []*Limit) {
	var buckets []*Limit
	for i := range s.Suggestions {
		switch m := &s.Suggestions[i]; {
		case m.Chosen == nil:
		case m.of.Kind == sweep.Token:
			buckets = append(buckets, m)
		default:
			shown = append(shown, m)
		}
	}
	slices.SortStableFunc(buckets, func(x, y *Limit) int { return s.Advice.Compare(x.of, y.of) })
	return append(shown, buckets[:min(len(buckets), bucketsShown)]...)
}

// clientsTable has a row for each group, with what the best limit refuses of it.
func (s *Answer) clientsTable() *table.Table {
	t := table.New(table.Words("clients"))
	parts := []*Part{&s.First, s.Rest}[:s.partCount()]
	best := s.Advice.BestOfAll()
	for i := range parts {
		t.Head(table.Number("clients, " + [2]string{"first part", "rest"}[i]))
		if len(best) > 0 {
			t.Join(table.Numbers("hit", "requests", "refused", "%")...)
		} else {
			t.Join(table.Number("requests"))
		}
	}
	for group := range suggest.GroupCount {
		row := table.Texts(group.String())
		for i, p := range parts {
			total := p.ByGroup[group]
			if len(best) == 0 {
				row = append(row, table.Count(total.Clients), table.Count(total.Requests))
				continue
			}
			price := s.modelOf(best[0]).Chosen
			f := [2]*Figures{&price.First, price.Rest}[i].ByGroup[group]
			row = append(row, table.Count(total.Clients), table.Count(f.Hit), table.Count(total.Requests), table.Count(*f.Refused),
				table.Share(format.PercentOf(*f.Refused, total.Requests)))
		}
		t.Add(row...)
	}
	return t
}

// priceTable begins a table of limits with their prices. Where the log has no rest there are half as many columns.
func (s *Answer) priceTable() *table.Table {
	t := table.New(table.Words("limit"))
	for _, part := range []string{"", "rest: "}[:s.partCount()] {
		t.Head(table.Number(part + "hit"))
		t.Join(table.Numbers("%", "stopped %", "clients")...)
	}
	return t
}

func (s *Answer) partCount() int {
	if s.Rest == nil {
		return 1
	}
	return 2
}

// priceCells are those of a limit: the clients hit of those to spare, and what is refused of those to stop.
func (s *Answer) priceCells(c *suggest.Candidate) (cells []string) {
	a := s.Advice
	spared := suggest.Set(0)
	for _, p := range a.Promises {
		spared |= p.Who
	}
	figures, parts := []*suggest.Figures{&c.First, &c.Rest}, []*suggest.Part{a.First, a.Rest}
	for i, f := range figures[:s.partCount()] {
		p := parts[i]
		cells = append(cells,
			format.Thousands(f.Hit.Of(spared)), format.Percent(format.PercentOf(f.Hit.Of(spared), p.Clients.Of(spared))),
			format.Percent(format.PercentOf(f.Refused.Of(a.Stop), p.Requests.Of(a.Stop))),
			fmt.Sprintf("%s/%s", format.Thousands(f.Hit.Of(a.Stop)), format.Thousands(p.Clients.Of(a.Stop))))
	}
	return cells
}

// limitsTable has a row for each suggestion.
func (s *Answer) limitsTable(shown []*Limit) *table.Table {
	t := s.priceTable()
	if s.Rest != nil {
		t.Head(table.Words("rest: it"))
		t.Join(table.Number("from"))
	}
	t.Head(table.Number("knee"))
	for _, m := range shown {
		row := append([]string{m.Chosen.Limit}, s.priceCells(&m.of.Chosen)...)
		if s.Rest != nil {
			row = append(row, m.Proof, s.scaledN(m.Both))
		}
		t.Add(table.Texts(append(row, s.scaledN(m.Knee))...)...)
	}
	return t
}

// scaledN is the number of a limit that there may be.
func (s *Answer) scaledN(p *Price) string {
	if p == nil {
		return "–"
	}
	return format.Thousands(s.Advice.Scale.Up(p.N))
}

// runnersTable has a row for each runner-up, with the limit itself among them.
func (s *Answer) runnersTable(m *Limit) *table.Table {
	t := s.priceTable()
	row := func(c *suggest.Candidate, mark string) {
		limit, _ := s.Advice.Text(m.of, c.Limit)
		t.Add(table.Texts(append([]string{limit + mark}, s.priceCells(c)...)...)...)
	}
	chosen := false
	for i := range m.of.Others {
		c := &m.of.Others[i]
		if c.Limit > m.of.Chosen.Limit && !chosen {
			row(&m.of.Chosen, " ◀")
			chosen = true
		}
		row(c, "")
	}
	return t
}
