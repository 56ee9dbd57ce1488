package report

import (
	"fmt"
	"slices"

	"shadow/suggest"
	"shadow/sweep"
)

// The tables of a suggestion; terminal and Markdown share them.

// bucketsShown is how many token buckets the table has: the best ones. JSON and CSV have all.
const bucketsShown = 5

// A suggestSection is a table with a title.
type suggestSection struct {
	title string
	grid  *grid
	notes []string // below it
}

func (s *SuggestAnswer) sections() []suggestSection {
	all := []suggestSection{{title: "Who is there" + s.about(), grid: s.clientsGrid()}}
	if s.Whole != nil {
		all = append(all, suggestSection{title: s.Whole.Limit + " on the whole log, as a replay judges it", grid: s.wholeGrid()})
	}
	if len(s.Bounds) > 0 {
		all = append(all, suggestSection{
			title: "What one client is admitted at most, from when it begins anew" + s.about(), grid: s.boundsGrid(),
			notes: []string{"In less than a minute, an hour, a day. A bucket leaves its burst and a token for each that comes meanwhile; a window its N each time anew."},
		})
	}
	if shown := s.shown(); len(shown) > 0 {
		title := "The strictest limits: hit, of those to spare; stopped, of the requests and clients to stop" + s.scaled()
		all = append(all, suggestSection{title, s.limitsGrid(shown), s.limitsNotes(shown)})
	}
	for _, best := range s.Advice.BestOfAll() {
		m := s.modelOf(best)
		all = append(all, suggestSection{title: m.Chosen.Limit + ", a little stricter and a little kinder", grid: s.runnersGrid(m)})
	}
	return all
}

// limitsNotes explain the columns, and what the table leaves out.
func (s *SuggestAnswer) limitsNotes(shown []*SuggestLimit) (notes []string) {
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

func (s *SuggestAnswer) about() string {
	if s.Action == "" {
		return ""
	}
	return ", in requests of " + visible(s.Action)
}

func (s *SuggestAnswer) scaled() string {
	if s.Advice.Scale.One() {
		return ""
	}
	return fmt.Sprintf(", for clients that send %s times as much; the figures are those of such a day", s.Advice.Scale)
}

// modelOf is what JSON shows of a suggestion.
func (s *SuggestAnswer) modelOf(of *suggest.Suggestion) *SuggestLimit {
	return &s.Suggestions[slices.IndexFunc(s.Suggestions, func(m SuggestLimit) bool { return m.of == of })]
}

// shown are the suggestions that the table has: all windows, and of token buckets the best ones.
func (s *SuggestAnswer) shown() (shown []*SuggestLimit) {
	var buckets []*SuggestLimit
	for i := range s.Suggestions {
		switch m := &s.Suggestions[i]; {
		case m.Chosen == nil:
		case m.of.Kind == sweep.Token:
			buckets = append(buckets, m)
		default:
			shown = append(shown, m)
		}
	}
	slices.SortStableFunc(buckets, func(x, y *SuggestLimit) int { return s.Advice.Compare(x.of, y.of) })
	return append(shown, buckets[:min(len(buckets), bucketsShown)]...)
}

// clientsGrid has a row for each group, with what the best limit refuses of it.
func (s *SuggestAnswer) clientsGrid() *grid {
	g := &grid{columns: []column{text("clients")}}
	parts := []*SuggestPart{&s.First}
	if s.Rest != nil {
		parts = append(parts, s.Rest)
	}
	best := s.Advice.BestOfAll()
	for i := range parts {
		name := [2]string{"first part", "rest"}[i]
		g.columns = append(g.columns, number("clients, "+name))
		if len(best) > 0 {
			g.columns = append(g.columns, with(number("hit"))...)
		}
		g.columns = append(g.columns, with(number("requests"))...)
		if len(best) > 0 {
			g.columns = append(g.columns, with(number("refused"), number("%"))...)
		}
	}
	for group := range suggest.GroupCount {
		row := []string{group.String()}
		for i, p := range parts {
			total := p.ByGroup[group]
			row = append(row, thousands(total.Clients))
			if len(best) == 0 {
				row = append(row, thousands(total.Requests))
				continue
			}
			price := s.modelOf(best[0]).Chosen
			f := [2]*SuggestFigures{&price.First, price.Rest}[i].ByGroup[group]
			row = append(row, thousands(f.Hit), thousands(total.Requests), thousands(*f.Refused), percent(percentOf(*f.Refused, total.Requests)))
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// priceColumns are the columns of a price. Where the log has no rest there are half as many.
func (s *SuggestAnswer) priceColumns() (columns []column) {
	for _, part := range []string{"", "rest: "}[:s.partCount()] {
		columns = append(columns, number(part+"hit"))
		columns = append(columns, with(number("%"), number("stopped %"), number("clients"))...)
	}
	return columns
}

func (s *SuggestAnswer) partCount() int {
	if s.Rest == nil {
		return 1
	}
	return 2
}

// priceCells are those of a limit: the clients hit of those to spare, and what is refused of those to stop.
func (s *SuggestAnswer) priceCells(c *suggest.Candidate) (cells []string) {
	a := s.Advice
	spared := suggest.Set(0)
	for _, p := range a.Promises {
		spared |= p.Who
	}
	figures, parts := []*suggest.Figures{&c.First, &c.Rest}, []*suggest.Part{a.First, a.Rest}
	for i, f := range figures[:s.partCount()] {
		p := parts[i]
		cells = append(cells,
			thousands(f.Hit.Of(spared)), percent(percentOf(f.Hit.Of(spared), p.Clients.Of(spared))),
			percent(percentOf(f.Refused.Of(a.Stop), p.Requests.Of(a.Stop))),
			fmt.Sprintf("%s/%s", thousands(f.Hit.Of(a.Stop)), thousands(p.Clients.Of(a.Stop))))
	}
	return cells
}

// limitsGrid has a row for each suggestion.
func (s *SuggestAnswer) limitsGrid(shown []*SuggestLimit) *grid {
	g := &grid{columns: append([]column{text("limit")}, s.priceColumns()...)}
	if s.Rest != nil {
		g.columns = append(g.columns, text("rest: it"))
		g.columns = append(g.columns, with(number("from"))...)
	}
	g.columns = append(g.columns, number("knee"))
	for _, m := range shown {
		row := append([]string{m.Chosen.Limit}, s.priceCells(&m.of.Chosen)...)
		if s.Rest != nil {
			row = append(row, m.Proof, s.scaledN(m.Both))
		}
		g.rows = append(g.rows, append(row, s.scaledN(m.Knee)))
	}
	return g
}

// scaledN is the number of a limit that there may be.
func (s *SuggestAnswer) scaledN(p *SuggestPrice) string {
	if p == nil {
		return "–"
	}
	return thousands(s.Advice.Scale.Up(p.N))
}

// runnersGrid has a row for each runner-up, with the limit itself among them.
func (s *SuggestAnswer) runnersGrid(m *SuggestLimit) *grid {
	g := &grid{columns: append([]column{text("limit")}, s.priceColumns()...)}
	row := func(c *suggest.Candidate, mark string) {
		limit, _ := s.Advice.Text(m.of, c.Limit)
		g.rows = append(g.rows, append([]string{limit + mark}, s.priceCells(c)...))
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
