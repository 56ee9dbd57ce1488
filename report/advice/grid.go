package advice

import (
	"fmt"
	"slices"

	"shadow/escape"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/suggest"
	"shadow/sweep"
)

// The tables of a suggestion; terminal and Markdown share them.

// bucketsShown is how many token buckets the table has: the best ones. JSON and CSV have all.
const bucketsShown = 5

// A section is a table with a title.
type section struct {
	title string
	grid  *table.Table
	notes []string // below it
}

func (s *Answer) sections() []section {
	all := []section{{title: "Who is there" + s.about(), grid: s.clientsGrid()}}
	if s.Whole != nil {
		all = append(all, section{title: s.Whole.Limit + " on the whole log, as a replay judges it", grid: s.wholeGrid()})
	}
	if len(s.Bounds) > 0 {
		all = append(all, section{
			title: "What one client is admitted at most, from when it begins anew" + s.about(), grid: s.boundsGrid(),
			notes: []string{"In less than a minute, an hour, a day. A bucket leaves its burst and a token for each that comes meanwhile; a window its N each time anew."},
		})
	}
	if shown := s.shown(); len(shown) > 0 {
		title := "The strictest limits: hit, of those to spare; stopped, of the requests and clients to stop" + s.scaled()
		all = append(all, section{title, s.limitsGrid(shown), s.limitsNotes(shown)})
	}
	for _, best := range s.Advice.BestOfAll() {
		m := s.modelOf(best)
		all = append(all, section{title: m.Chosen.Limit + ", a little stricter and a little kinder", grid: s.runnersGrid(m)})
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
	return ", in requests of " + escape.Visible(s.Action)
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

// clientsGrid has a row for each group, with what the best limit refuses of it.
func (s *Answer) clientsGrid() *table.Table {
	g := &table.Table{Columns: []table.Column{table.Text("clients")}}
	parts := []*Part{&s.First}
	if s.Rest != nil {
		parts = append(parts, s.Rest)
	}
	best := s.Advice.BestOfAll()
	for i := range parts {
		name := [2]string{"first part", "rest"}[i]
		g.Columns = append(g.Columns, table.Number("clients, "+name))
		if len(best) > 0 {
			g.Columns = append(g.Columns, table.With(table.Number("hit"))...)
		}
		g.Columns = append(g.Columns, table.With(table.Number("requests"))...)
		if len(best) > 0 {
			g.Columns = append(g.Columns, table.With(table.Number("refused"), table.Number("%"))...)
		}
	}
	for group := range suggest.GroupCount {
		row := []string{group.String()}
		for i, p := range parts {
			total := p.ByGroup[group]
			row = append(row, format.Thousands(total.Clients))
			if len(best) == 0 {
				row = append(row, format.Thousands(total.Requests))
				continue
			}
			price := s.modelOf(best[0]).Chosen
			f := [2]*Figures{&price.First, price.Rest}[i].ByGroup[group]
			row = append(row, format.Thousands(f.Hit), format.Thousands(total.Requests), format.Thousands(*f.Refused), format.Percent(format.PercentOf(*f.Refused, total.Requests)))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// priceColumns are the columns of a price. Where the log has no rest there are half as many.
func (s *Answer) priceColumns() (columns []table.Column) {
	for _, part := range []string{"", "rest: "}[:s.partCount()] {
		columns = append(columns, table.Number(part+"hit"))
		columns = append(columns, table.With(table.Number("%"), table.Number("stopped %"), table.Number("clients"))...)
	}
	return columns
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

// limitsGrid has a row for each suggestion.
func (s *Answer) limitsGrid(shown []*Limit) *table.Table {
	g := &table.Table{Columns: append([]table.Column{table.Text("limit")}, s.priceColumns()...)}
	if s.Rest != nil {
		g.Columns = append(g.Columns, table.Text("rest: it"))
		g.Columns = append(g.Columns, table.With(table.Number("from"))...)
	}
	g.Columns = append(g.Columns, table.Number("knee"))
	for _, m := range shown {
		row := append([]string{m.Chosen.Limit}, s.priceCells(&m.of.Chosen)...)
		if s.Rest != nil {
			row = append(row, m.Proof, s.scaledN(m.Both))
		}
		g.Rows = append(g.Rows, append(row, s.scaledN(m.Knee)))
	}
	return g
}

// scaledN is the number of a limit that there may be.
func (s *Answer) scaledN(p *Price) string {
	if p == nil {
		return "–"
	}
	return format.Thousands(s.Advice.Scale.Up(p.N))
}

// runnersGrid has a row for each runner-up, with the limit itself among them.
func (s *Answer) runnersGrid(m *Limit) *table.Table {
	g := &table.Table{Columns: append([]table.Column{table.Text("limit")}, s.priceColumns()...)}
	row := func(c *suggest.Candidate, mark string) {
		limit, _ := s.Advice.Text(m.of, c.Limit)
		g.Rows = append(g.Rows, append([]string{limit + mark}, s.priceCells(c)...))
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
	return g
}
