package report

import (
	"shadow/report/format"
)

// Evidence in CSV. The rows "input" and "policy" tell how many clients look human, like a bot, or undecided, of the latter of
// those that it hit; rows of level "evidence" divide the browsers of a policy; clients bear their verdict. Without evidence
// all of these cells are empty, and there are no such rows.

// csvEvidence are the rows that divide the browsers.
func (p *Policy) csvEvidence() []map[string]string {
	if p.ByEvidence == nil {
		return nil
	}
	people := p.ByEvidence.People.csvCells("evidence", "people", "browser")
	if p.Harm != nil && p.Harm.People != nil {
		p.Harm.People.csv(people)
	}
	return []map[string]string{people, p.ByEvidence.Disguised.csvCells("evidence", "disguised", "browser")}
}

// csvCells are the figures of some clients.
func (f *ClassFigures) csvCells(level, name, class string) map[string]string {
	return map[string]string{
		"level": level, "name": name, "class": class, "requests": format.Plain(f.Requests), "refused": format.Plain(f.Refused),
		"clients": format.Plain(f.Clients), "clients_hit": format.Plain(f.ClientsHit),
	}
}

func (v *Verdicts) csv(cells map[string]string) {
	if v != nil {
		cells["human"], cells["bot"], cells["undecided"], cells["shared"] = format.Plain(v.Human), format.Plain(v.Bot), format.Plain(v.Undecided), format.Plain(v.Shared)
	}
}

func (e *Evidence) csv(cells map[string]string) {
	if e != nil {
		cells["evidence"], cells["shared"] = e.Verdict, "0"
		if e.Shared {
			cells["shared"] = "1"
		}
	}
}

func (p *Pages) csv(cells map[string]string) {
	cells["page_views"], cells["page_views_broken"] = format.Plain(p.PageViews), format.Plain(p.Broken)
}
