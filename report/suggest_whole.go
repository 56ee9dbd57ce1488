package report

import (
	"fmt"

	"shadow/suggest"
)

// The answer over the whole log, as a replay judges it: nothing is cut in two there.

// SuggestWhole is what a replay of the whole log finds of the answer.
type SuggestWhole struct {
	Limit    string           `json:"limit"` // without the scale
	Refused  int64            `json:"refused"`
	Hit      int64            `json:"clients_hit"`
	ByGroup  suggestFigures   `json:"by_group"`
	Crawlers []SuggestCrawler `json:"crawlers"`
}

// A SuggestCrawler is a crawler, by what it calls itself.
type SuggestCrawler struct {
	Name     string `json:"name"`
	Search   bool   `json:"search_engine"`
	Requests int64  `json:"requests"`
	Refused  int64  `json:"refused"`
}

// wholeOf is what JSON shows, nil without an answer.
func wholeOf(w *suggest.Whole) *SuggestWhole {
	if w == nil || w.Limit == "" {
		return nil
	}
	m := &SuggestWhole{Limit: w.Limit, Refused: w.Answer.Refused.Of(suggest.Everybody), Hit: w.Answer.Hit.Of(suggest.Everybody), Crawlers: []SuggestCrawler{}}
	for g := range m.ByGroup {
		refused := w.Answer.Refused[g]
		m.ByGroup[g] = groupFigures{&refused, w.Answer.Hit[g]}
	}
	for _, c := range w.Crawlers {
		m.Crawlers = append(m.Crawlers, SuggestCrawler(c))
	}
	return m
}

// wholeText says how the whole log differs from its parts, and this report from that of a replay.
func wholeText(a *suggest.Advice) string {
	w := a.Whole
	if w == nil || w.Limit == "" {
		return ""
	}
	refused, hit := w.Answer.Refused.Of(suggest.Everybody), w.Answer.Hit
	unscaled := ""
	if !a.Scale.One() {
		unscaled = " (the answer without the scale)"
	}
	text := fmt.Sprintf("On the whole log, %s%s refuses %s of %s and hits %s.", w.Limit, unscaled,
		thousands(refused), count(w.Requests.Of(suggest.Everybody), "request"), count(hit.Of(suggest.Everybody), "client"))
	best := a.BestOfAll()[0]
	if apart := best.Chosen.First.Refused.Of(suggest.Everybody) + best.Chosen.Rest.Refused.Of(suggest.Everybody); a.Rest != nil && apart != refused {
		text += fmt.Sprintf(" Both parts together make %s, as the rest begins with empty windows and full buckets.", thousands(apart))
	}
	return text + claimedText(&hit)
}

// claimedText says how many of the clients hit are browsers to a replay that goes by claim alone.
func claimedText(hit *suggest.Groups) string {
	n := hit[suggest.Disguised]
	browsers := n + hit[suggest.Browsers] + hit[suggest.Shared]
	switch {
	case n == 0:
		return ""
	case browsers == 1:
		return " To `shadow replay` without --evidence, which believes claims, 1 of those hit is a browser: it behaves like none (disguised)."
	}
	return fmt.Sprintf(" To `shadow replay` without --evidence, which believes claims, %s of those hit are browsers: %s like none (disguised).",
		thousands(browsers), behaving(n))
}

func behaving(n int64) string {
	if n == 1 {
		return "1 behaves"
	}
	return thousands(n) + " behave"
}

// wholeGrid has a row for each group that is there, and all of them.
func (s *SuggestAnswer) wholeGrid() *grid {
	w := s.Advice.Whole
	g := &grid{columns: []column{text("clients"), number("on the whole log")}}
	g.columns = append(g.columns, with(number("hit"), number("requests"), number("refused"), number("%"))...)
	row := func(name string, who suggest.Set) {
		if n := w.Groups.Of(who); n > 0 {
			refused, requests := w.Answer.Refused.Of(who), w.Requests.Of(who)
			g.rows = append(g.rows, []string{
				name, thousands(n), thousands(w.Answer.Hit.Of(who)), thousands(requests), thousands(refused), percent(percentOf(refused, requests)),
			})
		}
	}
	for group := range suggest.GroupCount {
		row(group.String(), 1<<group)
	}
	row("all", suggest.Everybody)
	return g
}
