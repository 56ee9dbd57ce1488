package useragent

import (
	_ "embed" // the list
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"

	"shadow/internal/request"
)

// A classMatcher looks for many patterns at once. Each pattern has a literal that any match must contain (most are
// nothing else), and three bytes of that literal, its gram, are entered into a table. An agent's grams are looked up
// one after the other; where one is in the table, the literal is compared, and then the regular expression, compiled
// when it is first needed, has the last word.
type classMatcher struct {
	heads    [1 << gramBits]uint16 // by gram: index + 1 of the first pattern
	patterns []classPattern
}

const (
	gramBits = 14
	gramLen  = 3
)

type classPattern struct {
	literal string
	at      int    // of the gram in the literal
	next    uint16 // index + 1 of the next pattern with that place in the table
	class   request.Class
	regexp  func() *regexp.Regexp // nil when the literal is all
}

// add enters a pattern. Patterns are part of the program, so one that cannot be used is a mistake in it.
func (m *classMatcher) add(source string, class request.Class) {
	re, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		panic("useragent: " + err.Error())
	}
	if re.Op == syntax.OpAlternate {
		for _, sub := range re.Sub {
			m.add(sub.String(), class)
		}
		return
	}
	p := classPattern{literal: required(re), class: class}
	if len(p.literal) < gramLen {
		panic("useragent: pattern without a literal: " + source)
	}
	if re.Op != syntax.OpLiteral {
		p.regexp = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
	}
	best := -1 // how many patterns the table has at the gram; that with the fewest is taken
	for at := range len(p.literal) - gramLen + 1 {
		n := 0
		for i := m.heads[gram(p.literal[at:])]; i != 0; i = m.patterns[i-1].next {
			n++
		}
		if best < 0 || n < best {
			best, p.at = n, at
		}
	}
	head := &m.heads[gram(p.literal[p.at:])]
	p.next = *head
	m.patterns = append(m.patterns, p)
	*head = uint16(len(m.patterns))
}

// required returns the longest literal that every match of re contains.
func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if s := required(sub); len(s) > len(longest) {
				longest = s
			}
		}
		return longest
	}
	return ""
}

// match returns the strongest class of the patterns that fit, or Unknown.
func (m *classMatcher) match(agent []byte) request.Class {
	class := request.Unknown
	for i := range len(agent) - gramLen + 1 {
		for k := m.heads[gram(agent[i:])]; k != 0; {
			p := &m.patterns[k-1]
			if strength[p.class] > strength[class] && p.fits(agent, i) {
				class = p.class
			}
			k = p.next
		}
	}
	return class
}

// fits reports whether the pattern matches the agent, whose byte i begins the pattern's gram.
func (p *classPattern) fits(agent []byte, i int) bool {
	i -= p.at
	return i >= 0 && len(agent)-i >= len(p.literal) && string(agent[i:i+len(p.literal)]) == p.literal &&
		(p.regexp == nil || p.regexp().Match(agent))
}

// gram returns the place in the table of the three bytes that s begins with.
func gram[S string | []byte](s S) uint32 {
	return (uint32(s[0])<<16 | uint32(s[1])<<8 | uint32(s[2])) * 2654435761 >> (32 - gramBits)
}

//go:embed crawlers/patterns.tsv
var crawlerList string

// classOfTag says what the tags of the list mean to us. A service that looks at many sites for money is a crawler; a
// program that any user can run is a tool, also when it looks for holes.
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

// classOfTags returns the class of a pattern with several tags; a tag that we do not know makes a crawler.
func classOfTags(tags string) request.Class {
	class := request.Unknown
	for tag := range strings.SplitSeq(tags, ",") {
		c, ok := classOfTag[tag]
		if !ok {
			c = request.Crawler
		}
		if strength[c] > strength[class] {
			class = c
		}
	}
	return class
}

// strength says which class wins when patterns disagree. A monitor or a crawler often names the library that it uses,
// and a monitor calls itself a bot; hardly ever is it the other way round.
var strength = [request.ClassCount]int{request.Tool: 1, request.Crawler: 2, request.Monitor: 3}
