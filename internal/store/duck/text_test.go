package duck

import (
	"encoding/json"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
)

func TestEncodeText(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		"192.0.2.1":              "192.0.2.1",
		"ünïcode ⚡ 👩‍👩‍👧":        "ünïcode ⚡ 👩‍👩‍👧",
		`C:\dir\x`:               `C:\dir\x`,
		"\xff":                   `\xff`,
		"a\xc3":                  `a\xc3`,
		"nul\x00":                `nul\x00`,
		"\x1b[31m":               `\x1b[31m`,
		"\x7f":                   `\x7f`,
		"\u009b31m":              `\xc2\x9b31m`,
		"\u202egpj.exe":          `\xe2\x80\xaegpj.exe`,
		`\xff`:                   `\x5cxff`,
		`\\xff`:                  `\\x5cxff`,
		`\xFF`:                   `\xFF`,
		`\x5c`:                   `\x5cx5c`,
		"\\x\xff":                `\x\xff`,
		"\\x5\xff":               `\x5\xff`,
		"\xed\xa0\x80 surrogate": `\xed\xa0\x80 surrogate`,
		"\ufffd":                 "\ufffd",
	} {
		if got := EncodeText(in); got != want {
			t.Errorf("EncodeText(%q) = %q, want %q", in, got, want)
		}
		if got := DecodeText(want); got != in {
			t.Errorf("DecodeText(%q) = %q, want %q", want, got, in)
		}
	}
}

func TestEncodeTextIsReversible(t *testing.T) {
	bytes := rapid.OneOf(rapid.SliceOf(rapid.Byte()), rapid.SliceOf(rapid.SampledFrom([]byte("\\\\xx5cfF09\xff\x00a"))))
	testneeds.Rapid(t, func(t *rapid.T) { wantReversible(t, string(bytes.Draw(t, "bytes"))) })
}

func FuzzEncodeText(f *testing.F) {
	for _, name := range []string{
		"192.0.2.1", "", "ünïcode ⚡ 🚦", `quote " and \ backslash`, "not\xffutf8\xc3", "nul\x00inside", "\x1b[31mred\x1b[0m", `\xff`, `\x5c\x5c`, "\u202eevil", "\u0085",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, s string) { wantReversible(t, s) })
}

func wantReversible(t interface{ Fatalf(string, ...any) }, s string) {
	text := EncodeText(s)
	if !utf8.ValidString(text) {
		t.Fatalf("%q becomes %q, which is not UTF-8", s, text)
	}
	for _, r := range text {
		if unicode.IsControl(r) {
			t.Fatalf("%q becomes %q, which has a control character", s, text)
		}
	}
	if back := DecodeText(text); back != s {
		t.Fatalf("%q becomes %q and comes back as %q", s, text, back)
	}
}

func TestKeyText(t *testing.T) {
	for want, v := range map[string]any{
		"": nil, "true": true, "-5": int64(-5), "0.000001": 1e-6, "123456789": 123456789.0, `[1,"a"]`: []any{int64(1), "a"},
		`{"a":null}`: map[string]any{"a": nil}, "12.5": json.Number("12.5"), "x": "x",
	} {
		if got := KeyText(v); got != want {
			t.Errorf("KeyText(%v) = %q, want %q", v, got, want)
		}
	}
}
