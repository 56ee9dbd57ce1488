package report

import (
	"slices"
	"strconv"

	"shadow/internal/request"
	"shadow/internal/traffic/useragent"
	"shadow/internal/traffic/who"
	"shadow/report/format"
	"shadow/report/table"
)

// PolicyTable has a row per policy, and columns for what some policy gives reason to. Only classes with a client have a
// column, or where people read who the clients are, only identities that some policy hits.
func PolicyTable(m *Model) *table.Table {
	some := func(what func(Policy) bool) bool { return slices.ContainsFunc(m.Policies, what) }
	t := table.Of[Policy]{Table: table.Table{Title: "All candidates", Whole: m.Detailed < len(m.Policies)}}
	t.Head(table.Name("limit"), func(p *Policy) table.Cell { return table.Text(p.Policy) })
	if some(func(p Policy) bool { return p.By != "client" }) {
		t.Join(table.Words("counted by"), func(p *Policy) table.Cell { return table.Text(p.By) })
	}
	t.Head(table.Number("refused"),
		func(p *Policy) table.Cell { return table.Shown(p.RefusedText(), format.Plain(p.Refused)) })
	t.Join(table.Number("%").Titled("% of requests"), func(p *Policy) table.Cell { return table.Share(p.RefusedPercent) })
	t.Join(table.Number("clients hit"),
		func(p *Policy) table.Cell { return table.Shown(p.HitText(), format.Plain(p.ClientsHit)) })
	t.Join(table.Number("%").Titled("% of clients"),
		func(p *Policy) table.Cell { return table.Share(p.ClientsHitPercent) })
	if some(func(p Policy) bool { return p.Delay != nil }) {
		delayColumns(&t)
	}
	add := t.Head
	for class := range request.ClassCount {
		if m.identities || !m.Input.AgentsLogged || len(m.Policies) == 0 || m.Policies[0].ByClass[class].Clients == 0 {
			continue
		}
		add(table.Number(class.String()).Titled(ClassTitle(class)+" hit"),
			func(p *Policy) table.Cell { return table.Count(p.ByClass[class].ClientsHit) })
		add = t.Join
	}
	if m.identities && len(m.Policies) > 1 { // of one, the facts above say it
		for is := range who.Count {
			if some(func(p Policy) bool { return p.ByIdentity[is].ClientsHit > 0 }) {
				add(table.Number(is.String()).Titled(is.String()+" hit"),
					func(p *Policy) table.Cell { return table.Count(p.ByIdentity[is].ClientsHit) })
				add = t.Join
			}
		}
	}
	savedColumns(&t, &m.Input)
	return t.Fill(m.Policies)
}

// delayColumns tell how long a policy keeps requests waiting, if it does.
func delayColumns(t *table.Of[Policy]) {
	t.Head(table.Number("delayed"), func(p *Policy) table.Cell {
		if p.Delay == nil {
			return nothing
		}
		return table.Count(p.Delayed)
	})
	wait := func(head string, seconds func(*Delay) float64) {
		t.Join(table.Number(head), func(p *Policy) table.Cell {
			if p.Delay == nil || p.Delayed == 0 {
				return nothing
			}
			return table.Shown(format.Wait(seconds(p.Delay)), strconv.FormatFloat(seconds(p.Delay), 'g', -1, 64))
		})
	}
	wait("p50 delay", func(d *Delay) float64 { return d.P50 })
	wait("p99 delay", func(d *Delay) float64 { return d.P99 })
	wait("delay in all", func(d *Delay) float64 { return d.Total })
}

// savedColumns tell what the servers are spared, and when most.
func savedColumns(t *table.Of[Policy], in *Input) {
	at := in.Span.Layouts()
	t.Head(table.Words("worst minute"), func(p *Policy) table.Cell {
		if p.WorstMinute == nil {
			return table.None
		}
		return MomentCell(p.WorstMinute.Start, at.Minute)
	})
	t.Join(table.Number("refused that minute"), func(p *Policy) table.Cell {
		if p.WorstMinute == nil {
			return nothing
		}
		return table.Count(p.WorstMinute.Refused)
	})
	t.Head(table.Number("bytes not sent"), func(p *Policy) table.Cell {
		if p.BytesSaved == 0 && p.Refused > 0 { // the log has no sizes, or they are all 0
			return nothing
		}
		return table.Shown(format.Size(p.BytesSaved), format.Plain(p.BytesSaved))
	})
	if in.UpstreamLogged {
		t.Head(table.Number("upstream time saved"), func(p *Policy) table.Cell {
			saved := format.OfSeconds(p.UpstreamSecondsSaved)
			return table.Shown(format.Span(saved), format.Plain(int64(saved)))
		})
	}
}

// nothing stands for 0 where a number would say less.
var nothing = table.Shown("–", "0")

// MomentCell is a moment, which sorts by time.
func MomentCell(m format.Moment, layout string) table.Cell {
	return table.Shown(m.Format(layout), m.String())
}

// BandTable has a row per policy: what it does at least and at most, wherever requests lay in their second. It is sorted
// by the most that figures may be.
func BandTable(m *Model) *table.Table {
	t := table.Of[Policy]{Table: table.Table{Title: "The range of each figure", Whole: m.Detailed < len(m.Policies)}}
	count := func(r [2]int64) table.Cell { return table.Shown(format.FromTo(r), format.Plain(r[1])) }
	share := func(r [2]float64) table.Cell {
		return table.Shown(format.Percents(r), strconv.FormatFloat(r[1], 'g', -1, 64))
	}
	t.Head(table.Name("limit"), func(p *Policy) table.Cell { return table.Text(p.Policy) })
	t.Head(table.Number("refused, band"), func(p *Policy) table.Cell { return count(p.Band.Refused) })
	t.Join(table.Number("%").Titled("% of requests"), func(p *Policy) table.Cell { return share(p.Band.RefusedPercent) })
	t.Join(table.Number("clients hit, band"), func(p *Policy) table.Cell { return count(p.Band.ClientsHit) })
	t.Join(table.Number("%").Titled("% of clients"), func(p *Policy) table.Cell { return share(p.Band.ClientsHitPercent) })
	add := t.Head
	for class := range request.ClassCount {
		if m.Input.AgentsLogged {
			add(table.Number(class.String()), func(p *Policy) table.Cell { return count(p.Band.ByClass[class].ClientsHit) })
			add = t.Join
		}
	}
	return t.Fill(m.Policies)
}

// ClientTable has a row per client that a policy refused.
func ClientTable(m *Model, p *Policy) *table.Table {
	at := m.Input.Span.Layouts().Second
	t := table.Of[Client]{Table: table.Table{Title: "Clients hit by " + p.Policy}}
	t.Head(table.Name("client"), func(c *Client) table.Cell { return table.Text(c.Client) })
	t.Head(table.Number("requests"), func(c *Client) table.Cell { return table.Count(c.Requests) })
	t.Join(table.Number("refused"), func(c *Client) table.Cell { return table.Count(c.Refused) })
	t.Join(table.Number("%").Titled("% refused"), func(c *Client) table.Cell { return table.Share(c.RefusedPercent) })
	t.Head(table.Words("first refused"), func(c *Client) table.Cell { return MomentCell(c.First, at) })
	t.Join(table.Words("last refused"), func(c *Client) table.Cell { return MomentCell(c.Last, at) })
	tellClient(m, &t, p.TopClients, func(c *Client) *Client { return c })
	return t.Fill(p.TopClients)
}

// tellClient adds what the log, and files of the user, tell of the clients of rows.
func tellClient[T any](m *Model, t *table.Of[T], rows []T, of func(*T) *Client) {
	WhoColumns(&m.Head, t, func(row *T) (class, agent string, is *Identity) {
		c := of(row)
		if class = c.Class; c.Crawler != "" {
			class += ", " + c.Crawler
		}
		return class, c.Agent, c.Identity
	})
	if !slices.ContainsFunc(rows, func(row T) bool { return of(&row).Network != nil }) {
		return
	}
	t.Head(table.Words("network"), func(row *T) table.Cell {
		if c := of(row); c.Network != nil {
			return table.Text(c.Network.String())
		}
		return table.None
	})
}

// WhoColumns adds columns on who a client is, if people read it, and what the log tells of it: its class and agent.
func WhoColumns[T any](h *Head, t *table.Of[T], tell func(*T) (class, agent string, is *Identity)) {
	if h.identities {
		t.Head(table.Words("identity"), func(of *T) table.Cell {
			if _, _, is := tell(of); is != nil {
				return table.Text(is.Identity)
			}
			return table.None
		})
	}
	if h.Input.AgentsLogged {
		t.Head(table.Words("class"), func(of *T) table.Cell { class, _, _ := tell(of); return table.Text(class) })
		t.Join(table.Long("agent"), func(of *T) table.Cell {
			_, agent, _ := tell(of)
			return table.Brief(agent, useragent.Short(agent))
		})
	}
}

// ActionTable has a row per action with refused requests.
func ActionTable(p *Policy) *table.Table {
	t := table.Of[Action]{Table: table.Table{Title: "Actions refused by " + p.Policy}}
	t.Head(table.Name("action"), func(a *Action) table.Cell { return table.Text(a.Action) })
	t.Head(table.Number("requests"), func(a *Action) table.Cell { return table.Count(a.Requests) })
	t.Join(table.Number("refused"), func(a *Action) table.Cell { return table.Count(a.Refused) })
	t.Join(table.Number("%").Titled("% refused"), func(a *Action) table.Cell { return table.Share(a.RefusedPercent) })
	t.Join(table.Number("% of all refused"), func(a *Action) table.Cell { return table.Share(a.SharePercent) })
	return t.Fill(p.TopActions)
}
