package report

import (
	"strconv"

	"shadow/report/format"
	"shadow/report/table"
	"shadow/request"
)

// PolicyTable has a row per policy. On a page, only classes with a client have a column.
func PolicyTable(m *Model, page bool) *table.Table {
	shown := m.shown(page)
	t := table.New(table.Name("limit"))
	t.Title, t.Whole = "All candidates", m.Detailed < len(m.Policies)
	if shown.keys {
		t.Join(table.Words("counted by"))
	}
	t.Head(table.Number("refused"))
	t.Join(table.Number("%").Titled("% of requests"), table.Number("clients hit"), table.Number("%").Titled("% of clients"))
	if shown.delays {
		t.Head(table.Number("delayed"))
		t.Join(table.Numbers("p50 delay", "p99 delay", "delay in all")...)
	}
	for i, class := range shown.classes {
		column := table.Number(class.String()).Titled(ClassTitle(class) + " hit")
		if i == 0 {
			t.Head(column)
		} else {
			t.Join(column)
		}
		if shown.evidence && class == request.Browser {
			t.Join(table.Number("(disguised)").Titled("of them disguised"))
		}
	}
	t.Head(table.Words("worst minute"))
	t.Join(table.Numbers("in it", "saved")...)
	if m.Input.UpstreamLogged {
		t.Head(table.Number("upstream saved"))
	}
	for i := range m.Policies {
		t.Add(m.Policies[i].cells(m, shown)...)
	}
	return t
}

// shown is what the table of policies shows where some policy gives reason to, and how it writes times.
type shown struct {
	keys, delays bool
	evidence     bool // which browsers are disguised
	classes      []request.Class
	at           Layouts
}

func (m *Model) shown(page bool) shown {
	s := shown{at: LayoutsFor(m.Input.Span)}
	for i := range m.Policies {
		p := &m.Policies[i]
		s.keys = s.keys || p.By != "client"
		s.delays = s.delays || p.Delay != nil
		s.evidence = s.evidence || p.ByEvidence != nil && m.Input.AgentsLogged
	}
	for class := range request.ClassCount {
		if m.Input.AgentsLogged && len(m.Policies) > 0 && (!page || m.Policies[0].ByClass[class].Clients > 0) {
			s.classes = append(s.classes, class)
		}
	}
	return s
}

func (p *Policy) cells(m *Model, shown shown) []table.Cell {
	row := []table.Cell{table.Text(p.Policy)}
	if shown.keys {
		row = append(row, table.Text(p.By))
	}
	refused, hit := p.Counts()
	row = append(row, table.Shown(refused, format.Plain(p.Refused)), table.Share(p.RefusedPercent),
		table.Shown(hit, format.Plain(p.ClientsHit)), table.Share(p.ClientsHitPercent))
	if shown.delays {
		row = append(row, p.delayCells()...)
	}
	for _, class := range shown.classes {
		row = append(row, table.Count(p.ByClass[class].ClientsHit))
		if shown.evidence && class == request.Browser {
			row = append(row, table.Count(p.ByEvidence.Disguised.ClientsHit))
		}
	}
	if w := p.WorstMinute; w != nil {
		row = append(row, MomentCell(w.Start, shown.at.Minute), table.Count(w.Refused))
	} else {
		row = append(row, table.None, nothing)
	}
	row = append(row, table.Shown(format.Size(p.BytesSaved), format.Plain(p.BytesSaved)))
	if m.Input.UpstreamLogged {
		saved := format.OfSeconds(p.UpstreamSecondsSaved)
		row = append(row, table.Shown(format.Span(saved), format.Plain(int64(saved))))
	}
	return row
}

// nothing stands for 0 where a number would say less.
var nothing = table.Shown("–", "0")

// MomentCell is a moment, which sorts by time.
func MomentCell(m format.Moment, layout string) table.Cell {
	return table.Shown(m.Format(layout), m.String())
}

// delayCells tell how long the policy keeps requests waiting, if it does.
func (p *Policy) delayCells() []table.Cell {
	switch {
	case p.Delay == nil:
		return []table.Cell{nothing, nothing, nothing, nothing}
	case p.Delayed == 0:
		return []table.Cell{table.Count(0), nothing, nothing, nothing}
	}
	wait := func(seconds float64) table.Cell {
		return table.Shown(format.Wait(seconds), strconv.FormatFloat(seconds, 'g', -1, 64))
	}
	return []table.Cell{table.Count(p.Delayed), wait(p.Delay.P50), wait(p.Delay.P99), wait(p.Delay.Total)}
}

// Counts are the requests refused and the clients hit, with what they may also be if the policy is an approximation.
func (p *Policy) Counts() (refused, hit string) {
	refused, hit = format.Thousands(p.Refused), format.Thousands(p.ClientsHit)
	if p.Range != nil {
		refused += format.Between(p.Range.Refused)
		hit += format.Between(p.Range.ClientsHit)
	}
	return refused, hit
}

// BandTable has a row per policy: from what to what its figures may go.
func BandTable(m *Model) *table.Table {
	t := table.New(table.Name("limit"), table.Number("refused, band"))
	t.Title, t.Whole = "From what to what the figures may go", m.Detailed < len(m.Policies)
	t.Join(table.Number("%").Titled("% of requests"), table.Number("clients hit, band"), table.Number("%").Titled("% of clients"))
	if m.Input.AgentsLogged {
		t.Head(table.Number(request.Browser.String()))
		for class := request.Browser + 1; class < request.ClassCount; class++ {
			t.Join(table.Number(class.String()))
		}
	}
	for i := range m.Policies {
		b := m.Policies[i].Band
		row := []table.Cell{
			table.Text(m.Policies[i].Policy),
			rangeCell(b.Refused), percentCell(b.RefusedPercent), rangeCell(b.ClientsHit), percentCell(b.ClientsHitPercent),
		}
		if m.Input.AgentsLogged {
			for _, f := range b.ByClass {
				row = append(row, rangeCell(f.ClientsHit))
			}
		}
		t.Add(row...)
	}
	return t
}

// rangeCell is sorted by the most that the figure may be.
func rangeCell(r [2]int64) table.Cell { return table.Shown(format.FromTo(r), format.Plain(r[1])) }

func percentCell(r [2]float64) table.Cell {
	return table.Shown(format.Percents(r), strconv.FormatFloat(r[1], 'g', -1, 64))
}

// ClientTable has a row per client that a policy refused.
func ClientTable(m *Model, p *Policy) *table.Table {
	at := LayoutsFor(m.Input.Span)
	t := table.New(table.Name("client"), table.Number("requests"))
	t.Title = "Clients hit by " + p.Policy
	t.Join(table.Number("refused"), table.Number("%").Titled("% refused"))
	t.Head(table.Words("first refused"))
	t.Join(table.Words("last refused"))
	m.Input.WhoColumns(t)
	for _, c := range p.TopClients {
		row := []table.Cell{
			table.Text(c.Client), table.Count(c.Requests), table.Count(c.Refused), table.Share(c.RefusedPercent),
			MomentCell(c.First, at.Second), MomentCell(c.Last, at.Second),
		}
		t.Add(append(row, m.Input.Who(c.Class, c.Agent, c.Evidence)...)...)
	}
	return t
}

// WhoColumns are what the log tells of a client: its class and agent, and the evidence.
func (in *Input) WhoColumns(t *table.Table) {
	if in.AgentsLogged {
		t.Head(table.Words("class"))
		t.Join(table.Long("agent"))
	}
	if in.Evidence != nil {
		t.Head(table.Words("evidence"))
	}
}

// Who are the cells in WhoColumns.
func (in *Input) Who(class, agent string, e *Evidence) (cells []table.Cell) {
	if in.AgentsLogged {
		cells = table.Texts(class, agent)
	}
	if in.Evidence != nil {
		cells = append(cells, table.Text(e.Short()))
	}
	return cells
}

// ActionTable has a row per action of which a policy refused requests.
func ActionTable(p *Policy) *table.Table {
	t := table.New(table.Name("action"), table.Number("requests"))
	t.Title = "Actions refused by " + p.Policy
	t.Join(table.Number("refused"), table.Number("%").Titled("% refused"), table.Number("% of all refused"))
	for _, a := range p.TopActions {
		t.Add(table.Text(a.Action), table.Count(a.Requests), table.Count(a.Refused), table.Share(a.RefusedPercent), table.Share(a.SharePercent))
	}
	return t
}
