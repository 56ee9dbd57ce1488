package html

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"shadow/limit"
	"shadow/report"
	"shadow/report/history"
	"shadow/report/reporttest"
)

// nightly is the page of the last of some nights, of which some have no run.
func nightly(nights ...int) *Page {
	m := report.New(reporttest.Town(), townOptions)
	h := &history.History{Compare: "previous", Runs: []int32{int32(len(nights))}, Base: []int32{int32(len(nights) - 1)}}
	for i := range m.Policies {
		p := history.Policy{Policy: m.Policies[i].Policy, By: "client", Before: &history.Totals{}}
		for run, night := range nights {
			at := reporttest.Noon + limit.Time(night)*limit.Day
			p.Trend = append(p.Trend, history.NewTrend(int32(run+1), at, at+limit.Hour, history.NewTotals(1000, int64(10*night), 50, int64(night)), history.HitClasses{int64(night)}))
		}
		for range 20 {
			p.TopNewlyHit = append(p.TopNewlyHit, history.Mover{Client: "192.0.2.1", Class: "browser"})
		}
		p.NewlyHit.Clients = 20
		h.Policies = append(h.Policies, p)
	}
	m.History = h
	return NewPage(m)
}

// A chart has a column for each night, in proportion, and a gap for each that is missing.
func TestNightsAreDrawn(t *testing.T) {
	v := nightsOf(nightly(1, 2, 5, 6, 10).Model.History, roomAfter(0), true)
	c := v.Charts[0]
	var got []string
	for _, b := range c.Bars {
		got = append(got, map[bool]string{true: "gap", false: fmt.Sprint(b.Height)}[b.Gap])
	}
	if want := strings.Fields("8 16 gap gap 40 48 gap gap gap 80"); !slices.Equal(got, want) || c.Width != 10*trendSlot || c.Most != "100" {
		t.Errorf("%v of %d, want %v", got, c.Width, want)
	}
	if want := "refused requests of token:6/30s by night: 10, 20, 50, 60, 100; 5 nights without a run"; c.Words != want {
		t.Errorf("in words: %q", c.Words)
	}
	var open []bool
	for _, n := range v.Nights {
		open = append(open, n.Open)
	}
	if !slices.Equal(open, []bool{true, false, false, false, false}) || !strings.HasPrefix(v.Nights[0].Summary, "Run 5, ") || !strings.Contains(v.Nights[1].Summary, "token:6/30s 60 refused, 6 clients hit") {
		t.Errorf("nights %v: %v", open, v.Nights)
	}
	if nightsOf(nightly(1).Model.History, roomAfter(0), true) != nil {
		t.Error("one night is a trend")
	}
}

// Nights are folded, also without scripts, and the page of two weeks is short on a telephone.
func TestBrowserNights(t *testing.T) {
	var all []int
	for night := range 14 {
		all = append(all, night+night/5)
	}
	b := openTab(t, nightly(all...), 390, 844)
	if got := eval[[]int](b, `[document.querySelectorAll("#nights svg rect:not(.gap)").length, document.querySelectorAll("#nights .gap").length, document.querySelectorAll(".night").length, document.querySelectorAll(".night[open]").length]`); !slices.Equal(got, []int{4 * 14, 4 * 2, 14, 1}) {
		t.Errorf("columns, gaps, nights, open ones: %v", got)
	}
	if height := eval[int](b, `document.getElementById("nights").offsetHeight + [...document.querySelectorAll("section[id^='s-']")].reduce((n, s) => n + s.offsetHeight, 0)`); height > 4*844 {
		t.Errorf("%d pixels, %d screens", height, height/844)
	}
	if wide := eval[int](b, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("%d pixels wide", wide)
	}
	b.shoot("nights-390")
	b.accessible("nights at 390")
}
