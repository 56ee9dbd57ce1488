package report

import (
	"io"

	"shadow/internal/request"
	"shadow/internal/traffic/who"
	"shadow/report/format"
	"shadow/report/table"
)

// The report as one rectangular table: a row of level "input", then for each policy a row of level "policy", its
// classes, with evidence rows of level "evidence" that divide its browsers, its top clients and its top actions; with
// a history also its runs and the clients that moved, and at the end new actions. A cell that makes no sense at its
// level is empty.

// CSV writes the report for programs.
func (m *Model) CSV(w io.Writer) error { return table.Records(w, csvHead(), m.records()) }

func csvHead() (head []string) {
	for _, f := range columns() {
		if f.rows != 0 {
			head = append(head, f.Names...)
		}
	}
	return head
}

// record has the figures of rows of one kind.
func (t *source) record(kind rows, level, name, class string) table.Record {
	r := table.Record{"level": table.Text(level), "name": table.Text(name), "class": table.Text(class)}
	for _, f := range columns() {
		if f.rows&kind == 0 {
			continue
		}
		for i, name := range f.Names {
			r[name] = cell(f.of(t, i))
		}
	}
	return r
}

func (m *Model) records() []table.Record {
	in := &m.Input
	read := &source{model: m, group: &group{
		ClassFigures: ClassFigures{Requests: in.Requests, Clients: in.Clients},
	}}
	all := append([]table.Record{read.record(ofInput, "input", "", "")}, m.Apart.records()...)
	for i := range m.Policies {
		p := &m.Policies[i]
		rows := p.records(m)
		if m.History != nil {
			rows = append(rows, m.History.Policies[i].Records()...)
		}
		for _, r := range rows {
			r["policy"], r["by"] = table.Text(p.Policy), table.Text(p.By)
		}
		all = append(all, rows...)
	}
	if m.History != nil {
		all = append(all, m.History.Records()...)
	}
	return all
}

// all is the clients of the policy.
func (p *Policy) all() *group {
	g := &group{
		ClassFigures: ClassFigures{Requests: p.Requests, Refused: p.Refused, Clients: p.Clients, ClientsHit: p.ClientsHit},
	}
	if p.Band != nil {
		g.Band = &BandFigures{p.Band.Refused, p.Band.ClientsHit}
	}
	if p.Harm != nil {
		g.Pages = &p.Harm.Pages
	}
	return g
}

func (p *Policy) records(m *Model) []table.Record {
	all := []table.Record{(&source{model: m, policy: p, group: p.all()}).record(ofPolicy, "policy", "", "")}
	add := func(level, name, class string, g group) {
		all = append(all, (&source{model: m, policy: p, group: &g}).record(ofGroup, level, name, class))
	}
	for class, f := range p.ByClass {
		g := group{ClassFigures: f}
		if p.Band != nil {
			g.Band = &p.Band.ByClass[class]
		}
		if p.Harm != nil {
			g.Pages = &p.Harm.ByClass[class]
		}
		name := request.Class(class).String()
		add("class", name, name, g)
	}
	if p.ByIdentity != nil {
		for is, f := range p.ByIdentity {
			add("identity", who.Identity(is).String(), "", group{ClassFigures: f})
		}
	}
	for _, c := range p.TopClients {
		r := table.Record{
			"level": table.Text("client"), "name": table.Text(c.Client), "class": table.Text(c.Class),
			"agent":    table.Text(c.Agent),
			"requests": table.Count(c.Requests), "refused": table.Count(c.Refused),
			"first_refused": cell(c.First), "last_refused": cell(c.Last),
		}
		if c.Identity != nil {
			r["identity"] = table.Text(c.Identity.Identity)
		}
		all = append(all, r)
	}
	for _, a := range p.TopActions {
		all = append(all, table.Record{
			"level": table.Text("action"), "name": table.Text(a.Action), "requests": table.Count(a.Requests),
			"refused": table.Count(a.Refused),
		})
	}
	return all
}

// records are a row for all of it, and one for each client that is named.
func (p *Apart) records() (all []table.Record) {
	if p == nil {
		return nil
	}
	all = append(all, table.Record{
		"level": table.Text("judged apart"), "name": table.Text(format.Runs(p.Runs)), "clients": table.Count(p.Clients),
		"requests": table.Count(p.Requests),
	})
	for _, c := range p.TopClients {
		all = append(all, table.Record{
			"level": table.Text("client judged apart"), "name": table.Text(c.Client),
			"requests": table.Count(c.Requests),
		})
	}
	return all
}
