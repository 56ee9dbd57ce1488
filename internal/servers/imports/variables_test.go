package imports

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"
)

// Variables in conditions have their defaults, and without one the condition is told.
func TestVariables(t *testing.T) {
	const acl = `
variable "stage" { default = "prod" }
variable "unset" {}
locals { health = "/health" }
resource "aws_wafv2_web_acl" "a" {
  rule {
    name = "r"
    action { block {} }
    statement {
      rate_based_statement {
        limit = 100
        scope_down_statement {
          byte_match_statement {
            search_string = SEARCH
            positional_constraint = "STARTS_WITH"
            field_to_match { uri_path {} }
            text_transformation { type = "NONE" }
          }
        }
      }
    }
  }
}
`
	for search, want := range map[string]string{
		`"/${var.stage}/login"`: "match: {prefix: /prod/login}",
		`local.health`:          "match: {prefix: /health}",
		`"/${var.unset}/login"`: "no condition says byte_match_statement",
		`var.unset`:             "no condition says byte_match_statement",
		`data.x.y.path`:         "no condition says byte_match_statement",
	} {
		i := new(Import)
		if err := i.Add("waf.tf", []byte(strings.Replace(acl, "SEARCH", search, 1)), ""); err != nil {
			t.Fatal(err)
		}
		i.Done()
		if out := written(t, i); !strings.Contains(out, want) {
			t.Errorf("%s: %q is not in\n%s", search, want, out)
		}
	}
}

// Variables may stand in another file than what names them, and files of values go before defaults.
func TestVariablesOfOtherFiles(t *testing.T) {
	const rule = `resource "aws_wafv2_web_acl" "a" {
  rule {
    name = "r"
    action { block {} }
    statement { rate_based_statement { limit = var.limit } }
  }
}`
	for values, want := range map[string]string{"": "aws~:500/300s", "limit = 300\n": "aws~:300/300s"} {
		i := new(Import)
		for _, file := range [][2]string{{"main.tf", rule}, {"terraform.tfvars", values}, {"variables.tf", "variable \"limit\" {\n  default = 500\n}\n"}} {
			if err := i.Add(file[0], []byte(file[1]), ""); err != nil {
				t.Fatal(err)
			}
		}
		i.Done()
		if out := written(t, i); !strings.Contains(out, want) {
			t.Errorf("%q: %q is not in\n%s", values, want, out)
		}
	}
}

// What PowerShell redirects into a file is UTF-16.
func TestUTF16(t *testing.T) {
	const text = "limit_req_zone $binary_remote_addr zone=a:1m rate=1r/s;\nserver { limit_req zone=a; }\n"
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		var written16 []byte
		for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
			written16 = order.AppendUint16(written16, unit)
		}
		i := new(Import)
		if err := i.Add("nginx.conf", written16, ""); err != nil {
			t.Fatal(err)
		}
		i.Done()
		if out := written(t, i); !strings.Contains(out, "nginx:1r/s") {
			t.Errorf("%v: %s", order, out)
		}
	}
}

// Settings in JSON may have comments, and texts that look like some.
func TestCommentsInJSON(t *testing.T) {
	const text = `// our limits
{
	/* by address */ "IpRateLimiting": {
		"GeneralRules": [{"Endpoint": "*", "Period": "1m", "Limit": 60}], // http://x
		"RealIpHeader": "X//Y"
	}
}`
	i := new(Import)
	if err := i.Add("appsettings.json", []byte(text), ""); err != nil {
		t.Fatal(err)
	}
	i.Done()
	if out := written(t, i); !strings.Contains(out, "appsettings.json:4 ") || !strings.Contains(out, "fixed:60/1m") {
		t.Error(out)
	}
}

// What stands beside limits that are read, and limits as well, is told.
func TestToldBeside(t *testing.T) {
	const acl = `resource "aws_wafv2_web_acl" "a" {
  rule {
    name = "r"
    statement { rate_based_statement { limit = 100 } }
  }
}
`
	const ingress = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: i, annotations: {nginx.ingress.kubernetes.io/limit-rps: "5"}}
spec: {rules: [{host: a.com}]}
---
`
	const stack = `Parameters: {Stage: {Type: String}}
Conditions: {IsProd: !Equals [!Ref Stage, prod]}
Resources:
  Acl:
    Type: AWS::WAFv2::WebACL
    Properties:
      Rules:
      - !If
        - IsProd
        - {Name: c, Priority: 2, Statement: {RateBasedStatement: {Limit: 100}}}
        - {Name: d, Priority: 2, Statement: {RateBasedStatement: {Limit: 5000}}}
      - Fn::Transform: {Name: AWS::Include}
`
	for _, c := range []struct{ file, text, want string }{
		{"a.tf", acl + "module \"waf\" {\n  rate_limit = 2000\n}\n", "NOT AS THERE: a.tf:8: waf: rate_limit"},
		{"a.tf", acl + "resource \"akamai_appsec_rate_policy\" \"a\" {\n}\n", "NOT AS THERE: a.tf:7: akamai_appsec_rate_policy a"},
		{"a.tf", acl + "resource \"helm_release\" \"h\" {\n  values = [\"limit-rps: 5\"]\n}\n", "NOT AS THERE: a.tf:8: helm_release h"},
		{"i.yml", ingress + "kind: HelmRelease\nspec: {values: {nginx.ingress.kubernetes.io/limit-rps: 7}}\n", "NOT AS THERE: i.yml:7: HelmRelease"},
		{"i.yml", ingress + "kind: Application\nspec:\n  values: |\n    limit-rps: 7\n", "NOT AS THERE: i.yml:8: Application"},
		{"s.yml", stack, "NOT AS THERE: s.yml:9: a condition chooses"},
		{"s.yml", stack, "NOT AS THERE: s.yml:12: what a transform puts"},
		{"k.json", `{"version": 3, "endpoints": [{"endpoint": "/a", "extra_config": {"qos/ratelimit/router": {"max_rate": 5, "every": "100ms"}}}]}`, "token:5/1s"},
		{"s.json", "{\n  // of the API\n  \"ClientRateLimiting\": {\"GeneralRules\": [{\"Endpoint\": \"*\", \"Period\": \"1m\", \"Limit\": 3}]}}", "s.json:3 rule *"},
		{"n.conf", "limit_req_zone $remote_addr zone=a:1m rate=1r/s;\nserver { limit_req zone=a; js_access main.f; }", "NOT AS THERE: n.conf:2: js_access"},
	} {
		i := new(Import)
		if err := i.Add(c.file, []byte(c.text), ""); err != nil {
			t.Fatal(err)
		}
		i.Done()
		if out := written(t, i); !strings.Contains(out, c.want) {
			t.Errorf("no %s in\n%s", c.want, out)
		}
	}
}

// A text with a capital is in no text that is made lower case before, so that rule fits nothing.
func TestLowerCase(t *testing.T) {
	i := new(Import)
	if err := i.Add("acl.json", []byte(`{"Rules": [
{"Name": "pre", "Priority": 0, "Action": {"Allow": {}}, "Statement": {"ByteMatchStatement": {"SearchString": "/Health",
 "FieldToMatch": {"UriPath": {}}, "PositionalConstraint": "EXACTLY", "TextTransformations": [{"Priority": 0, "Type": "LOWERCASE"}]}}},
{"Name": "r", "Priority": 5, "Action": {"Block": {}}, "Statement": {"RateBasedStatement": {"Limit": 10}}}]}`), ""); err != nil {
		t.Fatal(err)
	}
	i.Done()
	if out := written(t, i); strings.Contains(out, "match") || !strings.Contains(out, "aws~:10/300s") {
		t.Error(out)
	}
}

// Numbers of mod_evasive are read as the server reads them.
func TestNumbersOfEvasive(t *testing.T) {
	i := new(Import)
	if err := i.Add("evasive.conf", []byte("DOSPageCount 0\nDOSPageInterval 1.5\nDOSSiteCount 100\n"), ""); err != nil {
		t.Fatal(err)
	}
	i.Done()
	if out := written(t, i); !strings.Contains(out, "mod-evasive:2/1s,block=10s") || !strings.Contains(out, "mod-evasive:100/1s,block=10s") {
		t.Error(out)
	}
}
