package servers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/policy"
)

// AWS WAF as Terraform has it: the same rules as in JSON, whose objects are blocks, with names in small letters.
// Source: hashicorp/terraform-provider-aws, website/docs/r/wafv2_web_acl.html.markdown and internal/service/wafv2/schemas.go.

var awsTerraformTarget = Target{
	Name: "aws-waf-terraform", Title: "AWS WAF in Terraform", Ending: ".tf", Comment: "#", own: algorithm("aws~"), Combine: policy.Each,
	Beside: "a web ACL takes the place of the one that a resource has: put these rules into that one, with " +
		"priorities that are free",
	Grid:    awsTarget.Grid,
	Enforce: "it refuses nothing yet, and counts in CloudWatch. To enforce it, put block in the place of count",
	nearest: awsTarget.nearest, write: writeTerraform,
}

func writeTerraform(e *Export, all []setting) error {
	rules, err := e.awsRules(all)
	for i := range rules {
		if nested(rules[i]) <= mostNested {
			continue
		}
		s := all[i]
		if s.when, err = oneByOne(s.when); err != nil {
			return err
		}
		again, err := e.awsRules([]setting{s})
		if err != nil {
			return err
		}
		if nested(again) > mostNested {
			return errors.New("its blocks take two of and, or and not in each other, and this takes more; --to aws-waf writes it for rule_json")
		}
		again[0]["Priority"] = awsFirst + i
		rules[i] = again[0]
	}
	if err != nil {
		return err
	}
	var lines []string
	for _, networks := range e.sets {
		lines = append(lines, hclBlock(fmt.Sprintf(`resource "aws_wafv2_ip_set" "%s"`, e.awsSet(networks)), object{
			"Name": string(e.awsSet(networks)), "Scope": "REGIONAL", "IPAddressVersion": awsFamily(networks), "Addresses": networks,
		}, "")...)
	}
	lines = append(lines,
		`resource "aws_wafv2_web_acl" "shadow" {`, `  name  = "shadow"`, `  scope = "REGIONAL" # or CLOUDFRONT`, "  default_action {",
		"    allow {}", "  }")
	for _, rule := range rules {
		lines = append(lines, hclBlock("rule", rule, "  ")...)
	}
	e.block("", append(append(lines, hclBlock("visibility_config", awsVisible("shadow"), "  ")...), "}")...)
	return nil
}

// mostNested is the depth to which the provider's blocks take and, or and not in each other.
const mostNested = 2

// oneByOne are clauses that say the same with one value a test.
func oneByOne(when []clause) (all []clause, err error) {
	for _, c := range when {
		var factors [][]clause
		for _, t := range c {
			one := mapped.Of(t.values, func(v string) clause { return clause{{t.kind, []string{v}, t.not}} })
			if t.kind == "network" { // a set has many
				one = mapped.Of(t.families(), alone)
			}
			if t.not { // none of them fits
				one = []clause{slices.Concat(one...)}
			}
			factors = append(factors, one)
		}
		more, err := product(factors)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// nested returns how many of and, or and not stand in each other.
func nested(v any) (most int) {
	switch v := v.(type) {
	case object:
		for key, inner := range v {
			n := nested(inner)
			if key == "AndStatement" || key == "OrStatement" || key == "NotStatement" {
				n++
			}
			most = max(most, n)
		}
	case []object:
		for _, inner := range v {
			most = max(most, nested(inner))
		}
	case []any:
		for _, inner := range v {
			most = max(most, nested(inner))
		}
	}
	return most
}

var smallWord = lazy.Regexp(`([a-z])([A-Z])|([A-Z])([A-Z][a-z])`)

// hclName is a name of the interface of AWS as Terraform has it: one for each of a list.
func hclName(name string) string {
	name = strings.ReplaceAll(name, "CloudWatch", "Cloudwatch")
	switch name {
	case "Statements", "TextTransformations", "CustomKeys":
		name = strings.TrimSuffix(name, "s")
	}
	return strings.ToLower(smallWord().ReplaceAllString(name, "${1}${3}_${2}${4}"))
}

// hclBlock are the lines of a block: its arguments, then the blocks within it.
func hclBlock(name string, of object, indent string) []string {
	var own, inner []string
	for _, key := range slices.Sorted(maps.Keys(of)) {
		switch v := of[key].(type) {
		case object:
			inner = append(inner, hclBlock(hclName(key), v, indent+"  ")...)
		case []object:
			for _, one := range v {
				inner = append(inner, hclBlock(hclName(key), one, indent+"  ")...)
			}
		case []any:
			for _, one := range v {
				inner = append(inner, hclBlock(hclName(key), one.(object), indent+"  ")...)
			}
		default:
			own = append(own, indent+"  "+hclName(key)+" = "+hclValue(v))
		}
	}
	if own == nil && inner == nil {
		return []string{indent + name + " {}"}
	}
	return slices.Concat([]string{indent + name + " {"}, own, inner, []string{indent + "}"})
}

// hclValue is a text, number or list as HCL has it. What begins like a template is none.
func hclValue(v any) string {
	if set, ok := v.(arn); ok {
		return fmt.Sprintf("aws_wafv2_ip_set.%s.arn", string(set))
	}
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	if err := w.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strings.TrimSpace(b.String()))
}
