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
	"shadow/limit"
)

// Cloudflare: a cloudflare_ruleset of Terraform has rules with a ratelimit. The expression of a rule says what may be
// refused, and its counting expression what counts. Each rule is a policy of its own, as each is an approximation.
// Sources: https://developers.cloudflare.com/waf/rate-limiting-rules/parameters/ (characteristics, counting expression,
// a timeout of 0 throttles), https://developers.cloudflare.com/ruleset-engine/rules-language/operators/ and .../fields/;
// cloudflare/terraform-provider-cloudflare, docs/resources/ruleset.md.

func (i *Import) cloudflareRules(d doc) {
	for _, r := range d.List("resource") {
		kind, name, _ := strings.Cut(r.Text, " ")
		if kind == "cloudflare_rate_limit" {
			i.lose(d.place(r), "cloudflare_rate_limit %s is not read, as Cloudflare has taken it out: write --limit cloudflare~:%s/%ss",
				name, r.Say("threshold"), r.Say("period"))
		}
		if kind != "cloudflare_ruleset" {
			continue
		}
		for n, rule := range r.List("rules") {
			if at := rule.Get("ratelimit"); at != nil {
				what := cmp.Or(rule.Say("description"), rule.Say("ref"), fmt.Sprintf("%s %d", name, n+1))
				i.cloudflareRule(d, rule, at, what)
			}
		}
		if dynamic := r.Get("dynamic"); dynamic != nil {
			i.lose(d.place(dynamic), "cloudflare_ruleset %s: rules that are made of variables are not read", name)
		}
	}
}

func (i *Import) cloudflareRule(d doc, rule, at *policy.Tree, what string) {
	place := d.place(at)
	if rule.Say("enabled") == "false" {
		i.tell(place, "rule %s is not enabled", what)
		return
	}
	for _, key := range at.Keys() {
		switch part := at.Get(key); key {
		case "characteristics", "period", "requests_per_period", "mitigation_timeout", "counting_expression":
		case "requests_to_origin":
			if part.Text == "true" {
				i.lose(d.place(part), "rule %s counts what comes to the origin only; here what a cache answers counts too", what)
			}
		default:
			i.lose(d.place(part), "rule %s: %s is not read", what, key)
		}
	}
	most, err := strconv.ParseInt(awsValue(d, at.Get("requests_per_period")).Say(), 10, 64)
	period, bad := limit.ParsePeriod(awsValue(d, at.Get("period")).Say() + "s")
	if err != nil || bad != nil {
		i.lose(place, "rule %s: %s requests in %s seconds, and nothing here says how much that is", what,
			at.Say("requests_per_period"), at.Say("period"))
		return
	}
	text := fmt.Sprintf("cloudflare~:%d/%s", most, limit.FormatPeriod(period))
	if out := awsValue(d, at.Get("mitigation_timeout")).Say(); out != "" && out != "0" {
		hold, err := limit.ParsePeriod(out + "s")
		if err != nil {
			i.lose(place, "rule %s: mitigation_timeout %s is not understood", what, out)
		} else {
			text += ",cooldown=" + limit.FormatPeriod(hold)
		}
	}
	match := i.cloudflareSet(d, rule.Get("expression"), what)
	count := match
	if counting := at.Get("counting_expression"); counting.Say() != "" {
		count = i.cloudflareSet(d, counting, what)
	}
	p := Policy{Name: "cloudflare " + what}
	for _, k := range present(match, i.cloudflareKey(d, at, what), nil, true) {
		counted := k.set
		if !count.same(match) { // those of this key
			counted = count
			for _, not := range k.set.c.Not {
				if len(not.Without) > 0 {
					counted = counted.and(Set{c: not}.except())
				}
			}
			if len(k.set.c.Without) > 0 {
				counted = counted.and(within("without", k.set.c.Without...))
			}
		}
		p.Limits = append(p.Limits, Limit{
			Text: text, By: k.by, Match: k.set, Count: counted,
			Told: []string{fmt.Sprintf("%s rule %s, action %s", place, what, rule.Say("action"))},
		})
	}
	i.Policies = append(i.Policies, p)
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
			i.lose(d.place(c), "rule %s tells clients behind one address apart by a cookie; here each address is a client", what)
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
		i.lose(d.place(c), "rule %s: no limit here counts by %s: it is left out of the key", what, c.Text)
	}
	return words
}

var (
	cloudflareWord  = lazy.Regexp(`r?"(?:\\.|[^"\\])*"|[0-9a-fA-F]*:[0-9a-fA-F:.]*(?:/\d+)?|\d+(?:\.\d+){3}(?:/\d+)?|[\w.$]+(?:\["[^"]*"\](?:\[[\d*]+\])?)?|&&|\|\||[!=<>]=|[^\s\w]`)
	cloudflareField = lazy.Regexp(`^([\w.]+)\["([^"]*)"\]`)
)

// cloudflareSet returns the requests that an expression fits.
func (i *Import) cloudflareSet(d doc, at *policy.Tree, what string) Set {
	l := &logic{words: cloudflareWord().FindAllString(at.Say(), -1)}
	l.term = func(l *logic) (Set, bool) {
		before := l.words
		set, known := cloudflareTerm(l)
		if !known {
			i.lose(d.place(at), "rule %s: no condition says %s: it is taken to fit", what,
				strings.Join(before[:len(before)-len(l.words)], " "))
		}
		return set, known
	}
	set := l.either()
	if len(l.words) > 0 {
		i.lose(d.place(at), "rule %s: the expression is not understood from %q on", what, strings.Join(l.words, " "))
	}
	return set
}

// cloudflareTerm takes a comparison or the call of a function.
func cloudflareTerm(l *logic) (set Set, known bool) {
	name, how, fold := l.next(), "", false
	var values []string
	if name == "true" {
		return Set{}, true
	}
	if l.take("(") {
		args := l.group()
		if len(args) == 6 && args[0] == "lower" { // a function within it
			args, fold = args[2:], true
			args = append(args[:1], args[2:]...)
		}
		switch {
		case (name == "lower" || name == "upper") && len(args) == 1:
			name, fold = args[0], name == "lower"
		case (name == "starts_with" || name == "ends_with") && len(args) == 3:
			how = map[string]string{"starts_with": "beg", "ends_with": "end"}[name]
			name, values = args[0], args[2:]
		default:
			name = "(" + name
		}
	}
	not := false
	if values == nil {
		not = l.peek() == "ne" || l.peek() == "!="
		ops := map[string]string{"eq": "", "==": "", "ne": "", "!=": "", "in": "", "contains": "sub", "matches": "reg", "~": "reg"}
		var is bool
		how, is = ops[l.peek()]
		if !is {
			if slices.Contains([]string{"lt", "le", "gt", "ge", "<", ">", "<=", ">=", "wildcard", "strict"}, l.peek()) {
				for l.next() == "strict" {
				}
				l.next()
			}
			return Set{}, false
		}
		l.next()
		if l.take("{") {
			for l.peek() != "" && !l.take("}") {
				values = append(values, l.next())
			}
		} else {
			values = []string{l.next()}
		}
	}
	for n, v := range values {
		if plain, err := strconv.Unquote(v); err == nil {
			v = plain
		}
		values[n] = strings.TrimSuffix(strings.TrimPrefix(v, `r"`), `"`)
	}
	set, known = cloudflareCompared(name, how, values, fold)
	if not && known {
		set = set.except()
	}
	return set, known
}

// cloudflareCompared returns the requests whose field has one of some values.
func cloudflareCompared(name, how string, values []string, fold bool) (Set, bool) {
	exact := how == ""
	part := cloudflareField().FindStringSubmatch(name)
	switch {
	case name == "http.request.uri.path" || name == "raw.http.request.uri.path":
		return textSet("regexp", how, values, fold)
	case name == "http.user_agent":
		return textSet("agent", how, values, fold)
	case name == "http.host":
		return hostSet(how, values)
	case name == "http.request.method" && exact:
		return within("method", upperAll(values)...), true
	case name == "http.response.code" && exact:
		for _, v := range values {
			if n, err := strconv.Atoi(v); err != nil || n < 100 || n > 599 {
				return Set{}, false
			}
		}
		return within("status", values...), true
	case (name == "ip.src.country" || name == "ip.geoip.country") && exact:
		return within("country", values...), true
	case (name == "ip.src.asnum" || name == "ip.geoip.asnum") && exact:
		for n := range values {
			values[n] = "AS" + values[n]
		}
		return within("asn", values...), true
	case name == "ip.src" && exact:
		return networkSet(values)
	case part != nil && part[1] == "http.request.headers" && exact:
		for n := range values {
			values[n] = "header:" + part[2] + "=" + values[n]
		}
		return within("with", values...), true
	}
	return Set{}, false
}

// networkSet returns the requests of clients of some networks; false if one is none.
func networkSet(values []string) (Set, bool) {
	var networks []string
	for _, v := range values {
		prefix, err := parseNetwork(v)
		switch {
		case v == "private_ranges": // of Caddy
			networks = append(networks, "private")
		case err != nil:
			return Set{}, false
		default:
			networks = append(networks, networkText(prefix))
		}
	}
	return within("network", networks...), len(networks) > 0
}

func upperAll(texts []string) (all []string) {
	for _, t := range texts {
		all = append(all, strings.ToUpper(t))
	}
	return all
}
