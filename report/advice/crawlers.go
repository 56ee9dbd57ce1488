package advice

import (
	"fmt"
	"strings"

	"shadow/escape"
	"shadow/report/format"
	"shadow/suggest"
)

// Which crawlers does the answer refuse? Search engines may be welcome.

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
		text := fmt.Sprintf("%s %s of %s", escape.Visible(c.Name), format.Thousands(c.Refused), format.Thousands(c.Requests))
		switch {
		case c.Refused == 0:
		case c.Search:
			search = append(search, text)
		default:
			others = append(others, text)
		}
	}
	text := fmt.Sprintf("The answer refuses %s of %s of clients that call themselves crawlers (%s%%)", format.Thousands(w.Answer.Refused[suggest.Crawlers]),
		format.Count(w.Requests[suggest.Crawlers], "request"), format.Percent(format.PercentOf(w.Answer.Refused[suggest.Crawlers], w.Requests[suggest.Crawlers])))
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
		return strings.Join(texts[:crawlersNamed], ", ") + fmt.Sprintf(" and %s more", format.Thousands(int64(more)))
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
	return fmt.Sprintf("--protect %s,crawlers=100%% --target %s", strings.Join(promises, ","), strings.Join(stop, ","))
}
