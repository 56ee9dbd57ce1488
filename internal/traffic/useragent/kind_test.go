package useragent

import "testing"

// Versions of a browser are of one kind; families and platforms are told apart.
func TestKinds(t *testing.T) {
	const windows, mac, android = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)", "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)", "Mozilla/5.0 (Linux; Android 14; Pixel 8)"
	const webkit = " AppleWebKit/537.36 (KHTML, like Gecko)"
	groups := [][]string{
		{windows + webkit + " Chrome/120.0.0.0 Safari/537.36", windows + webkit + " Chrome/143.0.0.0 Safari/537.36"},
		{mac + webkit + " Chrome/120.0.0.0 Safari/537.36"},
		{android + webkit + " Chrome/120.0.0.0 Mobile Safari/537.36"},
		{"Mozilla/5.0 (Windows NT 10.0)" + webkit + " Chrome/143 Safari/537.36 Edg/143"},
		{windows + " Gecko/20100101 Firefox/131.0", "Mozilla/5.0 (Windows NT 6.1; rv:43.0) Gecko/20100101 Firefox/43.0"},
		{"Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0"},
		{mac + " AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15"},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1"},
		{"Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.0; Trident/4.0)"},
	}
	agents := NewAgents()
	seen := map[int]int{}
	for i, group := range groups {
		for _, name := range group {
			kind := agents.Kind(agents.ID([]byte(name)))
			if kind < 0 || kind >= Kinds {
				t.Errorf("%s is of kind %d", name, kind)
			}
			if other, known := seen[kind]; known && other != i {
				t.Errorf("%s is of the kind of %s", name, groups[other][0])
			}
			seen[kind] = i
		}
	}
	if len(seen) != len(groups) {
		t.Errorf("%d kinds, want %d", len(seen), len(groups))
	}
	for _, other := range []string{"", "curl/8.5.0", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"} {
		if kind := agents.Kind(agents.ID([]byte(other))); kind != -1 {
			t.Errorf("%q is of kind %d", other, kind)
		}
	}
}
