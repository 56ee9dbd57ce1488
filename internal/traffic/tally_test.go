package traffic

import (
	"testing"

	"shadow/internal/request"
)

// A client has the class of most of its requests, and of the first of several with as many.
func TestClientTally(t *testing.T) {
	for _, c := range []struct {
		browser, crawler, tool int64
		want                   request.Class
	}{
		{0, 0, 0, request.Browser}, {2, 1, 1, request.Browser}, {1, 2, 1, request.Crawler}, {0, 2, 2, request.Crawler}, {1, 0, 3, request.Tool},
	} {
		var tally ClientTally
		tally.ByClass[request.Browser], tally.ByClass[request.Crawler], tally.ByClass[request.Tool] = c.browser, c.crawler, c.tool
		if tally.Class() != c.want || tally.Requests() != c.browser+c.crawler+c.tool {
			t.Errorf("%+v is of class %s, with %d requests", c, tally.Class(), tally.Requests())
		}
	}
}
