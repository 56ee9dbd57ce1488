package imports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/hcl"
	"shadow/internal/servers/imports/neutral"
)

// AWS WAF: a rate-based rule blocks who sends more than a limit in a window, of the requests that its scope-down statement
// fits. It is read from JSON (aws wafv2 get-web-acl, CloudFormation) and from Terraform, whose words differ in case only.
// Each rule is a policy of its own, as a policy has at most two approximations.
// Requests that lack a part of a custom key are left alone.
// Sources: https://docs.aws.amazon.com/waf/latest/APIReference/API_RateBasedStatement.html,
// https://docs.amazonaws.cn/waf/latest/APIReference/API_RateBasedStatementCustomKey.html,
// https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based-high-level-settings.html,
// https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based-caveats.html

var (
	awsFormat       = format{name: "aws-waf", has: isAWS, take: takeAWS}
	terraformFormat = format{name: "terraform", is: matches(terraformBlock), read: readTerraform}
)

func isAWS(d doc) bool {
	return some(d.Tree, func(_ string, part *policy.Tree) bool { return rateBased(part) != nil })
}

// some reports whether a part or one in it fits.
func some(t *policy.Tree, fits func(key string, part *policy.Tree) bool) (found bool) {
	t.Walk(func(key string, part *policy.Tree) bool {
		found = found || fits(key, part)
		return !found
	})
	return found
}

func takeAWS(i *Import, docs []doc) {
	for _, d := range docs {
		resolve(d)
		i.awsChosen(d)
		i.awsRules(d)
	}
}

// awsChosen tells of what a template of CloudFormation leaves to conditions and to other files.
func (i *Import) awsChosen(d doc) {
	chosen := func(t *policy.Tree) bool { return t != nil && t.Text != "" && d.Get("Conditions", t.Text) != nil }
	d.Walk(func(key string, part *policy.Tree) bool {
		switch {
		case key == "Conditions":
			return false
		case key == "Fn::If" || len(part.Items) == 3 && chosen(part.Items[0]) || chosen(part.Get("Condition")):
			note := i.Tell // of a rule beside the limits
			if some(part, func(_ string, part *policy.Tree) bool { return rateBased(part) != nil }) {
				note = i.Lose
			}
			note(d.place(part), "a condition chooses here, which is not read: all that it may choose is judged")
			return false
		case key == "Fn::Transform":
			i.Lose(d.place(part), "what a transform puts here is not read")
		}
		return true
	})
}

var terraformBlock = lazy.Regexp(`(?m)^\s*(resource|module|variable|terraform|provider|locals|data)\s+("[^"]*"\s*)*\{`)

// readTerraform keeps a file until all are there.
func readTerraform(i *Import, file string, text []byte) error {
	i.terraform = append(i.terraform, doc{hcl.Parse(string(text)), file})
	return nil
}

func (i *Import) takeTerraform() {
	before := len(i.Policies)
	resolve(i.terraform...)
	for _, d := range i.terraform {
		i.awsRules(d)
		i.cloudflareRules(d)
		for _, r := range append(d.List("resource"), d.List("module")...) {
			i.otherLimits(d, r)
		}
	}
	i.CheckFrom(before)
}

var (
	otherLimit  = lazy.Regexp(`(?i)throttl|rate[_-]?(limit|polic)|rate_based|\blimit-(rp[sm]\b|req)`)
	isText      = lazy.Regexp(`^(values|yaml_body|set)$`) // of charts and manifests
	moduleLimit = lazy.Regexp(`throttl|rate_?limits?$`)
	moduleRate  = lazy.Regexp(`rate_(\w+_)?based_rules?$`)
	readOnes    = lazy.Regexp(`^(aws_wafv2_|cloudflare_(ruleset|rate_limit)\b)`)
)

// otherLimits tells of the limits of products that have no reader.
func (i *Import) otherLimits(d doc, r *policy.Tree) {
	module, told := !strings.Contains(r.Text, " "), readOnes().MatchString(r.Text)
	r.Walk(func(key string, part *policy.Tree) bool {
		if module && moduleRate().MatchString(key) {
			i.Lose(d.place(part), "module %s: %s is not read: write --limit aws~:LIMIT/300s", r.Text, key)
			return false
		}
		if key == "" {
			key, _, _ = strings.Cut(part.Text, " ")
		}
		if strings.HasPrefix(r.Text, "kong_plugin ") && kongOther().MatchString(part.Text) {
			key = part.Text
		}
		limits := otherLimit().MatchString(key) || part.Text == "RateLimitRule" || isText().MatchString(key) && otherLimit().MatchString(part.Text)
		if !told && limits && (!module || moduleLimit().MatchString(key)) {
			told = true
			i.Lose(d.place(part), "%s: %s is of a product that is not read: write --limit token:RATE/s,burst=BURST or fixed:N/PERIOD",
				r.Text, key)
		}
		return !told
	})
}

// awsRules adds the rate-based rules of each access control list, in the order of their priorities. What a rule before
// them allows or blocks never comes to them.
func (i *Import) awsRules(d doc) {
	isRateBased := func(rule *policy.Tree) bool { return rateBased(rule) != nil }
	priority := func(t *policy.Tree) int { n, _ := strconv.Atoi(field(t, "Priority").Say()); return n }
	for _, rules := range i.awsLists(d) {
		left := neutral.Set{}
		slices.SortStableFunc(rules, func(a, b *policy.Tree) int { return cmp.Compare(priority(a), priority(b)) })
		for n, rule := range rules {
			if group := field(field(rule, "Statement"), "RuleGroupReferenceStatement"); group != nil && awsCounts(rule) {
				i.Lose(d.place(group), "rule %s only counts what its group refuses: here the group's limits refuse", field(rule, "Name").Say())
			}
			if isRateBased(rule) {
				i.awsRule(d, rule, left)
			} else if slices.ContainsFunc(rules[n:], isRateBased) {
				left = left.And(i.awsLeft(d, rule))
			}
		}
	}
}

// awsLists are the rules of each list that there is.
func (i *Import) awsLists(d doc) (lists [][]*policy.Tree) {
	parents, known := map[*policy.Tree]*policy.Tree{}, map[*policy.Tree]int{}
	d.Walk(func(_ string, part *policy.Tree) bool {
		for _, key := range part.Keys() {
			for _, item := range slices.Concat(part.List(key), []*policy.Tree{part.Get(key)}) {
				for _, inner := range slices.Concat(item.List(), []*policy.Tree{item}) { // in a list of !If, too
					parents[inner] = cmp.Or(parents[inner], part)
				}
			}
		}
		if rateBased(part) == nil && field(part, "OverrideAction") == nil && (awsStatement(part) == nil || field(part, "Action") == nil) {
			return true
		}
		of := parents[part]
		for field(of, "content") != nil && len(of.Keys()) < 3 { // dynamic "rule" of Terraform
			of = parents[of]
		}
		at, ok := known[of]
		if !ok {
			if field(of, "DefaultAction") != nil {
				onlyKnown(i.Tell, d, of, awsListWords)
				if text := field(of, "RuleJson"); text != nil {
					i.Lose(d.place(text), "rule_json has rules, which are not read")
				}
			}
			i.tellCount(d, of, cmp.Or(of.Say(), "the list"))
			at, lists = len(lists), append(lists, nil)
			known[of] = at
		}
		lists[at] = append(lists[at], part)
		return false
	})
	return lists
}

// awsCounts reports whether the rules of a group refuse nothing.
func awsCounts(rule *policy.Tree) bool {
	over := field(rule, "OverrideAction")
	return field(over, "Count") != nil || over.Say() == "count" // as modules have it
}

// awsLeft are the requests that a rule leaves to those behind it.
func (i *Import) awsLeft(d doc, rule *policy.Tree) neutral.Set {
	name := cmp.Or(field(rule, "Name").Say(), "rule")
	if field(rule, "OverrideAction") != nil && !awsCounts(rule) {
		i.Lose(d.place(rule), "rule %s: what its group blocks comes to no later rule there, and counts here", name)
	}
	action := field(rule, "Action")
	if field(action, "Allow") == nil && field(action, "Block") == nil && action.Say() != "allow" && action.Say() != "block" {
		return neutral.Set{}
	}
	a := awsStatements{Import: i, d: d}
	set := a.set(awsStatement(rule))
	if a.unknown > 0 {
		i.Lose(d.place(rule), "rule %s decides before others, and what it fits is not known: its requests count in theirs", name)
		return neutral.Set{}
	}
	return set.Except()
}

// awsStatement is the statement of a rule, which stands beside its name in modules.
func awsStatement(rule *policy.Tree) *policy.Tree {
	if s := field(rule, "Statement"); s != nil {
		return s
	}
	for _, key := range rule.Keys() {
		if part := rule.Get(key); field(rule, "Priority") != nil && strings.HasSuffix(plainKey(key), "statement") {
			s := policy.NewTree(part.Line)
			s.Set(key, part)
			return s
		}
	}
	return nil
}

// rateBased is the statement of a rule that has one: below statement, or an argument of a module.
func rateBased(rule *policy.Tree) *policy.Tree {
	if s := field(rule, "RateBasedStatement"); s != nil && field(rule, "Name") != nil {
		return s
	}
	if s := field(rule, "Statement"); field(s, "Limit") != nil { // of a module with a list for each kind
		return s
	}
	return field(rule, "Statement", "RateBasedStatement")
}

// Words of a list of rules, of a rule and of a rate-based statement. Modules have words of their own.
const (
	awsListWords = "name id arn scope description defaultaction rule rules visibilityconfig tags tagsall capacity customresponsebody " +
		"customresponsebodies captchaconfig challengeconfig tokendomains associationconfig dataprotectionconfig ruleslabels labelnamespace " +
		"managedbyfirewallmanager prep* postp* lockt* rulejson onsourceddosprotectionconfig applicationconfig " +
		"retrofittedbyfirewallmanager ratebasedstatementrules nameprefix region count foreach dependson lifecycle provider dynamic source version"
	awsRuleWords = "name priority action statement visibilityconfig overrideaction rulelabel rulelabels captchaconfig challengeconfig " +
		"foreach iterator labels content dynamic webaclarn region dependson count lifecycle provider"
	awsRateWords = "limit evaluationwindowsec aggregatekeytype scopedownstatement forwardedipconfig customkey customkeys dynamic"
	awsTextWords = "searchstring searchstringbase64 regexstring fieldtomatch positionalconstraint texttransformation* priority type"
)

func (i *Import) awsRule(d doc, rule *policy.Tree, left neutral.Set) {
	s := rateBased(rule)
	if field(rule, "Statement") != nil {
		onlyKnown(i.Tell, d, rule, awsRuleWords)
		onlyKnown(i.Lose, d, s, awsRateWords)
	}
	name := cmp.Or(field(rule, "Name").Say(), "rule")
	most, err := strconv.ParseInt(field(s, "Limit").Say(), 10, 64)
	seconds, bad := strconv.Atoi(cmp.Or(field(s, "EvaluationWindowSec").Say(), "300"))
	if err != nil || bad != nil {
		i.Lose(d.place(s), "rule %s: its limit is %s in %s seconds, and nothing here says how much that is", name,
			field(s, "Limit").Say(), cmp.Or(field(s, "EvaluationWindowSec").Say(), "300"))
		return
	}
	set := left
	if down := field(s, "ScopeDownStatement"); down != nil {
		a := awsStatements{Import: i, d: d}
		set = set.And(a.set(down))
	}
	if back := field(s, "ForwardedIPConfig", "FallbackBehavior"); back.Say() != "" {
		i.Lose(d.place(back), "rule %s: where the header has no address, %s there, and here they count by their own address", name,
			cmp.Or(map[string]string{"MATCH": "requests are acted on at once"}[strings.ToUpper(back.Text)], "requests do not count"))
	}
	var words []string
	switch kind := cmp.Or(field(s, "AggregateKeyType").Say(), "IP"); strings.ToUpper(kind) {
	case "IP":
		words = []string{"client"}
	case "FORWARDED_IP":
		i.Tell(d.place(s), "rule %s: clients are the first addresses of a header: --client-from %s, with --trusted-proxy",
			name, strings.ToLower(cmp.Or(field(s, "ForwardedIPConfig", "HeaderName").Say(), "x-forwarded-for")))
		words = []string{"client"}
	case "CONSTANT":
	case "CUSTOM_KEYS":
		words, set = i.awsKeys(d, s, set)
	default:
		i.Lose(d.place(s), "rule %s: it counts by %s, which is not understood: all requests count together", name, kind)
	}
	by, err := neutral.KeyOf(words)
	if err != nil {
		i.Lose(d.place(s), "rule %s: %v", name, err)
		return
	}
	how := cmp.Or(strings.ToLower(field(rule, "Action").Say()), "block") // a word in modules
	for _, action := range []string{"Count", "Captcha", "Challenge"} {
		if field(rule, "Action", action) != nil {
			how = strings.ToLower(action)
		}
	}
	if how == "count" {
		if labels := cmp.Or(field(rule, "RuleLabels"), field(rule, "RuleLabel")); labels != nil {
			i.Lose(d.place(labels), "rule %s labels what it counts, and what later rules do by its label is not read: it is judged "+
				"as if it refused", name)
		}
		i.Tell(d.place(rule), neutral.RefusesNothing)
	}
	p := neutral.Policy{Name: "aws-waf " + name}
	p.Add(fmt.Sprintf("aws~:%d/%ds", most, seconds), fmt.Sprintf("%s rule %s, action %s", d.place(rule), name, how), neutral.KeyCase{Set: set, By: by})
	i.Policies = append(i.Policies, p)
}

// awsKeys are the parts of a key that is put together, and the requests that have them: others are not limited.
func (i *Import) awsKeys(d doc, s *policy.Tree, set neutral.Set) (words []string, _ neutral.Set) {
	for _, key := range append(field(s, "CustomKeys").List(), field(s, "CustomKey").List()...) {
		for _, kind := range key.Keys() {
			of := key.Get(kind)
			for _, how := range transformations(of) {
				i.Lose(d.place(key), "%s of %s is not read: values count as they stand", how, kind)
			}
			part := awsPart(plainKey(kind), field(of, "Name").Say())
			if part == "" {
				i.Lose(d.place(key), "no limit here counts by %s: it is left out of the key", kind)
				continue
			}
			if parsed, err := request.ParseKey(part); err == nil {
				part = parsed.String()
			}
			if strings.Contains(part, ":") {
				set = set.Having(part)
			}
			if !slices.Contains(words, part) {
				words = append(words, part)
			}
		}
	}
	return words, set
}

// awsPart is a part of a key, as --by takes it; "" if it has none such.
func awsPart(kind, name string) string {
	if kind == "header" && strings.EqualFold(name, "host") {
		return "host"
	}
	return map[string]string{
		"header": "header:" + name, "cookie": "cookie:" + name, "uripath": "path", "ip": "client", "forwardedip": "client",
		"asn": "asn",
	}[kind]
}

// transformations are the kinds of those that change a text before it is looked at.
func transformations(of *policy.Tree) (kinds []string) {
	for _, t := range append(slices.Concat(field(of, "TextTransformations").List(), field(of, "TextTransformation").List()), of) { // in modules of itself
		if kind := field(t, "Type").Say(); kind != "" && kind != "NONE" {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// plainKey is a key as JSON and Terraform have it alike.
func plainKey(key string) string { return strings.ToLower(strings.ReplaceAll(key, "_", "")) }
