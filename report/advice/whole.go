package advice

import (
	"fmt"

	"shadow/report/format"
	"shadow/report/table"
	"shadow/suggest"
)

// The answer over the whole log, as a replay judges it: nothing is cut in two there.

// Whole is what a replay of the whole log finds of the answer.
type Whole struct {
	Limit    string        `json:"limit"` // without the scale
	Refused  int64         `json:"refused"`
	Hit      int64         `json:"clients_hit"`
	ByGroup  groupsFigures `json:"by_group"`
	Crawlers []Crawler     `json:"crawlers"`
}

// A Crawler is a crawler, by what it calls itself.
type Crawler struct {
	Name     string `json:"name"`
	Search   bool   `json:"search_engine"`
	Requests int64  `json:"requests"`
	Refused  int64  `json:"refused"`
}

// wholeOf is what JSON shows, nil without an answer.
func wholeOf(w *suggest.Whole) *Whole {
	if w == nil || w.Limit == "" {
		return nil
	}
	m := &Whole{Limit: w.Limit, Refused: w.Answer.Refused.Of(suggest.Everybody), Hit: w.Answer.Hit.Of(suggest.Everybody), Crawlers: []Crawler{}}
	for g := range m.ByGroup {
		refused := w.Answer.Refused[g]
		m.ByGroup[g] = groupFigures{&refused, w.Answer.Hit[g]}
	}
	for _, c := range w.Crawlers {
		m.Crawlers = append(m.Crawlers, Crawler(c))
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
		format.Thousands(refused), format.Count(w.Requests.Of(suggest.Everybody), "request"), format.Count(hit.Of(suggest.Everybody), "client"))
	best := a.BestOfAll()[0]
	if apart := best.Chosen.First.Refused.Of(suggest.Everybody) + best.Chosen.Rest.Refused.Of(suggest.Everybody); a.Rest != nil && apart != refused {
		text += fmt.Sprintf(" Both parts together make %s, as the rest begins with empty windows and full buckets.", format.Thousands(apart))
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
		format.Thousands(browsers), behaving(n))
}

func behaving(n int64) string {
	if n == 1 {
		return "1 behaves"
	}
	return format.Thousands(n) + " behave"
}

// wholeTable has a row for each group that is there, and all of them.
func (s *Answer) wholeTable() *table.Table {
	w := s.Advice.Whole
	t := table.New(table.Words("clients"), table.Number("on the whole log"))
	t.Join(table.Numbers("hit", "requests", "refused", "%")...)
	row := func(name string, who suggest.Set) {
		if n := w.Groups.Of(who); n > 0 {
			refused, requests := w.Answer.Refused.Of(who), w.Requests.Of(who)
			t.Add(table.Text(name), table.Count(n), table.Count(w.Answer.Hit.Of(who)), table.Count(requests), table.Count(refused),
				table.Share(format.PercentOf(refused, requests)))
		}
	}
	for group := range suggest.GroupCount {
		row(group.String(), 1<<group)
	}
	row("all", suggest.Everybody)
	return t
}
