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

// SearchEngine returns the beginning of the name of a search engine that a crawler gives itself, "" if it is none.
func SearchEngine(name string) string {
	name = strings.ToLower(name)
	if i := slices.IndexFunc(searchNames, func(begin string) bool { return strings.HasPrefix(name, begin) }); i >= 0 {
		return searchNames[i]
	}
	return ""
}
