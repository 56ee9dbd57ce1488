package findings

import (
	"slices"
	"strings"
	"testing"

	"shadow/internal/traffic"
	"shadow/limit"
)

// Minutes without a request are told between hours that have one in each, and not where a site is seldom visited.
func TestPauses(t *testing.T) {
	for name, c := range map[string]struct {
		missing [][2]limit.Time // from one minute to another
		says    string
	}{
		"none":           {},
		"nine minutes":   {missing: [][2]limit.Time{{1430, 1439}}},
		"over midnight":  {missing: [][2]limit.Time{{1430, 1460}}, says: "no request came for 30 minutes from 1970-01-01 23:50 UTC, within"},
		"a busy hour":    {missing: [][2]limit.Time{{1300, 1320}, {1380, 1420}}, says: "no request came for 40 minutes from 1970-01-01 23:00 UTC, and 1 shorter pause, within"},
		"no whole hour":  {missing: [][2]limit.Time{{1300, 1320}, {1379, 1420}}},
		"hours and days": {missing: [][2]limit.Time{{200, 2000}}, says: "no request came for 1800 minutes from 1970-01-01 03:20 UTC"},
		"at the end":     {missing: [][2]limit.Time{{1430, 2880}}},
	} {
		l := &days{seen: new(seen)}
		b := new(traffic.Batch)
		for minute := range 2 * limit.Day / limit.Minute {
			if !slices.ContainsFunc(c.missing, func(m [2]limit.Time) bool { return minute >= m[0] && minute < m[1] }) {
				b.At = append(b.At, minute*limit.Minute+59*limit.Second, minute*limit.Minute)
			}
		}
		l.take(b, 0, b.Len())
		found := l.find(nil)
		if said := len(found) > 0; said != (c.says != "") || said && !strings.HasPrefix(found[0].Evidence, c.says) {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// What lies months apart from nearly all requests is left out of the span, at either end; days without a request are told.
func TestDays(t *testing.T) {
	for name, c := range map[string]struct {
		days             []int // of a request each, 2,000 on the first of several in a row
		first, last, any int   // of the span, and how many have a request
		stray            int64
		says             []string
	}{
		"a week":             {days: []int{0, 1, 2, 3, 4, 5, 6}, last: 6, any: 7},
		"a line of before":   {days: []int{-400, 0, 1, 2}, last: 2, any: 3, stray: 1, says: []string{"1 request of 1968-11-27 far from the others: by these, the log goes from 1970-01-01 to 1970-01-03"}},
		"lines on both ends": {days: []int{-400, -31, 0, 1, 2, 32}, last: 2, any: 3, stray: 3, says: []string{"3 requests"}},
		"not far enough":     {days: []int{-29, 0, 1, 2}, first: -29, last: 2, any: 4, says: []string{"requests came on 4 of 32 days"}},
		"holes":              {days: []int{0, 1, 5, 6, 9}, last: 9, any: 5, says: []string{"requests came on 5 of 10 days"}},
		"hardly any":         {days: []int{0, 2, 3, 4, 6}, last: 6, any: 5, says: []string{"requests came on 5 of 7 days"}},
	} {
		l := &days{seen: new(seen)}
		for _, day := range c.days {
			b := &traffic.Batch{At: []limit.Time{limit.Time(day)*limit.Day + limit.Hour}}
			if day == 0 {
				for range 1999 {
					b.At = append(b.At, limit.Hour)
				}
			}
			l.total += int64(b.Len())
			l.take(b, 0, b.Len())
		}
		got := l.traffic()
		at := func(day int) limit.Time { return limit.Time(day)*limit.Day + limit.Hour }
		if got.First != at(c.first) || got.Last != at(c.last) || got.Days != int64(c.any) || got.Stray != c.stray {
			t.Errorf("%s: %+v", name, got)
		}
		found := l.find(nil)
		if len(found) != len(c.says) {
			t.Errorf("%s: %v", name, found)
			continue
		}
		for i, says := range c.says {
			if !strings.HasPrefix(found[i].Evidence, says) {
				t.Errorf("%s: %s", name, found[i].Evidence)
			}
		}
	}
}
