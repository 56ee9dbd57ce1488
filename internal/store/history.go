package store

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/request"
	"shadow/internal/store/duck"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/report/history"
)

// What has changed from some runs to others. Clients and actions are the same when their names are, policies when
// their names and what they count by are.

// A Question says which runs a history is about. No run may be in Now and in Base.
type Question struct {
	Now, Base []int32         // what is reported, and what it is compared with
	Trend     []int32         // in this order
	Recent    []int32         // in which repeat offenders are looked for
	Days      [][2]limit.Time // on which: from, until; at most 30
	Often     int             // on how many days a repeat offender was hit at least
	Top       int             // rows per list
}

// History answers a question about the policies of a loaded result, which is that of Load(q.Now). Of the history it
// fills Runs, Base, Policies and the new actions.
func (r *Reader) History(l *Loaded, q Question) (*history.History, error) {
	h := &asking{duck: r.duck, q: q, to: &history.History{
		Runs: q.Now, Base: q.Base, Policies: make([]history.Policy, len(l.same)), TopNewActions: []history.NewAction{},
	}}
	for i := range h.to.Policies {
		p := &l.Result.Policies[i].Policy
		h.to.Policies[i] = history.Policy{
			Policy: p.Name, By: p.By(), Trend: []history.Trend{},
			TopNewlyHit: []history.Mover{}, TopReleased: []history.Mover{}, TopRepeating: []history.Mover{},
		}
	}
	kin, err := h.kin(l)
	if err != nil {
		return nil, err
	}
	steps := []func() error{h.trend, h.before, h.newActions}
	if len(q.Base) > 0 || 2*len(q.Recent) >= q.Often { // else no client can have moved: a run counts for two days at most
		steps = append(steps, h.findMoved, h.movers)
	}
	err = h.make("CREATE OR REPLACE TEMP TABLE kin AS FROM (VALUES " + kin + ") kin(run, policy, k)")
	for i := 0; i < len(steps) && err == nil; i++ {
		err = steps[i]()
	}
	return h.to, err
}

// asking is a History under way.
type asking struct {
	duck *duck.Conn
	q    Question
	to   *history.History
}

// make makes a table.
func (h *asking) make(statement string) error {
	return duck.Each(h.duck, statement, func(*int64) error { return nil })
}

// kin finds in all runs the policies that are those of the result: rows of (run, policy, k) for SQL.
func (h *asking) kin(l *Loaded) (string, error) {
	type row struct {
		Run, Policy      int32
		Name, By, Limits string
	}
	var rows []string
	limits, taken := map[int]string{}, map[[2]int32]bool{}
	all := idList(slices.Concat(h.q.Now, h.q.Base, h.q.Trend, h.q.Recent))
	err := duck.Each(h.duck, `SELECT p.run, p.policy, p.name, p.counts_by, any_value(p.combine) || coalesce(string_agg(concat_ws(' ', l.limit_text, l.matches, '/', l.counts), '+' ORDER BY l.part), '')
		FROM policies p LEFT JOIN parts l ON l.run = p.run AND l.policy = p.policy
		WHERE p.run IN `+all+` GROUP BY ALL ORDER BY p.run, p.policy`, func(p *row) error {
		for k := range l.same {
			here := [2]int32{p.Run, int32(k)}
			if l.same[k].name != p.Name || l.same[k].by != p.By || taken[here] {
				continue
			}
			taken[here] = true
			rows = append(rows, fmt.Sprintf("(%d::INTEGER, %d::INTEGER, %d::INTEGER)", p.Run, p.Policy, k))
			if before, known := limits[k]; known && before != p.Limits {
				h.to.Policies[k].Changed = true
			}
			limits[k] = p.Limits
			break
		}
		return nil
	})
	if len(rows) == 0 {
		rows = append(rows, "(NULL::INTEGER, NULL::INTEGER, NULL::INTEGER)")
	}
	return strings.Join(rows, ", "), err
}

// majority is 1 + ClientTally.Class in SQL: of classes with as many requests the first.
const majority = `list_position([browser, crawler, tool, monitor, unknown], greatest(browser, crawler, tool, monitor, unknown))`

//go:embed moved.sql
var movedSQL string

// findMoved finds which clients each policy hit.
func (h *asking) findMoved() error {
	return h.make(strings.NewReplacer(
		"$now", idList(h.q.Now), "$base", idList(h.q.Base), "$recent", idList(h.q.Recent), "$some", idList(slices.Concat(h.q.Now, h.q.Base, h.q.Recent)),
		"$first_day", h.dayBit("t.first_refused"), "$last_day", h.dayBit("t.last_refused"), "$often", fmt.Sprint(h.q.Often), "$majority", majority,
	).Replace(movedSQL))
}

// dayBit is the bit of the day that a moment lies on, 0 if on none.
func (h *asking) dayBit(at string) string {
	bit := "CASE WHEN false THEN 0"
	for i, day := range h.q.Days {
		bit += fmt.Sprintf(" WHEN %s >= %s AND %s < %s THEN %d", at, moment(day[0]), at, moment(day[1]), 1<<i)
	}
	return bit + " ELSE 0 END"
}

// countByClass counts the rows of each class.
func countByClass(column string) string {
	var counts []string
	for class := range request.ClassCount {
		counts = append(counts, fmt.Sprintf("count(*) FILTER (%s = '%s')", column, class))
	}
	return strings.Join(counts, ", ")
}

// countByIdentity counts the rows of each identity.
func countByIdentity(column string) string {
	var counts []string
	for is := range who.Count {
		counts = append(counts, fmt.Sprintf("count(*) FILTER (%s = '%s')", column, is.One()))
	}
	return strings.Join(counts, ", ")
}

// trend finds what each policy did in each run, and which clients it hit, by the class that the client had in that run.
func (h *asking) trend() error {
	type row struct {
		K, Run                          int32
		First, Last                     limit.Time
		Requests, Refused, Clients, Hit int64
		ByClass                         history.HitClasses
	}
	runs := idList(h.q.Trend)
	return duck.Each(h.duck, `SELECT k.k, k.run, r.first_at, r.last_at, p.requests, p.refused, coalesce(n.clients, 0)::BIGINT, p.clients_hit, `+countByClass("c.class")+`
		FROM kin k JOIN policies p ON p.run = k.run AND p.policy = k.policy JOIN runs r ON r.run = k.run
		LEFT JOIN (SELECT run, count(*) AS clients FROM clients GROUP BY run) n ON n.run = k.run
		LEFT JOIN client_tallies t ON t.run = k.run AND t.policy = k.policy
		LEFT JOIN clients c ON c.run = t.run AND c.client = t.client
		WHERE k.run IN `+runs+` GROUP BY ALL ORDER BY list_position([`+strings.Trim(runs, "()")+`], any_value(k.run))`, func(t *row) error {
		p := &h.to.Policies[t.K]
		p.Trend = append(p.Trend, history.NewTrend(t.Run, t.First, t.Last, history.NewTotals(t.Requests, t.Refused, t.Clients, t.Hit), t.ByClass))
		return nil
	})
}

func (h *asking) before() error {
	type row struct {
		K                               int32
		Requests, Refused, Clients, Hit int64
	}
	return duck.Each(h.duck, `SELECT k.k, sum(p.requests)::BIGINT, sum(p.refused)::BIGINT, sum(coalesce(n.clients, 0))::BIGINT, sum(p.clients_hit)::BIGINT
		FROM kin k JOIN policies p ON p.run = k.run AND p.policy = k.policy
		LEFT JOIN (SELECT run, count(*) AS clients FROM clients GROUP BY run) n ON n.run = k.run
		WHERE k.run IN `+idList(h.q.Base)+` GROUP BY k.k`, func(b *row) error {
		before := history.NewTotals(b.Requests, b.Refused, b.Clients, b.Hit)
		h.to.Policies[b.K].Before = &before
		return nil
	})
}

// movers counts the clients that moved, by policy and class, and lists the first: newly hit people, then by days, then by refused requests.
func (h *asking) movers() error {
	for _, m := range []struct {
		refused, days, meant string
		first                string // in the order
		of                   func(*history.Policy) (*history.Moved, *[]history.Mover)
	}{
		{
			"refused", "0::BIGINT", "refused > 0 AND before IS NULL AND k IN (SELECT k FROM kin WHERE run IN " + idList(h.q.Base) + ")",
			"coalesce(p.identity IN ('person', 'office'), false) DESC, ",
			func(p *history.Policy) (*history.Moved, *[]history.Mover) { return &p.NewlyHit, &p.TopNewlyHit },
		},
		{
			"before", "0::BIGINT", "before > 0 AND refused IS NULL", "",
			func(p *history.Policy) (*history.Moved, *[]history.Mover) { return &p.Released, &p.TopReleased },
		},
		{ // Of a run only the first and the last refusal of a client are at hand, whatever events are kept: it counts for the days of these.
			"lately", "days", fmt.Sprintf("days >= %d AND days > 0", h.q.Often), "",
			func(p *history.Policy) (*history.Moved, *[]history.Mover) { return &p.Repeating, &p.TopRepeating },
		},
	} {
		all := "(SELECT k, " + m.refused + " AS n, " + m.days + " AS days, who FROM moved WHERE " + m.meant + ") m JOIN people p ON p.who = m.who"
		type count struct {
			K int32
			history.Moved
		}
		err := duck.Each(h.duck, "SELECT m.k, count(*), "+countByClass("p.class")+", "+countByIdentity("p.identity")+" FROM "+all+" GROUP BY m.k", func(c *count) error {
			moved, _ := m.of(&h.to.Policies[c.K])
			*moved = c.Moved
			return nil
		})
		if err != nil {
			return err
		}
		type row struct {
			K int32
			history.Mover
		}
		order := m.first + "m.days DESC, m.n DESC, p.requests DESC, p.name"
		err = duck.Each(h.duck, fmt.Sprintf(`SELECT m.k, p.name, p.class, coalesce(p.identity, ''), p.requests, m.n, p.known, m.days FROM %s
			QUALIFY row_number() OVER (PARTITION BY m.k ORDER BY %s) <= %d ORDER BY m.k, %s`, all, order, h.q.Top, order), func(r *row) error {
			_, list := m.of(&h.to.Policies[r.K])
			*list = append(*list, r.Mover)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *asking) newActions() (err error) {
	if len(h.q.Base) == 0 {
		return nil
	}
	fresh := `(SELECT name, sum(requests)::BIGINT AS requests FROM actions WHERE run IN ` + idList(h.q.Now) + `
		AND name NOT IN (SELECT name FROM actions WHERE run IN ` + idList(h.q.Base) + `) GROUP BY name)`
	if h.to.NewActions, err = duck.One[int64](h.duck, "SELECT count(*) FROM "+fresh); err != nil || h.to.NewActions == 0 {
		return err
	}
	top, err := duck.List[history.NewAction](h.duck, fmt.Sprintf("SELECT name, requests FROM %s ORDER BY requests DESC, name LIMIT %d", fresh, h.q.Top))
	h.to.TopNewActions = append(h.to.TopNewActions, top...)
	return err
}
