package store

import (
	"fmt"
	"slices"
	"strings"

	"shadow/limit"
	"shadow/request"
)

// What has changed from some runs to others. Clients and actions are the same when their names are, policies when their names
// and what they count by are.

// A Question says which runs a history is about. No run may be in Now and in Base.
type Question struct {
	Now, Base []int32         // what is reported, and what it is compared with
	Trend     []int32         // in the order in which they are told
	Recent    []int32         // in which repeat offenders are looked for
	Days      [][2]limit.Time // on which: from, until; at most 30
	Often     int             // on how many days a repeat offender was hit at least
	Top       int             // rows per list
}

// A History is what has changed.
type History struct {
	Policies   []PolicyHistory // in the order of the policies of Load(Now)
	NewActions int64           // actions of Now that Base has not
	TopActions []ActionCount   // of these, those with most requests
}

// PolicyHistory is that of one policy.
type PolicyHistory struct {
	InBase  bool // a run of Base has the policy
	Changed bool // its limits are not the same in all these runs
	Before  Sums // of Base
	Trend   []TrendRun

	NewlyHit, Released, Repeating          ByClass
	TopNewlyHit, TopReleased, TopRepeating []Mover
}

// Sums are those of several runs; a client counts in each of them.
type Sums struct{ Requests, Refused, Clients, ClientsHit int64 }

// ByClass are numbers of clients.
type ByClass [request.ClassCount]int64

// A TrendRun is what one run says of a policy.
type TrendRun struct {
	Run         int32
	First, Last limit.Time
	Sums
	Hit ByClass
}

// A Mover is a client that is newly hit, released, or hit again and again.
type Mover struct {
	Client   string
	Class    string
	Requests int64 // in Now; 0: it did not come
	Refused  int64 // in Now, of a released client in Base, of a repeat offender in Recent
	Known    bool  // it has requests in Base
	Days     int64 // of a repeat offender
}

// An ActionCount is an action and its requests.
type ActionCount struct {
	Action   string
	Requests int64
}

// History answers a question about the policies of a loaded result, which is that of Load(q.Now).
func (r *Reader) History(l *Loaded, q Question) (*History, error) {
	h := &asking{Reader: r, q: q, to: &History{Policies: make([]PolicyHistory, len(l.Result.Policies))}}
	kin, err := h.kin(l)
	if err != nil {
		return nil, err
	}
	err = h.ask("CREATE OR REPLACE TEMP TABLE kin AS FROM (VALUES "+kin+") kin(run, policy, k)", func(*block) error { return nil })
	if err != nil {
		return nil, err
	}
	steps := []func() error{h.trend, h.before, h.newActions}
	if len(q.Base) > 0 || 2*len(q.Recent) >= q.Often { // else nobody can have moved: a run counts for two days at most
		steps = append(steps, h.prepare, h.newlyHit, h.released, h.repeating)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return h.to, nil
}

// asking is a History under way.
type asking struct {
	*Reader
	q  Question
	to *History
}

// kin finds in all runs the policies that are those of the result: rows of (run, policy, k) for SQL.
func (h *asking) kin(l *Loaded) (string, error) {
	var rows []string
	limits, taken := map[int]string{}, map[[2]int32]bool{}
	all := idList(slices.Concat(h.q.Now, h.q.Base, h.q.Trend, h.q.Recent))
	err := h.each(`SELECT p.run, p.policy, p.name, p.counts_by, any_value(p.combine) || coalesce(string_agg(concat_ws(' ', l.limit_text, l.matches, '/', l.counts), '+' ORDER BY l.part), '')
		FROM policies p LEFT JOIN parts l ON l.run = p.run AND l.policy = p.policy
		WHERE p.run IN `+all+` GROUP BY ALL ORDER BY p.run, p.policy`, func(b *block, row int) error {
		run, name, by, made := values[int32](b, 0)[row], b.text(2, row), b.text(3, row), b.text(4, row)
		for k := range l.same {
			here := [2]int32{run, int32(k)}
			if l.same[k].name != name || l.same[k].by != by || taken[here] {
				continue
			}
			taken[here] = true
			rows = append(rows, fmt.Sprintf("(%d::INTEGER, %d::INTEGER, %d::INTEGER)", run, values[int32](b, 1)[row], k))
			if before, known := limits[k]; known && before != made {
				h.to.Policies[k].Changed = true
			}
			limits[k] = made
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

// prepare makes further tables that go with the connection. Names are compared once and are numbers from then on; then one pass over
// which clients each policy hit in which run tells all there is to know of each client: how often now, before and lately, and on
// which days.
func (h *asking) prepare() error {
	now, base, recent := idList(h.q.Now), idList(h.q.Base), idList(h.q.Recent)
	some := idList(slices.Concat(h.q.Now, h.q.Base, h.q.Recent))
	for _, statement := range []string{
		`CREATE OR REPLACE TEMP TABLE ids AS
		WITH names AS (SELECT name, row_number() OVER () AS who FROM (SELECT DISTINCT name FROM clients WHERE run IN ` + some + `))
		SELECT c.run, c.client, n.who FROM clients c JOIN names n ON n.name = c.name WHERE c.run IN ` + some,
		`CREATE OR REPLACE TEMP TABLE moved AS
		SELECT k.k, i.who, sum(t.refused) FILTER (t.run IN ` + now + `)::BIGINT AS refused, sum(t.refused) FILTER (t.run IN ` + base + `)::BIGINT AS before,
			sum(t.refused) FILTER (t.run IN ` + recent + `)::BIGINT AS lately,
			bit_count(bit_or(` + h.dayBit("t.first_refused") + " | " + h.dayBit("t.last_refused") + `) FILTER (t.run IN ` + recent + `))::BIGINT AS days
		FROM client_tallies t JOIN kin k ON k.run = t.run AND k.policy = t.policy JOIN ids i ON i.run = t.run AND i.client = t.client
		WHERE t.run IN ` + some + ` GROUP BY k.k, i.who`,
		`CREATE OR REPLACE TEMP TABLE people AS
		WITH sums AS (
			SELECT i.who, c.run IN ` + now + ` AS comes, bool_or(c.run IN ` + base + `) AS came, any_value(c.name) AS name, sum(c.requests) AS requests,
				sum(browser) AS browser, sum(crawler) AS crawler, sum(tool) AS tool, sum(monitor) AS monitor, sum(unknown) AS unknown
			FROM clients c JOIN ids i ON i.run = c.run AND i.client = c.client
			WHERE c.run IN ` + some + ` AND i.who IN (SELECT who FROM moved WHERE refused IS NULL OR before IS NULL OR days >= ` + fmt.Sprint(h.q.Often) + `)
			GROUP BY i.who, comes)
		SELECT who, any_value(name) AS name, arg_max((` + majority + ` - 1)::BIGINT, comes) AS class,
			coalesce(sum(requests) FILTER (comes), 0)::BIGINT AS requests, bool_or(came) AS known
		FROM sums GROUP BY who`,
	} {
		if err := h.ask(statement, func(*block) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// dayBit is the bit of the day that a moment lies on, 0 if on none.
func (h *asking) dayBit(at string) string {
	var b strings.Builder
	b.WriteString("CASE")
	for i, day := range h.q.Days {
		fmt.Fprintf(&b, " WHEN %s >= %s AND %s < %s THEN %d", at, moment(day[0]), at, moment(day[1]), 1<<i)
	}
	if len(h.q.Days) == 0 {
		b.WriteString(" WHEN false THEN 0")
	}
	return b.String() + " ELSE 0 END"
}

// The questions one by one. Each goes to the tables that prepare has made.

// trend tells of each run what each policy did, and which clients it hit, by the class that the client had in that run.
func (h *asking) trend() error {
	byRun := map[[2]int32]TrendRun{}
	err := h.each(`SELECT k.run, k.k, p.requests, p.refused, p.clients_hit, coalesce(n.clients, 0)::BIGINT, r.first_at, r.last_at,
			count(*) FILTER (c.class = 'browser'), count(*) FILTER (c.class = 'crawler'), count(*) FILTER (c.class = 'tool'),
			count(*) FILTER (c.class = 'monitor'), count(*) FILTER (c.class = 'unknown')
		FROM kin k JOIN policies p ON p.run = k.run AND p.policy = k.policy JOIN runs r ON r.run = k.run
		LEFT JOIN (SELECT run, count(*) AS clients FROM clients GROUP BY run) n ON n.run = k.run
		LEFT JOIN client_tallies t ON t.run = k.run AND t.policy = k.policy
		LEFT JOIN clients c ON c.run = t.run AND c.client = t.client
		WHERE k.run IN `+idList(h.q.Trend)+` GROUP BY ALL`, func(b *block, row int) error {
		number := func(i int) int64 { return values[int64](b, i)[row] }
		run := TrendRun{
			Run: values[int32](b, 0)[row], First: orElse[limit.Time](b, 6, row, 0), Last: orElse[limit.Time](b, 7, row, 0),
			Sums: Sums{Requests: number(2), Refused: number(3), ClientsHit: number(4), Clients: number(5)},
		}
		for class := range request.ClassCount {
			run.Hit[class] = number(8 + int(class))
		}
		byRun[[2]int32{run.Run, values[int32](b, 1)[row]}] = run
		return nil
	})
	for k := range h.to.Policies {
		for _, id := range h.q.Trend {
			if run, has := byRun[[2]int32{id, int32(k)}]; has {
				h.to.Policies[k].Trend = append(h.to.Policies[k].Trend, run)
			}
		}
	}
	return err
}

func (h *asking) before() error {
	return h.each(`SELECT k.k, sum(p.requests)::BIGINT, sum(p.refused)::BIGINT, sum(coalesce(n.clients, 0))::BIGINT, sum(p.clients_hit)::BIGINT
		FROM kin k JOIN policies p ON p.run = k.run AND p.policy = k.policy
		LEFT JOIN (SELECT run, count(*) AS clients FROM clients GROUP BY run) n ON n.run = k.run
		WHERE k.run IN `+idList(h.q.Base)+` GROUP BY k.k`, func(b *block, row int) error {
		p := &h.to.Policies[values[int32](b, 0)[row]]
		number := func(i int) int64 { return values[int64](b, i)[row] }
		p.InBase, p.Before = true, Sums{Requests: number(1), Refused: number(2), Clients: number(3), ClientsHit: number(4)}
		return nil
	})
}

func (h *asking) newlyHit() error {
	return h.movers("refused", "refused > 0 AND before IS NULL AND k IN (SELECT k FROM kin WHERE run IN "+idList(h.q.Base)+")",
		func(p *PolicyHistory) (*ByClass, *[]Mover) { return &p.NewlyHit, &p.TopNewlyHit })
}

func (h *asking) released() error {
	return h.movers("before", "before > 0 AND refused IS NULL",
		func(p *PolicyHistory) (*ByClass, *[]Mover) { return &p.Released, &p.TopReleased })
}

// repeating are the clients that were hit on several days. Of a run only the first and the last refusal of a client are at
// hand, whatever events are kept: a run counts for the days of these.
func (h *asking) repeating() error {
	return h.movers("lately", fmt.Sprintf("days >= %d AND days > 0", h.q.Often),
		func(p *PolicyHistory) (*ByClass, *[]Mover) { return &p.Repeating, &p.TopRepeating })
}

// movers counts the clients that are meant by policy and class, and lists the first by days, then by refused requests.
func (h *asking) movers(refused, meant string, of func(*PolicyHistory) (*ByClass, *[]Mover)) error {
	all := "(SELECT k, " + refused + " AS n, who FROM moved WHERE " + meant + ") m JOIN people p ON p.who = m.who"
	err := h.each("SELECT m.k, p.class, count(*) FROM "+all+" GROUP BY m.k, p.class", func(b *block, row int) error {
		counts, _ := of(&h.to.Policies[values[int32](b, 0)[row]])
		counts[values[int64](b, 1)[row]] = values[int64](b, 2)[row]
		return nil
	})
	if err != nil {
		return err
	}
	days := "0::BIGINT"
	if refused == "lately" {
		days, all = "m.days", strings.Replace(all, " AS n,", " AS n, days,", 1)
	}
	return h.each(fmt.Sprintf(`SELECT m.k, p.class, p.requests, m.n, %s AS days, p.known, p.name FROM %s
		QUALIFY row_number() OVER (PARTITION BY m.k ORDER BY days DESC, m.n DESC, p.requests DESC, p.name) <= %d
		ORDER BY m.k, days DESC, m.n DESC, p.requests DESC, p.name`, days, all, h.q.Top), func(b *block, row int) error {
		_, list := of(&h.to.Policies[values[int32](b, 0)[row]])
		*list = append(*list, Mover{
			Client: b.text(6, row), Class: request.Class(values[int64](b, 1)[row]).String(), Requests: values[int64](b, 2)[row],
			Refused: values[int64](b, 3)[row], Days: values[int64](b, 4)[row], Known: values[bool](b, 5)[row],
		})
		return nil
	})
}

func (h *asking) newActions() error {
	if len(h.q.Base) == 0 {
		return nil
	}
	fresh := `(SELECT name, sum(requests)::BIGINT AS requests FROM actions WHERE run IN ` + idList(h.q.Now) + `
		AND name NOT IN (SELECT name FROM actions WHERE run IN ` + idList(h.q.Base) + `) GROUP BY name)`
	err := h.each("SELECT count(*) FROM "+fresh, func(b *block, row int) error {
		h.to.NewActions = values[int64](b, 0)[row]
		return nil
	})
	if err != nil {
		return err
	}
	return h.each(fmt.Sprintf("SELECT requests, name FROM %s ORDER BY requests DESC, name LIMIT %d", fresh, h.q.Top), func(b *block, row int) error {
		h.to.TopActions = append(h.to.TopActions, ActionCount{b.text(1, row), values[int64](b, 0)[row]})
		return nil
	})
}
