package store

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"shadow/testneeds"
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
		if got := encodeText(in); got != want {
			t.Errorf("encodeText(%q) = %q, want %q", in, got, want)
		}
		if got := decodeText(want); got != in {
			t.Errorf("decodeText(%q) = %q, want %q", want, got, in)
		}
	}
}

func TestEncodeTextIsReversible(t *testing.T) {
	bytes := rapid.OneOf(rapid.SliceOf(rapid.Byte()), rapid.SliceOf(rapid.SampledFrom([]byte("\\\\xx5cfF09\xff\x00a"))))
	testneeds.Rapid(t, func(t *rapid.T) { wantReversible(t, string(bytes.Draw(t, "bytes"))) })
}

func FuzzEncodeText(f *testing.F) {
	for _, name := range names {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, s string) { wantReversible(t, s) })
}

func wantReversible(t interface{ Fatalf(string, ...any) }, s string) {
	text := encodeText(s)
	if !utf8.ValidString(text) {
		t.Fatalf("%q becomes %q, which is not UTF-8", s, text)
	}
	for _, r := range text {
		if unicode.IsControl(r) {
			t.Fatalf("%q becomes %q, which has a control character", s, text)
		}
	}
	if back := decodeText(text); back != s {
		t.Fatalf("%q becomes %q and comes back as %q", s, text, back)
	}
}

func TestParseEvents(t *testing.T) {
	for text, want := range map[string]Events{"all": AllEvents, "none": 0, "0": 0, "20": 20, "2147483647": AllEvents} {
		if got, err := ParseEvents(text); err != nil || got != want {
			t.Errorf("ParseEvents(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-1", "some", "1.5", "2147483648", "all "} {
		if e, err := ParseEvents(text); err == nil {
			t.Errorf("ParseEvents(%q) = %v", text, e)
		}
	}
	for _, e := range []Events{AllEvents, 0, 1, 20} {
		if got, err := ParseEvents(e.String()); err != nil || got != e {
			t.Errorf("%v comes back as %v, %v", e, got, err)
		}
	}
}
