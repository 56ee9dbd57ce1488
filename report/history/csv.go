package history

import (
	"shadow/report/format"
	"shadow/report/table"
)

// The history in the table of the report: rows of level "trend" (name is the run), "newly hit", "released", "repeat
// offender" and "new action".

func (p *Policy) CsvCells() (all []map[string]string) {
	for i := range p.Trend {
		r := &p.Trend[i]
		all = append(all, map[string]string{
			"level": "trend", "name": format.Plain(int64(r.Run)), "requests": format.Plain(r.Requests), "refused": format.Plain(r.Refused),
			"clients": format.Plain(r.Clients), "clients_hit": format.Plain(r.ClientsHit),
		})
	}
	for level, movers := range p.Lists() {
		for i := range movers {
			c := &movers[i]
			all = append(all, map[string]string{
				"level": levels[level], "name": table.CsvText(c.Client), "class": c.Class, "requests": format.Plain(c.Requests), "refused": format.Plain(c.Refused),
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

func (h *History) CsvCells() (all []map[string]string) {
	for _, a := range h.TopNewActions {
		all = append(all, map[string]string{"level": "new action", "name": table.CsvText(a.Action), "requests": format.Plain(a.Requests)})
	}
	return all
}
