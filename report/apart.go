package report

import (
	"fmt"
	"strings"

	"shadow/report/format"
	"shadow/report/table"
)

// setApart tells, among the warnings as well, what several runs of the same time judged each by itself.
func (m *Model) setApart(found *Apart, a *Anonymizer) {
	if found == nil {
		return
	}
	apart := *found
	apart.TopClients = nil
	for _, c := range found.TopClients {
		apart.TopClients = append(apart.TopClients, ApartClient{a.Name(c.Client), c.Requests})
	}
	m.Apart, m.Warnings = &apart, append(m.Warnings, apart.text(m.Input.Requests))
}

// namedApart is how many clients the warning names.
const namedApart = 5

func (p *Apart) text(requests int64) string {
	var names []string
	for _, c := range p.TopClients[:min(len(p.TopClients), namedApart)] {
		names = append(names, fmt.Sprintf("%s (%s)", c.Client, format.Thousands(c.Requests)))
	}
	if more := p.Clients - int64(len(names)); more > 0 {
		names = append(names, format.Thousands(more)+" more")
	}
	return fmt.Sprintf("%s are about the same time and have %s in common, with %s of the %s: %s. Each run judged its own requests: "+
		"a limit that their hosts share would refuse more, as a replay of all their logs together tells",
		format.Runs(p.Runs), format.Count(p.Clients, "client"), format.Thousands(p.Requests), format.Count(requests, "request"), strings.Join(names, ", "))
}

// records are a row for all of it, and one for each client that is named.
func (p *Apart) records() (all []table.Record) {
	if p == nil {
		return nil
	}
	all = append(all, table.Record{
		"level": table.Text("judged apart"), "name": table.Text(format.Runs(p.Runs)), "clients": table.Count(p.Clients), "requests": table.Count(p.Requests),
	})
	for _, c := range p.TopClients {
		all = append(all, table.Record{"level": table.Text("client judged apart"), "name": table.Text(c.Client), "requests": table.Count(c.Requests)})
	}
	return all
}
