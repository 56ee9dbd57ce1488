package store

import (
	"fmt"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/store/duck"
	"shadow/limit"
)

// Runs of several hosts may be about the same time and the same clients. Each host judged what it served itself, so
// their sums say what limits of each host by itself refuse; a limit that the hosts share would refuse more:
//
//	limit 2/1m     host a  12:00:01 admitted  12:00:20 admitted   a limit of both would refuse
//	               host b  12:00:10 admitted  12:00:30 admitted   two of these four
//
// Nights of one --resume carry on what limits remember, and tails with --redis share it: neither are judged apart.

// Apart tells what several runs have in common that each of them judged by itself.
type Apart struct {
	Runs     []int32       // about the same time, with clients in common, by number
	Clients  int64         // that two of them or more have
	Requests int64         // of these, in all of them
	Top      []ApartClient // with most requests, the most first
}

// An ApartClient is a client that several runs judged.
type ApartClient struct {
	Client   string
	Requests int64 // in all of them
}

// mostApart bounds the clients that are named.
const mostApart = 10

// A runSpan is what has to be known of a run to decide whether it was judged apart from others.
type runSpan struct {
	run         int32
	chain       int32 // the first run of its nights
	redis       bool
	requests    int64
	first, last limit.Time
	heads       []identity // of its logs
}

// An identity is what is known of a file's content.
type identity struct {
	size       int64
	head, tail uint64
}

// findApart looks for clients in common of any two runs that judged requests of the same time apart.
func (l *loading) findApart() error {
	var pairs [][2]int32
	for i := range l.spans {
		for j := range i {
			s, o := &l.spans[i], &l.spans[j]
			again := func(id identity) bool { return slices.Contains(o.heads, id) } // of which another warning tells
			if s.chain != o.chain && !(s.redis && o.redis) && s.requests > 0 && o.requests > 0 &&
				s.first <= o.last && o.first <= s.last && !slices.ContainsFunc(s.heads, again) {
				pairs = append(pairs, [2]int32{o.run, s.run})
			}
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	l.warnAlone(pairs)
	texts := mapped.Of(pairs, func(p [2]int32) string { return fmt.Sprintf("(%d::INTEGER, %d::INTEGER)", p[0], p[1]) })
	both := `WITH pair(a, b) AS (VALUES ` + strings.Join(texts, ", ") + `),
		known AS (SELECT run, name, requests FROM clients WHERE run IN ` + l.runs + ` AND requests > 0),
		met AS (SELECT x.name, x.run AS a, y.run AS b FROM known x JOIN pair ON pair.a = x.run JOIN known y ON y.run = pair.b AND y.name = x.name),
		shared AS (SELECT k.* FROM known k WHERE (name, run) IN (SELECT (name, a) FROM met UNION SELECT (name, b) FROM met)) `
	runs, err := duck.List[int32](l.duck, both+`SELECT DISTINCT run FROM shared ORDER BY run`)
	if err != nil || len(runs) == 0 {
		return err
	}
	sums, err := duck.One[[2]int64](l.duck, both+`SELECT count(DISTINCT name), sum(requests)::BIGINT FROM shared`)
	if err != nil {
		return err
	}
	top, err := duck.List[ApartClient](l.duck, both+fmt.Sprintf(`SELECT name, sum(requests)::BIGINT AS n FROM shared GROUP BY name ORDER BY n DESC, name LIMIT %d`, mostApart))
	l.to.Apart = &Apart{Runs: runs, Clients: sums[0], Requests: sums[1], Top: top}
	return err
}

// warnAlone warns of policies that count all clients together, so that runs of the same time need no client in common.
func (l *loading) warnAlone(pairs [][2]int32) {
	var runs []int32
	for _, p := range pairs {
		runs = append(runs, p[0], p[1])
	}
	slices.Sort(runs)
	runs = slices.Compact(runs)
	for i := range l.to.same {
		for _, part := range l.to.Result.Policies[i].Policy.Parts {
			if !part.By.Shared() {
				continue
			}
			l.warn("policy %s counts by %s, and %s, about the same time, were each judged apart: "+
				"a limit that their hosts share would refuse more", l.to.same[i].name, part.By, runNumbers(runs))
			break
		}
	}
}

// sumMinutes finds the worst minute of policies that several runs judged in the same minute. Where a run does not
// keep the events of a policy, its own worst minute is all that is known.
func (l *loading) sumMinutes() error {
	if !l.shareMinutes() {
		return nil
	}
	without, err := l.withoutEvents(l.to)
	if err != nil {
		return err
	}
	for i := range l.to.same {
		if slices.Contains(without, int32(i)) && len(l.to.same[i].runs) > 1 && l.to.Result.Policies[i].Refused > 0 {
			l.warn("policy %s: the worst minute is that of any one run, as not all of them keep its events (--events)", l.to.same[i].name)
		}
	}
	var now limit.Time
	sums := make([]int64, len(l.to.same)) // of the minute
	return l.OverTime(l.to, func(policy int, minute limit.Time, refused int64) {
		if minute != now {
			now = minute
			clear(sums)
		}
		sums[policy] += refused
		p := &l.to.Result.Policies[policy]
		if n := sums[policy]; n > p.WorstMinuteRefused || n == p.WorstMinuteRefused && minute < p.WorstMinute {
			p.WorstMinute, p.WorstMinuteRefused = minute, n
		}
	})
}

// shareMinutes reports whether any minute of the clock has requests of two runs.
func (l *loading) shareMinutes() bool {
	minute := func(t limit.Time) limit.Time { return t - ((t%limit.Minute)+limit.Minute)%limit.Minute }
	for i := range l.spans {
		for j := range l.spans[:i] {
			a, b := &l.spans[i], &l.spans[j]
			if a.requests > 0 && b.requests > 0 && minute(a.first) <= minute(b.last) && minute(b.first) <= minute(a.last) {
				return true
			}
		}
	}
	return false
}
