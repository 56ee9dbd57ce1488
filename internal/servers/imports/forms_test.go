package imports

import (
	"strings"
	"testing"
)

// A form is a small configuration, with a text that must be written of it, and one that must not.
type form struct{ file, text, want, no string }

// readForms reads each form.
func readForms(t *testing.T, forms []form) {
	t.Helper()
	for _, f := range forms {
		i := new(Import)
		if err := i.Add(f.file, []byte(f.text), ""); err != nil {
			t.Errorf("%s\n%v", f.text, err)
			continue
		}
		i.Done()
		if out := written(t, i); !strings.Contains(out, f.want) || f.no != "" && strings.Contains(out, f.no) {
			t.Errorf("%s\nmust have %q, and not %q:\n%s", f.text, f.want, f.no, out)
		}
	}
}

const kongFew = "kind: KongPlugin\nmetadata: {name: few, namespace: a}\nplugin: rate-limiting\nconfig: {minute: 5, limit_by: ip, policy: redis}\n---\n"

func TestIngressWithoutHost(t *testing.T) {
	readForms(t, []form{
		{"k.yaml", kongFew + "kind: Ingress\nmetadata: {annotations: {konghq.com/plugins: few}}\nspec: {rules: [{http: {paths: [{path: /a, pathType: Exact}]}}]}\n",
			"match: {path: /a}\n", ""},
		{"k.yaml", kongFew + "kind: Ingress\nmetadata: {annotations: {konghq.com/plugins: few}}\nspec: {rules: [{http: {paths: [{backend: {}}]}}]}\n",
			"limit: 'fixed:5/m'\n", "match"},
	})
}

// The word that removes a condition may be the text of one.
func TestAnyIsAText(t *testing.T) {
	const table = "frontend f\n  stick-table type ipv6 size 1k expire 1m store http_req_rate(1m)\n"
	readForms(t, []form{
		{"h.cfg", table + "  http-request track-sc0 src if { path_sub any }\n  http-request deny if { sc0_http_req_rate gt 2 } METH_POST\n",
			"count: {regexp: '(?:any)', method: any}\n", ""},
		{"h.cfg", table + "  http-request track-sc0 src\n  http-request deny if { sc0_http_req_rate gt 2 } { hdr(host) any }\n",
			"match: {host: ANY}\n", ""},
	})
}

// A target has its query in keys and conditions, unless no query matters.
func TestTargetsHaveTheirQuery(t *testing.T) {
	const (
		denied = "sub vcl_recv {\n  if (CONDITION vsthrottle.is_denied(KEY, 5, 1s)) { return (synth(429)); }\n}\n"
		local  = "domains: ['*']\nhttp_filters:\n- typed_config:\n    stat_prefix: l\n    token_bucket: {max_tokens: 9, fill_interval: 60s}\n" +
			"    rate_limits: [{actions: [{header_value_match: {descriptor_value: x, headers: [{name: ':path', string_match: MATCH}]}}]}]\n" +
			"    descriptors: [{entries: [{key: header_match, value: x}], token_bucket: {max_tokens: 3, fill_interval: 60s}}]\n"
		tree = "domains: ['*']\nrate_limits: [{actions: [{request_headers: {header_name: ':path', descriptor_key: PATH}}]}]\n---\n" +
			"domain: d\ndescriptors: [{key: PATH, value: /a, rate_limit: {unit: minute, requests_per_unit: 5}}]\n"
	)
	vcl := func(condition, key string) string {
		return strings.NewReplacer("CONDITION", condition, "KEY", key).Replace(denied)
	}
	envoy := func(match string) string { return strings.Replace(local, "MATCH", match, 1) }
	readForms(t, []form{
		{"a.vcl", vcl("", "client.ip + req.url"), "by: 'client+field:request_uri'\n", ""},
		{"a.vcl", vcl(`req.url == "/login" &&`, "client.ip"), "match: {with: 'field:request_uri=/login'}\n", ""},
		{"a.vcl", vcl(`req.url ~ "admin" &&`, "client.ip"), "match: {with: 'field:request_uri~admin'}\n", ""},
		{"a.vcl", vcl(`req.url ~ "\.php$" &&`, "client.ip"), `match: {with: 'field:request_uri~\.php$'}`, ""},
		{"a.vcl", vcl(`req.url ~ "^/(a|b)/[0-9]+" &&`, "client.ip"), "match: {regexp: '^/(a|b)/[0-9]+'}\n", ""},
		{"a.vcl", vcl(`req.url ~ "^/a(/|\?|$)" &&`, "client.ip"), "match: {regexp: '^/a(/|$)'}\n", ""},
		{"a.vcl", vcl(`req.url ~ "^/a$" &&`, "client.ip"), "match: {with: 'field:request_uri~^/a$'}\n", ""},
		{"Caddyfile", "a.example {\n\trate_limit {\n\t\tzone z {\n\t\t\tkey {remote_host}{http.request.uri}\n\t\t\twindow 1m\n\t\t\tevents 5\n\t\t}\n\t}\n}\n",
			"by: 'client+field:request_uri'\n", ""},
		{"e.yaml", envoy("{exact: /login}"), "match: {with: 'field:request_uri=/login'}\n", ""},
		{"e.yaml", envoy("{prefix: /a?, ignore_case: true}"), `match: {with: 'field:request_uri~(?i)^/a\?'}`, ""},
		{"e.yaml", envoy("{prefix: /a}"), "match: {prefix: /a}\n", ""},
		{"e.yaml", envoy(`{safe_regex: {regex: '.*\?debug=.*'}}`), `match: {with: 'field:request_uri~^(?:.*\?debug=.*)$'}`, ""},
		{"e.yaml", tree, "match: {with: 'field:request_uri=/a'}\n", ""},
		{"e.yaml", strings.Replace(tree, "value: /a, ", "", 1), "by: 'field:request_uri'\n", ""},
	})
}

// A descriptor has one count, whichever route makes it, and none where no filter asks for it.
func TestDescriptorsOfSeveralRoutes(t *testing.T) {
	const (
		both = "domains: ['*']\nroutes:\n- {match: {path: /a}, rate_limits: [{actions: [ACTION]}]}\n- {match: {path: /b}, rate_limits: [{actions: [ACTION]}]}\n"
		tree = "---\ndomain: d\ndescriptors: [{key: remote_address, rate_limit: {unit: minute, requests_per_unit: 5}}]\n"
		one  = "http_filters:\n- typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimit, domain: DOMAIN}\n" +
			"domains: ['*']\nrate_limits: [{actions: [{remote_address: {}}], stage: STAGE}, {actions: [{remote_address: {}}], stage: STAGE}]\n" + tree
	)
	routes := func(action string) string { return strings.ReplaceAll(both, "ACTION", action) }
	asked := func(domain, stage string) string { return strings.NewReplacer("DOMAIN", domain, "STAGE", stage).Replace(one) }
	readForms(t, []form{
		{"e.yaml", routes("{remote_address: {}}") + tree, "match: {either: [{path: /a}, {path: /b, not: {path: /a}}]}\n", "NOT AS THERE"},
		{"e.yaml", routes("{generic_key: {descriptor_value: x}}") + "http_filters:\n- typed_config:\n    stat_prefix: l\n" +
			"    descriptors: [{entries: [{key: generic_key, value: x}], token_bucket: {max_tokens: 3, fill_interval: 60s}}]\n",
			"match: {either: [{path: /a}, {path: /b, not: {path: /a}}]}\n", "NOT AS THERE"},
		{"e.yaml", asked("d", "0"), "NOT AS THERE: e.yaml:4: requests that make this descriptor here and at e.yaml:4 count twice there", ""},
		{"e.yaml", asked("d", "1"), "e.yaml:4: no filter here has the stage 1", "limit: "},
		{"e.yaml", asked("other", "0"), "NOT AS THERE: e.yaml:6: no filter here asks for the domain d", "limit: "},
	})
}
