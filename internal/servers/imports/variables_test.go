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
