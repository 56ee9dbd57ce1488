package who

import "testing"

func TestSearchEngines(t *testing.T) {
	for name, want := range map[string]bool{"Googlebot-Image": true, "Slurp": true, "AhrefsBot": false} {
		if (SearchEngine(name) != "") != want {
			t.Errorf("%s: search engine: %v", name, !want)
		}
	}
}
