package imports

import (
	"strings"
	"testing"
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
