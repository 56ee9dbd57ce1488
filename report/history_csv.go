package report

// The history in the table of the report: rows of level "trend" (name is the run), "newly hit", "released", "repeat
// offender" and "new action".

func (p *PolicyHistory) csvCells() (all []map[string]string) {
	for i := range p.Trend {
		r := &p.Trend[i]
		all = append(all, map[string]string{
			"level": "trend", "name": plain(int64(r.Run)), "requests": plain(r.Requests), "refused": plain(r.Refused),
			"clients": plain(r.Clients), "clients_hit": plain(r.ClientsHit),
		})
	}
	for level, movers := range p.lists() {
		for i := range movers {
			c := &movers[i]
			all = append(all, map[string]string{
				"level": levels[level], "name": csvText(c.Client), "class": c.Class, "requests": plain(c.Requests), "refused": plain(c.Refused),
			})
		}
	}
	return all
}

var levels = [3]string{"newly hit", "released", "repeat offender"}

// lists are the clients that moved, in the order of levels.
func (p *PolicyHistory) lists() [3][]Mover {
	return [3][]Mover{p.TopNewlyHit, p.TopReleased, p.TopRepeating}
}

func (h *History) csvCells() (all []map[string]string) {
	for _, a := range h.TopNewActions {
		all = append(all, map[string]string{"level": "new action", "name": csvText(a.Action), "requests": plain(a.Requests)})
	}
	return all
}
