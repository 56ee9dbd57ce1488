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
func nightly(nights ...int) *Document {
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
	return NewReplay(m)
}

// A chart has a column for each night, in proportion, and a gap for each that is missing.
func TestNightsAreDrawn(t *testing.T) {
	nights := func(nights ...int) []block {
		var v view
		if v.nights(nightly(nights...).Model.History, room(0)); v.Sections[0].Blocks == nil {
			return nil
		}
		return v.Sections[0].Blocks
	}
	blocks := nights(1, 2, 5, 6, 10)
	c := blocks[1].Value.([]*chart)[0]
	var got []string
	for _, b := range c.Bars {
		got = append(got, map[bool]string{true: "gap", false: b.X + ":" + b.Height}[b.Gap])
	}
	if want := strings.Fields("0%:10% 10%:20% gap gap 40%:50% 50%:60% gap gap gap 90%:100%"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if want := fmt.Sprint([]chartTick{{"100%", "0"}, {"50%", "50"}, {"0%", "100"}}); fmt.Sprint(c.Ticks) != want {
		t.Errorf("ticks %v, want %v", c.Ticks, want)
	}
	if want := []string{"2025-11-02", "2025-11-06", "2025-11-11"}; !slices.Equal(c.Marks, want) {
		t.Errorf("marks %v, want %v", c.Marks, want)
	}
	if want := "refused requests of token:6/30s by night: 10, 20, no run, no run, 50, 60, no run, no run, no run, 100"; c.Words != want {
		t.Errorf("in words: %q", c.Words)
	}
	if nights(1) != nil {
		t.Error("one night is a trend")
	}
}

// The page begins with what is new: the limits whose newest night is the highest come first. One with other limits under its
// name is not held against itself.
func TestNewsComeFirst(t *testing.T) {
	p := nightly(1, 2, 3).Model
	calm := &p.History.Policies[0]
	calm.Trend[2].Totals = history.NewTotals(1000, 15, 50, 0)
	page := NewReplay(p)
	want := []string{
		"of requests refused by " + p.Policies[1].Policy, "The newest refuses 3.00 % of requests, more than each (1.00 % to 2.00 %), and hits 6.00 % of clients, more than each",
		"of requests refused by " + calm.Policy, "Against the 2 runs before, the newest refuses 1.50 % of requests, as they did (1.00 % to 2.00 %), and hits 0.00 % of clients, less than each (2.00 % to 4.00 %)",
	}
	for i, text := range want {
		if label := page.candidates()[i/2].Label; !strings.Contains(strings.ToLower(label), strings.ToLower(text)) {
			t.Errorf("%q has no %q", label, text)
		}
	}
	text := pageText(t, page)
	if nights, lists := strings.Index(text, `<section id="nights"`), strings.Index(text, ">What has changed</h2>"); nights < 0 || lists < nights {
		t.Errorf("nights at %d, lists at %d", nights, lists)
	}
	calm.Changed = true
	if newest, _ := calm.Newest(); newest != "" {
		t.Errorf("other limits: %s", newest)
	}
	calm.Changed, calm.Trend = false, calm.Trend[1:]
	if newest, _ := calm.Newest(); newest != "" {
		t.Errorf("one night before: %s", newest)
	}
}

// Lists of what has changed are folded, and the nights of two weeks are short on a telephone.
func TestBrowserNights(t *testing.T) {
	var all []int
	for night := range 14 {
		all = append(all, night+night/5)
	}
	b := openTab(t, nightly(all...), 390, 844)
	if got := eval[[]int](b, `[document.querySelectorAll("#nights .plot rect:not(.gap)").length, document.querySelectorAll("#nights .gap").length, document.querySelectorAll(".kind").length, document.querySelectorAll(".kind[open]").length]`); !slices.Equal(got, []int{4 * 14, 4 * 2, 4, 0}) {
		t.Errorf("columns, gaps, lists, open ones: %v", got)
	}
	if height := eval[int](b, `document.getElementById("nights").offsetHeight + document.querySelector(".kind").closest("section").offsetHeight`); height > 4*844 {
		t.Errorf("%d pixels, %d screens", height, height/844)
	}
	b.inside(390)
	b.shoot("nights-390")
	b.accessible("nights at 390")
}
