package imports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
	"shadow/limit"
)

// Cloudflare: a cloudflare_ruleset of Terraform, and one of the API, has rules with a ratelimit. The expression of a rule says
// what may be refused, and its counting expression what counts. Each rule is a policy of its own, as each is an approximation.
// Sources: https://developers.cloudflare.com/waf/rate-limiting-rules/parameters/ (characteristics, counting expression,
// a timeout of 0 throttles), https://developers.cloudflare.com/ruleset-engine/rules-language/operators/ and .../fields/;
// cloudflare/terraform-provider-cloudflare, docs/resources/ruleset.md.

var cloudflareFormat = format{name: "cloudflare", has: isCloudflare, take: takeCloudflare}

func isCloudflare(d doc) bool { return cloudflareOfAPI(d) != nil }

func takeCloudflare(i *Import, docs []doc) {
	for _, d := range docs {
		i.cloudflareRuleset(d, cloudflareOfAPI(d), "ruleset", "of the API")
	}
}

// cloudflareOfAPI returns the ruleset that the API takes or has answered, nil if a document has none with limits.
func cloudflareOfAPI(d doc) *policy.Tree {
	set := cmp.Or(d.Get("result"), d.Tree)
	if slices.ContainsFunc(set.List("rules"), func(rule *policy.Tree) bool {
		return rule.Get("ratelimit", "requests_per_period") != nil && rule.Get("expression") != nil
	}) {
		return set
	}
	return nil
}

func (i *Import) cloudflareRules(d doc) {
	for _, r := range d.List("resource") {
		kind, name, _ := strings.Cut(r.Text, " ")
		if kind == "cloudflare_rate_limit" {
			i.Lose(d.place(r), "cloudflare_rate_limit %s is not read, as Cloudflare has taken it out: write --limit cloudflare~:%s/%ss",
				name, r.Say("threshold"), r.Say("period"))
		}
		if kind == "cloudflare_ruleset" {
			i.cloudflareRuleset(d, r, kind, name)
		}
	}
}

// cloudflareRuleset adds the limits of a ruleset.
func (i *Import) cloudflareRuleset(d doc, r *policy.Tree, kind, name string) {
	onlyKnown(i.Tell, d, r, "zoneid accountid name kind description phase rules dynamic count foreach dependson lifecycle provider "+
		"shareableentitlementname id version lastupdated source")
	if phase := r.Get("phase"); strings.HasPrefix(phase.Say(), "http_request_firewall_") {
		i.Lose(d.place(phase), "%s %s decides before limits, and is not read: what it ends counts here", kind, name)
		return
	}
	i.tellCount(d, r, kind+" "+name)
	for n, rule := range r.List("rules") {
		what := cmp.Or(rule.Say("description"), rule.Say("ref"), fmt.Sprintf("%s %d", name, n+1))
		if at := rule.Get("ratelimit"); at != nil {
			onlyKnown(i.Tell, d, rule, "action actionparameters expression description enabled ratelimit ref logging id version "+
				"exposedcredentialcheck lastupdated categories")
			i.cloudflareRule(d, rule, at, what)
			continue
		}
		on := strings.Trim(rule.Say("expression"), "() ")
		switch action := rule.Say("action"); {
		case r.Say("phase") != "http_ratelimit" || rule.Say("enabled") == "false":
		case action == "skip":
			i.Lose(d.place(rule), "rule %s takes requests out of limits, which is not read", what)
		case action == "execute" && on != "" && on != "true":
			i.Lose(d.place(rule.Get("expression")), "rule %s: the rules that it sends requests to are judged on all", what)
		}
	}
	if dynamic := r.Get("dynamic"); dynamic != nil {
		i.Lose(d.place(dynamic), "cloudflare_ruleset %s: rules that are made of variables are not read", name)
	}
}

// tellCount tells that Terraform makes a list of rules for a condition only, or several times.
func (i *Import) tellCount(d doc, r *policy.Tree, what string) {
	for _, key := range []string{"count", "for_each"} {
		if n := r.Get(key); n != nil && n.Say() != "1" {
			i.Lose(d.place(n), "%s says how often there is %s: its rules are judged as if it were once", key, what)
		}
	}
}

func (i *Import) cloudflareRule(d doc, rule, at *policy.Tree, what string) {
	place := d.place(at)
	if rule.Say("enabled") == "false" {
		i.Tell(place, "rule %s is not enabled", what)
		return
	}
	for _, key := range at.Keys() {
		switch part := at.Get(key); key {
		case "characteristics", "period", "requests_per_period", "mitigation_timeout", "counting_expression":
		case "requests_to_origin":
			if part.Text == "true" {
				i.Lose(d.place(part), "rule %s counts what comes to the origin only; here what a cache answers counts too", what)
			}
		default:
			i.Lose(d.place(part), "rule %s: %s is not read", what, key)
		}
	}
	if rule.Say("action") == "log" {
		i.Tell(place, neutral.RefusesNothing)
	}
	text, ok := i.cloudflareLimit(d, at, what)
	if !ok {
		return
	}
	match := i.cloudflareSet(d, rule.Get("expression"), what)
	count := match
	if counting := at.Get("counting_expression"); counting.Say() != "" {
		count = i.cloudflareSet(d, counting, what)
	}
	p := neutral.Policy{Name: "cloudflare " + what}
	for _, k := range neutral.Present(match, i.cloudflareKey(d, at, what), nil, true) {
		p.Add(text, fmt.Sprintf("%s rule %s, action %s", place, what, rule.Say("action")), k)
		if !count.Same(match) {
			p.Limits[len(p.Limits)-1].Count = ofKey(count, k.Set.Conditions)
		}
	}
	i.Policies = append(i.Policies, p)
}

// cloudflareLimit is the limit of a rule as --limit takes it.
func (i *Import) cloudflareLimit(d doc, at *policy.Tree, what string) (text string, ok bool) {
	most, err := strconv.ParseInt(at.Get("requests_per_period").Say(), 10, 64)
	period, bad := limit.ParsePeriod(at.Get("period").Say() + "s")
	if err != nil || bad != nil {
		i.Lose(d.place(at), "rule %s: %s requests in %s seconds, and nothing here says how much that is", what,
			at.Say("requests_per_period"), at.Say("period"))
		return "", false
	}
	text = fmt.Sprintf("cloudflare~:%d/%s", most, limit.FormatPeriod(period))
	out := at.Get("mitigation_timeout").Say()
	if out == "" || out == "0" {
		return text, true
	}
	hold, err := limit.ParsePeriod(out + "s")
	if err != nil {
		i.Lose(d.place(at), "rule %s: mitigation_timeout %s is not understood", what, out)
		return text, true
	}
	return text + ",cooldown=" + limit.FormatPeriod(hold), true
}

// ofKey are the requests that are counted by the key of a case, which has those that lack a part of it or have it.
func ofKey(counted neutral.Set, of request.Conditions) neutral.Set {
	for _, not := range of.Not {
		if len(not.Without) > 0 {
			counted = counted.And(neutral.Set{Conditions: not}.Except())
		}
	}
	return counted.And(neutral.Within("without", of.Without...))
}

// cloudflareKey returns what a rule counts by. Each data centre counts for itself, whatever it says.
func (i *Import) cloudflareKey(d doc, at *policy.Tree, what string) (words []string) {
	for _, c := range at.List("characteristics") {
		name, arg := cloudflareField().FindStringSubmatch(c.Text), ""
		if name != nil {
			arg = name[2]
		}
		word := map[string]string{
			"ip.src": "client", "http.host": "host", "http.request.uri.path": "path", "ip.src.asnum": "asn",
			"ip.geoip.asnum": "asn",
		}[c.Text]
		switch {
		case c.Text == "cf.colo.id":
			continue
		case c.Text == "cf.unique_visitor_id":
			i.Lose(d.place(c), "rule %s tells clients behind one address apart by a cookie; here each address is a client", what)
			word = "client"
		case arg != "" && name[1] == "http.request.headers":
			word = "header:" + arg
		case arg != "" && name[1] == "http.request.cookies":
			word = "cookie:" + arg
		}
		if key, err := request.ParseKey(word); word != "" && err == nil {
			words = append(words, key.String())
			continue
		}
		i.Lose(d.place(c), "rule %s: no limit here counts by %s: it is left out of the key", what, c.Text)
	}
	return words
}

var (
	cloudflareWord  = lazy.Regexp(`r?"(?:\\.|[^"\\])*"|[0-9a-fA-F]*:[0-9a-fA-F:.]*(?:/\d+)?|\d+(?:\.\d+){3}(?:/\d+)?|[\w.$]+(?:\["[^"]*"\](?:\[[\d*]+\])?)?|&&|\|\||[!=<>]=|[^\s\w]`)
	cloudflareField = lazy.Regexp(`^([\w.]+)\["([^"]*)"\]`)
)

// cloudflareSet returns the requests that an expression fits.
func (i *Import) cloudflareSet(d doc, at *policy.Tree, what string) neutral.Set {
	l := &logic{words: cloudflareWord().FindAllString(at.Say(), -1)}
	l.term = func(l *logic) (neutral.Set, bool) {
		before := l.words
		set, known := cloudflareTerm(l)
		if !known {
			i.Lose(d.place(at), "rule %s: no condition says %s: it is taken to fit", what,
				strings.Join(before[:len(before)-len(l.words)], " "))
		}
		return set, known
	}
	set := l.either()
	if len(l.words) > 0 {
		i.Lose(d.place(at), "rule %s: the expression is not understood from %q on", what, strings.Join(l.words, " "))
	}
	return set
}

// cloudflareOperators says how those compare that are understood; cloudflareOthers has the others.
var (
	cloudflareOperators = map[string]string{"eq": "", "==": "", "ne": "", "!=": "", "in": "", "contains": "sub", "matches": "reg", "~": "reg"}
	cloudflareOthers    = []string{"lt", "le", "gt", "ge", "<", ">", "<=", ">=", "wildcard", "strict"}
)

// A comparison holds a field against values.
type comparison struct {
	name, how string
	values    []string
	fold, not bool
}

// cloudflareTerm takes a comparison or the call of a function.
func cloudflareTerm(l *logic) (set neutral.Set, known bool) {
	c := comparison{name: l.next()}
	if c.name == "true" {
		return neutral.Set{}, true
	}
	if l.take("(") {
		c.call(l.group())
	}
	if c.values == nil && !c.operator(l) {
		return neutral.Set{}, false
	}
	for n, v := range c.values {
		if plain, err := strconv.Unquote(v); err == nil {
			v = plain
		}
		c.values[n] = strings.TrimSuffix(strings.TrimPrefix(v, `r"`), `"`)
	}
	if slices.ContainsFunc(c.values, ofVariables) {
		return neutral.Set{}, false
	}
	set, known = cloudflareCompared(c.name, c.how, c.values, c.fold)
	return set.Unless(c.not && known), known
}

// call takes the arguments of the function that the name is.
func (c *comparison) call(args []string) {
	if len(args) == 6 && args[0] == "lower" { // a function within it
		args, c.fold = slices.Concat(args[2:3], args[4:]), true
	}
	switch {
	case (c.name == "lower" || c.name == "upper") && len(args) == 1:
		c.name, c.fold = args[0], c.name == "lower"
	case (c.name == "starts_with" || c.name == "ends_with") && len(args) == 3:
		c.how = map[string]string{"starts_with": "beg", "ends_with": "end"}[c.name]
		c.name, c.values = args[0], args[2:]
	default:
		c.name = "(" + c.name
	}
}

// operator takes an operator with its values; false if it is not understood.
func (c *comparison) operator(l *logic) bool {
	how, known := cloudflareOperators[l.peek()]
	if !known {
		if slices.Contains(cloudflareOthers, l.peek()) {
			for l.next() == "strict" {
			}
			l.next()
		}
		return false
	}
	c.how, c.not = how, l.peek() == "ne" || l.peek() == "!="
	if l.next(); !l.take("{") {
		c.values = []string{l.next()}
		return true
	}
	for l.peek() != "" && !l.take("}") {
		c.values = append(c.values, l.next())
	}
	return true
}

// cloudflareCompared returns the requests whose field has one of some values.
func cloudflareCompared(name, how string, values []string, fold bool) (neutral.Set, bool) {
	exact := how == ""
	part := cloudflareField().FindStringSubmatch(name)
	switch {
	case name == "http.request.uri.path" || name == "raw.http.request.uri.path":
		return neutral.TextSet("regexp", how, values, fold)
	case name == "http.user_agent":
		return neutral.TextSet("agent", how, values, fold)
	case name == "http.host":
		return neutral.HostSet(how, values)
	case name == "http.request.method" && exact:
		return neutral.Within("method", neutral.UpperAll(values)...), true
	case name == "http.response.code" && exact:
		for _, v := range values {
			if n, err := strconv.Atoi(v); err != nil || n < 100 || n > 599 {
				return neutral.Set{}, false
			}
		}
		return neutral.Within("status", values...), true
	case (name == "ip.src.country" || name == "ip.geoip.country") && exact:
		return neutral.Within("country", values...), true
	case (name == "ip.src.asnum" || name == "ip.geoip.asnum") && exact:
		return neutral.Within("asn", mapped.Add(nil, values, func(v string) string { return "AS" + v })...), true
	case name == "ip.src" && exact:
		return neutral.NetworkSet(values)
	case part != nil && part[1] == "http.request.headers" && exact:
		return neutral.Within("with", mapped.Add(nil, values, func(v string) string { return "header:" + part[2] + "=" + v })...), true
	}
	return neutral.Set{}, false
}
