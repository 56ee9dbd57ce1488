package haproxy

import (
	"maps"
	"slices"
	"strings"

	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
)

// A slot is a counter with one of its keys.
type slot struct {
	tracked
	number string
	set    neutral.Set // what it counts
}

// tableFor names the table in which a counter counts by a key. What is one for all requests has an entry for each
// constant.
func tableFor(c tracked, key neutral.KeyCase) string {
	if key.By == request.BySite {
		return c.table + " " + c.by
	}
	return c.table
}

// slots returns what counts by a key in a table, in whichever section.
func (r *reader) slots(table string, by request.Key) (all []slot) {
	for _, s := range r.sections {
		for _, number := range slices.Sorted(maps.Keys(s.counters)) {
			for _, c := range s.counters[number] {
				for _, key := range c.keys {
					if c.in == s && key.By == by && tableFor(c, key) == table {
						all = append(all, slot{c, number, key.Set.And(c.came)})
					}
				}
			}
		}
	}
	return all
}

// share has limits that ask for one entry of a table count all that moves it: what other limits count, and slots that
// no rule asks for. Each slot moves it by itself, and no limit of this kind counts a request twice.
func (r *reader) share(p *neutral.Policy) {
	type counter struct {
		asked string
		by    request.Key
	}
	counts := map[counter][]neutral.Set{} // sections may count in one place
	for n, l := range p.Limits {
		c, mine := counter{r.asked[n], l.By}, r.places[n]
		first := counts[c] == nil
		if counts[c] = append(counts[c], l.Count); !strings.HasPrefix(mine.by.term.rate, "http_") {
			continue
		}
		slots := r.slots(mine.table, l.By)
		if first {
			r.tellTwice(slots)
		}
		for _, s := range slots {
			if mine.by.term.rate != "http_req_rate" {
				s.set = s.set.And(mine.moves)
			}
			counts[c] = append(counts[c], s.set)
			for j, other := range r.places {
				if !apart(s.in, other.s) && other.behind(s.in, s.moves) != other.behind(mine.in, mine.counted) &&
					neutral.Meet(s.set, p.Limits[j].Match) {
					r.Lose(r.place(other.by.rule), "of the rules that count by one key in the table %s, some stand before this "+
						"one and some behind, and all on one side here", s.table)
				}
			}
		}
	}
	all := map[counter]neutral.Set{}
	for c, sets := range counts {
		all[c] = neutral.Union(sets...)
	}
	for n := range p.Limits {
		p.Limits[n].Count = all[counter{r.asked[n], p.Limits[n].By}]
	}
}

// tellTwice tells of slots that count one request in one entry.
func (r *reader) tellTwice(slots []slot) {
	for n, s := range slots {
		for _, before := range slots[:n] {
			if s.number != before.number && !apart(s.in, before.in) && neutral.Meet(s.set, before.set) {
				r.Lose(r.place(s.rule), "what sc%s and sc%s track by one key in the table %s counts twice there, and once here",
					before.number, s.number, s.table)
			}
		}
	}
}
