package suggest

import (
	"cmp"
	"slices"
	"strings"

	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/useragent"
	"shadow/internal/traffic/who"
	"shadow/replay"
)

// Limits are chosen and proven on two parts of a log, each of which begins with empty limiters. A replay of the whole log
// cuts nothing in two, so it finds a little more. What it finds of the answer is told beside them, with the names of the
// crawlers that the answer refuses: search engines may be welcome.

// Whole holds what a replay of the whole log finds of the answer, and of what is offered in its place.
type Whole struct {
	Labels  who.Identities
	Agent   func(client int32) int32 // by which it was identified
	Action  string                   // requests of this action only; "" for all
	Target  who.Set
	Tables  *traffic.Tables
	Clients *intern.PagedSlice[traffic.ClientTally]

	Groups   who.Groups // clients with such a request
	Requests who.Groups
	AtRisk   who.Groups               // clients that sent more than the answer admits at once
	Late     who.Groups               // the same of the rest of the log
	sent     intern.PagedSlice[int64] // such requests by client
	sentLate intern.PagedSlice[int64] // likewise, of the rest
	actions  intern.PagedSlice[int64] // such requests by action
	targets  intern.PagedSlice[int64] // those of the target
	Limit    string                   // the answer, without the scale; "" if there is none
	Answer   Figures
	Crawlers []CrawlerHit // of the answer: those who send most first
	Works    []replay.Hit // of the answer: the site's own work and monitors that it hits
	Most     []replay.Hit // of the answer: the clients that it refuses most, apart from these
	Harmed   *replay.Hit  // of the answer: the protected client that it refuses most; nil: none
}

// A CrawlerHit is what a limit does to a crawler, by what it calls itself.
type CrawlerHit struct {
	Name string `json:"name"`
	// whether it calls itself that of one
	Search   bool  `json:"search_engine"`
	Requests int64 `json:"requests"`
	Refused  int64 `json:"refused"`
}

// Reset forgets what was found.
func (w *Whole) Reset() {
	*w = Whole{Labels: w.Labels, Agent: w.Agent, Action: w.Action, Target: w.Target, Tables: w.Tables, Clients: w.Clients}
}

// Take counts the requests of a batch, of which some are of the rest of the log.
func (w *Whole) Take(b *traffic.Batch, rest func(row int) bool) {
	w.sent.Grow(w.Tables.Clients.Len())
	w.sentLate.Grow(w.Tables.Clients.Len())
	w.actions.Grow(w.Tables.Actions.Len())
	w.targets.Grow(w.Tables.Actions.Len())
	action := match.FindActions(w.Tables.Actions, w.Action)
	for row, client := range b.Client {
		if w.Action == "" || action.Has(b.Action[row]) {
			*w.sent.At(client)++
			*w.actions.At(int32(b.Action[row]))++
			if w.Target.Has(w.Labels.Of(client)) {
				*w.targets.At(int32(b.Action[row]))++
			}
			if rest(row) {
				*w.sentLate.At(client)++
			}
		}
	}
}

// Finish takes in what the answer refuses, nil if there is none, how many requests it admits at once, and who is protected.
func (w *Whole) Finish(hits *replay.Hits, atOnce int64, protected who.Set) {
	refused := w.takeHits(hits, protected)
	byName := map[crawlerName]*CrawlerHit{}
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
		is := crawlerName{useragent.CrawlerName(w.Tables.ShownAgent(w.Agent(client))), g == who.Search}
		if byName[is] == nil {
			byName[is] = &CrawlerHit{Name: is.name, Search: is.search}
		}
		byName[is].Requests += n
		byName[is].Refused += refused[client]
	}
	for _, c := range byName {
		w.Crawlers = append(w.Crawlers, *c)
	}
	slices.SortFunc(w.Crawlers, compareCrawlers)
}

// takeHits takes in the clients that the answer hits, nil if there is none, and returns how many requests it refuses of
// each.
func (w *Whole) takeHits(hits *replay.Hits, protected who.Set) map[int32]int64 {
	if hits == nil {
		return nil
	}
	w.Answer = Count(hits, w.Labels)
	refused := map[int32]int64{}
	for hit := range hits.All() {
		refused[hit.Client] = hit.Refused
		is := w.Labels.Of(hit.Client)
		if protected.Has(is) && (w.Harmed == nil || w.compare(hit, *w.Harmed) < 0) {
			w.Harmed = &hit
		}
		if is == who.Own || is == who.Monitor {
			w.Works = append(w.Works, hit)
		} else {
			w.Most = append(w.Most, hit)
		}
	}
	slices.SortFunc(w.Most, w.compare)
	w.Most = slices.Clone(w.Most[:min(len(w.Most), mostNamed)])
	return refused
}

// A crawlerName tells crawlers apart: shown names may be made up, and be those of search engines and of others.
type crawlerName struct {
	name   string
	search bool
}

// compareCrawlers orders crawlers, those first of which most is refused, then those that send most.
func compareCrawlers(x, y CrawlerHit) int {
	searchFirst := 1
	if x.Search {
		searchFirst = -1
	}
	return cmp.Or(cmp.Compare(y.Refused, x.Refused), cmp.Compare(y.Requests, x.Requests),
		strings.Compare(x.Name, y.Name), searchFirst)
}

// compare orders clients, those first of which most is refused.
func (w *Whole) compare(x, y replay.Hit) int {
	return cmp.Or(cmp.Compare(y.Refused, x.Refused), strings.Compare(w.Tables.Clients.Name(x.Client), w.Tables.Clients.Name(y.Client)))
}

// forget forgets what the answer does, as there is none.
func (w *Whole) forget() {
	w.Limit, w.Answer, w.Most, w.Works, w.Harmed = "", Figures{}, nil, nil, nil
	for i := range w.Crawlers {
		w.Crawlers[i].Refused = 0
	}
}

// Busiest returns the actions of which the target has so many percent of its requests, those with most first.
func (w *Whole) Busiest(percent int64) (actions []int32) {
	all := w.Requests.Of(w.Target)
	for id := range int32(w.targets.Len()) {
		if share(*w.targets.At(id), all, percent) {
			actions = append(actions, id)
		}
	}
	slices.SortFunc(actions, func(x, y int32) int {
		return cmp.Or(cmp.Compare(*w.targets.At(y), *w.targets.At(x)), strings.Compare(w.Tables.Actions.Name(x), w.Tables.Actions.Name(y)))
	})
	return actions
}

// narrows reports whether a limit for an action alone is another one than that for all: a tenth of the requests are for others.
func (w *Whole) narrows(action int32) bool {
	return !share(*w.actions.At(action), w.Requests.Of(who.Everybody), 90)
}

// mostNamed is the most clients that are named of those that an answer refuses most.
const mostNamed = 3

// Sent returns how many requests a client sent.
func (w *Whole) Sent(client int32) int64 { return *w.sent.At(client) }

// Heaviest returns the client that makes more than half of what the answer refuses, if nothing that it does is hostile.
func (w *Whole) Heaviest() (heaviest replay.Hit, found bool) {
	for _, hit := range w.Most {
		if is := w.Labels.Of(hit.Client); !who.Bystander.Has(is) {
			return hit, !who.Hostile.Has(is) && 2*hit.Refused > w.Answer.Refused.Of(who.Everybody&^who.Bystander)
		}
	}
	return heaviest, false
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
	a.Whole = &Whole{Labels: labels, Agent: is.Agent, Action: a.Action, Target: a.Target, Tables: tables, Clients: clients}
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
	a.Whole.Finish(answer, a.Answer.Chosen.Limit, a.Protected())
	a.Answer.Whole = a.Whole.Answer
	for i := range a.Ceilings {
		a.Ceilings[i].Whole = Count(&found[i].Hits, a.Whole.Labels)
	}
}
