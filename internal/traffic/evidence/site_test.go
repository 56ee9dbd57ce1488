package evidence

import (
	"testing"

	"shadow/internal/traffic"
	"shadow/parse"
)

func TestSplitReferer(t *testing.T) {
	for referer, want := range map[string]string{
		"https://shop.example/a?b#c": "shop.example /a?b#c", "http://shop.example": "shop.example /", "HTTPS://WWW.Shop.example:8443/": "Shop.example /",
		"https://shop.example?q": "shop.example /", "https://[2001:db8::1]:80/a": "[2001:db8::1] /a", "https://[2001:db8::1]/a": "[2001:db8::1] /a",
		"ftp://a/b": "", "-": "", "": "", "/a": "", "android-app://com.example/": "", "https://": " /", "https:///a": " /a", "://a": "",
	} {
		got := ""
		if host, target, ok := splitReferer([]byte(referer)); ok {
			got = string(bareHost(host)) + " " + string(target)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", referer, got, want)
		}
	}
}

// What a style sheet asks for comes from a page that is not known: the sheet is none, and was not asked for as one.
func TestFilesOfStyleSheets(t *testing.T) {
	finder, err := NewClueFinder(ClueRules{})
	if err != nil {
		t.Fatal(err)
	}
	for referer, want := range map[string]uint16{"/a": pageOf([]byte("/a")), "/main.css": 0, "/main.css?v=2": 0} {
		clues := make([]traffic.Clue, 1)
		finder.NewReader().Find(clues, []parse.Record{{
			Method: []byte("GET"), Path: []byte("/font.woff"), Referer: []byte("https://shop.example" + referer),
		}})
		if got := clues[0]; got.From != want || !got.Traits.Has(traffic.FetchedAsset|traffic.Referred) {
			t.Errorf("a font from %s: %+v, want the page %d", referer, got, want)
		}
	}
}
