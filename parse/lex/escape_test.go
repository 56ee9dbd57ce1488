package lex

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

var anEscape = regexp.MustCompile(`(?s)\\x[0-9a-fA-F]{2}|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\["\\/'bfnrtv]`)

// slowUnescape is the obvious twin of unescape.
func slowUnescape(text string) string {
	return anEscape.ReplaceAllStringFunc(text, func(e string) string {
		switch {
		case e[1] == 'x':
			v, _ := strconv.ParseUint(e[2:], 16, 8)
			return string([]byte{byte(v)})
		case e[1] == 'u' && len(e) == 12:
			high, _ := strconv.ParseUint(e[2:6], 16, 16)
			low, _ := strconv.ParseUint(e[8:], 16, 16)
			return string(utf16.DecodeRune(rune(high), rune(low)))
		case e[1] == 'u':
			v, _ := strconv.ParseUint(e[2:], 16, 16)
			return string(rune(v))
		}
		return strings.NewReplacer(`\b`, "\b", `\f`, "\f", `\n`, "\n", `\r`, "\r", `\t`, "\t", `\v`, "\v").Replace(
			strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\/`, `/`, `\'`, `'`).Replace(e))
	})
}

// FuzzEscape holds unescape against its twin; what lies behind the text must stay as it is.
func FuzzEscape(f *testing.F) {
	for _, text := range []string{`\x22`, `\"`, `a\\x22`, `\`, `\x2`, `\u0041`, `\ud83d\ude00`, `\ud83d\u0041`, `\udead`, `\n\q\/`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		buffer := []byte(text + "behind")
		got := Unescape(buffer[:len(text)])
		if want := slowUnescape(text); string(got) != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if !bytes.HasSuffix(buffer, []byte("behind")) {
			t.Errorf("%q: %q was written behind it", text, buffer)
		}
	})
}
