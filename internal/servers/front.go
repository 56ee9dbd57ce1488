package servers

import (
	"fmt"
	"strings"
)

// A Front is a delivery network or a balancer whose log has the addresses of clients. A server behind it sees those of
// the front instead, so that a limit by address takes many clients for one.
type Front struct {
	Name   string // as sentences have it
	header string // in which it names the client, as its last address
	target string // of shadow export, as which it limits itself; "": none is written

	first bool // whether it is no front, but has no limits, so that lines must go to a server in front of it
}

// fronts are known by the first words of the name of a format, and by what its text has.
var fronts = []struct {
	format, text string
	Front
}{
	{"cloudflare", "", Front{"Cloudflare", "CF-Connecting-IP", "cloudflare", false}},
	{"json", "method=ClientRequestMethod,", Front{"Cloudflare", "CF-Connecting-IP", "cloudflare", false}},
	{"columns", "ClientRequestMethod,", Front{"Cloudflare", "CF-Connecting-IP", "cloudflare", false}},
	{"alb", "", Front{"a load balancer of AWS", "X-Forwarded-For", "aws-waf", false}},
	{"elb", "", Front{"a load balancer of AWS", "X-Forwarded-For", "", false}},
	{"aws-waf", "", Front{"AWS WAF", "X-Forwarded-For", "aws-waf", false}},
	{"w3c", " x-edge-location ", Front{"CloudFront", "X-Forwarded-For", "aws-waf", false}},
	{"json", "client=identity.sourceIp,", Front{"AWS API Gateway", "X-Forwarded-For", "aws-waf", false}},
	{"", "client=fwd,", Front{"Heroku's router", "X-Forwarded-For", "", false}},
	{"fastly", "", Front{"Fastly", "Fastly-Client-IP", "", false}},
	{"akamai", "", Front{"Akamai", "True-Client-IP", "", false}},
	{"bunny", "", Front{"bunny.net", "X-Real-IP", "", false}},
	{"azure", "", Front{"Azure Application Gateway", "X-Forwarded-For", "", false}},
	{"json", "client=properties.clientIp,", Front{"Azure Front Door", "X-Azure-SocketIP", "", false}},
	{"json", "client=proxy.clientIp,", Front{"Vercel", "X-Vercel-Forwarded-For", "", false}},
	{"lighttpd", "", Front{"lighttpd", "", "", true}},
	{"gcp", "", Front{"Google's load balancer, which writes its own address behind the client's", "X-Forwarded-For", "", false}},
}

// FrontOf returns the front that writes a log format, nil if none is known to.
func FrontOf(name, text string) *Front {
	for i := range fronts {
		f := &fronts[i]
		if (f.format == "" || strings.HasPrefix(name+" ", f.format+" ")) && strings.Contains(text+",", f.text) {
			return &f.Front
		}
	}
	return nil
}

// note says what must be done before lines of a server go by the client behind a front.
func (f *Front) note(s *Server) string {
	if f.first {
		return f.Name + ", whose log this seems to be, has no such limit: the lines are for a server in front of it"
	}
	text := fmt.Sprintf("the log is that of %s, behind which the address is not the client's, so that these lines refuse people. ", f.Name)
	if f.target != "" {
		text += fmt.Sprintf("Limit there (shadow export --to %s), or first ", f.target)
	} else {
		text += "First "
	}
	return text + strings.ReplaceAll(s.behind, "HEADER", f.header)
}
