package suggest

import (
	"slices"
	"strings"

	"shadow/lazy"
	"shadow/traffic/useragent"
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

// CrawlerName is what a crawler calls itself.
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

// searchNames are how the crawlers of search engines begin to name themselves, in lower case. Anybody can say so; the engines
// tell how to verify it (most by the name that the address has in DNS, and back).
var searchNames = []string{
	"googlebot", "bingbot", "applebot", "duckduckbot", "yandex", "baiduspider", "slurp", "qwant", "seznambot", "petalbot", "yeti", "mojeekbot",
	"naverbot", "sogou", "360spider", "exabot", "msnbot",
}

func isSearchEngine(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(searchNames, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// searchEngines returns a func that reports whether an agent names itself as a search engine's crawler, and remembers.
func searchEngines(agents *useragent.Agents) func(agent int32) bool {
	known := map[int32]bool{}
	return func(agent int32) bool {
		is, ok := known[agent]
		if !ok {
			is = isSearchEngine(CrawlerName(agents.Name(agent)))
			known[agent] = is
		}
		return is
	}
}
