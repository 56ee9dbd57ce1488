package html

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"shadow/internal/request"
	"shadow/limit"
	"shadow/report/format"
	"shadow/report/history"
	"shadow/report/table"
)

// What stored runs found, night by night: for each policy a chart of refused requests and one of clients hit; and each
// night folded, with a sentence that says what it was. The newest is open.

const mostGaps = 30 // nights in a row that are drawn as missing

// nights adds the trend of all policies where there are two nights or more, the newest first.
func (v *view) nights(h *history.History, room room, agents bool) {
	if h == nil {
		return
	}
	shown := h.Policies[:min(len(h.Policies), room.details())]
	runs := map[int32]*history.Trend{}
	var charts []*chart
	for i := range shown {
		p := &shown[i]
		if len(p.Trend) > 1 {
			charts = append(charts,
				chartOf(p, "refused requests", "refused", func(t *history.Trend) int64 { return t.Refused }),
				chartOf(p, "clients hit", "hit", func(t *history.Trend) int64 { return t.ClientsHit }))
		}
		for j := range p.Trend {
			runs[p.Trend[j].Run] = cmp.Or(runs[p.Trend[j].Run], &p.Trend[j])
		}
	}
	if charts == nil {
		return
	}
	s := v.begin("nights", "Night by night", "Nights")
	s.add("text", "A column for each run; where a night has no run, there is a gap.")
	s.add("charts", charts)
	for i, run := range slices.Backward(slices.Sorted(maps.Keys(runs))) {
		night := nightOf(runs[run], shown, agents)
		night.Open = i == len(runs)-1
		s.add("fold", night)
	}
}

// nightOf returns what a run found, folded, below a sentence.
func nightOf(run *history.Trend, policies []history.Policy, agents bool) *fold {
	t := table.New(table.Name("limit"))
	t.Title = fmt.Sprintf("What run %d found", run.Run)
	t.Head(table.Numbers("requests", "refused", "% of requests", "clients hit", "% of clients")...)
	for class := range request.ClassCount {
		if agents {
			t.Head(table.Number(class.String() + " hit"))
		}
	}
	var texts []string
	for i := range policies {
		p := &policies[i]
		at := slices.IndexFunc(p.Trend, func(t history.Trend) bool { return t.Run == run.Run })
		if at < 0 {
			continue
		}
		r := &p.Trend[at]
		hit := format.Count(r.ClientsHit, "client")
		texts = append(texts, fmt.Sprintf("%s %s refused, %s hit", name(p.Policy), format.Thousands(r.Refused), hit))
		row := []table.Cell{
			table.Text(p.Policy), table.Count(r.Requests), table.Count(r.Refused), table.Share(r.RefusedPercent),
			table.Count(r.ClientsHit), table.Share(r.ClientsHitPercent),
		}
		if agents {
			row = append(row, table.Counts(r.ByClass[:]...)...)
		}
		t.Add(row...)
	}
	title := fmt.Sprintf("Run %d, %s: %s of %s", run.Run, nightText(run), strings.Join(texts[:min(len(texts), 3)], "; "),
		format.Count(run.Requests, "request"))
	blocks := []block{{"table", t.Page(len(t.Rows), "", 0)}}
	return &fold{Class: "kind night", Title: clipped(title), Blocks: blocks}
}

// nightText returns the time of a run.
func nightText(t *history.Trend) string {
	if t.First == nil {
		return "no requests"
	}
	from, to := t.First.Format("2006-01-02 15:04"), t.Last.Format("2006-01-02 15:04")
	if day := t.First.Format("2006-01-02"); day == t.Last.Format("2006-01-02") {
		to = t.Last.Format("15:04")
	}
	return from + " to " + to
}

// chartOf draws a figure: a column for each night. Nights are as far apart as most are; where two are further apart,
// nights are missing.
func chartOf(p *history.Policy, what, class string, figure func(*history.Trend) int64) *chart {
	c := &chart{Name: name(p.Policy), Title: what, Class: class}
	usual, gaps, words := usualNight(p.Trend), 0, []string(nil)
	var columns []column
	var before *history.Trend
	for i := range p.Trend {
		t := &p.Trend[i]
		if before != nil && t.First != nil {
			missing := int((nightOfDay(t)-nightOfDay(before)+usual/2)/usual) - 1
			for night := range min(missing, mostGaps) {
				at := format.Moment(nightOfDay(before) + limit.Time(night+1)*usual)
				columns = append(columns, column{gap: true, text: "no run", mark: at.Format(time.DateOnly)})
				gaps++
			}
		}
		n := figure(t)
		text := fmt.Sprintf("run %d, %s: %s", t.Run, nightText(t), format.Thousands(n))
		shown := column{value: float64(n), text: text}
		words = append(words, format.Thousands(n))
		if t.First != nil {
			before, shown.mark = t, t.First.Format(time.DateOnly)
		}
		columns = append(columns, shown)
	}
	c.draw(columns, 0, true)
	c.Words = fmt.Sprintf("%s of %s by night: %s", what, c.Name, strings.Join(words, ", "))
	if gaps > 0 {
		c.Words += fmt.Sprintf("; %s without a run", format.Count(int64(gaps), "night"))
	}
	return c
}

func nightOfDay(t *history.Trend) limit.Time { return limit.Time(*t.First) }

// usualNight is the usual time from night to night, a day at least.
func usualNight(trend []history.Trend) limit.Time {
	var apart []limit.Time
	var before *history.Trend
	for i := range trend {
		if trend[i].First == nil {
			continue
		}
		if before != nil {
			apart = append(apart, nightOfDay(&trend[i])-nightOfDay(before))
		}
		before = &trend[i]
	}
	if apart == nil {
		return limit.Day
	}
	slices.Sort(apart)
	return max(apart[(len(apart)-1)/2], limit.Day)
}
