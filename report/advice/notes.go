package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/escape"
	"shadow/internal/mapped"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/report"
	"shadow/report/format"
)

// hardly is the share of requests, in percent, below which a limit hardly separates targets from protected clients.
const hardly = 5

// crawlersNamed is the most crawlers that are named.
const crawlersNamed = 5

// notes holds what there is to say in plain sentences: whatever makes a number less than it seems.
type notes []string

func (f *notes) add(text string, args ...any) { *f = append(*f, fmt.Sprintf(text, args...)) }

func notesOf(a *suggest.Advice, in *report.Input) notes {
	f := notes{}
	if requests(a, who.Everybody) == 0 {
		f.add("There are no requests to choose a limit on.")
		return f
	}
	f.noneToProtect(a, in)
	if w := a.Whole; w != nil && w.Limit != "" {
		f.crawlers(a)
		f.whole(a)
	}
	f.sample(a)
	f.tooLong(a)
	f.broken(a)
	f.separation(a)
	f.proof(a)
	f.loads(a, in)
	return f
}

func (f *notes) noneToProtect(a *suggest.Advice, in *report.Input) {
	if !in.AgentsLogged && a.Goals[0].Who&who.Users != who.Users {
		f.add("The log has no user agents, so no client is known to be a browser, a crawler or a tool. --protect all=99%% " +
			"protects that share of all clients; a log format with the agent, such as combined, allows more.")
		return
	}
	for _, p := range a.Goals {
		if a.NoneProtected() {
			f.unprotected(a, p)
			return
		}
		if clients(a, p.Who) == 0 {
			f.add("There are no %s among the clients: no one to protect. --protect all=99%% protects that share of all clients.",
				p.Who)
			return
		}
	}
}

// unprotected says who is in the log instead of clients to protect.
func (f *notes) unprotected(a *suggest.Advice, p suggest.Goal) {
	requests := a.Whole.Requests
	later := ""
	if n := a.Whole.Groups.Of(p.Who); n > 0 {
		later = fmt.Sprintf(" The rest of the log has %s to protect: --holdout 0 chooses on all of it.",
			format.Count(n, "client"))
	}
	var groups []who.Identity
	for g := range who.Count {
		if requests[g] > 0 {
			groups = append(groups, g)
		}
	}
	slices.SortStableFunc(groups, func(x, y who.Identity) int { return cmp.Compare(requests[y], requests[x]) })
	there := make([]string, len(groups))
	for i, g := range groups {
		there[i] = fmt.Sprintf("%s by %s", format.Thousands(requests[g]), g)
	}
	f.add("No %s sent a request of this action in the parts that limits are chosen on: there is no one to protect and "+
		"no promise to keep. "+
		"Of the %s of it in the whole log, %s. The table shows what a limit still allows an attacker who starts afresh, "+
		"and what it refuses of these: "+
		"take the strictest that people can live with.%s",
		p.Who, format.Count(requests.Of(who.Everybody), "request"), strings.Join(there, ", "), later)
}

// crawlers tells which crawlers the answer refuses: search engines may be welcome.
func (f *notes) crawlers(a *suggest.Advice) {
	refused, requests := a.Whole.Answer.Refused[who.Crawler], a.Whole.Requests[who.Crawler]
	if refused == 0 {
		return
	}
	var search, others []string
	for _, c := range a.Whole.Crawlers {
		text := fmt.Sprintf("%s %s of %s", escape.Visible(c.Name), format.Thousands(c.Refused), format.Thousands(c.Requests))
		switch {
		case c.Refused == 0:
		case c.Search:
			search = append(search, text)
		default:
			others = append(others, text)
		}
	}
	text := fmt.Sprintf("The answer refuses %s of %s of clients that call themselves crawlers (%s)",
		format.Thousands(refused), format.Count(requests, "request"), format.Percentage(format.PercentOf(refused, requests)))
	if search != nil {
		text += "; of search engines: " + format.List(search, crawlersNamed)
	}
	if others != nil {
		text += "; others: " + format.List(others, crawlersNamed)
	}
	text += "."
	if a.Target.Has(who.Crawler) && a.Target&a.Protected() == 0 { // the flags that put crawlers on the other side
		var promises, stop []string
		promises = mapped.Add(promises, a.Goals, suggest.Goal.String)
		for g := range who.Count {
			if a.Target.Has(g) && g != who.Crawler {
				stop = append(stop, g.String())
			}
		}
		text += fmt.Sprintf(" If they are welcome: --protect %s,crawlers=100%% --target %s.",
			strings.Join(promises, ","), cmp.Or(strings.Join(stop, ","), who.Program.String()))
	}
	*f = append(*f, text)
}

// whole says how the whole log differs from its parts.
func (f *notes) whole(a *suggest.Advice) {
	w := a.Whole
	refused, hit := w.Answer.Refused.Of(who.Everybody), &w.Answer.Hit
	unscaled := ""
	if !a.Scale.One() {
		unscaled = " (the answer without the scale)"
	}
	text := fmt.Sprintf("On the whole log, %s%s refuses %s of %s and hits %s.", w.Limit, unscaled,
		format.Thousands(refused), format.Count(w.Requests.Of(who.Everybody), "request"),
		format.Count(hit.Of(who.Everybody), "client"))
	*f = append(*f, text)
}

// sample says that there are too few clients for a promise.
func (f *notes) sample(a *suggest.Advice) {
	var texts []string
	for _, p := range a.Goals {
		n, sample := clients(a, p.Who), p.Sample()
		if n == 0 || sample > 0 && n >= sample {
			continue
		}
		provable := "nothing"
		if share := suggest.Provable(n); share > 0 {
			provable = "that at most " + format.Percentage(100-share.Float()) + " are"
		}
		if sample == 0 {
			texts = append(texts, fmt.Sprintf("No log can confirm %s: if none of %s is hit here, that shows, with 95 %% "+
				"confidence, %s.",
				p, format.Count(n, "client"), provable))
		} else {
			texts = append(texts, fmt.Sprintf("Too few clients to confirm %s: it takes %s, and the log has %s to choose on. "+
				"If none of them is hit, that shows, "+
				"with 95 %% confidence, %s.", p, format.Count(sample, "client"), format.Thousands(n), provable))
		}
	}
	if texts != nil {
		*f = append(*f, strings.Join(texts, " "))
	}
}

// tooLong tells of limits that the log is too short for.
func (f *notes) tooLong(a *suggest.Advice) {
	var periods, what []string
	buckets := int64(0)
	for _, s := range a.Suggestions {
		per := limit.FormatPeriod(s.Per)
		switch {
		case s.Why != suggest.TooLong:
		case s.Kind == sweep.Token:
			buckets++
		case !slices.Contains(periods, per):
			periods = append(periods, per)
		}
	}
	if periods != nil {
		what = append(what, "windows of "+strings.Join(periods, ", "))
	}
	if buckets > 0 {
		what = append(what, format.Count(buckets, "bucket")+" of low rates")
	}
	if what != nil {
		f.add("The log is too short to judge %s: limits are chosen on %s, and a window, or the time in which a bucket "+
			"refills, must fit into that three times.",
			strings.Join(what, " and "), format.Brief(span(a)))
	}
}

func (f *notes) broken(a *suggest.Advice) {
	for _, s := range a.Suggestions {
		if s.Why == suggest.Broken {
			f.add("No %s limit keeps the promise: some are hit by any.", s.Kind)
			return
		}
	}
}

// separation says whether a limit can separate targets from protected clients.
func (f *notes) separation(a *suggest.Advice) {
	found := slices.ContainsFunc(a.Suggestions, func(s suggest.Suggestion) bool { return s.Why == suggest.Found })
	if !found || a.Target&a.Protected() != 0 {
		return
	}
	requests, best := requests(a, a.Target), a.BestOfAll()
	switch {
	case requests == 0:
		f.add("There are no %s among the clients: there is no target. The limits below are the strictest that do no harm.",
			strings.Replace(a.Target.String(), " and ", " or ", 1))
		return
	case len(best) == 0 && a.Answer.Verdict == suggest.Deploy: // looser than the strictest that keep the promise
		return
	case len(best) == 0:
		f.add("No limit separates the classes: the strictest that keep the promise refuse nothing of %s. They send no "+
			"faster than the fastest protected clients.", a.Target)
		return
	}
	if share := format.PercentOf(a.RefusedTarget(&best[0].Chosen), requests); share < hardly {
		f.add("A limit hardly separates the classes: the best refuses %s of the requests of %s. The others come no "+
			"faster than those of the fastest protected clients.",
			format.Percentage(share), a.Target)
	}
}

// proof says what nothing validates.
func (f *notes) proof(a *suggest.Advice) {
	switch {
	case a.Parts[suggest.Rest] == nil:
		f.add("Nothing was held out: only the log that chose these limits validates them.")
	case a.Answer.Proof == suggest.Nothing:
		f.add("The rest of the log has no one to protect, so it validates nothing.")
	}
}

// clients is the most that a part that limits are chosen on has of some groups.
func clients(a *suggest.Advice, some who.Set) (n int64) {
	for _, p := range a.Choosing() {
		n = max(n, p.Clients.Of(some))
	}
	return n
}

// requests counts the requests of some groups on the parts that limits are chosen on.
func requests(a *suggest.Advice, some who.Set) (n int64) {
	for _, p := range a.Choosing() {
		n += p.Requests.Of(some)
	}
	return n
}

// span returns how long the parts are that limits are chosen on.
func span(a *suggest.Advice) limit.Time {
	parts := a.Choosing()
	return parts[len(parts)-1].Last - parts[0].First
}

// loads is advice on the burst.
func (f *notes) loads(a *suggest.Advice, in *report.Input) {
	l := a.Loads
	whose, of := "a browser", ""
	if !in.AgentsLogged {
		whose = "a client"
	}
	if l.Count == 0 {
		f.add("No page load of %s was seen, so there is no advice on the burst.", whose)
		return
	}
	if a.Action != "" {
		of = " of this action"
	}
	text := fmt.Sprintf("A page load of %s takes %s%s (half of %s), %s (95 %%), %s (99 %%): the burst of a token bucket, "+
		"or a window of seconds, "+
		"wants room for %s; the rate is for what comes page after page.",
		whose, format.Count(l.P50, "request"), of, format.Thousands(l.Count), format.Thousands(l.P95),
		format.Thousands(l.P99), format.Thousands(a.Scale.Up(l.P99)))
	if best := a.Best(sweep.Token); best != nil && best.Chosen.Limit < l.P99 {
		limit, _ := a.Text(best, best.Chosen.Limit)
		text += fmt.Sprintf(" %s has less: it refuses part of some pages.", limit)
	}
	*f = append(*f, text)
}
