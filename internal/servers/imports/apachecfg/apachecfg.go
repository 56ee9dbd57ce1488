// Package apachecfg reads the language of Apache: a text comes in, and directives go out, each with its words.
// Source: apache/httpd 2.4.58, server/util.c, ap_cfg_getline, ap_getword_conf.
package apachecfg

import (
	"strings"

	"shadow/internal/lazy"
)

// A Directive is a line, with those that a backslash at its end joins to it.
type Directive struct {
	Line  int // the first of them, from 1
	Words []string
}

// Parse takes the directives of a text apart. Comments are left out.
func Parse(text string) (all []Directive) {
	first, joined := 1, ""
	lines := strings.Split(text, "\n")
	for n, line := range lines {
		line, more := strings.CutSuffix(strings.TrimSuffix(line, "\r"), `\`)
		if joined += line; more && n+1 < len(lines) {
			continue
		}
		if words := Words(joined); words != nil && !strings.HasPrefix(words[0], "#") {
			all = append(all, Directive{first, words})
		}
		first, joined = n+2, ""
	}
	return all
}

// word matches a word: in quotes, within which a backslash escapes these, or up to a blank.
var word = lazy.Regexp(`"((?:\\["\\]|[^"])*)"?|'((?:\\['\\]|[^'])*)'?|(\S+)`)

// Words takes a line apart.
func Words(line string) (words []string) {
	for _, m := range word().FindAllStringSubmatch(line, -1) {
		quote := m[0][:1]
		if m[3] != "" {
			quote = `\` // only itself is escaped
		}
		words = append(words, strings.NewReplacer(`\\`, `\`, `\`+quote, quote).Replace(m[1]+m[2]+m[3]))
	}
	return words
}
