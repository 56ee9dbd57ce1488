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
		{
			"k.yaml", kongFew + "kind: Ingress\nmetadata: {annotations: {konghq.com/plugins: few}}\nspec: {rules: [{http: {paths: [{path: /a, pathType: Exact}]}}]}\n",
			"match: {path: /a}\n", "",
		},
		{
			"k.yaml", kongFew + "kind: Ingress\nmetadata: {annotations: {konghq.com/plugins: few}}\nspec: {rules: [{http: {paths: [{backend: {}}]}}]}\n",
			"limit: 'fixed:5/m'\n", "match",
		},
	})
}

// The word that removes a condition may be the text of one.
func TestAnyIsAText(t *testing.T) {
	const table = "frontend f\n  stick-table type ipv6 size 1k expire 1m store http_req_rate(1m)\n"
	readForms(t, []form{
		{
			"h.cfg", table + "  http-request track-sc0 src if { path_sub any }\n  http-request deny if { sc0_http_req_rate gt 2 } METH_POST\n",
			"count: {regexp: '(?:any)', method: any}\n", "",
		},
		{
			"h.cfg", table + "  http-request track-sc0 src\n  http-request deny if { sc0_http_req_rate gt 2 } { hdr(host) any }\n",
			"match: {host: ANY}\n", "",
		},
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
		{
			"Caddyfile", "a.example {\n\trate_limit {\n\t\tzone z {\n\t\t\tkey {remote_host}{http.request.uri}\n\t\t\twindow 1m\n\t\t\tevents 5\n\t\t}\n\t}\n}\n",
			"by: 'client+field:request_uri'\n", "",
		},
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
	asked := func(domain, stage string) string {
		return strings.NewReplacer("DOMAIN", domain, "STAGE", stage).Replace(one)
	}
	readForms(t, []form{
		{"e.yaml", routes("{remote_address: {}}") + tree, "match: {path: [/a, /b]}\n", "NOT AS THERE"},
		{
			"e.yaml", routes("{generic_key: {descriptor_value: x}}") + "http_filters:\n- typed_config:\n    stat_prefix: l\n" +
				"    descriptors: [{entries: [{key: generic_key, value: x}], token_bucket: {max_tokens: 3, fill_interval: 60s}}]\n",
			"match: {path: [/a, /b]}\n", "NOT AS THERE",
		},
		{"e.yaml", asked("d", "0"), "NOT AS THERE: e.yaml:4: requests that make this descriptor here and at e.yaml:4 count twice there", ""},
		{"e.yaml", asked("d", "1"), "e.yaml:4: no filter here has the stage 1", "limit: "},
		{"e.yaml", asked("other", "0"), "NOT AS THERE: e.yaml:6: no filter here asks for the domain d", "limit: "},
	})
}

const gatewayPolicy = "kind: BackendTrafficPolicy\nmetadata: {name: p, namespace: n}\nspec:\n  targetRefs: [{kind: HTTPRoute, name: r}]\n  rateLimit:\n"

// What fits a local rule with selectors does not come to the bucket for all.
func TestGatewayBucketForAll(t *testing.T) {
	readForms(t, []form{{
		"g.yaml", strings.Replace(gatewayPolicy, "  targetRefs: [{kind: HTTPRoute, name: r}]\n", "", 1) +
			"    local: {rules: [{limit: {requests: 9, unit: Hour}}, {clientSelectors: [{methods: [{value: POST}]}], limit: {requests: 2, unit: Hour}}]}\n",
		"limit: 'token:9/h'\n        by: site\n        match: {not: {method: POST}}\n", "",
	}})
}

// What a rule of an HTTPRoute names, which Gateway it is at, and in which namespace things stand.
func TestRoutesOfGateways(t *testing.T) {
	const (
		global  = gatewayPolicy + "    global: {rules: [{limit: {requests: 2, unit: Hour}}]}\n"
		route   = "---\nkind: HTTPRoute\nmetadata: {name: r, namespace: SPACE}\nspec:\n  parentRefs: [{name: g}]\n  rules: [{matches: [{path: {type: Exact, value: /SPACE}}]}]\n"
		gate    = "---\nkind: Gateway\nmetadata: {name: g}\nspec: {listeners: [{name: a, port: 80}, {name: b, port: 81}]}\n"
		names   = "---\nkind: HTTPRoute\nmetadata: {name: r, namespace: a}\nspec:\n  rules:\n  - matches: [{path: {type: Exact, value: /x}}]\n    filters: [{type: ExtensionRef, extensionRef: {kind: KIND, name: few}}]\n"
		traefik = "kind: Middleware\napiVersion: traefik.io/v1\nmetadata: {name: few, namespace: a}\nspec: {rateLimit: {average: 5}}\n"
		apisix  = "kind: PluginConfig\napiVersion: apisix.apache.org/v1alpha1\nmetadata: {name: few}\nspec: {plugins: [{name: limit-req, config: {rate: 1, burst: 0, key: remote_addr}}]}\n"
	)
	in := func(space string) string { return strings.ReplaceAll(route, "SPACE", space) }
	ref := func(kind string) string { return strings.ReplaceAll(names, "KIND", kind) }
	ingress := func(space string) string {
		return "---\nkind: Ingress\nmetadata: {namespace: " + space + ", annotations: {konghq.com/plugins: few}}\nspec: {rules: [{http: {paths: [{path: /" + space + ", pathType: Exact}]}}]}\n"
	}
	readForms(t, []form{
		{"g.yaml", global + in("n") + in("o"), "match: {path: /n}\n", "NOT AS THERE"},
		{"g.yaml", global + in("n") + gate, "NOT AS THERE: g.yaml:5: each host, match and listener of a route counts for itself", ""},
		{"g.yaml", global + in("n") + strings.Replace(gate, "port: 81", "hostname: x", 1), "NOT AS THERE", ""},
		{"g.yaml", strings.Replace(global, "HTTPRoute", "GRPCRoute", 1), "NOT AS THERE: g.yaml:4: GRPCRoute r is not read: it is judged on all requests", ""},
		{"k.yaml", kongFew + ref("KongPlugin"), "match: {path: /x}\n", "NOT AS THERE"},
		{"k.yaml", kongFew + "kind: KongPlugin\nmetadata: {name: few, namespace: b}\nplugin: cors\n" + ingress("a") + ingress("b"), "match: {path: /a}\n", "NOT AS THERE"},
		{"a.yaml", apisix + ref("PluginConfig"), "match: {path: /x}\n", "NOT AS THERE"},
		{"a.yaml", apisix + "---\nkind: Ingress\nmetadata: {annotations: {k8s.apisix.apache.org/plugin-config-name: few}}\n" +
			"spec: {rules: [{http: {paths: [{path: /x, pathType: Exact}]}}]}\n", "match: {path: /x}\n", "NOT AS THERE"},
		{"t.yaml", traefik + ref("Middleware"), "NOT AS THERE: t.yaml:11: Middleware few is not read for the rule that names it here", ""},
		{"t.yaml", traefik + strings.Replace(ref("Middleware"), "few", "other", 1), "t.yaml:11: Middleware other is not here: if it limits", ""},
	})
}

// The path of a selector is matched with the query, that of a route without.
func TestPathsOfSelectors(t *testing.T) {
	text := gatewayPolicy + "    global: {rules: [{clientSelectors: [{path: {type: TYPE, value: /a}}], limit: {requests: 2, unit: Hour}}]}\n" +
		"---\nkind: HTTPRoute\nmetadata: {name: r}\nspec: {rules: [{matches: [{path: {type: Exact, value: /a}}]}]}\n"
	readForms(t, []form{
		{"g.yaml", strings.Replace(text, "TYPE", "Exact", 1), "match: {path: /a, with: 'field:request_uri=/a'}\n", "NOT AS THERE"},
		{"g.yaml", strings.Replace(text, "TYPE", "RegularExpression", 1), "match: {path: /a, with: 'field:request_uri~^(?:/a)$'}\n", "NOT AS THERE"},
		{"g.yaml", strings.Replace(text, "TYPE", "PathPrefix", 1), "match: {path: /a, either: [{path: /a}, {prefix: /a/}]}\n", "NOT AS THERE"},
	})
}

// What is for a part of the requests that no log tells is told.
func TestPartsThatNoLogTells(t *testing.T) {
	const (
		istio = "kind: EnvoyFilter\nspec:\n  workloadSelector: {labels: {app: a}}\n  configPatches:\n  - match: {context: GATEWAY, listener: {portNumber: 80}}\n" +
			"    patch: {value: {token_bucket: {max_tokens: 1, tokens_per_fill: 1, fill_interval: 60s}}}\n"
		caddy = `{"apps": {"http": {"servers": {"s": {"listen": [":80"], "errors": {"routes": [{"handle": [{"handler": "rate_limit",
 "rate_limits": {"z": {"key": "{http.request.remote.host}", "window": "1m", "max_events": 3}}}]}]}}}}}}`
		denied = "sub vcl_recv {\n  if (CONDITION) { return (hash); }\n  return (synth(429));\n}\n"
		policy = "kind: Policy\napiVersion: k8s.nginx.org/v1\nmetadata: {name: p}\nspec: {rateLimit: {rate: 1r/s, key: '${binary_remote_addr}', zoneSize: 1M}}\n---\n" +
			"kind: VirtualServerRoute\napiVersion: k8s.nginx.org/v1\nspec: {host: a.example, subroutes: [{path: /a, policies: [{name: p}]}]}\n"
	)
	readForms(t, []form{
		{"i.yaml", istio, "NOT AS THERE: i.yaml:3: workloadSelector is not read", ""},
		{"i.yaml", istio, "NOT AS THERE: i.yaml:5: the patch is for the context GATEWAY alone: it is judged on all requests", ""},
		{"i.yaml", istio, "NOT AS THERE: i.yaml:5: the patch is for the portNumber 80 alone", ""},
		{"c.json", caddy, "NOT AS THERE: c.json:1: a rate_limit within errors is not read", "limit: "},
		{
			"a.vcl", strings.Replace(denied, "CONDITION", "!vsthrottle.is_denied(client.ip, 5, 1s)", 1),
			"NOT AS THERE: a.vcl:2: vsthrottle.is_denied behind ! is not read: its limit is left out", "limit: ",
		},
		{"a.vcl", strings.Replace(denied, "CONDITION", "!(req.http.a || vsthrottle.is_denied(client.ip, 5, 1s))", 1), "behind ! is not read", "judged on all"},
		{"p.yaml", policy, "NOT AS THERE: p.yaml:1: only a VirtualServerRoute names, which is not read, the Policy p: it is judged on all requests", ""},
	})
}

// Plugins of Kong may have their settings elsewhere.
func TestSharedSettingsOfPlugins(t *testing.T) {
	const text = "_format_version: '3.0'\n_plugin_configs: {few: {minute: 2, limit_by: ip, policy: redis}}\nservices:\n- name: s\n  routes: [{paths: [/a]}]\n" +
		"  plugins: [{name: rate-limiting, _config: few, config: {hour: 9}}]\n"
	readForms(t, []form{
		{"k.yaml", text, "limit: 'fixed:2/m'\n", "NOT AS THERE"},
		{"k.yaml", text, "limit: 'fixed:9/h'\n", ""},
		{"k.yaml", strings.Replace(text, "_config: few", "_config: other", 1), "NOT AS THERE: k.yaml:6: _config other is not here", ""},
	})
}
