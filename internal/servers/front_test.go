package servers

import (
	"net/netip"
	"strings"
	"testing"
)

// Who stands before a server and wrote the log is known by its format.
func TestFrontOf(t *testing.T) {
	for format, want := range map[[2]string]string{
		{"cloudflare json", "client=ClientIP"}: "Cloudflare", {"cloudflare json behind syslog", ""}: "Cloudflare",
		{"json", "client=ClientIP,method=ClientRequestMethod,path=ClientRequestURI"}:    "Cloudflare",
		{"columns", "EdgeStartTimestamp,ClientIP,ClientRequestMethod,ClientRequestURI"}: "Cloudflare",
		{"alb", "$type $time_iso8601"}: "a load balancer of AWS", {"w3c", "#Fields: date time x-edge-location c-ip"}: "CloudFront",
		{"logfmt behind syslog", "time=timestamp,client=fwd,method=method"}: "Heroku's router", {"fastly json", ""}: "Fastly",
		{"json", "time=time,client=properties.clientIp,method=properties.httpMethod"}: "Azure Front Door",
		{"lighttpd", "%h %V %u %t"}: "lighttpd", {"combined", "$remote_addr"}: "", {"w3c", "#Fields: date time c-ip"}: "", {"json", "client=ClientIP,method=request_method|ClientRequestMethod,"}: "",
		{"nginx json", ""}: "", {"haproxy", ""}: "", {"logfmt", "client=remote_addr"}: "", {"albatross", ""}: "",
	} {
		got := ""
		if f := FrontOf(format[0], format[1]); f != nil {
			got = f.Name
		}
		if got != want {
			t.Errorf("%q is of %q, want %q", format, got, want)
		}
	}
}

// Behind a front, lines that count by address say first what makes that the client's; others need not.
func TestBehindFront(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	if note := FrontOf("lighttpd", "").note(&nginx); !strings.Contains(note, "has no such limit") {
		t.Error(note)
	}
	for _, s := range all {
		limit, _ := s.Families()[len(s.grid)/2].Limit(100)
		for name, c := range map[string]struct {
			w    Where
			said bool
		}{
			"address": {Where{}, true}, "header": {Where{Client: "header:X-Api-Key"}, false},
			"trusted": {Where{ClientFrom: "x-forwarded-for", Trusted: proxies}, false},
		} {
			c.w.Front = FrontOf("cloudflare json", "")
			d, err := s.Lines(limit, c.w)
			if err != nil {
				t.Fatal(err)
			}
			if said := strings.Contains(d.Note, "shadow export --to cloudflare"); said != c.said || d.Front != "Cloudflare" {
				t.Errorf("%s by %s of %q notes %q", s.Name, name, d.Front, d.Note)
			}
			if c.said && s.behind == "" {
				t.Errorf("%s says nothing to do", s.Name)
			}
		}
	}
}
