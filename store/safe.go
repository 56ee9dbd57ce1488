package store

import (
	"fmt"

	"shadow/limit"
	"shadow/request"
	"shadow/sweep"
)

// A SafeLimit is the strictest limit of a curve that spares a class of clients, as two runs saw it.
type SafeLimit struct {
	sweep.Shape
	By      string
	Action  string // the action that the curve is about; "": all
	Limit   [2]int64
	Clients [2]int64 // of the class

	People bool // whether these are browsers without the disguised: both runs gathered evidence
}

// A Spare is the share of the clients of a class that a limit must not hit.
type Spare struct {
	Class      request.Class
	PerMillion int64
}

// SafeLimits compares the curves that two runs have both, in the order of the second. A curve of which not all points are
// kept gives the next that is. Where the curves of both divide browsers by evidence, the disguised are none.
func (r *Reader) SafeLimits(before, now int32, spare Spare) (safe []SafeLimit, err error) {
	class := spare.Class.String()
	clients, hit := class+"_clients", "p."+class+"_clients_hit"
	people, err := r.divided(before, now)
	if err != nil {
		return nil, err
	}
	if people = people && spare.Class == request.Browser; people {
		clients, hit = clients+" - disguised_clients", "("+hit+" - p.disguised_clients_hit)"
	}
	side := func(run int32) string {
		return fmt.Sprintf(`(SELECT c.limit_kind, coalesce(c.per_us, 0) AS per_us, coalesce(c.rate_count, 0) AS rate_count, coalesce(c.rate_per_us, 0) AS rate_per_us,
			c.counts_by, coalesce(c.action, '') AS action, any_value(c.curve) AS curve, any_value(n.clients) AS clients,
			coalesce(min(p.limit_count) FILTER (%s * 1000000 <= n.clients * %d), CASE WHEN any_value(c.points) = 0 THEN 1 END) AS safe
			FROM curves c
			JOIN (SELECT run, curve, coalesce(%s, CASE WHEN action IS NULL THEN (SELECT count(*) FROM clients k WHERE k.run = %d AND k.class = '%s') END) AS clients
				FROM curves WHERE run = %d) n ON n.run = c.run AND n.curve = c.curve
			LEFT JOIN curve_points p ON p.run = c.run AND p.curve = c.curve
			WHERE c.run = %d GROUP BY ALL)`, hit, 1_000_000-spare.PerMillion, clients, run, class, run, run)
	}
	err = r.each(`SELECT b.per_us, b.rate_count, b.rate_per_us, a.safe, b.safe, a.clients, b.clients, b.limit_kind, b.counts_by, b.action
		FROM `+side(before)+` a JOIN `+side(now)+` b USING (limit_kind, per_us, rate_count, rate_per_us, counts_by, action)
		WHERE a.safe IS NOT NULL AND b.safe IS NOT NULL ORDER BY b.curve`, func(b *block, row int) error {
		number := func(i int) int64 { return values[int64](b, i)[row] }
		kind, err := sweep.ParseKind(b.text(7, row))
		if err != nil {
			return nil //nolint:nilerr // a kind that this shadow does not know has nothing to say
		}
		safe = append(safe, SafeLimit{
			Shape: sweep.Shape{Kind: kind, Per: limit.Time(number(0)), Rate: sweep.Rate{Count: number(1), Per: limit.Time(number(2))}},
			By:    b.text(8, row), Action: b.text(9, row), Limit: [2]int64{number(3), number(4)},
			Clients: [2]int64{number(5), number(6)}, People: people,
		})
		return nil
	})
	return safe, err
}

// divided reports whether all curves of two runs divide the browsers by evidence.
func (r *Reader) divided(before, now int32) (all bool, err error) {
	err = r.each(fmt.Sprintf(`SELECT count(*) = count(disguised_clients) FROM curves WHERE run IN (%d, %d)`, before, now),
		func(b *block, row int) error {
			all = values[bool](b, 0)[row]
			return nil
		})
	return all, err
}
