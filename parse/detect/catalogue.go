package detect

import (
	"fmt"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/limit"
	"shadow/parse"
)

// The formats that have a name. One table serves "shadow doctor formats" and --format NAME;
// those that are recognised without it stand in detectable, too.

// A Known is a format that has a name.
type Known struct {
	Name    string // as --format takes it
	Text    string // as the server's configuration has it, or a field mapping for JSON
	Example string // a line
	Summary string // what writes it
}

// The formats that others are built from.
const (
	combinedText = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`
	commonText   = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent`

	agentsText = ` "%r" %>s %b "%{Referer}i" "%{User-Agent}i"` // Apache's, behind the time
)

// catalogue holds the formats of text; those of JSON are in parse.KnownJSON.
var catalogue = []Known{
	{
		"combined", combinedText,
		`192.0.2.7 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 312 "-" "curl/8.5.0"`,
		"nginx's default; Apache's combined where no identity is looked up",
	},
	{
		"vhost-common", `$host ` + commonText,
		`example.org 192.0.2.7 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 312`,
		"common with the virtual host in front",
	},
	{
		"common", commonText,
		`192.0.2.7 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 312`,
		"Apache's common, CERN and NCSA: no referer, no agent",
	},
	{
		"vhost-combined", `$host ` + combinedText,
		`example.org:443 192.0.2.7 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 312 "-" "curl/8.5.0"`,
		"Apache's vhost_combined, and nginx with $host in front",
	},
	{
		"apache-combined", `%h %l %u %t` + agentsText,
		`192.0.2.7 ident alice [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 312 "-" "curl/8.5.0"`,
		"Apache's combined with something in the place of the identity",
	},
	{
		"apache-common", `%h %l %u %t "%r" %>s %b`,
		`192.0.2.7 ident alice [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 312`,
		"Apache's common with something in the place of the identity",
	},
	{
		"apache-iso", `%h %l %u [%{%Y-%m-%d %H:%M:%S}t.%{usec_frac}t]` + agentsText,
		`192.0.2.7 CH - [2026-01-01 00:00:00.250000] "GET / HTTP/1.1" 200 312 "-" "curl/8.5.0"`,
		"Apache with microseconds, as in the netnea tutorials",
	},
	{
		"nginx-iso", strings.Replace(combinedText, "$time_local", "$time_iso8601", 1),
		`192.0.2.7 - - [2026-01-01T00:00:00+00:00] "GET / HTTP/1.1" 200 312 "-" "curl/8.5.0"`,
		"combined with $time_iso8601",
	},
	{
		"bare", `$remote_addr [$time_local] "$request" $status`,
		`192.0.2.7 [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 312 0.004`,
		"nginx without identity and user",
	},
	{
		"main", combinedText + ` "$http_x_forwarded_for"`,
		`192.0.2.7 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 312 "-" "curl/8.5.0" "198.51.100.9"`,
		"the log_format of nginx's packages",
	},
	{
		"ingress-nginx", combinedText + ` $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name]` +
			` $upstream_addr $upstream_response_length $upstream_response_time $upstream_status $req_id`,
		`192.0.2.7 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 312 "-" "curl/8.5.0" 89 0.004 [shop-web-80] [] 10.0.0.5:8080 312 0.003 200 0f8fad5bd9cb469fa16570867728950e`,
		"Kubernetes' ingress-nginx",
	},
	{
		"apisix", `$remote_addr - $remote_user [$time_local] $http_host "$request" $status $body_bytes_sent $request_time "$http_referer"` +
			` "$http_user_agent" $upstream_addr $upstream_status $upstream_response_time "$upstream"`,
		`192.0.2.7 - - [01/Jan/2026:00:00:00 +0000] example.org "GET / HTTP/1.1" 200 312 0.004 "-" "curl/8.5.0" 10.0.0.5:8080 200 0.003 "http://example.org"`,
		"APISIX's default",
	},
	{
		"traefik", traefikText,
		`192.0.2.7 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 312 "-" "curl/8.5.0" 17 "shop@docker" "http://10.0.0.5:80" 4ms`,
		"Traefik's own (CLF with count, router, server and milliseconds)",
	},
	{
		"haproxy", `$remote_addr:$remote_port [$time_local] $frontend $backend $timers $status $body_bytes_sent` +
			` $request_cookie $response_cookie $termination $connections $queues "$request"`,
		`192.0.2.7:40112 [01/Jan/2026:00:00:00.250] web~ shop/shop1 0/0/0/4/4 200 312 - - ---- 1/1/0/0/0 0/0 "GET / HTTP/1.1"`,
		"HAProxy's option httplog, with or without the header that syslog puts in front",
	},
	{
		"npm-proxy", `[$time_local] $upstream_cache_status $upstream_status $status` + proxyManagerText + ` [Sent-to $server]` + proxyManagerEnd,
		`[01/Jan/2026:00:00:00 +0000] - 200 200 - GET https example.org "/" [Client 192.0.2.7] [Length 312] [Gzip -] [Sent-to 10.0.0.5] "curl/8.5.0" "-"`,
		"Nginx Proxy Manager's sites",
	},
	{
		"npm-standard", `[$time_local] $status` + proxyManagerText + proxyManagerEnd,
		`[01/Jan/2026:00:00:00 +0000] 404 - GET http example.org "/" [Client 192.0.2.7] [Length 312] [Gzip -] "curl/8.5.0" "-"`,
		"Nginx Proxy Manager's other hosts",
	},
	{
		"gin", `time|status|request_time|client|request`,
		`[GIN] 2026/01/01 - 00:00:00 | 200 |     375.000µs |       192.0.2.7 | GET      "/"`,
		"gin's own logger",
	},
	{
		"bunny", `cache|status|time|bytes|zone|client|referer|url|edge|agent|id|country`,
		`HIT|200|1767225600250|312|390|192.0.2.7|-|https://example.org/|FRA|curl/8.5.0|322b688bd63fb63f2babe9de30a5d262|DE`,
		"bunny.net's CDN",
	},
	{
		"gitea", `$time_iso8601 $logger [$level] router: completed $request_method $request_uri for $remote_addr:$remote_port, $status`,
		`2026/01/01 00:00:00 HTTPRequest [I] router: completed GET / for 192.0.2.7:40112, 200 OK in 4.1ms @ web/home.go:32(web.Home)`,
		"Gitea, Forgejo",
	},
	{
		"squid", `time request_time_ms client status bytes method url user hierarchy type`,
		`1767225600.250    375 192.0.2.7 TCP_MISS/200 312 GET https://example.org/ - HIER_DIRECT/203.0.113.9 text/html`,
		"squid's own format",
	},
	{
		"uwsgi", `[pid: %{pid}x|app: %{app}x|req: %{requests}x] %a (%u) {%{vars}x} [%{%a %b %e %H:%M:%S %Y}t] %m %U%q` +
			` => generated %B bytes in %{ms}T msecs (%{protocol}x %s) %{rest}x`,
		`[pid: 17|app: 0|req: 1/1] 192.0.2.7 () {40 vars in 600 bytes} [Thu Jan  1 00:00:00 2026] GET / => generated 312 bytes in 4 msecs (HTTP/1.1 200) 2 headers in 80 bytes (1 switches on core 0)`,
		"uWSGI's own",
	},
	{
		"alb", `$type ` + balancerText + ` $rest`,
		`https 2026-01-01T00:00:00.250000Z app/shop/0f8f 192.0.2.7:40112 10.0.0.5:80 0.001 0.003 0.000 200 200 89 312 "GET https://example.org:443/ HTTP/1.1" "curl/8.5.0" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2`,
		"AWS application load balancer",
	},
	{
		"elb", balancerText,
		`2026-01-01T00:00:00.250000Z shop 192.0.2.7:40112 10.0.0.5:80 0.001 0.003 0.000 200 200 89 312 "GET http://example.org:80/ HTTP/1.1" "curl/8.5.0" - -`,
		"AWS classic load balancer, HTTP listeners",
	},
	{
		"s3", `$owner $bucket [$time_local] $remote_addr $remote_user $id $operation $key "$request" $status $error $body_bytes_sent` +
			` $object_size $total $work "$http_referer" "$http_user_agent"`,
		`79a59df9 shop [01/Jan/2026:00:00:00 +0000] 192.0.2.7 - 3E57427F REST.GET.OBJECT a.png "GET /a.png HTTP/1.1" 200 - 312 312 4 3 "-" "curl/8.5.0" - x= SigV4`,
		"AWS S3's server access log",
	},
	{
		"envoy", envoyText + ` $received $body_bytes_sent $took $upstream "$remote_addr"` + envoyRequest,
		`[2026-01-01T00:00:00.250Z] "GET / HTTP/1.1" 200 - 0 312 4 3 "192.0.2.7" "curl/8.5.0" "0f8fad5b-d9cb-469f-a165-70867728950e" "example.org" "10.0.0.5:8080"`,
		"Envoy's default",
	},
	{
		"istio", envoyText + ` $details $termination "$failure" $received $body_bytes_sent $took $upstream "$http_x_forwarded_for"` + envoyRequest +
			` $cluster $upstream_local $local $remote_addr $sni $route`,
		`[2026-01-01T00:00:00.250Z] "GET / HTTP/1.1" 200 - via_upstream - "-" 0 312 4 3 "-" "curl/8.5.0" "0f8fad5b-d9cb-469f-a165-70867728950e" "example.org" "10.0.0.5:8080" inbound|8080|| 127.0.0.6:51371 10.0.0.5:8080 192.0.2.7:40112 - default`,
		"Istio's default",
	},
}

// What Envoy and Istio have in common. The time is that at which a request began.
const (
	envoyText    = `[$time_iso8601] "$request" $status $flags`
	envoyRequest = ` "$http_user_agent" "$request_id" "$host" "$upstream_host"`
)

// What the formats of Nginx Proxy Manager have in common.
const (
	proxyManagerText = ` - $request_method $scheme $host "$request_uri" [Client $remote_addr] [Length $body_bytes_sent] [Gzip $gzip_ratio]`
	proxyManagerEnd  = ` "$http_user_agent" "$http_referer"`
)

// doubts say of formats what is not sure where they are found.
var doubts = map[string]string{
	"envoy": "Envoy's default format lacks the address of the peer: the first of X-Forwarded-For counts as the client, which clients " +
		"can forge unless a proxy in front sets it; log %DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT% to be sure",
}

// Traefik stamps the start of a request, as Apache does.
const traefikText = `%h - %u %t` + agentsText + ` %{count}n "%{router}n" "%{server}n" %{ms}Tms`

// balancerText holds what the load balancers of AWS have in common.
const balancerText = `$time_iso8601 $balancer $remote_addr:$remote_port $backend $wait $work $answer $status $backend_status` +
	` $request_length $body_bytes_sent "$request" "$http_user_agent"`

// Catalogue lists the formats that have a name.
func Catalogue() []Known {
	all := append([]Known(nil), catalogue...)
	for _, k := range parse.KnownJSON {
		all = append(all, Known{Name: dashed(k.Name), Text: k.Mapping, Example: k.Example, Summary: k.Summary})
	}
	return all
}

// Named compiles a format of the catalogue. Fields may follow its last one, and the last ones may be missing.
func Named(name string, o parse.Options) (*parse.Format, error) {
	for _, k := range catalogue {
		if k.Name == name {
			if !strings.ContainsAny(k.Text, "$%") {
				return parse.CompileNamedColumns(k.Name, k.Text, o)
			}
			format, err := parse.CompileAs(k.Text, o, k.Name, true)
			if err == nil && k.Name == parse.Syslogged {
				format = format.BehindSyslog()
			}
			return format, err
		}
	}
	if name == "json" {
		return parse.CompileNamedJSON("json", parse.FieldMapping(nil).WithKnown(), o)
	}
	for _, k := range parse.KnownJSON {
		if dashed(k.Name) == dashed(name) {
			m, err := parse.ParseFieldMapping(k.Mapping)
			if err != nil {
				return nil, err
			}
			return parse.CompileNamedJSON(k.Name, m, o)
		}
	}
	names := mapped.Of(Catalogue(), func(k Known) string { return k.Name })
	if near := otherNames[strings.ToLower(name)]; near != "" {
		return nil, fmt.Errorf("no format is called %q; %s", name, near)
	}
	return nil, fmt.Errorf("no format is called %q%s; there are %s", name, limit.Hint(name, names), strings.Join(append(names, "json"), ", "))
}

// otherNames are names of servers that stand for several formats, with the one to begin with.
var otherNames = map[string]string{
	"nginx":      "nginx's default is combined; --nginx-conf FILE takes the log_format of a configuration",
	"apache":     "Apache's default is apache-common, and most sites set apache-combined",
	"httpd":      "Apache's default is apache-common, and most sites set apache-combined",
	"caddy":      "Caddy's default is caddy-json",
	"cloudflare": "Cloudflare's Logpush is cloudflare-json",
	"aws":        "the load balancers of AWS are alb and elb, S3 is s3, its firewall aws-waf-json",
	"iis":        "the logs of IIS name their fields: leave --format out",
	"w3c":        "such logs name their fields: leave --format out",
}

// catalogueText is the text of a format that the catalogue has.
func catalogueText(name string) string {
	i := slices.IndexFunc(catalogue, func(k Known) bool { return k.Name == name })
	return catalogue[i].Text
}

func dashed(name string) string { return strings.ReplaceAll(name, " ", "-") }
