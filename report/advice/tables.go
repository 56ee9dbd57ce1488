package advice

import (
	"fmt"
	"slices"

	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/traffic/who"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/keys"
	"shadow/report/table"
)

// The tables of a suggestion; terminal and Markdown share them.

// bucketsShown is the number of token buckets in the table: the best ones. JSON and CSV have all.
const bucketsShown = 5

// sections are the tables of an answer.
func (s *Answer) sections() []document.Section {
	about := ""
	if s.Action != "" {
		about = ", in requests of " + s.Action
	}
	there := "Who is there" + about
	if len(s.best) > 0 {
		there += ", and what the best limit of any server, " + s.modelOf(s.best[0]).Chosen.Limit + ", refuses"
	}
	all := []document.Section{{Title: there, Table: s.clientsTable()}}
	if s.Whole != nil {
		all = append(all, document.Section{
			Title: s.Whole.Limit + " on the whole log, as a replay judges it",
			Table: s.wholeTable(),
		})
	}
	if len(s.Bounds) > 0 {
		all = append(all, document.Section{
			Title: "What one client is admitted at most, from its first request on" + about, Table: s.boundsTable(),
			Notes: []string{"In less than a minute, an hour, a day. A bucket allows its burst and each token that comes " +
				"meanwhile; a window allows N in each period."},
		})
	}
	if shown, found := s.shown(); found > 0 {
		title := "The strictest limits: protected clients hit, and the part of the target requests and clients that is " +
			"refused"
		if scale := s.Advice.Scale; !scale.One() {
			title += fmt.Sprintf(", for clients that send %s times as much; the figures are those of such a day", scale)
		}
		all = append(all, document.Section{
			Title: title, Table: s.limitsTable(shown),
			Notes: s.limitsNotes(len(shown), found),
		})
	}
	if len(s.Verdict.ByKey) > 0 {
		all = append(all, document.Section{
			Title: "The bound by other keys: target requests that any limit could refuse at most" + about, Table: s.byKeyTable(),
		})
	}
	for _, best := range s.best {
		m := s.modelOf(best)
		all = append(all, document.Section{
			Title: m.Chosen.Limit + ", a little stricter and a little looser",
			Table: s.runnersTable(m),
		})
	}
	return all
}

// byKeyTable has the bound by each key.
func (s *Answer) byKeyTable() *table.Table {
	t := table.Of[keys.Bound]{}
	t.Head(table.Words("key"), func(r *keys.Bound) table.Cell { return table.Text(r.Key) })
	t.Join(table.Number("requests"), func(r *keys.Bound) table.Cell { return table.Count(r.Requests) })
	t.Join(table.Number("of"), func(r *keys.Bound) table.Cell { return table.Count(r.OfRequests) })
	t.Join(table.Number("%"), func(r *keys.Bound) table.Cell { return table.Share(r.RequestsPercent) })
	t.Join(table.Number("clients"), func(r *keys.Bound) table.Cell { return table.Count(r.Clients) })
	t.Join(table.Number("of"), func(r *keys.Bound) table.Cell { return table.Count(r.OfClients) })
	return t.Fill(s.Verdict.ByKey)
}

// limitsNotes explain the columns, and what the table leaves out.
func (s *Answer) limitsNotes(shown, found int) []string {
	note := "knee: above this N, loosening the limit protects few more clients."
	if s.Rest != nil {
		note = "Each is the least that keeps the promise on both parts that choose. On the rest it holds if it keeps it " +
			"there too. " + note
	}
	if found == shown {
		return []string{note}
	}
	return []string{note, fmt.Sprintf("Shown are all windows and the %d best of %d token buckets; --output csv has all "+
		"%d limits.",
		bucketsShown, bucketsShown+found-shown, found)}
}

// modelOf returns what JSON shows of a suggestion.
func (s *Answer) modelOf(of *suggest.Suggestion) *Limit {
	return &s.Suggestions[slices.IndexFunc(s.Suggestions, func(m Limit) bool { return m.of == of })]
}

// shown are the limits that the table has: all windows, and of token buckets the best ones. found is how many there
// are.
func (s *Answer) shown() (shown []*Limit, found int) {
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
	return append(shown, buckets[:min(len(buckets), bucketsShown)]...), len(shown) + len(buckets)
}

// A part is a part of the log that there is.
type part struct {
	name  string // in heads
	index int
	of    *suggest.Part
}

// parts returns the parts that there are.
func (s *Answer) parts() (all []part) {
	for i, of := range s.Advice.Parts {
		if of != nil {
			all = append(all, part{[...]string{"first", "second", "rest"}[i], i, of})
		}
	}
	return all
}

// clientsTable has a row for each group, with what the best limit refuses of it.
func (s *Answer) clientsTable() *table.Table {
	t := table.New(table.Words("clients"))
	parts := s.parts()
	for _, p := range parts {
		t.Head(table.Number(p.name + ": clients"))
		if len(s.best) > 0 {
			t.Join(table.Numbers("hit", "requests", "refused", "%")...)
		} else {
			t.Join(table.Number("requests"))
		}
	}
	for group := range who.Count {
		row := table.Texts(group.String())
		for _, p := range parts {
			clients, requests := p.of.Clients[group], p.of.Requests[group]
			if len(s.best) == 0 {
				row = append(row, table.Counts(clients, requests)...)
				continue
			}
			f := s.modelOf(s.best[0]).Chosen.of(p.index).ByGroup[group]
			row = append(row, table.Counts(clients, f.Hit, requests, *f.Refused)...)
			row = append(row, table.Share(format.PercentOf(*f.Refused, requests)))
		}
		t.Add(row...)
	}
	return t
}

// wholeTable has a row for each group that is there, and all of them.
func (s *Answer) wholeTable() *table.Table {
	w := s.Advice.Whole
	t := table.New(table.Words("clients"), table.Number("on the whole log"))
	t.Join(table.Numbers("hit", "requests", "refused", "%")...)
	row := func(name string, some who.Set) {
		if n := w.Groups.Of(some); n > 0 {
			refused, requests := w.Answer.Refused.Of(some), w.Requests.Of(some)
			cells := append(table.Texts(name), table.Counts(n, w.Answer.Hit.Of(some), requests, refused)...)
			t.Add(append(cells, table.Share(format.PercentOf(refused, requests)))...)
		}
	}
	for group := range who.Count {
		row(group.String(), 1<<group)
	}
	row("all", who.Everybody)
	return t
}

// boundsTable has a row for each limit that is offered where there is no one to protect.
func (s *Answer) boundsTable() *table.Table {
	requests := s.Advice.Whole.Requests.Of(who.Everybody)
	t := table.Of[Bound]{}
	t.Head(table.Words("limit"), func(b *Bound) table.Cell { return table.Text(b.Limit) })
	t.Head(table.Number("first minute"), func(b *Bound) table.Cell { return table.Count(b.Minute) })
	t.Join(table.Number("hour"), func(b *Bound) table.Cell { return table.Count(b.Hour) })
	t.Join(table.Number("day"), func(b *Bound) table.Cell { return table.Count(b.Day) })
	t.Head(table.Number("refused here"), func(b *Bound) table.Cell { return table.Count(b.Refused) })
	t.Join(table.Number("%"), func(b *Bound) table.Cell { return table.Share(format.PercentOf(b.Refused, requests)) })
	t.Join(table.Number("clients"), func(b *Bound) table.Cell { return table.Count(b.Hit) })
	return t.Fill(s.Bounds)
}

// priceTable begins a table of limits with their prices.
func (s *Answer) priceTable() *table.Table {
	t := table.New(table.Words("limit"))
	for _, p := range s.parts() {
		t.Head(table.Number(p.name + ": hit"))
		t.Join(table.Numbers("%", "target %", "clients")...)
	}
	return t
}

// limitsTable has a row for each suggestion.
func (s *Answer) limitsTable(shown []*Limit) *table.Table {
	t := s.priceTable()
	if s.Rest != nil {
		t.Head(table.Words("rest: it"))
	}
	t.Head(table.Number("knee"))
	scaled := func(p *Price) table.Cell { // the number of a limit that there may be
		if p == nil {
			return table.None
		}
		return table.Count(s.Advice.Scale.Up(p.N))
	}
	for _, m := range shown {
		row := append(table.Texts(m.Chosen.Limit), s.priceCells(&m.of.Chosen)...)
		if s.Rest != nil {
			row = append(row, table.Text(m.Proof))
		}
		t.Add(append(row, scaled(m.Knee))...)
	}
	return t
}

// runnersTable has a row for each runner-up, with the limit itself among them.
func (s *Answer) runnersTable(m *Limit) *table.Table {
	t := s.priceTable()
	row := func(c *suggest.Candidate, mark string) {
		limit, _ := s.Advice.Text(m.of, c.Limit)
		t.Add(append(table.Texts(limit+mark), s.priceCells(c)...)...)
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

// priceCells returns what a limit does on each part: the protected clients hit, and what is refused of the target.
func (s *Answer) priceCells(c *suggest.Candidate) (cells []table.Cell) {
	protected, target := s.Advice.Protected(), s.Advice.Target
	percent := func(some, all int64) string { return format.Percent(format.PercentOf(some, all)) }
	for _, p := range s.parts() {
		f := &c.On[p.index]
		hit, targetHit := f.Hit.Of(protected), f.Hit.Of(target)
		cells = append(cells, table.Texts(format.Thousands(hit), percent(hit, p.of.Clients.Of(protected)),
			percent(f.Refused.Of(target), p.of.Requests.Of(target)),
			format.Thousands(targetHit)+"/"+format.Thousands(p.of.Clients.Of(target)))...)
	}
	return cells
}
