package suggest

import (
	"slices"
	"strings"

	"shadow/traffic/useragent"
)

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
			is = isSearchEngine(useragent.CrawlerName(agents.Name(agent)))
			known[agent] = is
		}
		return is
	}
}
