package table

import (
	"strings"
	"testing"
	"unicode/utf8"

	"shadow/internal/escape"
	"shadow/report/reporttest"
)

func TestVisible(t *testing.T) {
	for raw, want := range map[string]string{
		"":                         "",
		"Mozilla/5.0 (X11)":        "Mozilla/5.0 (X11)",
		"日本語 é e\u0301 🙂":          "日本語 é e\u0301 🙂",
		"a\r\n\tb":                 `a\r\n\tb`,
		"\x1b[31m\x07\x00\x7f":     `\x1b[31m\x07\x00\x7f`,
		"\u009b2J":                 `\u009b2J`,
		"\xff\xc3(":                `\xff\xc3(`,
		"\ufffd":                   "\ufffd",
		"\u202etxt.exe":            `\u202etxt.exe`,
		"a\u200bb\u00adc\ufeff":    `a\u200bb\u00adc\ufeff`,
		"\u2028\u00a0\u3164\ufe0f": `\u2028\u00a0\u3164\ufe0f`,
		"\U000e0041\ue000":         `\U000e0041\ue000`,
	} {
		if got := escape.Visible(raw); got != want {
			t.Errorf("escape.Visible(%q) = %s, want %s", raw, got, want)
		}
	}
}

func TestCSVText(t *testing.T) {
	for raw, want := range map[string]string{
		"-": "-", "": "", "a=b": "a=b", "192.0.2.1": "192.0.2.1", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "--": "'--",
		"@x": "'@x", "＝1": "'＝1", "\t=1": `\t=1`, "\r=1": `\r=1`, "'=1": "'=1",
	} {
		if got := csvText(raw); got != want {
			t.Errorf("csvText(%q) = %s, want %s", raw, got, want)
		}
	}
}

// FuzzVisible: the result is harmless, and stays as it is the second time.
func FuzzVisible(f *testing.F) {
	for _, v := range reporttest.Visitors {
		f.Add(v.Name)
		f.Add(v.Agent)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := escape.Visible(raw)
		if bad := reporttest.FirstHarm(got); bad != "" || strings.Contains(got, "\n") {
			t.Errorf("escape.Visible(%q) = %q: %q", raw, got, bad)
		}
		if again := escape.Visible(got); again != got {
			t.Errorf("escape.Visible(%q) = %q", got, again)
		}
		if n := ColumnsOf(Cut(got, 10)); n > 10 || !utf8.ValidString(Cut(got, 10)) {
			t.Errorf("cut(%q, 10) = %q", got, Cut(got, 10))
		}
	})
}
