package suggest

import (
	"cmp"
	"slices"
	"strings"

	"shadow/replay"
	"shadow/traffic"
	"shadow/traffic/intern"
	"shadow/traffic/match"
	"shadow/traffic/useragent"
)

// Limits are chosen and proven on two parts of a log, each of which begins with empty limiters. A replay of the whole log
// cuts nothing in two, so it finds a little more. What it finds of the answer is told beside them, with the names of the
// crawlers that the answer refuses: search engines may be welcome.

// Whole is what a replay of the whole log finds of the answer, and of what is offered in its place.
type Whole struct {
	Labels  Labels
	Action  string // requests of this action only; "" for all
	Tables  *traffic.Tables
	Clients *intern.PagedSlice[traffic.ClientTally]

	Groups   Groups // clients with such a request
	Requests Groups
	sent     intern.PagedSlice[int64] // such requests by client
	Limit    string                   // the answer, without the scale; "" if there is none
	Answer   Figures
	Crawlers []CrawlerHit // of the answer: those who send most first
	Monitors []replay.Hit // of the answer: those of them that it hits, by client
}

// A CrawlerHit is what a limit does to a crawler, by what it calls itself.
type CrawlerHit struct {
	Name              string
	Search            bool // whether it calls itself that of a search engine
	Requests, Refused int64
}

// Reset forgets what was found.
func (w *Whole) Reset() {
	*w = Whole{Labels: w.Labels, Action: w.Action, Tables: w.Tables, Clients: w.Clients}
}

// Take counts the requests of a batch.
func (w *Whole) Take(b *traffic.Batch) {
	w.sent.Grow(w.Tables.Clients.Len())
	action := match.FindActions(w.Tables.Actions, w.Action)
	for row, client := range b.Client {
		if w.Action == "" || action.Has(b.Action[row]) {
			*w.sent.At(client)++
		}
	}
}

// Finish takes in what the answer refuses, nil if there is none.
func (w *Whole) Finish(hits *replay.Hits) {
	refused := map[int32]int64{}
	if hits != nil {
		w.Answer = Count(hits, w.Labels)
		for hit := range hits.All() {
			refused[hit.Client] = hit.Refused
			if w.Labels.Of(hit.Client) == Monitors {
				w.Monitors = append(w.Monitors, hit)
			}
		}
	}
	byName := map[string]*CrawlerHit{}
	for client := range int32(w.sent.Len()) {
		n, g := *w.sent.At(client), w.Labels.Of(client)
		if n == 0 {
			continue
		}
		w.Groups[g]++
		w.Requests[g] += n
		if g != Crawlers && g != Search {
			continue
		}
		name := useragent.CrawlerName(w.Tables.ShownAgent(w.Clients.At(client).LastAgent))
		c := byName[name]
		if c == nil {
			c = &CrawlerHit{Name: name, Search: g == Search}
			byName[name] = c
		}
		c.Requests += n
		c.Refused += refused[client]
	}
	for _, c := range byName {
		w.Crawlers = append(w.Crawlers, *c)
	}
	slices.SortFunc(w.Crawlers, func(x, y CrawlerHit) int {
		return cmp.Or(cmp.Compare(y.Refused, x.Refused), cmp.Compare(y.Requests, x.Requests), strings.Compare(x.Name, y.Name))
	})
}

// WholeLimits are the limits to replay over the whole log: the answer, if there is one, and the ceilings.
func (a *Advice) WholeLimits() (texts []string) {
	a.Whole.Limit = ""
	if n := &a.Answer; n.Of != nil {
		a.Whole.Limit, _ = n.Of.family.text(n.Chosen.Limit)
		texts = append(texts, a.Whole.Limit)
	}
	for i := range a.Ceilings {
		texts = append(texts, a.Ceilings[i].Limit())
	}
	return texts
}

// NameWhole says what is to be replayed over the whole log beside the answer. What the chosen buckets refuse must be known.
func (a *Advice) NameWhole(labels Labels, tables *traffic.Tables, clients *intern.PagedSlice[traffic.ClientTally]) {
	a.Whole = &Whole{Labels: labels, Action: a.Action, Tables: tables, Clients: clients}
	if a.NoneProtected() {
		a.Ceilings = ceilings()
	}
}

// FinishWhole takes in what the replay of WholeLimits found, in their order.
func (a *Advice) FinishWhole(found []replay.PolicyTally) {
	var answer *replay.Hits
	if a.Whole.Limit != "" {
		answer, found = &found[0].Hits, found[1:]
	}
	a.Whole.Finish(answer)
	a.Answer.Whole = a.Whole.Answer
	for i := range a.Ceilings {
		a.Ceilings[i].Whole = Count(&found[i].Hits, a.Whole.Labels)
	}
}
