package servers

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// AWS WAF and Cloudflare take rules in JSON, in which conditions may stand in each other.
//
// Sources: https://docs.aws.amazon.com/waf/latest/APIReference/API_RateBasedStatement.html (windows of 60, 120, 300 and
// 600 s, 10 at least), https://developers.cloudflare.com/waf/rate-limiting-rules/parameters/ (periods, characteristics).

var awsTarget = Target{
	Name: "aws-waf", Title: "AWS WAF", Ending: ".json", own: algorithm("aws~"), Combine: policy.Each,
	Beside: "add it to the rules that are there, with priorities that are free: an update takes out rules that it " +
		"lacks",
	Grid:    "10 or more in 1, 2, 5 or 10 minutes, approximately",
	Enforce: "it refuses nothing yet, and counts in CloudWatch. To enforce it, put Block in the place of Count",
	nearest: fixedWindows("aws~", "counts and refuses approximately, late", 10, limit.Minute, 2*limit.Minute, 5*limit.Minute,
		10*limit.Minute),
	write: writeAWS,
}

var cloudflareTarget = Target{
	Name: "cloudflare", Title: "Cloudflare", Ending: ".json", own: algorithm("cloudflare~"), Combine: policy.Each,
	Beside: "add each rule with POST to the rules of the ruleset: PUT takes out rules that it lacks",
	Grid:   "a count in 10 s, 1, 2, 5, 10 minutes or an hour, approximately",
	Enforce: "it refuses nothing yet, and logs in Security Events; the action log takes an Enterprise plan. To enforce it, put block in " +
		"the place of log. Each data centre counts for itself, and which periods there are depends on the plan",
	nearest: fixedWindows("cloudflare~", "counts and refuses approximately, late", 1, 10*limit.Second, limit.Minute,
		2*limit.Minute, 5*limit.Minute, 10*limit.Minute, limit.Hour),
	write: writeCloudflare, cools: cloudflareTimeouts,
}

// cloudflareTimeouts lists how long a rule can act on all requests of a client once it has acted on one.
var cloudflareTimeouts = seconds(10, 15, 20, 30, 40, 45, 60, 90, 120, 180, 240, 300, 480, 600, 900, 1200, 1800, 2400, 3600,
	65535, 86400)

func seconds(all ...limit.Time) []limit.Time {
	for i := range all {
		all[i] *= limit.Second
	}
	return all
}

// An object is one of JSON.
type object = map[string]any

func (e *Export) json(place string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	e.block(place, strings.Split(string(text), "\n")...)
	return err
}

func writeAWS(e *Export, all []setting) error {
	rules, err := e.awsRules(all)
	if err != nil {
		return err
	}
	for _, networks := range e.sets {
		name := e.awsSet(networks)
		e.note("`aws wafv2 create-ip-set --name %s --scope REGIONAL --ip-address-version %s --addresses %s` makes the set whose "+
			"ARN stands in the place of ARN_OF_%[1]s", name, awsFamily(networks), strings.Join(networks, " "))
	}
	return e.json("in Rules of the web ACL", rules)
}

// awsVisible returns what each rule must say of its metrics.
func awsVisible(name string) object {
	return object{"SampledRequestsEnabled": true, "CloudWatchMetricsEnabled": true, "MetricName": name}
}

// awsFirst is the priority of the first rule, behind those that a list is likely to have.
const awsFirst = 1000

// awsRules are the rules of settings.
func (e *Export) awsRules(all []setting) (rules []object, err error) {
	for i, s := range all {
		statement := object{"Limit": s.spec.Count, "EvaluationWindowSec": s.spec.Period / limit.Second}
		down, err := e.awsWhen(s.when)
		if err != nil {
			return nil, err
		}
		if err := e.awsKey(s.by, statement); err != nil {
			return nil, err
		}
		if down == nil && statement["AggregateKeyType"] == "CONSTANT" { // it takes one
			down = awsBytes(object{"UriPath": object{}}, "STARTS_WITH", "/")
		}
		if down != nil {
			statement["ScopeDownStatement"] = down
		}
		rules = append(rules, object{
			"Name": s.name, "Priority": awsFirst + i, "Action": object{"Count": object{}},
			"Statement":        object{"RateBasedStatement": statement},
			"VisibilityConfig": awsVisible(s.name),
		})
	}
	return rules, nil
}

// awsKey says what a rule counts by.
func (e *Export) awsKey(parts []request.Part, statement object) error {
	none := []object{{"Priority": 0, "Type": "NONE"}}
	var keys []object
	for _, p := range parts {
		switch p.Kind {
		case request.PartClient:
			if err := e.plainClient(); err != nil {
				return err
			}
			forwarded := e.awsForwarded()
			if forwarded {
				statement["ForwardedIPConfig"] = object{"HeaderName": headerText(e.where.ClientFrom), "FallbackBehavior": "MATCH"}
			}
			if len(parts) == 1 {
				statement["AggregateKeyType"] = map[bool]string{true: "FORWARDED_IP", false: "IP"}[forwarded]
				return nil
			}
			keys = append(keys, object{map[bool]string{true: "ForwardedIP", false: "IP"}[forwarded]: object{}})
		case request.PartSite:
			statement["AggregateKeyType"] = "CONSTANT"
			return nil
		case request.PartHost:
			keys = append(keys, object{"Header": object{"Name": "host", "TextTransformations": none}})
		case request.PartPath:
			keys = append(keys, object{"UriPath": object{"TextTransformations": none}})
		case request.PartHeader, request.PartCookie:
			kind := map[bool]string{true: "Cookie", false: "Header"}[p.Kind == request.PartCookie]
			keys = append(keys, object{kind: object{"Name": p.Name, "TextTransformations": none}})
			e.lose("requests without %s are not limited there, and count by their client here", p)
		case request.PartASN:
			keys = append(keys, object{"ASN": object{}})
		default:
			return cannotCount(p)
		}
	}
	statement["AggregateKeyType"], statement["CustomKeys"] = "CUSTOM_KEYS", keys
	return nil
}

// awsForwarded reports whether addresses come from a header, and says what that means.
func (e *Export) awsForwarded() bool {
	if e.where.forwarded() == "" {
		return false
	}
	e.lose("AWS WAF takes the first address of %s, which clients can write themselves", e.where.forwarded())
	return true
}

// awsWhen is the statement for requests of clauses; nil for all.
func (e *Export) awsWhen(when []clause) (any, error) {
	either, err := tried(when, func(c clause) (any, error) {
		tests, err := tried(c, func(t test) ([]any, error) {
			if t.kind == "network" {
				return e.awsNetworks(t), nil
			}
			one, err := awsTest(t)
			return []any{one}, err
		})
		return joined("AndStatement", slices.Concat(tests...)), err
	})
	return joined("OrStatement", either), err
}

// joined are statements that hold together; one needs nothing around it.
func joined(kind string, all []any) any {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return object{kind: object{"Statements": all}}
}

func awsBytes(field object, how, text string) object {
	return object{"ByteMatchStatement": object{
		"FieldToMatch": field, "PositionalConstraint": how, "SearchString": text,
		"TextTransformations": []object{{"Priority": 0, "Type": "NONE"}},
	}}
}

func awsTest(t test) (any, error) {
	path, header := object{"UriPath": object{}}, func(name string) object { return object{"SingleHeader": object{"Name": name}} }
	pattern := func(field object, text string) any {
		return object{"RegexMatchStatement": object{
			"FieldToMatch": field, "RegexString": text, "TextTransformations": []object{{"Priority": 0, "Type": "NONE"}},
		}}
	}
	var all []any
	for _, v := range t.values {
		switch t.kind {
		case "method":
			all = append(all, awsBytes(object{"Method": object{}}, "EXACTLY", v))
		case "path":
			all = append(all, awsBytes(path, "EXACTLY", v))
		case "prefix":
			all = append(all, awsBytes(path, "STARTS_WITH", v))
		case "regexp":
			all = append(all, pattern(path, v))
		case "agent":
			all = append(all, pattern(header("user-agent"), v))
		case "host":
			bare := strings.Trim(v, "*")
			how := map[[2]bool]string{
				{}: "EXACTLY", {true, false}: "ENDS_WITH", {false, true}: "STARTS_WITH", {true, true}: "CONTAINS",
			}[[2]bool{strings.HasPrefix(v, "*"), strings.HasSuffix(v, "*")}]
			if isMask(bare) || bare == "" {
				return nil, t.cannot()
			}
			all = append(all, awsBytes(header("host"), how, bare))
		case "country", "asn":
		default:
			return nil, t.cannot()
		}
	}
	switch t.kind {
	case "country":
		all = []any{object{"GeoMatchStatement": object{"CountryCodes": t.values}}}
	case "asn":
		numbers, err := tried(t.values, func(v string) (int, error) {
			return strconv.Atoi(strings.TrimPrefix(strings.ToUpper(v), "AS"))
		})
		if err != nil {
			return nil, err
		}
		all = []any{object{"AsnMatchStatement": object{"AsnList": numbers}}}
	}
	one := joined("OrStatement", all)
	if t.not {
		return object{"NotStatement": object{"Statement": one}}, nil
	}
	return one, nil
}

// cloudflareFields has those of parts without a name.
var cloudflareFields = map[request.PartKind]string{
	request.PartHost: "http.host", request.PartPath: "http.request.uri.path", request.PartAgent: `http.request.headers["user-agent"]`,
	request.PartASN: "ip.src.asnum", request.PartCountry: "ip.src.country",
}

func writeCloudflare(e *Export, all []setting) error {
	var rules []object
	for _, s := range all {
		when, err := cloudflareWhen(s.when)
		if err != nil {
			return err
		}
		by := []string{"cf.colo.id"}
		for _, p := range s.by {
			text := cloudflareFields[p.Kind]
			switch p.Kind {
			case request.PartSite:
				continue
			case request.PartClient:
				if err := e.plainClient(); err != nil {
					return err
				}
				text = "ip.src"
			case request.PartHeader:
				text = `http.request.headers["` + strings.ToLower(headerText(p.Name)) + `"]`
				e.lose("requests without %s count together there, and by their client here", p)
			case request.PartCookie:
				text = `http.request.cookies["` + headerText(p.Name) + `"]`
				e.lose("requests without %s count together there, and by their client here", p)
			}
			if text == "" {
				return cannotCount(p)
			}
			by = append(by, text)
		}
		rules = append(rules, object{
			"description": s.name, "expression": when, "action": "log",
			"ratelimit": object{
				"characteristics": by, "period": s.spec.Period / limit.Second, "requests_per_period": s.spec.Count,
				"mitigation_timeout": s.spec.Args().Duration("cooldown", 0) / limit.Second,
			},
		})
	}
	return e.json("in the ruleset of the phase http_ratelimit", object{"rules": rules})
}

// cloudflareWhen is the expression for requests of clauses.
func cloudflareWhen(when []clause) (string, error) {
	if when == nil {
		return "true", nil
	}
	either, err := said(when, cloudflareTest, " and ")
	return "(" + strings.Join(either, ") or (") + ")", err
}

func cloudflareTest(t test) (string, error) {
	not := map[bool]string{true: "not "}[t.not]
	quoted := func(v string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"` }
	list := func(field string, quote func(string) string) string {
		return not + field + " in {" + strings.Join(mapped.Of(t.values, quote), " ") + "}"
	}
	each := func(of func(string) string) (string, error) {
		return not + "(" + strings.Join(mapped.Of(t.values, of), " or ") + ")", nil
	}
	plain := func(v string) string { return v }
	switch t.kind {
	case "method":
		return list("http.request.method", quoted), nil
	case "path":
		return list("http.request.uri.path", quoted), nil
	case "prefix":
		return each(func(v string) string { return "starts_with(http.request.uri.path, " + quoted(v) + ")" })
	case "regexp":
		return each(func(v string) string { return "http.request.uri.path matches " + quoted(v) })
	case "agent":
		return each(func(v string) string { return "http.user_agent matches " + quoted(v) })
	case "host":
		return each(func(v string) string {
			if isMask(v) {
				return "http.host matches " + quoted(hostPattern(v))
			}
			return "http.host eq " + quoted(v)
		})
	case "network":
		return list("ip.src", plain), nil
	case "country":
		return list("ip.src.country", quoted), nil
	case "asn":
		return list("ip.src.asnum", func(v string) string { return strings.TrimPrefix(strings.ToUpper(v), "AS") }), nil
	case "without":
		if name, ok := t.lacking(); ok {
			return map[bool]string{false: "not "}[t.not] + `any(http.request.headers.names[*] == "` + strings.ToLower(name) + `")`, nil
		}
	}
	return "", t.cannot()
}
