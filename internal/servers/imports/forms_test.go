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
