package useragent

import (
	"strings"

	"shadow/internal/lazy"
)

// What does a crawler call itself? In one word, though agents are sentences:
//
//	Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)   Googlebot    the first word with a bot in it
//	Mozilla/5.0 (compatible; Qwantify/2.4w; +https://www.qwant.com/)           Qwantify     else what it is compatible as
//	Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm)       Sogou        else how it begins

var (
	links        = lazy.Regexp(`\+?https?://[^\s;,)]*|[^\s(;]+@[^\s);]+`)
	betweenWords = lazy.Regexp(`[^\pL\pN_.-]+`)
	botWord      = lazy.Regexp(`(?i)bot|crawl|spider|slurp`)
	merelyBot    = lazy.Regexp(`(?i)^(?:bots?|robots?|crawlers?|spiders?|[\d.v]+)$`)
	compatible   = lazy.Regexp(`compatible; *([\pL\pN_.-]+)`)
)

// CrawlerName returns the name that a crawler gives itself.
func CrawlerName(agent string) string {
	agent = links().ReplaceAllString(agent, "")
	words := betweenWords().Split(strings.TrimSpace(agent), -1)
	for _, word := range words {
		if botWord().MatchString(word) && !merelyBot().MatchString(word) {
			return word
		}
	}
	if as := compatible().FindStringSubmatch(agent); as != nil {
		return as[1]
	}
	return words[0]
}
