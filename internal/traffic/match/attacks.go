package match

import (
	"bytes"
	"slices"
	"strings"

	"shadow/parse/lex"
)

// IsAttack reports whether a target holds what no page asks for: code that a server or a browser might run, a way out of the
// folder, or the name that a scanner gives itself there. Most targets have no sign that any of these needs.
func IsAttack(target []byte) bool {
	target = target[:min(len(target), mostOfTarget)]
	if !hasSign(target) {
		return false
	}
	var buf [mostOfTarget]byte
	text := unescaped(buf[:0], target)
	if bytes.IndexByte(text, '%') >= 0 { // what is written twice, as %25.., may be read twice
		text = unescaped(text[:0], text)
	}
	in := func(part []byte) bool { return bytes.Contains(text, part) }
	marked := bytes.ContainsAny(text, `<(\$`) || bytes.Contains(text, wayOut)
	return marked && slices.ContainsFunc(marks, in) || slices.ContainsFunc(words, in)
}

// IsSearched reports whether code stands in nothing of a target but the text that is searched for, where people write what they
// like. Who scans is not given what is asked for, or asks elsewhere as well.
func IsSearched(target []byte) bool {
	path, query, _ := bytes.Cut(target, []byte("?"))
	rest := slices.Clip(path)
	for parameter := range bytes.SplitSeq(query, []byte("&")) {
		if name, _, _ := bytes.Cut(parameter, []byte("=")); !searches[string(name)] {
			rest = append(append(rest, '?'), parameter...)
		}
	}
	return len(rest) < len(target) && !IsAttack(rest) && PurposeOf(path)&ForScanners == 0
}

// searches are the usual names of the parameters that hold such a text.
var searches = setOf("q", "query", "search", "s", "text", "term", "keyword", "keywords")

// hasSign reports whether a target may be an attack at all: it holds code, an escape of what attacks are made of, or a way out.
// Most escapes are of letters, or of commas and the like.
func hasSign(target []byte) bool {
	for i, c := range target {
		if c == '<' || c == '(' {
			return true
		}
		if c == '%' && i+1 < len(target) && target[i+1] < '8' {
			if v, known := lex.Hex(target, i+1, i+3); known && (v < ' ' || strings.ContainsRune(` "$%'(./<\`, v)) {
				return true
			}
		}
	}
	return bytes.Contains(target, wayOut)
}

const mostOfTarget = 512 // bytes that are looked at

var wayOut = []byte("../../../")

// The parts of attacks, in lower case, decoded. A page whose own links are broken has none of them.
var (
	marks = [][]byte{ // with one of <(\$, or points
		wayOut, []byte(`..\..\`), []byte("<script"), []byte("<iframe"), []byte("alert("), []byte("sleep("), []byte("benchmark("),
		[]byte("extractvalue("), []byte("gethostbyname("), []byte("createobject("), []byte("base64_decode("), []byte("${jndi:"), []byte("${${"),
	}
	words = [][]byte{
		[]byte("/etc/passwd"), []byte("/win.ini"), []byte("onerror="), []byte("onload="), []byte("union select"),
		[]byte("union all select"), []byte("waitfor delay"), []byte("php://"), []byte("netsparker"), []byte("acunetix"),
	}
)

// unescaped appends a text decoded, in lower case: %2e is a point, and + is a space. It may be the room of the text itself.
func unescaped(to, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch c {
		case '+':
			c = ' '
		case '%':
			if v, known := lex.Hex(text, i+1, i+3); known {
				c, i = byte(v), i+2
			}
		}
		to = append(to, lowerByte(c))
	}
	return to
}
