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
	"shadow/traffic/who"
)

// Limits are chosen and proven on two parts of a log, each of which begins with empty limiters. A replay of the whole log
// cuts nothing in two, so it finds a little more. What it finds of the answer is told beside them, with the names of the
// crawlers that the answer refuses: search engines may be welcome.

// Whole is what a replay of the whole log finds of the answer, and of what is offered in its place.
type Whole struct {
	Labels  who.Identities
	Agent   func(client int32) int32 // by which it was identified
	Action  string                   // requests of this action only; "" for all
	Tables  *traffic.Tables
	Clients *intern.PagedSlice[traffic.ClientTally]

	Groups   who.Groups // clients with such a request
	Requests who.Groups
	AtRisk   who.Groups               // clients that sent more than the answer admits at once
	Late     who.Groups               // the same of the rest of the log
	sent     intern.PagedSlice[int64] // such requests by client
	sentLate intern.PagedSlice[int64] // likewise, of the rest
	Limit    string                   // the answer, without the scale; "" if there is none
	Answer   Figures
	Crawlers []CrawlerHit // of the answer: those who send most first
	Works    []replay.Hit // of the answer: the site's own work and monitors that it hits
	Most     []replay.Hit // of the answer: the clients that it refuses most, apart from these
}

// A CrawlerHit is what a limit does to a crawler, by what it calls itself.
type CrawlerHit struct {
	Name              string
	Search            bool // whether it calls itself that of a search engine
	Requests, Refused int64
}

// Reset forgets what was found.
func (w *Whole) Reset() {
	*w = Whole{Labels: w.Labels, Agent: w.Agent, Action: w.Action, Tables: w.Tables, Clients: w.Clients}
}

// Take counts the requests of a batch, of which some are of the rest of the log.
func (w *Whole) Take(b *traffic.Batch, rest func(row int) bool) {
	w.sent.Grow(w.Tables.Clients.Len())
	w.sentLate.Grow(w.Tables.Clients.Len())
	action := match.FindActions(w.Tables.Actions, w.Action)
	for row, client := range b.Client {
		if w.Action == "" || action.Has(b.Action[row]) {
			*w.sent.At(client)++
			if rest(row) {
				*w.sentLate.At(client)++
			}
		}
	}
}

// Finish takes in what the answer refuses, nil if there is none, and how many requests it admits at once.
func (w *Whole) Finish(hits *replay.Hits, atOnce int64) {
	refused := map[int32]int64{}
	if hits != nil {
		w.Answer = Count(hits, w.Labels)
		for hit := range hits.All() {
			refused[hit.Client] = hit.Refused
			if is := w.Labels.Of(hit.Client); is == who.Own || is == who.Monitor {
				w.Works = append(w.Works, hit)
			} else {
				w.Most = append(w.Most, hit)
			}
		}
	}
	slices.SortFunc(w.Most, func(x, y replay.Hit) int {
		return cmp.Or(cmp.Compare(y.Refused, x.Refused), strings.Compare(w.Tables.Clients.Name(x.Client), w.Tables.Clients.Name(y.Client)))
	})
	w.Most = slices.Clone(w.Most[:min(len(w.Most), mostNamed)])
	type called struct {
		name   string
		search bool // shown names may be made up, and be those of both
	}
	byName := map[called]*CrawlerHit{}
	for client := range int32(w.sent.Len()) {
		n, g := *w.sent.At(client), w.Labels.Of(client)
		if n == 0 {
			continue
		}
		w.Groups[g]++
		w.Requests[g] += n
		if n > atOnce {
			w.AtRisk[g]++
		}
		if *w.sentLate.At(client) > atOnce {
			w.Late[g]++
		}
		if g != who.Crawler && g != who.Search {
			continue
		}
		is := called{useragent.CrawlerName(w.Tables.ShownAgent(w.Agent(client))), g == who.Search}
		c := byName[is]
		if c == nil {
			c = &CrawlerHit{Name: is.name, Search: is.search}
			byName[is] = c
		}
		c.Requests += n
		c.Refused += refused[client]
	}
	for _, c := range byName {
		w.Crawlers = append(w.Crawlers, *c)
	}
	slices.SortFunc(w.Crawlers, func(x, y CrawlerHit) int {
		searchFirst := 1
		if x.Search {
			searchFirst = -1
		}
		return cmp.Or(cmp.Compare(y.Refused, x.Refused), cmp.Compare(y.Requests, x.Requests), strings.Compare(x.Name, y.Name), searchFirst)
	})
}

// mostNamed is how many of the clients that an answer refuses most are named.
const mostNamed = 3

// Sent returns how many requests a client sent.
func (w *Whole) Sent(client int32) int64 { return *w.sent.At(client) }

// Heaviest returns the client that makes more than half of what the answer refuses, if nothing that it does is hostile.
func (w *Whole) Heaviest() (heaviest replay.Hit, found bool) {
	if len(w.Most) == 0 || who.Hostile.Has(w.Labels.Of(w.Most[0].Client)) {
		return heaviest, false
	}
	return w.Most[0], 2*w.Most[0].Refused > w.Answer.Refused.Of(who.Everybody&^who.Bystander)
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
func (a *Advice) NameWhole(is *who.Register, labels who.Identities, tables *traffic.Tables, clients *intern.PagedSlice[traffic.ClientTally]) {
	a.Whole = &Whole{Labels: labels, Agent: is.Agent, Action: a.Action, Tables: tables, Clients: clients}
	if a.Whole.Agent == nil {
		a.Whole.Agent = func(client int32) int32 { return clients.At(client).LastAgent }
	}
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
	a.Whole.Finish(answer, a.Answer.Chosen.Limit)
	a.Answer.Whole = a.Whole.Answer
	for i := range a.Ceilings {
		a.Ceilings[i].Whole = Count(&found[i].Hits, a.Whole.Labels)
	}
}
