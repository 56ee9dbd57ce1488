package match

import (
	"strings"
	"testing"

	"shadow/internal/traffic"
	"shadow/parse"
)

func TestExclude(t *testing.T) {
	r := &parse.Record{
		Client: []byte("203.0.113.7"), Method: []byte("GET"), Path: []byte("/health/live?full=1"),
		Agent: []byte("Mozilla/5.0 (compatible; Kube-Probe/1.29)"), Status: 404,
	}
	for _, c := range []struct {
		exclude string
		want    bool
	}{
		{"203.0.113.7", true},
		{"203.0.113.8", false},
		{"203.0.113.0/24", true},
		{"cidr:203.0.112.0/23", true},
		{"cidr:private", false},
		{"::ffff:203.0.113.0/120", true},
		{"2001:db8::/32", false},
		{"0.0.0.0/0", true},
		{"/health/live", true},
		{"/health*", false}, // * stays within a segment
		{"/health/*", true},
		{"/health**", true},
		{"path:/health/l??e", true},
		{"path:**/live", true},
		{"/health/live?full=1", false}, // the query is not part of it; ? stands for a byte
		{"/", false},
		{"agent:kube-probe", true},
		{"agent:*probe/1.??)", true},
		{"agent:kube-probe*", false},
		{"agent:curl", false},
		{"agent:5.0 (compatible;", true},
		{"404", true},
		{"4xx", true},
		{"status:4XX", true},
		{"429,503", false},
		{"status:429,404", true},
		{"5xx", false},
	} {
		x, err := ParseExclude([]string{c.exclude})
		if err != nil {
			t.Errorf("%s: %v", c.exclude, err)
		} else if got := x.Match(r); got != c.want {
			t.Errorf("%s: %v, want %v", c.exclude, got, c.want)
		}
	}
}

func TestExcludeSeveral(t *testing.T) {
	x, err := ParseExclude([]string{"10.0.0.0/8", "5xx"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		client string
		status int32
		want   bool
	}{
		{"10.1.2.3", 200, true},
		{"203.0.113.7", 503, true},
		{"203.0.113.7", 200, false},
		{"host.example.org", 200, false},
		{"", 0, false},
		{"", -1, false},
		{"", 1 << 30, false},
	} {
		if got := x.Match(&parse.Record{Client: []byte(c.client), Status: c.status}); got != c.want {
			t.Errorf("%q %d: %v, want %v", c.client, c.status, got, c.want)
		}
	}
}

func TestExcludeNothing(t *testing.T) {
	x, err := ParseExclude(nil)
	if err != nil || x.Match(&parse.Record{}) || x.Of(ClientRule{}).Match(&parse.Record{}) {
		t.Errorf("nothing excludes something, or err = %v", err)
	}
}

func TestExcludeBehindProxies(t *testing.T) {
	rule, err := ParseClientRule("addr/24", "x-forwarded-for", []string{"10.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	x, err := ParseExclude([]string{"10.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	r := &parse.Record{Client: []byte("10.0.0.1"), Forwarded: []byte("203.0.113.7")}
	if !x.Match(r) || x.Of(rule).Match(r) {
		t.Error("the client's address is not the one that the rule finds")
	}
	r.Forwarded = nil
	if !x.Of(rule).Match(r) {
		t.Error("the proxy's own requests stay")
	}
}

func TestExcludeThatMakesNoSense(t *testing.T) {
	for text, want := range map[string]string{
		"":                "want an address",
		"example.org":     "want an address",
		"300":             "",
		"3000":            "not a status",
		"42":              "not a status",
		"099":             "not a status",
		"xx":              "not a status",
		"404,":            "not a status",
		"status:ok":       "not a status",
		"203.0.113.7/24":  "want an address",
		"cidr:10.1.0.0/8": "10.0.0.0/8 is meant",
		"cidr:":           "neither an address nor a prefix",
		"path:":           "missing",
		"agent:":          "missing",
		"path:/\xff":      "UTF-8",
	} {
		_, err := ParseExclude([]string{text})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

func TestRefusal(t *testing.T) {
	for status, want := range map[int32]bool{429: true, 503: true, 200: false, 0: false, 404: false, 500: false} {
		if traffic.Refusal(status) != want {
			t.Errorf("Refusal(%d) is not %v", status, want)
		}
	}
}

func TestExcludeDoesNotAllocate(t *testing.T) {
	x, err := ParseExclude([]string{"2001:db8::/32", "/health/**", "agent:kube-probe", "agent:*x*y*", "503"})
	if err != nil {
		t.Fatal(err)
	}
	r := &parse.Record{Client: []byte("203.0.113.7"), Path: []byte("http://example.org/a/b?c"), Agent: []byte("Mozilla/5.0 xxxxxxxxxxxxxxx")}
	if n := testing.AllocsPerRun(100, func() { x.Match(r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
