package html

import (
	"fmt"
	"strings"
	"time"

	"shadow/limit"
	"shadow/report/format"
	"shadow/report/history"
)

// What stored runs found, night by night: for each policy a chart of refused requests and one of clients hit.

const (
	mostNights = 150 // the last runs
	mostGaps   = 7   // nights in a row that are drawn as missing
)

// nights adds the trend of policies where there are two nights or more.
func (v *view) nights(h *history.History, room room) {
	if h == nil {
		return
	}
	var charts []*chart
	most := room.drawn(mostNights)
	for _, p := range h.Policies[:min(len(h.Policies), room.listed(mostDetailed))] {
		p.Trend = p.Trend[max(0, len(p.Trend)-most):]
		if len(p.Trend) > 1 {
			charts = append(charts,
				chartOf(&p, "refused requests", "refused", func(t *history.Trend) int64 { return t.Refused }),
				chartOf(&p, "clients hit", "hit", func(t *history.Trend) int64 { return t.ClientsHit }))
		}
	}
	s := v.begin("nights", "Night by night", "Nights")
	if charts != nil {
		s.add("text", fmt.Sprintf("A column for each run, the last %d at most; where a night has no run, there is a gap.", most))
		s.add("charts", charts)
	}
}

// chartOf draws a figure: a column for each run, and gaps where the next one began more than a day later.
func chartOf(p *history.Policy, what, class string, figure func(*history.Trend) int64) *chart {
	c := &chart{Name: name(p.Policy), Title: what, Class: class}
	var columns []column
	var words []string
	last := format.Moment(0) // when the run or the night before began; 0: there is none
	for i := range p.Trend {
		t := &p.Trend[i]
		shown := column{value: float64(figure(t)), text: fmt.Sprintf("run %d: %s", t.Run, format.Thousands(figure(t)))}
		if t.First != nil {
			for gaps := 0; last != 0 && gaps < mostGaps && limit.Time(*t.First-last) >= 3*limit.Day/2; gaps++ {
				last += format.Moment(limit.Day)
				columns = append(columns, column{gap: true, text: "no run", mark: last.Format(time.DateOnly)})
				words = append(words, "no run")
			}
			last, shown.mark = *t.First, t.First.Format(time.DateOnly)
			shown.text += ", from " + t.First.Format("2006-01-02 15:04") + " to " + t.Last.Format("2006-01-02 15:04")
		}
		columns, words = append(columns, shown), append(words, format.Thousands(figure(t)))
	}
	c.draw(columns, 0, true)
	c.Words = clipped(fmt.Sprintf("%s of %s by night: %s", what, c.Name, strings.Join(words, ", ")))
	return c
}
