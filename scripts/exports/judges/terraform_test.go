package judges

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Terraform's own parser reads the file. Its provider for AWS is no library, so what blocks and arguments there are stands
// here, as in internal/service/wafv2/schemas.go and web_acl.go of hashicorp/terraform-provider-aws 0105dcb: an argument
// that must be there ends in "!".

var wafBlocks = map[string]string{
	"resource":             "name scope! default_action rule visibility_config",
	"default_action":       "allow block",
	"rule":                 "name! priority! action statement visibility_config",
	"action":               "count block",
	"visibility_config":    "cloudwatch_metrics_enabled! metric_name! sampled_requests_enabled!",
	"rate_based_statement": "aggregate_key_type evaluation_window_sec limit! custom_key forwarded_ip_config scope_down_statement",
	"custom_key":           "asn cookie forwarded_ip header http_method ip query_argument uri_path",
	"forwarded_ip_config":  "fallback_behavior! header_name!",
	"cookie":               "name! text_transformation", "header": "name! text_transformation", "single_header": "name!",
	"text_transformation":   "priority! type!",
	"byte_match_statement":  "positional_constraint! search_string! field_to_match text_transformation",
	"regex_match_statement": "regex_string! field_to_match text_transformation",
	"geo_match_statement":   "country_codes! forwarded_ip_config",
	"asn_match_statement":   "asn_list! forwarded_ip_config",
	"field_to_match":        "method single_header uri_path query_string",
	"and_statement":         "statement", "or_statement": "statement", "not_statement": "statement",
}

const wafLeaves = "byte_match_statement regex_match_statement geo_match_statement asn_match_statement"

// wafBlock judges a block; levels is how many of and, or and not may still stand in each other.
func wafBlock(kind, inside string, body *hclsyntax.Body, levels int) error {
	allowed := wafBlocks[kind]
	switch {
	case kind == "statement" && inside == "rule":
		allowed = "rate_based_statement"
	case kind == "statement" || kind == "scope_down_statement":
		if allowed = wafLeaves; levels > 0 {
			allowed += " and_statement or_statement not_statement"
		}
	case kind == "uri_path" && inside == "custom_key":
		allowed = "text_transformation"
	}
	may := map[string]bool{}
	for _, name := range strings.Fields(allowed) {
		bare, must := strings.CutSuffix(name, "!")
		may[bare] = true
		if _, there := body.Attributes[bare]; must && !there {
			return fmt.Errorf("%s lacks %s", kind, bare)
		}
	}
	for name, a := range body.Attributes {
		if !may[name] {
			return fmt.Errorf("%s has no %s", kind, name)
		}
		if _, problems := a.Expr.Value(nil); problems.HasErrors() {
			return problems
		}
	}
	for _, b := range body.Blocks {
		if !may[b.Type] {
			return fmt.Errorf("%s has no block %s here", kind, b.Type)
		}
		left := levels
		if b.Type == "and_statement" || b.Type == "or_statement" || b.Type == "not_statement" {
			left--
		}
		if err := wafBlock(b.Type, kind, b.Body, left); err != nil {
			return err
		}
	}
	return nil
}

func init() {
	judges["aws-waf-terraform"] = func(_ *testing.T, x text) error {
		f, problems := hclparse.NewParser().ParseHCL([]byte(x.block("")), "shadow.tf")
		if problems.HasErrors() {
			return hcl.Diagnostics(problems)
		}
		all := f.Body.(*hclsyntax.Body).Blocks
		if len(all) != 1 || all[0].Type != "resource" || all[0].Labels[0] != "aws_wafv2_web_acl" {
			return fmt.Errorf("%d blocks", len(all))
		}
		return wafBlock("resource", "", all[0].Body, 2)
	}
}
