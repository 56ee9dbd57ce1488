package who

import (
	"slices"
	"strings"
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
