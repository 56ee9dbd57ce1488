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
