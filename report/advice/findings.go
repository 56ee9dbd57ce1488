package advice

import (
	"fmt"
	"slices"
	"strings"

	"shadow/limit"
	"shadow/report"
	"shadow/report/format"
	"shadow/suggest"
	"shadow/sweep"
)

// What there is to say in plain sentences: whatever makes a number less than it seems.

// hardly is the share of requests, in percent, below which a limit hardly separates those to stop from those to spare.
const hardly = 5

func findings(a *suggest.Advice, in *report.Input) []string {
	texts := []string{}
	if a.First.Requests == (suggest.Groups{}) {
		return append(texts, "There are no requests to choose a limit on.")
	}
	for _, text := range []string{
		spareNobodyText(a, in), crawlersText(a), wholeText(a), sampleText(a), tooLongText(a), brokenText(a), separationText(a), proofText(a), loadsText(a, in),
	} {
		if text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// spareNobodyText says that there is nobody to spare.
func spareNobodyText(a *suggest.Advice, in *report.Input) string {
	if !in.AgentsLogged && a.Promises[0].Who != suggest.Everybody {
		return "The log has no user agents, so nobody can be told to be a browser, a crawler or a tool. --protect all=99% spares that share " +
			"of all clients, whoever they are; a log format with the agent, such as combined, allows more."
	}
	for _, p := range a.Promises {
		if a.NoneProtected() {
			return unsparedText(a, p)
		}
		if a.First.Clients.Of(p.Who) == 0 {
			return fmt.Sprintf("There are no %s among the clients: nobody to spare. --protect all=99%% spares that share of whoever is there.", p.Who)
		}
	}
	return ""
}

// sampleText says that there are too few clients for a promise.
func sampleText(a *suggest.Advice) string {
	var texts []string
	for _, p := range a.Promises {
		n, sample := a.First.Clients.Of(p.Who), p.Sample()
		switch {
		case n == 0 || sample > 0 && n >= sample:
		case sample == 0:
			texts = append(texts, fmt.Sprintf("No log can promise %s: if none of %s is hit here, that shows, with 95%% confidence, %s.", p, format.Count(n, "client"), provable(n)))
		default:
			texts = append(texts, fmt.Sprintf("The log is too short to promise %s, which takes %s: it has %s to choose on. If none of them is hit, that shows, "+
				"with 95%% confidence, %s.", p, format.Count(sample, "client"), format.Thousands(n), provable(n)))
		}
	}
	return strings.Join(texts, " ")
}

func provable(n int64) string {
	share := suggest.Provable(n)
	if share == 0 {
		return "nothing"
	}
	return "that at most " + format.Percent(100-share.Percent()) + "% are"
}

// tooLongText tells of limits that the log is too short for.
func tooLongText(a *suggest.Advice) string {
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
	if what == nil {
		return ""
	}
	length := a.First.Last - a.First.First
	return fmt.Sprintf("The log is too short to judge %s: limits are chosen on %s, and a window, or the time in which a bucket refills, must fit into that three times.",
		strings.Join(what, " and "), format.Brief(length))
}

func brokenText(a *suggest.Advice) string {
	for _, s := range a.Suggestions {
		if s.Why == suggest.Broken {
			return fmt.Sprintf("No %s limit keeps the promise: some are hit by any.", s.Kind)
		}
	}
	return ""
}

// separationText says whether a limit can tell those to stop from those to spare.
func separationText(a *suggest.Advice) string {
	requests := a.First.Requests.Of(a.Stop)
	found := false
	for _, s := range a.Suggestions {
		found = found || s.Why == suggest.Found
	}
	best := a.BestOfAll()
	switch {
	case !found || a.Stop == suggest.Everybody:
		return ""
	case requests == 0:
		return fmt.Sprintf("There are no %s among the clients: nothing to stop. The limits below are the strictest that do no harm.",
			strings.Replace(a.Stop.String(), " and ", " or ", 1))
	case len(best) == 0:
		return fmt.Sprintf("No limit separates the classes: the strictest that keep the promise refuse nothing of %s. They send no faster than the fastest of those to spare.", a.Stop)
	}
	share := format.PercentOf(a.Stopped(&best[0].Chosen), requests)
	if share < hardly {
		return fmt.Sprintf("A limit hardly separates the classes: the best refuses %s%% of the requests of %s. The others come no faster than from the fastest of those to spare.",
			format.Percent(share), a.Stop)
	}
	return ""
}

// proofText tells of limits that do not hold on the rest.
func proofText(a *suggest.Advice) string {
	if a.Rest == nil {
		return "Nothing was held out: nothing proves these limits but the log that chose them."
	}
	var tried, failed int
	for _, s := range a.Suggestions {
		if s.Why != suggest.Found {
			continue
		}
		switch s.Proof {
		case suggest.Nothing:
			return "The rest of the log has nobody to spare, so it proves nothing."
		case suggest.Fails:
			failed++
		}
		tried++
	}
	switch {
	case tried == 0 || failed == 0:
		return ""
	case failed == tried:
		return "None of the limits that were chosen on the first part keeps the promise on the rest: take a kinder one, or a longer log."
	}
	return fmt.Sprintf("%d of %d limits that were chosen on the first part do not keep the promise on the rest; they come after those that do.", failed, tried)
}

// loadsText is advice on the burst.
func loadsText(a *suggest.Advice, in *report.Input) string {
	l := a.Loads
	whose, of := "a browser", ""
	if !in.AgentsLogged {
		whose = "a client"
	}
	if l.Count == 0 {
		return "No page load of " + whose + " was seen, so there is no advice on the burst."
	}
	if a.Action != "" {
		of = " of this action"
	}
	text := fmt.Sprintf("A page load of %s takes %s%s (half of %s), %s (95%%), %s (99%%): the burst of a token bucket, or a window of seconds, "+
		"wants room for %s; the rate is for what comes page after page.",
		whose, format.Count(l.P50, "request"), of, format.Thousands(l.Count), format.Thousands(l.P95), format.Thousands(l.P99), format.Thousands(a.Scale.Up(l.P99)))
	if best := a.Best(sweep.Token); best != nil && best.Chosen.Limit < l.P99 {
		limit, _ := a.Text(best, best.Chosen.Limit)
		text += fmt.Sprintf(" %s has less: it refuses part of some pages.", limit)
	}
	return text
}
