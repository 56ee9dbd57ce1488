package tui

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/bidi"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.7":   "192.0.2.7",
		"Müller":      "Müller",
		"Иван":        "Иван",
		"/products/…": "/products/…",
		"\x1b[2J":     `\x1b[2J`,
		"a\u202eb":    `a\u202eb`,
		"日":           "日",
		"ของฉัน":      "ของฉัน",
		"e\u0301":     "é",
		"x\u0301":     `x\u0301`,
		"нам\u0306":   "нам\u0306",
		"हिन्दी":      "हिन्दी",
		"தமிழ்நாடு":   "தமிழ்நாடு",
		"বাংলাদেশ":    "বাংলাদেশ",
		"กำลังใจ":     "กำลังใจ",
		"ស្ត្រី":      "ស្ត្រី",
		"လျှော့":      "လျှော့",
		"བོད་":        "བོད་",
		"१२":          "१२",
		"O’Brien・光":   "O’Brien・光",
		"עִבְרִית":    fence + "עִבְרִית" + fence,
		"\u093f":      `\u093f`,
		"a\u093f":     `a\u093f`,
		"1ำ":          `1\u0e33`,
		"क" + strings.Repeat("\u093f", mostMarks+1): "क" + strings.Repeat("\u093f", mostMarks) + `\u093f`,
		strings.Repeat("क्", 12):                    strings.Repeat("क्", 8) + strings.Repeat(`\u0915\u094d`, 4),
		"\u0d4e ":                                   `\u0d4e `,
		"\u1112\u119e\u11ab글":                       "\u1112\u119e\u11ab글",
		"각\u1161":                                   `각\u1161`,
		"می\u200cخ":                                 fence + `می\u200cخ` + fence,
		"\u1100\u1161":                              "가",
		"\u1160":                                    `\u1160`,
		"я" + strings.Repeat("\u0306", mostMarks+1): "я" + strings.Repeat("\u0306", mostMarks) + `\u0306`,
		"مَ":             fence + "مَ" + fence,
		"a١":             `a\u0661`,
		"\u0483":         `\u0483`,
		"שלום 7":         fence + "שלום 7" + fence,
		"👍":              "👍",
		"👩\u200d🚀":       `👩\u200d🚀`,
		"👍🏽🇸":            `👍\U0001f3fd\U0001f1f8`,
		"\xff":           `\xff`,
		"\u00ad\u0378":   `\u00ad\u0378`,
		"soft × divided": `soft \u00d7 divided`,
	} {
		if got := plain(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		shown := plain(text)
		inside, opened := strings.CutPrefix(shown, fence)
		inside, closed := strings.CutSuffix(inside, fence)
		if turned := strings.ContainsFunc(shown, leftwards); turned != opened || turned != closed {
			t.Errorf("%q has a fence as %q", text, shown)
		}
		for _, r := range inside {
			if !known(r) {
				t.Errorf("%q lets %q through", text, r)
			}
		}
		if err := sameColumns(shown); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// Every letter that a terminal may turn around is known to run to the left.
func TestLeftwards(t *testing.T) {
	for r := range unicode.MaxRune {
		p, _ := bidi.LookupRune(r)
		if c := p.Class(); unicode.IsLetter(r) && !leftwards(r) && (c == bidi.R || c == bidi.AL || c == bidi.AN) {
			t.Errorf("%U", r)
		}
	}
}
