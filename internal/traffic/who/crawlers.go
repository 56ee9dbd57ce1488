package who

import (
	"slices"
	"strings"
)

// searchNames holds the beginnings of the names that crawlers of search engines give themselves, in lower case. Any
// client can say so; the engines tell how to verify it (most by the name that the address has in DNS, and back).
var searchNames = []string{
	"googlebot", "bingbot", "applebot", "duckduckbot", "yandex", "baiduspider", "slurp", "qwant", "seznambot", "petalbot", "yeti", "mojeekbot",
	"naverbot", "sogou", "360spider", "exabot", "msnbot",
}

func isSearchEngine(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(searchNames, func(begin string) bool { return strings.HasPrefix(name, begin) })
}
