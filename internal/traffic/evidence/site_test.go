package evidence

import "testing"

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
