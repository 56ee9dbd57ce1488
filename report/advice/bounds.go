package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/report/format"
	"shadow/report/table"
	"shadow/suggest"
	"shadow/sweep"
)

// What limits leave to somebody who takes all he can get: all there is to go by where nobody to spare is seen.

// A Bound is a limit with what it leaves.
type Bound struct {
	Limit   string `json:"limit"`
	Minute  int64  `json:"first_minute"` // requests that one client is admitted in less than that time, at most
	Hour    int64  `json:"first_hour"`
	Day     int64  `json:"first_day"`
	Refused int64  `json:"refused"` // of the log's
	Hit     int64  `json:"clients_hit"`
	Nginx   string `json:"nginx"` // what limit_req is told; "": it has no such limit
}

// boundsOf is what JSON shows of the bounds.
func boundsOf(a *suggest.Advice) []Bound {
	all := []Bound{}
	for i := range a.Ceilings {
		b := &a.Ceilings[i]
		leaves := leavesOf(b.Shape, b.N)
		m := Bound{
			Limit: b.Limit(), Minute: leaves[0], Hour: leaves[1], Day: leaves[2],
			Refused: b.Whole.Refused.Of(suggest.Everybody), Hit: b.Whole.Hit.Of(suggest.Everybody),
		}
		if twin, ok := b.Nginx(); ok {
			m.Nginx = twin.Setting()
		}
		all = append(all, m)
	}
	return all
}

// leavesOf is what a limit leaves in each of suggest.Times.
func leavesOf(s sweep.Shape, n int64) (leaves [3]int64) {
	for i, time := range suggest.Times {
		leaves[i] = suggest.Admits(s, n, time)
	}
	return leaves
}

// leavesText says what the answer leaves to somebody who begins again, "" without an answer.
func (s *Answer) leavesText() string {
	best := s.Advice.BestOfAll()
	if len(best) == 0 || !s.Advice.Scale.One() {
		return ""
	}
	n := leavesOf(best[0].Shape, best[0].Steady())
	return fmt.Sprintf("at most %s to one client in less than a minute, %s in an hour, %s in a day, if it begins anew and takes all it can get",
		format.Count(n[0], "request"), format.Thousands(n[1]), format.Thousands(n[2]))
}

// boundsTable has a row for each limit that is offered where there is nobody to spare.
func (s *Answer) boundsTable() *table.Table {
	t := table.New(table.Words("limit"), table.Number("first minute"))
	t.Join(table.Numbers("hour", "day")...)
	t.Head(table.Number("refused here"))
	t.Join(table.Numbers("%", "clients")...)
	t.Head(table.Words("nginx"))
	requests := s.Advice.Whole.Requests.Of(suggest.Everybody)
	for _, b := range s.Bounds {
		t.Add(table.Text(b.Limit), table.Count(b.Minute), table.Count(b.Hour), table.Count(b.Day), table.Count(b.Refused),
			table.Share(format.PercentOf(b.Refused, requests)), table.Count(b.Hit), table.Text(cmp.Or(b.Nginx, "–")))
	}
	return t
}

// unsparedText says whom the log shows instead of those to spare.
func unsparedText(a *suggest.Advice, p suggest.Promise) string {
	requests := a.Whole.Requests
	later := ""
	if n := a.Whole.Groups.Of(p.Who); n > 0 {
		later = fmt.Sprintf(" The rest of the log has %s to spare: --holdout 0 chooses on all of it.", format.Count(n, "client"))
	}
	var groups []suggest.Group
	for g := range suggest.GroupCount {
		if requests[g] > 0 {
			groups = append(groups, g)
		}
	}
	slices.SortStableFunc(groups, func(x, y suggest.Group) int { return int(min(1, max(-1, requests[y]-requests[x]))) })
	var there []string
	for _, g := range groups {
		there = append(there, fmt.Sprintf("%s by %s", format.Thousands(requests[g]), g))
	}
	return fmt.Sprintf("No %s sent a request of this action in the part that limits are chosen on: nobody to spare, so there is no promise to hold a limit to. "+
		"Of the %s of it in the whole log, %s. The table tells what a limit leaves to an attacker who begins anew, and what it refuses of these: "+
		"take the strictest of which you think that people can live with it.%s",
		p.Who, format.Count(requests.Of(suggest.Everybody), "request"), strings.Join(there, ", "), later)
}
