package testneeds

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// HostileTexts are the pieces that hostile texts are made of.
var HostileTexts = []string{
	"\x1b]0;owned\x07", "\x1b[2J\x1b[H", "\x1b[?1049l", "\x1bP1$r\x1b\\", "\x9b31m", "\u009b2J", "\x07\x08\x7f", "\r", "\x00", "\v\f\t",
	"<script>window.owned=1</script>", "\"><img src=x onerror=window.owned=1>", "</script><svg onload=window.owned=1>",
	"</textarea><iframe src=javascript:window.owned=1>", "<!--", "]]>", "&lt;b&gt;", "javascript:window.owned=1", "{{.}}", "${jndi:ldap://x}", "`window.owned=1`",
	"'; DROP TABLE events; --", "' OR 1=1 --", "\\'); COPY runs TO 'owned'; --", "$$", "%s%n%d", "%00%0a%1b",
	"=HYPERLINK(\"http://owned\")", "+cmd|' /C calc'!A0", "-2+3+cmd", "@SUM(1+1)", "|x|y|", "**x** [y](http://owned)",
	"\u202egnp.exe", "\u2066x\u2069", "\u2028\u2029", "\u200b\u200d\ufeff", "e\u0301\u0302\u0303\u0304", "\U000e0041", "\u3164", "日本語", "שלום", "\xff\xfe\xc0\xaf", "\xed\xa0\x80", "\ufffd",
	"\\x1b[31m", "\\u001b[31m", "\\\"", "\\", "\"", ",", ";", "'", strings.Repeat("A", 9000), "",
}

// HostileLog returns as many lines as asked for, in pairs of requests that a limit of one refuses.
func HostileLog(r *rand.Rand, lines int) []byte {
	text := func() string {
		s := ""
		for range 1 + r.IntN(3) {
			s += HostileTexts[r.IntN(len(HostileTexts))]
		}
		return s
	}
	// What a server writes between quotes it escapes; other programs that write logs do not.
	quoted := func() string {
		s := text()
		if r.IntN(2) == 0 {
			return strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\x5C`), `"`, `\x22`)
		}
		return s
	}
	var log bytes.Buffer
	at := time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)
	for n := range lines / 2 {
		user := strings.ReplaceAll(text(), " ", "_")
		if n%4 == 0 {
			user = "=plain@" + fmt.Sprint(n)
		}
		for i := range 2 {
			fmt.Fprintf(&log, "192.0.2.%d - %s [%s] \"GET /%s HTTP/1.1\" %d 12 \"%s\" \"%s\"\n", n%250, user,
				at.Add(time.Duration(2*n+i)*time.Second).Format("02/Jan/2006:15:04:05 -0700"), strings.ReplaceAll(quoted(), " ", "+"), 200+229*i, quoted(), quoted())
		}
	}
	return log.Bytes()
}

// HostileTrace is an expression in JavaScript for what a hostile text left on a page: "", or what it is. A page has no
// elements of these kinds of its own.
const HostileTrace = `"owned" in window ? "a script ran" : [...document.querySelectorAll("*")].filter((e) => e instanceof HTMLUnknownElement || e.matches(
	"img, iframe:not(#page), base, link:not([href='style.css']), form:not(#options), object, embed, [onload], [onerror], [onclick], a:not([href^='#'], [href='licenses.txt'])",
)).map((e) => e.outerHTML.slice(0, 200)).join(" ")`
