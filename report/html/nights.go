package html

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/request"
	"shadow/limit"
	"shadow/report/format"
	"shadow/report/history"
	"shadow/report/table"
)

// What stored runs found, night by night: for each policy a chart of refused requests and one of clients hit, drawn here
// as SVG, so that they need no script; and each night folded, with a sentence that says what it was. The newest is open.

// A nightsView is the trend of all policies.
type nightsView struct {
	Charts []trendChart
	Nights []nightView // the newest first
}

type nightView struct {
	Summary string
	Open    bool
	Table   *table.Page
}

// A trendChart is one figure of a policy: a column for each night, none where a night is missing.
type trendChart struct {
	Policy, What, Words string // what the columns are, and in words what they show
	Class               string
	Width               int // of the drawing; each night is trendSlot wide
	Bars                []trendBar
	From, To, Most      string
}

type trendBar struct {
	X, Y, Height int
	Gap          bool
	Text         string
}

const (
	trendSlot   = 20 // units of the drawing
	trendHeight = 80
	mostGaps    = 30 // nights in a row that are drawn as missing
)

// nightsOf is nil where there are fewer than two nights.
func nightsOf(h *history.History, room room, agents bool) *nightsView {
	if h == nil {
		return nil
	}
	v := &nightsView{}
	shown := h.Policies[:min(len(h.Policies), room.details)]
	byRun := map[int32][]int{} // policies
	var runs []history.Trend
	for i := range shown {
		p := &shown[i]
		if len(p.Trend) > 1 {
			v.Charts = append(v.Charts, chartOf(p, "refused requests", "refused", func(t *history.Trend) int64 { return t.Refused }),
				chartOf(p, "clients hit", "hit", func(t *history.Trend) int64 { return t.ClientsHit }))
		}
		for j := range p.Trend {
			run := p.Trend[j].Run
			if byRun[run] == nil {
				runs = append(runs, p.Trend[j])
			}
			byRun[run] = append(byRun[run], i)
		}
	}
	if v.Charts == nil {
		return nil
	}
	slices.SortFunc(runs, func(a, b history.Trend) int { return cmp.Compare(b.Run, a.Run) })
	for i := range runs {
		v.Nights = append(v.Nights, nightOf(&runs[i], shown, byRun[runs[i].Run], agents))
	}
	v.Nights[0].Open = true
	return v
}

func nightOf(run *history.Trend, policies []history.Policy, of []int, agents bool) nightView {
	n := nightView{}
	t := table.New(table.Name("limit"))
	t.Title = fmt.Sprintf("What run %d found", run.Run)
	t.Head(table.Numbers("requests", "refused", "% of requests", "clients hit", "% of clients")...)
	for class := range request.ClassCount {
		if agents {
			t.Head(table.Number(class.String() + " hit"))
		}
	}
	var texts []string
	for _, i := range of {
		p := &policies[i]
		r := &p.Trend[slices.IndexFunc(p.Trend, func(t history.Trend) bool { return t.Run == run.Run })]
		texts = append(texts, fmt.Sprintf("%s %s refused, %s hit", name(p.Policy), format.Thousands(r.Refused), format.Count(r.ClientsHit, "client")))
		row := []table.Cell{
			table.Text(p.Policy), table.Count(r.Requests), table.Count(r.Refused), table.Share(r.RefusedPercent), table.Count(r.ClientsHit),
			table.Share(r.ClientsHitPercent),
		}
		for _, hit := range r.ByClass {
			if agents {
				row = append(row, table.Count(hit))
			}
		}
		t.Add(row...)
	}
	n.Table = t.Page(len(t.Rows), "", 0)
	n.Summary = clipped(fmt.Sprintf("Run %d, %s: %s of %s", run.Run, nightText(run), strings.Join(texts[:min(len(texts), 3)], "; "),
		format.Count(run.Requests, "request")))
	return n
}

// nightText is the time of a run.
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

// chartOf draws a figure. Nights are as far apart as most are; where two are further apart, nights are missing.
func chartOf(p *history.Policy, what, class string, figure func(*history.Trend) int64) trendChart {
	c := trendChart{Policy: name(p.Policy), What: what, Class: class}
	most, gaps := int64(0), 0
	for i := range p.Trend {
		most = max(most, figure(&p.Trend[i]))
	}
	usual, words := usualNight(p.Trend), []string(nil)
	var before *history.Trend
	for i := range p.Trend {
		t := &p.Trend[i]
		if before != nil && t.First != nil {
			missing := int((nightOfDay(t)-nightOfDay(before)+usual/2)/usual) - 1
			for range min(missing, mostGaps) {
				c.Bars = append(c.Bars, trendBar{X: c.Width, Height: trendHeight, Gap: true, Text: "no run"})
				c.Width, gaps = c.Width+trendSlot, gaps+1
			}
		}
		n := figure(t)
		height := 0
		if most > 0 {
			height = int(n * trendHeight / most)
		}
		if n > 0 {
			height = max(height, 2)
		}
		text := fmt.Sprintf("run %d, %s: %s", t.Run, nightText(t), format.Thousands(n))
		c.Bars = append(c.Bars, trendBar{X: c.Width, Y: trendHeight - height, Height: height, Text: text})
		c.Width += trendSlot
		words = append(words, format.Thousands(n))
		if t.First != nil {
			if before == nil {
				c.From = t.First.Format("2006-01-02")
			}
			before, c.To = t, t.First.Format("2006-01-02")
		}
	}
	c.Most = format.Thousands(most)
	c.Words = fmt.Sprintf("%s of %s by night: %s", what, c.Policy, strings.Join(words, ", "))
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
