package report

import (
	"fmt"
	"slices"
	"strings"

	"shadow/suggest"
	"shadow/sweep"
)

// The answer over the whole log, as a replay judges it: nothing is cut in two there. And what limits leave to somebody who
// takes all he can get, which is all there is to go by where nobody to spare is seen.

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

// A SuggestBound is a limit with what it leaves.
type SuggestBound struct {
	Limit   string `json:"limit"`
	Minute  int64  `json:"first_minute"` // requests that one client is admitted in less than that time, at most
	Hour    int64  `json:"first_hour"`
	Day     int64  `json:"first_day"`
	Refused int64  `json:"refused"` // of the log's
	Hit     int64  `json:"clients_hit"`
	Nginx   string `json:"nginx"` // what limit_req is told; "": it has no such limit
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

func boundsOf(a *suggest.Advice) []SuggestBound {
	all := []SuggestBound{}
	for i := range a.Bounds {
		b := &a.Bounds[i]
		leaves := leavesOf(b.Shape, b.N)
		m := SuggestBound{
			Limit: b.Limit(), Minute: leaves[0], Hour: leaves[1], Day: leaves[2],
			Refused: b.Whole.Refused.Of(suggest.Everybody), Hit: b.Whole.Hit.Of(suggest.Everybody),
		}
		if twin, ok := b.Nginx(); ok {
			m.Nginx = twin.Setting()
		}
		all = append(all, m)
	}
	return all
}

// leavesOf is what a limit leaves in each of suggest.Times.
func leavesOf(s sweep.Shape, n int64) (leaves [3]int64) {
	for i, time := range suggest.Times {
		leaves[i] = suggest.Leaves(s, n, time)
	}
	return leaves
}

// leavesText says what the answer leaves to somebody who begins anew, "" without an answer.
func (s *SuggestAnswer) leavesText() string {
	best := s.Advice.BestOfAll()
	if len(best) == 0 || !s.Advice.Scale.One() {
		return ""
	}
	n := leavesOf(best[0].Shape, best[0].Steady())
	return fmt.Sprintf("at most %s to one client in less than a minute, %s in an hour, %s in a day, if it begins anew and takes all it can get",
		count(n[0], "request"), thousands(n[1]), thousands(n[2]))
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

// crawlersNamed is how many crawlers are named.
const crawlersNamed = 5

// crawlersText tells which crawlers the answer refuses: search engines may be welcome.
func crawlersText(a *suggest.Advice) string {
	w := a.Whole
	if w == nil || w.Limit == "" || w.Answer.Refused[suggest.Crawlers] == 0 {
		return ""
	}
	var search, others []string
	for _, c := range w.Crawlers {
		text := fmt.Sprintf("%s %s of %s", visible(c.Name), thousands(c.Refused), thousands(c.Requests))
		switch {
		case c.Refused == 0:
		case c.Search:
			search = append(search, text)
		default:
			others = append(others, text)
		}
	}
	text := fmt.Sprintf("It refuses %s of %s of clients that call themselves crawlers (%s%%)", thousands(w.Answer.Refused[suggest.Crawlers]),
		count(w.Requests[suggest.Crawlers], "request"), percent(percentOf(w.Answer.Refused[suggest.Crawlers], w.Requests[suggest.Crawlers])))
	if search != nil {
		text += "; of search engines: " + someOf(search)
	}
	if others != nil {
		text += "; others: " + someOf(others)
	}
	text += "."
	if !a.Stop.Has(suggest.Crawlers) || a.Stop == suggest.Everybody {
		return text
	}
	return text + " If they are welcome, spare them: " + sparing(a) + "."
}

func someOf(texts []string) string {
	if more := len(texts) - crawlersNamed; more > 0 {
		return strings.Join(texts[:crawlersNamed], ", ") + fmt.Sprintf(" and %s more", thousands(int64(more)))
	}
	return strings.Join(texts, ", ")
}

// sparing are the flags that put crawlers on the other side.
func sparing(a *suggest.Advice) string {
	var promises, stop []string
	for _, p := range a.Promises {
		promises = append(promises, p.String())
	}
	for g := range suggest.GroupCount {
		if a.Stop.Has(g) && g != suggest.Crawlers {
			stop = append(stop, g.String())
		}
	}
	if stop == nil {
		stop = []string{suggest.Tools.String()}
	}
	return fmt.Sprintf("--spare %s,crawlers=100%% --stop %s", strings.Join(promises, ","), strings.Join(stop, ","))
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

// boundsGrid has a row for each limit that is offered where there is nobody to spare.
func (s *SuggestAnswer) boundsGrid() *grid {
	g := &grid{columns: []column{text("limit"), number("first minute")}}
	g.columns = append(g.columns, with(number("hour"), number("day"))...)
	g.columns = append(g.columns, number("refused here"))
	g.columns = append(g.columns, with(number("%"), number("clients"))...)
	g.columns = append(g.columns, text("nginx"))
	requests := s.Advice.Whole.Requests.Of(suggest.Everybody)
	for _, b := range s.Bounds {
		nginx := b.Nginx
		if nginx == "" {
			nginx = "–"
		}
		g.rows = append(g.rows, []string{
			b.Limit, thousands(b.Minute), thousands(b.Hour), thousands(b.Day),
			thousands(b.Refused), percent(percentOf(b.Refused, requests)), thousands(b.Hit), nginx,
		})
	}
	return g
}

// unsparedText says whom the log shows instead of those to spare.
func unsparedText(a *suggest.Advice, p suggest.Promise) string {
	requests := a.Whole.Requests
	later := ""
	if n := a.Whole.Groups.Of(p.Who); n > 0 {
		later = fmt.Sprintf(" The rest of the log has %s to spare: --holdout 0 chooses on all of it.", count(n, "client"))
	}
	var groups []suggest.Group
	for g := range suggest.GroupCount {
		if requests[g] > 0 {
			groups = append(groups, g)
		}
	}
	slices.SortStableFunc(groups, func(x, y suggest.Group) int { return int(min(1, max(-1, requests[y]-requests[x]))) })
	var there []string
	for _, g := range groups {
		there = append(there, fmt.Sprintf("%s by %s", thousands(requests[g]), g))
	}
	return fmt.Sprintf("No %s sent a request of this action in the part that limits are chosen on: nobody to spare, so there is no promise to hold a limit to. "+
		"Of the %s of it in the whole log, %s. The table tells what a limit leaves to an attacker who begins anew, and what it refuses of these: "+
		"take the strictest of which you think that people can live with it.%s",
		p.Who, count(requests.Of(suggest.Everybody), "request"), strings.Join(there, ", "), later)
}
