package judges

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Terraform's own parser reads the file. Its provider for AWS is no library, so what blocks and arguments there are stands
// here, as in internal/service/wafv2/schemas.go and web_acl.go of hashicorp/terraform-provider-aws 0105dcb: an argument
// that must be there ends in "!".

var wafBlocks = map[string]string{
	"resource":             "name scope! default_action rule visibility_config",
	"set":                  "name addresses ip_address_version! scope!",
	"default_action":       "allow block",
	"rule":                 "name! priority! action statement visibility_config",
	"action":               "count block",
	"visibility_config":    "cloudwatch_metrics_enabled! metric_name! sampled_requests_enabled!",
	"rate_based_statement": "aggregate_key_type evaluation_window_sec limit! custom_key forwarded_ip_config scope_down_statement",
	"custom_key":           "asn cookie forwarded_ip header http_method ip query_argument uri_path",
	"forwarded_ip_config":  "fallback_behavior! header_name!",
	"cookie":               "name! text_transformation", "header": "name! text_transformation", "single_header": "name!",
	"text_transformation":        "priority! type!",
	"byte_match_statement":       "positional_constraint! search_string! field_to_match text_transformation",
	"regex_match_statement":      "regex_string! field_to_match text_transformation",
	"geo_match_statement":        "country_codes! forwarded_ip_config",
	"asn_match_statement":        "asn_list! forwarded_ip_config",
	"ip_set_reference_statement": "arn! ip_set_forwarded_ip_config",
	"ip_set_forwarded_ip_config": "fallback_behavior! header_name! position!",
	"field_to_match":             "method single_header uri_path query_string",
	"and_statement":              "statement", "or_statement": "statement", "not_statement": "statement",
}

const wafLeaves = "byte_match_statement regex_match_statement geo_match_statement asn_match_statement ip_set_reference_statement"

// wafBlock judges a block; levels is how many of and, or and not may still stand in each other.
func wafBlock(kind, inside string, body *hclsyntax.Body, levels int, sets *hcl.EvalContext) error {
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
		if _, problems := a.Expr.Value(sets); problems.HasErrors() {
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
		if err := wafBlock(b.Type, kind, b.Body, left, sets); err != nil {
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
		sets := map[string]cty.Value{}
		for _, b := range all[:max(0, len(all)-1)] {
			if b.Type != "resource" || b.Labels[0] != "aws_wafv2_ip_set" {
				return fmt.Errorf("%s %v", b.Type, b.Labels)
			}
			if err := wafBlock("set", "", b.Body, 0, nil); err != nil {
				return err
			}
			sets[b.Labels[1]] = cty.ObjectVal(map[string]cty.Value{"arn": cty.StringVal("arn:aws:wafv2:set")})
		}
		known := &hcl.EvalContext{Variables: map[string]cty.Value{"aws_wafv2_ip_set": cty.ObjectVal(sets)}}
		if last := all[len(all)-1]; last.Type == "resource" && last.Labels[0] == "aws_wafv2_web_acl" {
			return wafBlock("resource", "", last.Body, 2, known)
		}
		return fmt.Errorf("%d blocks, and no list of rules", len(all))
	}
}
