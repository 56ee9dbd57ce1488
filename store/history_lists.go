package store

import (
	"fmt"
	"strings"

	"shadow/limit"
	"shadow/request"
)

// The questions one by one. Each goes to the tables that prepare has made.

// trend tells of each run what each policy did, and whom it hit, by the class that the client had in that run.
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
