package useragent

import (
	_ "embed"
	"strings"
	"sync"
	// for the list
	"shadow/request"
)

//go:embed crawlers/patterns.tsv
var crawlerList string

// classOfTag says what the tags of the list mean to us. Whoever is paid to look at many sites is a crawler; what
// anybody can run is a tool, also when it looks for holes.
var classOfTag = map[string]request.Class{
	"academic":           request.Crawler,
	"advertising":        request.Crawler,
	"ai-crawler":         request.Crawler,
	"archiver":           request.Crawler,
	"feed-reader":        request.Crawler,
	"search-engine":      request.Crawler,
	"seo":                request.Crawler,
	"social-preview":     request.Crawler,
	"browser-automation": request.Tool,
	"http-library":       request.Tool,
	"scanner":            request.Tool,
	"monitoring":         request.Monitor,
}

// patterns returns the matcher for the list and for our own rules, built when it is first needed.
var patterns = sync.OnceValue(func() *classMatcher {
	m := new(classMatcher)
	for line := range strings.Lines(crawlerList) {
		source, tags, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if _, skip := notFollowed[source]; !skip {
			m.add(source, classOfTags(tags))
		}
	}
	for class, sources := range ownPatterns {
		for _, source := range sources {
			m.add(source, class)
		}
	}
	return m
})

// classOfTags is the class of a pattern with several tags; a tag that we do not know makes a crawler.
func classOfTags(tags string) request.Class {
	class := request.Unknown
	for tag := range strings.SplitSeq(tags, ",") {
		c, ok := classOfTag[tag]
		if !ok {
			c = request.Crawler
		}
		class = stronger(class, c)
	}
	return class
}

// strength says which class wins when patterns disagree. A monitor or a crawler often names the library that it uses,
// and a monitor calls itself a bot; hardly ever is it the other way round.
var strength = [request.ClassCount]int{request.Tool: 1, request.Crawler: 2, request.Monitor: 3}

func stronger(a, b request.Class) request.Class {
	if strength[b] > strength[a] {
		return b
	}
	return a
}
