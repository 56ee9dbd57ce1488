package table

import (
	"strings"
	"testing"
)

func TestClipped(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"äöü", 3, "äöü"},
		{"🙂🙂🙂🙂", 3, "🙂🙂…"},
		{"e\u0301\u0301\u0301\u0301", 3, "e\u0301…"},
		{"\x1b[", 8, `\x1b[`},
		{"\n\n\n", 4, `\n\…`},
		{strings.Repeat("🙂", 1000), 2, "🙂…"},
	} {
		if got := Clip(c.text, c.most); got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}
