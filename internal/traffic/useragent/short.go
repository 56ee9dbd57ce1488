package useragent

import (
	"strings"
	"unicode/utf8"

	"shadow/internal/request"
	"shadow/internal/traffic/intern"
)

// How do people name an agent? In a few words, though agents are sentences:
//
//	Mozilla/5.0 (Windows NT 10.0; Win64; x64) … Chrome/143.0.0.0 Safari/537.36   Chrome 143 / Windows
//	Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)     Googlebot
//	python-requests/2.32.3                                                       python-requests/2.32.3

// A shortFamily is a family of browsers. Browsers name those that they descend from, so the first one that fits counts.
type shortFamily struct {
	name, word string
	version    string // the word that the version follows
}

var shortFamilies = []shortFamily{
	{"Opera", "opr/", "opr/"},
	{"Opera", "opera", "version/"},
	{"Edge", "edg/", "edg/"},
	{"Edge", "edga/", "edga/"},
	{"Edge", "edgios/", "edgios/"},
	{"Edge", "edge/", "edge/"},
	{"Samsung Internet", "samsungbrowser/", "samsungbrowser/"},
	{"Yandex", "yabrowser/", "yabrowser/"},
	{"Firefox", "firefox/", "firefox/"},
	{"Firefox", "fxios/", "fxios/"},
	{"Internet Explorer", "msie ", "msie "},
	{"Internet Explorer", "trident/", "rv:"},
	{"Chrome", "crios/", "crios/"},
	{"Chrome", "chrome/", "chrome/"},
	{"Safari", "safari/", "version/"},
	{"WebKit", "applewebkit/", ""},
}

// headless are browsers that programs drive.
var headless = []shortFamily{
	{"HeadlessChrome", "headlesschrome/", "headlesschrome/"},
	{"PhantomJS", "phantomjs/", "phantomjs/"},
}

// shortPlatforms are the names of kindPlatforms.
var shortPlatforms = []string{"Android", "iPhone", "iPad", "Windows", "macOS", "ChromeOS", "Linux"}

const (
	longestShort   = 40 // characters
	longestVersion = 4  // digits
)

// Short returns an agent as a list has room for it: a browser by its family, version and platform, a crawler by its
// name, else its first word. It is for people to read, and may hold whatever an agent may.
func Short(agent string) string {
	agent = agent[:min(len(agent), intern.MaxName)]
	name := ""
	switch Classify([]byte(agent)) {
	case request.Browser:
		name = shortBrowser(strings.ToLower(agent), shortFamilies)
	case request.Tool:
		name = shortBrowser(strings.ToLower(agent), headless)
	case request.Crawler:
		name = CrawlerName(agent)
	}
	switch {
	case agent == "":
		return "-"
	case name != "":
		return shortened(name)
	case !strings.HasPrefix(agent, "Mozilla/") && !strings.HasPrefix(agent, "("): // the latter stands for many
		agent, _, _ = strings.Cut(agent, " ")
	}
	return shortened(agent)
}

// shortBrowser returns "" for browsers of no family that people know.
func shortBrowser(agent string, families []shortFamily) string {
	for _, f := range families {
		if !strings.Contains(agent, f.word) {
			continue
		}
		name := f.name
		if _, after, found := strings.Cut(agent, f.version); found && f.version != "" {
			digits := len(after) - len(strings.TrimLeft(after, "0123456789"))
			if 0 < digits && digits <= longestVersion {
				name += " " + after[:digits]
			}
		}
		if i := firstOf([]byte(agent), kindPlatforms); i < len(shortPlatforms) {
			name += " / " + shortPlatforms[i]
		}
		return name
	}
	return ""
}

// shortened cuts a text at longestShort characters.
func shortened(text string) string {
	if utf8.RuneCountInString(text) <= longestShort {
		return text
	}
	return string([]rune(text)[:longestShort-1]) + "…"
}
