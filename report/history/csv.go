package history

import (
	"shadow/report/table"
)

// The history in the table of the report: rows of level "trend" (name is the run), "newly hit", "released", "repeat
// offender" and "new action".

// Records are the rows of a policy.
func (p *Policy) Records() (all []table.Record) {
	for i := range p.Trend {
		r := &p.Trend[i]
		all = append(all, table.Record{
			"level": table.Text("trend"), "name": table.Count(int64(r.Run)), "requests": table.Count(r.Requests), "refused": table.Count(r.Refused),
			"clients": table.Count(r.Clients), "clients_hit": table.Count(r.ClientsHit),
		})
	}
	for level, movers := range p.Lists() {
		for i := range movers {
			c := &movers[i]
			all = append(all, table.Record{
				"level": table.Text(levels[level]), "name": table.Text(c.Client), "class": table.Text(c.Class), "requests": table.Count(c.Requests), "refused": table.Count(c.Refused),
			})
		}
	}
	return all
}

var levels = [3]string{"newly hit", "released", "repeat offender"}

// Lists are the clients that moved, in the order of levels.
func (p *Policy) Lists() [3][]Mover {
	return [3][]Mover{p.TopNewlyHit, p.TopReleased, p.TopRepeating}
}

// Records are the rows of new actions.
func (h *History) Records() (all []table.Record) {
	for _, a := range h.TopNewActions {
		all = append(all, table.Record{"level": table.Text("new action"), "name": table.Text(a.Action), "requests": table.Count(a.Requests)})
	}
	return all
}
