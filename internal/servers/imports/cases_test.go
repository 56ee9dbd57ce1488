package imports

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
	"shadow/internal/testneeds"
)

// Configurations out of public questions, with the limits that are right: what each must have of policies, in its order,
// and what must be said of it. The folders say why.
func TestCases(t *testing.T) {
	for _, c := range []struct {
		file    string
		want    []string // texts of what is written
		unsaid  []string // that it must not have
		anyLost bool     // something is said to be not as there
	}{
		{file: "import-unknown-products/jail.local", anyLost: true, want: []string{"limit: 'fail2ban:10/600s,bantime=7200s'\n"}},
		{file: "import-unknown-products/mod_evasive.conf", anyLost: true, want: []string{
			"combine: each", "limit: 'mod-evasive:5/1s,block=10s'\n        by: 'client+path'\n", "limit: 'mod-evasive:50/1s,block=10s'\n",
		}},
		{file: "import-unknown-products/default.vcl", want: []string{
			"combine: in-turn",
			"limit: 'vsthrottle:3/4s,cooldown=5s'\n        match: {method: POST, regexp: '(?i)^/user/(login|register)'}\n",
			"limit: 'vsthrottle:10/5s'\n",
		}},
		{file: "import-unknown-products/krakend.json", anyLost: true, want: []string{
			"combine: in-turn", "limit: 'token:3/1m'\n        match: {method: GET, path: /api/v1/x}\n", "limit: 'token:50/1s'\n        by: site",
		}},
		{file: "import-unknown-products/appsettings.json", anyLost: true, want: []string{
			"limit: 'fixed:2/1s,align=first'\n", "limit: 'fixed:100/15m,align=first'\n",
		}},
		{file: "import-unknown-products/haproxy.yaml", want: []string{"limit: 'haproxy:100/10s'\n        match: {host: shop.example}\n"}},
		{file: "import-unknown-products/nic.yaml", want: []string{"limit: 'nginx:10r/s,burst=20,nodelay'\n        match: {host: cafe.example}\n"}},
		{file: "traefik-exclusive-criteria/traefik.yml", anyLost: true, unsaid: []string{"limit:"}, want: []string{"exclude each other"}},
		{file: "kong-consumer-tiers/kong.yml", anyLost: true, want: []string{
			"limit: 'fixed:100/m'\n        by: site\n        match: {prefix: /api, with: 'header:apikey=k1'}\n",
			"limit: 'fixed:10/m'\n        match: {prefix: /api, not: {prefix: /api, with: 'header:apikey=k1'}}\n",
		}},
		{file: "cloudflare-ruleset/main.tf", want: []string{"limit: 'cloudflare~:4/1m,cooldown=10m'\n        match: {method: POST, path: /login}\n" +
			"        count: {path: /login, status: ['401', '403'], method: any}\n"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			i := imported(t, filepath.Join(testneeds.Shared(t, "cases"), c.file))
			text := written(t, i)
			rest := text
			for _, want := range c.want {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("%q is not in it, in this order:\n%s", want, text)
				}
				rest = after
			}
			for _, no := range c.unsaid {
				if strings.Contains(text, no) {
					t.Errorf("%q is in it:\n%s", no, text)
				}
			}
			if lost := i.Lost(); (len(lost) > 0) != c.anyLost {
				t.Errorf("said to be not as there: %v", lost)
			}
		})
	}
}

// A product that is known and has no reader is named, with the limit to write instead, which must be one.
func TestUnreadProducts(t *testing.T) {
	for text, want := range map[string]string{
		"const limiter = rateLimit({ windowMs: 15 * 60 * 1000, limit: 100 })":                             "express-rate-limit, which",
		"REST_FRAMEWORK = {'DEFAULT_THROTTLE_RATES': {'user': '1000/day'}}":                               "Django REST framework, which",
		"spring:\n  cloud:\n    gateway:\n      routes:\n      - filters: [{name: RequestRateLimiter}]\n": "Spring Cloud Gateway, which",
		"Rack::Attack.throttle('ip', limit: 300, period: 5.minutes)":                                      "Rack::Attack, which",
		"apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\n":                                             "Kuadrant, which",
		"SecRule IP:C \"@gt 5\" \"id:3,deny,status:429\"\n":                                               "ModSecurity, which",
	} {
		err := new(Import).Add("file", []byte(text), "")
		if err == nil || !strings.HasPrefix(err.Error(), "file: is of "+want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	holes := strings.NewReplacer("PERIOD", "1m", "DURATION", "1m", "WINDOW", "1m", "POINTS", "6", "CAPACITY", "20",
		"RATE", "6", "MAX", "6", "N", "6")
	for _, p := range unreadProducts {
		if _, err := policy.ParseLimits([]string{holes.Replace(p.limit)}, request.ByClient); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
	}
}

// A word that is not known is told at each level of documents, once, with its line.
func TestUnknownWordsOfDocumentsAreTold(t *testing.T) {
	for name, text := range map[string]string{
		"kong.yaml": `_format_version: "3.0"
services:
- name: s
  routes:
  - {name: r, paths: [/a], wordroute: 1, plugins: [{name: rate-limiting, wordplugin: 1, config: {minute: 5, wordconfig: 1}}]}
`,
		"apisix.yaml": `routes:
- {id: 1, uri: /a, wordroute: 1, plugins: {limit-count: {count: 5, time_window: 60, wordcount: 1}, limit-req: {rate: 1, burst: 2, wordrate: 1}}}
`,
		"traefik.yaml": `http:
  routers:
    r: {rule: "Path(` + "`/a`" + `)", middlewares: [m, o], wordrouter: 1}
  middlewares:
    m: {rateLimit: {average: 5, wordlimit: 1, sourceCriterion: {wordcriterion: 1, ipStrategy: {wordstrategy: 1}}}}
    o: {wordmiddleware: {}}
`,
		"traefik-route.yaml": `apiVersion: traefik.io/v1alpha1
kind: IngressRoute
metadata: {name: i}
spec: {routes: [{match: "Path(` + "`/a`" + `)", wordroute: 1, middlewares: [{name: m}]}]}
---
apiVersion: traefik.io/v1alpha1
kind: Middleware
metadata: {name: m}
spec: {rateLimit: {average: 5}}
`,
		"envoy.yaml": `virtual_hosts:
- domains: ['*']
  routes:
  - match: {prefix: /, wordmatch: 1}
    route:
      rate_limits: [{actions: [{remote_address: {}}], wordlist: 1}, {actions: [{wordaction: {}}]}]
---
domain: d
descriptors: [{key: remote_address, worddescriptor: 1, rate_limit: {unit: minute, requests_per_unit: 5, wordlimit: 1}}]
---
http_filters:
- {name: f, typed_config: {stat_prefix: s, wordfilter: 1, token_bucket: {max_tokens: 5, tokens_per_fill: 5, fill_interval: 60s, wordbucket: 1}}}
`,
		"gateway.yaml": `apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: p}
spec:
  rateLimit:
    type: Global
    global: {rules: [{wordrule: 1, limit: {requests: 5, unit: Minute, wordlimit: 1}, clientSelectors: [{wordselector: 1}]}]}
`,
		"acl.json": `{"Name": "a", "wordacl": 1, "DefaultAction": {"Allow": {}}, "Rules": [
 {"Name": "r", "Priority": 1, "wordrule": 1, "Action": {"Block": {}},
  "Statement": {"RateBasedStatement": {"Limit": 100, "wordrate": 1, "AggregateKeyType": "IP",
   "ScopeDownStatement": {"ByteMatchStatement": {"SearchString": "/a", "wordmatch": 1, "FieldToMatch": {"UriPath": {}},
    "PositionalConstraint": "STARTS_WITH"}}}}}]}
`,
		"waf.tf": `resource "aws_wafv2_web_acl" "a" {
  wordacl = 1
  default_action {
    allow {}
  }
  rule {
    name = "r"
    wordrule = 1
    statement {
      rate_based_statement {
        limit = 100
        wordrate = 1
      }
    }
  }
}
resource "cloudflare_ruleset" "r" {
  wordset = 1
  rules {
    action = "block"
    expression = "true"
    wordcounted = 1
    ratelimit {
      characteristics = ["ip.src"]
      period = 60
      requests_per_period = 100
      wordlimit = 1
    }
  }
}
`,
		"default.vcl": `vcl 4.1;
sub vcl_recv {
  wordstatement.call("a");
  set req.http.a = "b";
  unset req.http.c;
  if (wordcondition) { return (pass); }
  if (vsthrottle.is_denied(client.ip, 5, 10s)) { return (synth(429)); }
  if (vsthrottle.wordcall("a", 5, 10s)) { return (synth(429)); }
}
`,
		"ingress.yaml": `kind: Ingress
metadata:
  annotations:
    nginx.ingress.kubernetes.io/limit-rps: "5"
    nginx.ingress.kubernetes.io/limit-wordnote: "5"
    nginx.ingress.kubernetes.io/word-snippet: "more_set_headers a;"
spec:
  wordspec: 1
  rules:
  - {host: a.example, wordhost: 1, http: {paths: [{path: /a, pathType: Prefix, wordpath: 1}]}}
`,
		"haproxy-ingress.yaml": `kind: Ingress
metadata:
  annotations:
    haproxy.org/rate-limit-requests: "5"
    haproxy.org/rate-limit-wordlimit: "5"
spec:
  rules: [{host: a.example}]
`,
		"caddy.json": `{"apps": {"http": {"servers": {"s": {"wordserver": 1, "routes": [
 {"wordroute": 1, "match": [{"path": ["/a"], "wordmatch": ["x"]}], "handle": [
  {"handler": "rate_limit", "wordhandler": 1, "rate_limits": {"z": {"key": "static", "window": "1m", "max_events": 5, "wordzone": 1}}},
  {"handler": "wordkind"}]}]}}}}}
`,
		"krakend.json": `{"version": 3, "endpoints": [{"endpoint": "/a", "wordendpoint": 1,
 "backend": [{"url_pattern": "/x", "wordbackend": 1}],
 "extra_config": {"qos/ratelimit/router": {"max_rate": 5, "wordlimit": 1}, "qos/ratelimit/wordkind": {}}}]}
`,
		"appsettings.json": `{"IpRateLimiting": {"wordroot": 1, "GeneralRules": [{"Endpoint": "*", "Period": "1m", "Limit": 5, "wordrule": 1}]}}
`,
		"policy.yaml": `apiVersion: k8s.nginx.org/v1
kind: Policy
metadata: {name: p}
spec:
  wordspec: 1
  rateLimit: {rate: 5r/s, key: "${binary_remote_addr}", zoneSize: 10M, wordlimit: 1}
`,
		"jail.local": `[DEFAULT]
worddefault = 1
[nginx-limit-req]
enabled = true
maxretry = 5
findtime = 60
wordjail = 1
logpath = /var/log/nginx/access.log
`,
		"httpd.conf": `<IfModule mod_evasive24.c>
DOSPageCount 5
DOSWordlimit 1
</IfModule>
<IfModule mod_qos.c>
QS_ClientEventBlockCount 20 300
QS_wordlimit 1
</IfModule>
`,
		"Caddyfile": `shop.example {
	worddirective a
	rate_limit {
		wordlimit 1
		zone z {
			key {remote_host}
			window 1m
			events 5
			wordzone 1
		}
	}
	handle /a {
		wordhandle b
		rate_limit {
			zone y {
				window 1m
				events 5
			}
		}
	}
}
`,
	} {
		i := new(Import)
		if err := i.Add(name, []byte(text), ""); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		i.Done()
		for n, line := range strings.Split(text, "\n") {
			for _, word := range regexp.MustCompile(`\bword\w+`).FindAllString(line, -1) {
				if told := slices.DeleteFunc(slices.Clone(i.Notes), func(n neutral.Note) bool { return !strings.Contains(n.Text, word) }); len(told) != 1 ||
					told[0].Place != fmt.Sprintf("%s:%d", name, n+1) {
					t.Errorf("%s:%d: of %s is told %v", name, n+1, word, told)
				}
			}
		}
	}
}

// What stands in public configurations beside what guides have: each has its limit, or is told.
func TestBesideWhatGuidesHave(t *testing.T) {
	const (
		zone  = "limit_req_zone $binary_remote_addr zone=a:1m rate=1r/s;\n"
		marks = "backend rates\n  stick-table type ip size 1k expire 1m store http_req_rate(1s)\n" +
			"backend marks\n  stick-table type ip size 1k expire 5s store gpc0\nfrontend f\n"
		flare = "  rules {\n    expression = \"true\"\n    ratelimit {\n      characteristics = [\"ip.src\"]\n      period = 60\n      requests_per_period = 5\n    }\n  }\n}\n"
		waf   = "  rule {\n    priority = 5\n    action {\n      block {}\n    }\n    statement {\n      rate_based_statement {\n        limit = 100\n" +
			"        aggregate_key_type = \"IP\"\n      }\n    }\n  }\n}\n"
	)
	for _, c := range []struct{ file, from, text, want string }{
		{"appsettings.json", "", "\ufeff" + `{"IpRateLimitOptions": {"GeneralRules": [{"Endpoint": "*", "Period": "1m", "Limit": 60}]}}`, "limit: 'fixed:60/1m,align=first'\n"},
		{"kong.yml", "kong", "services:\n- routes:\n  - {paths: [/a], plugins: [{name: rate-limiting, config: {minute: 5}}]}\n", "match: {prefix: /a}\n"},
		{"kong.yml", "", "_format_version: '3.0'\nplugins:\n- {name: rate-limiting_902, config: {minute: 5}}\n", "kong.yml:3: the plugin rate-limiting_902 is not read"},
		{"nginx.conf", "", zone + "server { server_name a.example; location / { return 301 https://$host$request_uri; } }\n" +
			"server { listen 443 ssl; server_name a.example; location / { return 404; } location = /s { limit_req zone=a; } }", "match: {path: /s}\n"},
		{"nginx.conf", "", zone + "server { include nowhere.conf; server_name a.example; location / { return 301 /a; } }\n" +
			"server { include nowhere.conf; server_name a.example; limit_req zone=a; }", "limit: 'nginx:1r/s'\n"},
		{"nginx.conf", "", zone + "server { server_name b.example; return 301 /; }\nserver { server_name a.example; limit_req zone=a; }", "match: {host: a.example}\n"},
		{"nginx.conf", "", zone + "server { listen 80; server_name a.example; return 301 /; }\nserver { listen 443; server_name b.example; return 301 /; }\n" +
			"server { listen 443; server_name a.example; limit_req zone=a; }", "match: {host: a.example}\n"},
		{"nginx.conf", "", zone + "server { listen 80; return 301 /; }\nserver { listen 443; server_name a.example; limit_req zone=a; }\n" +
			"server { listen 443; server_name b.example; }", "nginx.conf:3: this server is taken to get what no other one names, on any port or address"},
		{"nginx.conf", "", "http {\ninclude nowhere/*.conf; }", "nginx.conf:2: open nowhere/*.conf: no such folder"},
		{"nginx.conf", "", "limit_conn_zone $binary_remote_addr zone=c:1m;\nserver { listen 80; }", "nginx.conf:1: no limit_conn uses the zone c"},
		{"nginx.conf", "", "geo $off {\n10.0.0.0/8 0;\n}\nmap $off $k {\n0 '';\n1 $binary_remote_addr;\n}\nlimit_req_zone $k zone=a:1m rate=1r/s;\n" +
			"server {\nlimit_req zone=a;\n}\n", "nginx.conf:10: the zone a has no key for what comes here: limit_req limits nothing"},
		{
			"haproxy.cfg", "", "backend t\n  stick-table type ip size 1k expire 2h store http_req_rate(1h)\nfrontend f\n" +
				"  stick-table type ip size 1k expire 1m store http_req_rate(10s)\n  http-request track-sc1 src\n" +
				"  http-request track-sc1 src table t\n  http-request deny if { sc1_http_req_rate(t) gt 50 }\n",
			"haproxy.cfg:6: rules before it have taken track-sc1 of all that it is for: it counts nothing there",
		},
		{"ingress.yaml", "", "kind: Ingress\nmetadata:\n  annotations:\n    nginx.ingress.kubernetes.io/limit-rps: '4'\n" +
			"    nginx.ingress.kubernetes.io/server-snippet: |\n      location ~ ^/ping { return 404; }\n" +
			"spec: {rules: [{host: a.example}]}\n", "server-snippet is not read: what it answers"},
		{"kong.tf", "", "resource \"kong_plugin\" \"p\" {\n  name = \"rate-limiting\"\n}\n", "kong.tf:2: kong_plugin p: rate-limiting is of a product that is not read"},
		{"istio.yaml", "", "kind: EnvoyFilter\nspec:\n  configPatches:\n" +
			"  - match: {routeConfiguration: {vhost: {name: 'shop.svc:80', route: {action: ANY}}}}\n" +
			"    patch: {value: {token_bucket: {max_tokens: 1, tokens_per_fill: 1, fill_interval: 60s}}}\n", "istio.yaml:4: the patch is for the name shop.svc:80 alone"},
		{"root.tf", "", "resource \"cloudflare_ruleset\" \"root\" {\n  phase = \"http_ratelimit\"\n  rules = [{\n    action = \"execute\"\n" +
			"    expression = \"(cf.zone.plan eq \\\"ENT\\\")\"\n  }]\n}\n", "root.tf:5: rule root 1: the rules that it sends requests to are judged on all"},
		{"asn.tf", "", "resource \"cloudflare_ruleset\" \"r\" {\n  rules {\n    expression = \"true\"\n    ratelimit {\n" +
			"      characteristics = [\"ip.src.asnum\"]\n      period = 60\n      requests_per_period = 5\n    }\n  }\n}\n", `"asn" is not a key`},
		{
			"key.vcl", "", "sub vcl_recv {\n  set req.http.X-Key = client.ip;\n  if (vsthrottle.is_denied(req.http.X-Key, 5, 1s)) { return (synth(429)); }\n}\n",
			"key.vcl:2: what req.http.X-Key becomes here is not read: the limit at key.vcl:3 counts by what is logged",
		},
		{
			"if.vcl", "", "sub vcl_recv {\n  unset req.http.X-Bot;\n  if (req.http.X-Bot && vsthrottle.is_denied(client.ip, 5, 1s)) { return (synth(429)); }\n}\n",
			"if.vcl:2: what req.http.x-bot becomes here is not read: the condition at if.vcl:3 judges by what is logged",
		},
		{
			"gateway.yaml", "", "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {name: p}\nspec:\n  rateLimit:\n    global:\n" +
				"      rules: [{limit: {requests: 2, unit: Hour}, clientSelectors: [{sourceCIDR: {value: 0.0.0.0/0, invert: true}}]}]\n",
			"match: {not: {network: '0.0.0.0/0'}}\n",
		},
		{
			"policy.yaml", "", "apiVersion: k8s.nginx.org/v1\nkind: Policy\nmetadata: {name: p}\nspec: {rateLimit: {rate: 1r/s, key: '${request_method}', zoneSize: 1M}}\n",
			"policy.yaml:4: nothing is left of the key of the Policy p: it is left out",
		},
		{
			"envoy.yaml", "", "domains: ['*']\nroutes:\n- match: {prefix: /a, headers: [{name: x-plan, string_match: {exact: paid}, invert_match: true}]}\n" +
				"  route: {rate_limits: [{actions: [{remote_address: {}}]}]}\n---\ndomain: d\ndescriptors: [{key: remote_address, rate_limit: {unit: minute, requests_per_unit: 5}}]\n",
			"without: 'header:x-plan'",
		},
		{
			"default.vcl", "", "vcl 4.1;\nsub vcl_recv {\n  set req.http.X-Forwarded-For = \"a\";\n" +
				"  if (req.http.X-Forwarded-For ~ \"^10\" && vsthrottle.is_denied(client.ip, 5, 10s)) { return (synth(429)); }\n}\n",
			"default.vcl:3: what req.http.x-forwarded-for becomes here is not read",
		},
		{
			"appsettings.json", "", `{"IpRateLimiting": {"GeneralRules": [{"Endpoint": "*", "Period": "1m", "Limit": 60}]}, "IpRateLimitOptions": {}}`,
			"IpRateLimitOptions is not read beside IpRateLimiting",
		},
		{"nginx.conf", "", "http {\ninclude nowhere/*/x.conf; }", "nginx.conf:2: open nowhere/*/x.conf: no such folder"},
		{
			"peers.cfg", "", "peers p\n  table t type ip size 1k expire 1m store http_req_rate(1m)\nfrontend f\n" +
				"  http-request track-sc1 src table p/t\n  http-request deny if { sc1_http_req_rate(p/t) gt 5 }\n", "limit: 'haproxy:5/1m,expire=1m'\n",
		},
		{
			"errors.cfg", "", "global\n  http-err-codes 404\nfrontend f\n  stick-table type ip size 1k expire 1m store http_err_rate(1m)\n" +
				"  http-request track-sc1 src\n  http-request deny if { sc1_http_err_rate gt 5 }\n", "NOT AS THERE: errors.cfg:2: http-err-codes is not read",
		},
		{"nginx.conf", "", zone + "server { location / { mirror /m; }\nlocation = /m { internal; limit_req zone=a; } }", "nginx.conf:3: mirror sends copies of requests here"},
		{"count.tf", "", "resource \"cloudflare_ruleset\" \"r\" {\n  count = var.on ? 1 : 0\n" + flare, "NOT AS THERE: count.tf:2: count says how often"},
		{"before.tf", "", "resource \"cloudflare_ruleset\" \"c\" {\n  phase = \"http_request_firewall_custom\"\n  rules {\n    action = \"skip\"\n" +
			"    expression = \"ip.src eq 10.0.0.1\"\n  }\n}\nresource \"cloudflare_ruleset\" \"r\" {\n" + flare, "before.tf:2: cloudflare_ruleset c decides before limits"},
		{"count.tf", "", "resource \"aws_wafv2_web_acl\" \"w\" {\n  count = var.on ? 1 : 0\n  default_action {\n    allow {}\n  }\n" + waf, "NOT AS THERE: count.tf:2: count says how often"},
		{"managed.tf", "", "resource \"aws_wafv2_web_acl\" \"w\" {\n  rule {\n    priority = 1\n    override_action {\n      none {}\n    }\n    statement {\n" +
			"      managed_rule_group_statement {\n        name = \"m\"\n      }\n    }\n  }\n" + waf, "managed.tf:2: rule rule: what its group blocks comes to no later rule"},
		{"module.tf", "", "module \"w\" {\n  rule = [\n    {\n      priority = 1\n      override_action = \"none\"\n    },\n    {\n      priority = 5\n" +
			"      name = \"r\"\n      action = \"block\"\n      rate_based_statement = {\n        limit = 100\n        aggregate_key_type = \"IP\"\n      }\n    },\n  ]\n}\n", "what its group blocks comes to no later rule"},
		{"group.tf", "", "resource \"aws_wafv2_web_acl\" \"w\" {\n" + waf[:len(waf)-2] + "  rule {\n    name = \"g\"\n    priority = 9\n    override_action {\n      count {}\n    }\n" +
			"    statement {\n      rule_group_reference_statement {\n        arn = aws_wafv2_rule_group.g.arn\n      }\n    }\n  }\n}\n", "rule g only counts what its group refuses"},
		{"module.tf", "", "module \"w\" {\n  rules = [\n    {\n      name = \"b\"\n      priority = 1\n      action = \"block\"\n      byte_match_statement = {\n" +
			"        field_to_match = {\n          uri_path = \"{}\"\n        }\n        positional_constraint = \"STARTS_WITH\"\n        search_string = \"/a\"\n" +
			"        priority = 0\n        type = \"LOWERCASE\"\n      }\n    },\n    {\n      name = \"r\"\n      priority = 2\n      action = \"block\"\n" +
			"      rate_based_statement = {\n        limit = 100\n      }\n    },\n  ]\n}\n", "match: {not: {regexp: '(?i)^/a'}}\n"},
		{"module.tf", "", "module \"w\" {\n  rules = [\n    {\n      name = \"r\"\n      priority = 2\n      action = \"block\"\n      rate_based_statement = {\n" +
			"        limit = 100\n        scope_down_statement = {\n          not_statement = {\n            geo_match_statement = {\n" +
			"              country_codes = [\"NL\"]\n            }\n          }\n        }\n      }\n    },\n  ]\n}\n", "match: {not: {country: NL}}\n"},
		{"module.tf", "", "module \"w\" {\n  rules = [\n    {\n      name = \"r\"\n      action = \"count\"\n      rate_based_statement = {\n" +
			"        limit = 100\n      }\n    },\n  ]\n}\n", "rule r, action count\n"},
		{"module.tf", "", "module \"w\" {\n  rate_based_statement_rules = [\n    {\n      name = \"r\"\n      action = \"block\"\n      statement = {\n" +
			"        limit = 100\n      }\n    },\n  ]\n  ip_rate_based_rule = {\n    limit = 5\n  }\n}\n", "limit: 'aws~:100/300s'\n"},
		{"module.tf", "", "module \"w\" {\n  rate_based_statement_rules = [\n    {\n      name = \"r\"\n      action = \"block\"\n      statement = {\n" +
			"        limit = 100\n      }\n    },\n  ]\n  ip_rate_based_rule = {\n    limit = 5\n  }\n}\n", "NOT AS THERE: module.tf:11: module w: ip_rate_based_rule is not read"},
		{"here.tf", "", "resource \"cloudflare_ruleset\" \"r\" {\n  rules {\n    expression = <<-EOT\n      http.request.uri.path eq \"/a\" and\n" +
			"      http.request.method eq \"POST\"\n    EOT\n    ratelimit {\n      characteristics = [\"ip.src\"]\n      period = 60\n" +
			"      requests_per_period = 5\n    }\n  }\n}\n", "match: {method: POST, path: /a}\n"},
		{"here.tf", "", "resource \"cloudflare_ruleset\" \"r\" {\n  rules {\n    expression = \"true\"\n    description = <<EOT\nno end\n    ratelimit {\n" +
			"      characteristics = [\"ip.src\"]\n      period = 60\n      requests_per_period = 5\n    }\n  }\n}\n", "name: 'cloudflare <<EOT no end'\n"},
		{
			"istio.yaml", "", "kind: EnvoyFilter\nspec:\n  configPatches:\n  - patch: {value: {rate_limits: [{actions: [{remote_address: {}}]}]}}\n",
			"NOT AS THERE: istio.yaml:4: nothing here says what the rate limit service makes of these actions",
		},
		{
			"lone.vcl", "", "sub vcl_recv {\n  if (vsthrottle.is_denied(req.http.X-Key, 5, 1s)) { return (synth(429)); }\n}\n",
			"NOT AS THERE: lone.vcl:2: requests without req.http.X-Key are all refused there",
		},
		{
			"other.vcl", "varnish", "sub vcl_recv {\n  if (vsf.is_denied(req.http.X-Key, 5, 1s)) { return (synth(429)); }\n}\n",
			"NOT AS THERE: other.vcl:2: vsf.is_denied is of a module that is not read",
		},
		{"nginx.conf", "", zone + "server { if ($http_user_agent != \"-\") { return 403; } limit_req zone=a; }", "nginx.conf:2: logs have - where there is no $http_user_agent, which is not what this asks for: every request"},
		{"nginx.conf", "", zone + "server { if ($http_user_agent = \"-\") { return 403; } limit_req zone=a; }", "nginx.conf:2: logs have - where there is no $http_user_agent, which is not what this asks for: no request"},
		{"nginx.conf", "", zone + "map $http_user_agent $x {\n- 0; default 1; }\nserver { if ($x) { return 403; } limit_req zone=a; }", "no request is found that comes to a limit_req"},
		{"nginx.conf", "", zone + "map $http_user_agent $x {\n- 0; default 1; }\nserver { if ($x) { return 403; } limit_req zone=a; }", "nginx.conf:3: logs have - where there is no"},
		{"nginx.conf", "", "limit_req_zone $binary_remote_addr zone=a:1m rate=10;\nserver { limit_req zone=a; }", "limit: 'nginx:10r/s'\n"},
		{
			"apisix.yaml", "", "routes:\n- id: 1\n  uri: /a\n  plugins:\n    workflow: {rules: []}\n    limit-count: {count: 5, time_window: 60}\n",
			"NOT AS THERE: apisix.yaml:5: the plugin workflow may limit or answer requests, and is not read",
		},
		{
			"apisix.yaml", "", "routes:\n- id: 1\n  uri: /a\n  plugins:\n    tenant-context: {}\n    limit-count: {count: 5, time_window: 60}\n",
			"apisix.yaml:5: the plugin tenant-context is not known: it is taken to refuse nothing",
		},
		{"marks.cfg", "", marks + "  http-request track-sc0 src table rates\n  http-request deny if { src_get_gpc0(marks) gt 0 }\n" +
			"  http-request deny if { sc0_http_req_rate gt 2 } { src_inc_gpc0(marks) gt 0 }\n", "limit: 'haproxy:2/1s,cooldown=5s'\n"},
		{"marks.cfg", "", marks + "  http-request track-sc0 src table marks\n  http-request track-sc1 src table rates\n  http-request deny if { sc0_get_gpc0 gt 0 }\n" +
			"  http-request sc-inc-gpc0(0) if { sc1_http_req_rate gt 2 }\n  http-request deny if { sc1_http_req_rate gt 2 }\n", "limit: 'haproxy:2/1s,cooldown=5s/extend'\n"},
		{"counter.cfg", "", "frontend f\n  stick-table type string size 1k expire 1m store http_req_rate(1m)\n  http-request track-sc0 url_param(key)\n" +
			"  http-request track-sc0 url_param(token)\n  http-request deny if { sc0_http_req_rate gt 5 }\n", "match: {without: 'field:key', not: {without: 'field:token'}}\n"},
		{"now.cfg", "", "frontend f\n  stick-table type ipv6 size 1k expire 1m store http_req_rate(1m)\n  http-request track-sc0 src\n" +
			"  http-request set-var(req.most) int(5)\n  http-request set-var(req.now) sc_http_req_rate(0)\n  http-request deny if { var(req.most),sub(req.now) lt 0 }\n", "limit: 'haproxy:5/1m,expire=1m'\n"},
		{"lost.cfg", "", "frontend f\n  stick-table type ip size 1k expire 1m store http_req_rate(1m)\n  acl over var(req.most),sub(req.now) lt 0\n" +
			"  http-request track-sc0 src\n  http-request deny if over\n", "lost.cfg:5: no condition says over: it refuses by a rate there, and nothing here"},
		{"traefik.yml", "", "http:\n  routers: {r: {rule: Path(`/a`), middlewares: [b]}}\n  middlewares:\n    a: {rateLimit: {average: 5}}\n" +
			"    b: {rateLimit: {average: 7}}\n", "it is judged on all requests, before others"},
	} {
		i := new(Import)
		if err := i.Add(c.file, []byte(c.text), c.from); err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		i.Done()
		if out := written(t, i); !strings.Contains(out, c.want) {
			t.Errorf("%s\nhas no %s:\n%s", c.text, c.want, out)
		}
	}
}

// Files of fail2ban in a folder are one: what those that end in .local say holds, whatever stands first.
func TestJailsOfSeveralFiles(t *testing.T) {
	i := new(Import)
	for _, f := range []struct{ name, text string }{
		{"jail.local", "[nginx-req]\nenabled = true\nfindtime = 3m\n"},
		{"jail.conf", "[DEFAULT]\nbantime = 2h\nmaxretry = 4\nignoreip = 192.0.2.0/24\n[nginx-req]\nmaxretry = 9\nfindtime = 8m\n[sshd]\nmaxretry = 2\n"},
		{"other/jail.d/x.local", "[nginx-req]\nenabled = true\nfindtime = 3m\n"},
	} {
		if err := i.Add(f.name, []byte(f.text), "fail2ban"); err != nil {
			t.Fatal(err)
		}
	}
	i.Done()
	text := written(t, i)
	for _, want := range []string{
		"# jail.conf:6 jail nginx-req\n", "limit: 'fail2ban:9/3m,bantime=2h'\n        match: {not: {network: '192.0.2.0/24'}}\n",
		"# jail.conf:9: jail sshd is not enabled here\n", "limit: 'fail2ban:5/3m,bantime=10m'\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in it:\n%s", want, text)
		}
	}
}

// What a configuration says of limits is judged or told, in words that once were neither.
func TestNothingIsSilent(t *testing.T) {
	const (
		envoyRoutes = "domains: ['*']\nrate_limits: [{actions: [{remote_address: {}}]}]\nroutes:\n"
		envoyTree   = "---\ndomain: d\ndescriptors: [{key: remote_address, rate_limit: {unit: minute, requests_per_unit: 5}}]\n"
		envoyFilter = "- name: envoy.filters.http.ratelimit\n  typed_config: {domain: d, rate_limit_service: {}, rate_limited_status: {code: 503}}\n"
		kongPlugin  = "apiVersion: configuration.konghq.com/v1\nkind: KongPlugin\nmetadata: {name: few}\nplugin: rate-limiting\n" +
			"config: {minute: 5, limit_by: ip, policy: redis}\n---\n"
		kongIngress = "kind: Ingress\nmetadata: {annotations: {konghq.com/plugins: 'few, jwt', konghq.com/methods: POST}}\n" +
			"spec: {rules: [{host: a.example, http: {paths: [{path: /api, pathType: Prefix}]}}]}\n"
		haproxy = "frontend f\n  mode http\n  stick-table type ipv6 size 1k expire 1m store http_req_rate(1m)\n  http-request track-sc0 src\n" +
			"  http-request deny if { sc0_http_req_rate gt 9 }\n"
		traefik = "http:\n  routers: {r: {rule: 'PathPrefix(`/a`)', middlewares: [l]}}\n  middlewares:\n    l: {rateLimit: {average: 5}}\n"
		apisix  = "routes:\n- uri: /a\n  plugins:\n"
		gateway = "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {name: p}\nspec:\n" +
			"  targetRefs: [{kind: HTTPRoute, name: r}]\n  rateLimit:\n    global:\n      rules: [{limit: {requests: 2, unit: Hour}}]\n" +
			"---\nkind: HTTPRoute\nmetadata: {name: r}\nspec: {rules: [{backendRefs: []}], hostnames: [a.example, b.example]}\n"
	)
	for _, c := range []struct{ file, text, want string }{
		{
			"traefik.yml", "http:\n  routers: {r: {rule: Path(`/a`), middlewares: [c, l]}}\n  middlewares:\n    c: {circuitBreaker: {expression: x}}\n" +
				"    l: {rateLimit: {average: 5}}\n", "traefik.yml:2: circuitBreaker (traefik.yml:4) may answer requests before the middleware l counts them",
		},
		{"envoy.yaml", envoyRoutes + "- {match: {path: /a}, redirect: {}}\n- {match: {prefix: /}, route: {}}\n" + envoyTree, "match: {not: {path: /a}}\n"},
		{"envoy.yaml", strings.Replace(envoyRoutes, "}]}]", "}], limit: {dynamic_metadata: {}}}]", 1) + envoyTree, "envoy.yaml:2: limit is not read"},
		{"envoy.yaml", envoyRoutes + "http_filters:\n- name: envoy.filters.http.jwt_authn\n" + envoyFilter + envoyTree, "envoy.yaml:5: the filter envoy.filters.http.jwt_authn may answer"},
		{"envoy.yaml", envoyRoutes + "http_filters:\n- name: envoy.filters.http.compressor\n" + envoyFilter + envoyTree, "descriptor remote_address, refused with 503\n"},
		{"gateway.yaml", gateway, "gateway.yaml:6: each host, match and listener of a route counts for itself"},
		{
			"gateway.yaml", gateway + "---\nkind: SecurityPolicy\nspec:\n  targetRefs: [{kind: HTTPRoute, name: r}]\n  jwt: {providers: []}\n",
			"NOT AS THERE: gateway.yaml:17: jwt may answer requests before a limit counts them; here they count",
		},
		{
			"gateway.yaml", gateway + "---\nkind: HTTPRoute\nmetadata: {name: s}\nspec: {hostnames: [c.example]}\n" +
				"---\nkind: SecurityPolicy\nspec:\n  targetRefs: [{kind: HTTPRoute, name: s}]\n  jwt: {providers: []}\n",
			"# NOT AS THERE: gateway.yaml:6: each host, match and listener of a route counts for itself, unless a rule is shared; here they count together\npolicies:",
		},
		{
			"gateway.yaml", gateway + "---\nkind: ClientTrafficPolicy\nspec:\n  clientIPDetection:\n    xForwardedFor: {numTrustedHops: 1}\n",
			"# gateway.yaml:17: clients are taken from a header: --client-from x-forwarded-for, with --trusted-proxy",
		},
		{"kong.yaml", kongPlugin + kongIngress, "match: {method: POST, host: a.example, either: [{path: /api}, {prefix: /api/}]}\n"},
		{"kong.yaml", kongPlugin + strings.Replace(kongIngress, "Ingress", "Service", 1), "kong.yaml:8: the plugins few, jwt of a Service are not read"},
		{
			"kong.yaml", kongPlugin + "kind: KongPlugin\nmetadata: {name: jwt}\nplugin: jwt\n---\n" + kongIngress,
			"kong.yaml:7: the plugin jwt may answer requests before a limit counts them",
		},
		{
			"kong.yaml", kongPlugin + "kind: KongPlugin\nmetadata: {name: jwt}\nplugin: aws-lambda\n---\n" + kongIngress +
				"---\n" + strings.Replace(kongIngress, "a.", "b.", 1), "the plugin few is for counts for itself there, and all together here\npolicies:",
		},
		{"kong.yml", "_format_version: '3.0'\nplugins:\n- name: rate-limiting\n  protocols: [https]\n  config: {minute: 5}\n", "NOT AS THERE: kong.yml:4: protocols of a plugin"},
		{"h.cfg", haproxy + "  acl over sc0_http_req_rate gt 5\n  http-response return status 429 if over\n", "h.cfg:7: http-response return refuses when the answer is there"},
		{"h.cfg", haproxy + "  tcp-response content close if { sc0_http_req_rate gt 6 }\n", "h.cfg:6: tcp-response content close refuses"},
		{"h.cfg", haproxy + "  acl bad req.hdr(X-Bad) 1\n  http-request set-header X-Bad 1\n  use_backend b if bad\n", "h.cfg:7: set-header X-Bad is not read: what asks"},
		{
			"Caddyfile", "a.example {\n\tinvoke z\n}\n&(z) {\n\trate_limit {\n\t\tzone z {\n\t\t\tevents 5\n\t\t\twindow 1m\n\t\t}\n\t}\n}\n",
			"limit: 'caddy:5/1m'\n",
		},
		{"r.toml", "[http.routers.r]\r\n  rule = 'Path(`/a`)'\r\n  middlewares = ['l']\r\n[http.middlewares.l.rateLimit]\r\n  average = 5\r\n", "match: {path: /a}\n"},
		{"t.yml", "# one\r\n# two\r\n" + traefik, "# t.yml:6 middleware l of router r"},
		{"t.yml", strings.Replace(traefik, "/a`", "/{id:[0-9]+}`", 1), "t.yml:2: no condition says PathPrefix(/{id:[0-9]+})"},
		{"t.yml", strings.Replace(traefik, "{rule:", "{parentRefs: [p], rule:", 1), "t.yml:2: parentRefs of router r are not read"},
		{"a.yaml", apisix + "    limit-req: {rate: 1, burst: 0, key: http_x_a, key_type: var_combination}\n", "limit: 'nginx:1r/s,burst=0'\n        match: {path: /a}\n"},
		{"a.yaml", apisix + "    limit-req: {rate: 1, burst: 0, key: $http_x_a}\n", "limit: 'nginx:1r/s,burst=0'\n        match: {path: /a}\n"},
		{
			"a.yaml", "kind: ApisixPluginConfig\nmetadata: {name: c}\nspec: {plugins: [{name: limit-req, config: {rate: 1, burst: 0, key: remote_addr}}]}\n---\n" +
				"kind: ApisixRoute\nspec: {http: [{match: {paths: [/a]}, plugin_config_name: c}, {match: {paths: [/b]}}]}\n", "match: {path: /a}\n",
		},
		{
			"url.vcl", "sub vcl_recv {\n  if (req.url ~ \"\\?page=\" && vsthrottle.is_denied(client.ip, 5, 1s)) { return (synth(429)); }\n}\n",
			`match: {with: 'field:request_uri~\?page='}`,
		},
	} {
		i := new(Import)
		if err := i.Add(c.file, []byte(c.text), ""); err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		i.Done()
		if out := written(t, i); !strings.Contains(out, c.want) {
			t.Errorf("%s\nhas no %s:\n%s", c.text, c.want, out)
		}
	}
	i := new(Import)
	if err := i.Add("waf.tf", []byte("resource \"aws_wafv2_web_acl\" \"w\" {\n  rule_json = null\n  default_action {\n    allow {}\n  }\n  rule {\n    name = \"r\"\n"+
		"    priority = 1\n    action {\n      block {}\n    }\n    statement {\n      rate_based_statement {\n        limit = 100\n"+
		"        aggregate_key_type = \"IP\"\n      }\n    }\n  }\n}\n"), ""); err != nil {
		t.Fatal(err)
	}
	if i.Done(); len(i.Lost()) > 0 {
		t.Errorf("lost: %v", i.Lost())
	}
}
