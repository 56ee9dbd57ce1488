package parse

import "testing"

const nginxCombined = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`

func TestLenientTakesShorterAndLongerLines(t *testing.T) {
	f, err := compileLenient(nginxCombined, Wants{}, "combined")
	if err != nil {
		t.Fatal(err)
	}
	p := f.NewParser()
	const common = `192.0.2.1 - bob [10/Oct/2000:13:55:36 -0700] "GET /a?b=1 HTTP/1.1" 200 12`
	for _, c := range []struct{ tail, referer, agent string }{
		{``, "", ""},
		{` 0.3`, "", ""},
		{` "http://example.com/"`, "http://example.com/", ""},
		{` "http://example.com/" "curl"`, "http://example.com/", "curl"},
		{` "http://example.com/" "curl" 0.33 "x"`, "http://example.com/", "curl"},
	} {
		var r Record
		if fault := p.Parse([]byte(common+c.tail), &r); !fault.OK() {
			t.Errorf("%s: %+v", c.tail, fault)
		}
		if string(r.Referer) != c.referer || string(r.Agent) != c.agent || string(r.Client) != "192.0.2.1" {
			t.Errorf("%s: referer %q, agent %q, client %q", c.tail, r.Referer, r.Agent, r.Client)
		}
	}
}
