package nginx

import (
	"cmp"
	"fmt"
	"net/textproto"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
	"shadow/internal/servers/imports/remainder"
	"shadow/parse/nginxconf"
)

// What a zone counts by, from what its key is made of.

// PartOf returns what limits count by for a variable of nginx itself; false where that is no part of a request.
func PartOf(variable string) (part string, ok bool) {
	switch variable {
	case "binary_remote_addr", "remote_addr", "realip_remote_addr":
		return "client", true
	case "host", "http_host":
		return "host", true
	case "uri", "document_uri":
		return "path", true
	case "remote_user":
		return "user", true
	case "http_user_agent":
		return "agent", true
	case "request_method", "scheme", "server_port", "server_addr", "server_protocol", "https":
		return "", false
	}
	if strings.HasPrefix(variable, "client/") {
		return variable, true
	}
	if name, is := strings.CutPrefix(variable, "http_"); is {
		return "header:" + textproto.CanonicalMIMEHeaderKey(strings.ReplaceAll(name, "_", "-")), true
	}
	if name, is := strings.CutPrefix(variable, "cookie_"); is {
		return "cookie:" + name, true
	}
	return "field:" + variable, true
}

// listed are the requests that limit_req_whitelist leaves alone: those for which a variable has a value.
// Source: https://tengine.taobao.org/document/http_limit_req.html.
func (r *reader) listed() neutral.Set {
	var sets []neutral.Set
	for _, d := range r.white {
		words := map[string]string{}
		for _, word := range d.Args {
			name, value, _ := strings.Cut(word, "=")
			words[name] = value
		}
		if words["geo_var_name"] == "" || len(words) != 2 {
			r.Lose(d.Place(), "limit_req_whitelist %s: want geo_var_name=NAME geo_var_value=VALUE", strings.Join(d.Args, " "))
			continue
		}
		for _, c := range r.variable(words["geo_var_name"], d) {
			if text, fixed := fixedText(c.pieces); fixed && text == words["geo_var_value"] {
				sets = append(sets, c.set)
			}
		}
	}
	return neutral.Union(sets...)
}

// keysOf are the cases of a zone's key, for the requests of a way.
func (r *reader) keysOf(z *zone, w way) (all []zoneKey) {
	r.on(w)
	if known, ok := r.keys[z.name+w.state()]; ok {
		return known
	}
	defer func() { r.keys[z.name+w.state()] = all }()
	empty := r.listed()
	cases := in(empty.Except(), merged(r.cases(z.Args[0], z.Directive)))
	if i := slices.IndexFunc(cases, func(c valueCase) bool { return len(c.pieces) == 0 }); i >= 0 { // an empty key is not limited
		empty = neutral.Union(empty, cases[i].set)
		cases = slices.Delete(cases, i, i+1)
	}
	for _, c := range cases {
		if other := empty.Except(); len(cases) == 1 && other.Size() < c.set.Size() {
			c.set = other
		}
		words, fixed, made := r.words(z, c.pieces)
		for _, k := range neutral.Present(c.set, words, nil, fixed) {
			if _, err := request.ParseKey(k.By.String()); err != nil {
				r.Lose(z.Place(), "%v", err)
				continue
			}
			all = append(all, zoneKey{k, made})
		}
	}
	return all
}

// words are the parts of a key by its pieces, whether it has a text that is fixed, and what it is made of.
func (r *reader) words(z *zone, pieces []piece) (words []string, fixed bool, made string) {
	for _, p := range pieces {
		if made += p.text + "$" + p.variable; p.moved != nil {
			r.Lose(p.moved.Place(), "%s %s changes $uri, which is in a key: it counts apart from requests that ask for %s",
				p.moved.Name, strings.Join(p.moved.Args, " "), p.text)
		}
		part, ok := PartOf(p.variable)
		switch {
		case p.variable == "":
			fixed = true
			continue
		case !ok:
			r.Lose(z.Place(), "$%s is nothing that limits here count by, and left out of the key", p.variable)
			fixed = true
			continue
		}
		if !slices.Contains(words, part) {
			words = append(words, part)
		}
	}
	return words, fixed, made
}

// A map may go by several variables at once: "$request_method:$uri". Its entries speak of the whole text, and conditions of
// one variable each. A text is taken apart by the shapes of its variables. An expression is asked for each method, which
// is known then: its remainder behind that is an expression for the last variable.

// shapes match the texts that variables may have where others follow.
var shapes = map[string]string{
	"request_method": "[A-Za-z]+", "scheme": "https?", "host": "[^/:]*", "http_host": "[^/]*", "server_port": "[0-9]+",
	"uri": "/.*", "document_uri": "/.*", "request_uri": "/.*",
}

// conditionOnText is the set of requests whose text an entry fits; false if no conditions say so.
func conditionOnText(pieces []piece, e entry, hostnames bool) (neutral.Set, bool) {
	if e.regexp {
		return expressionOnText(pieces, e)
	}
	parts := takeApart(pieces, e.key, "(?is)")
	if parts == nil {
		return neutral.None, true
	}
	if !slices.Equal(parts, takeApart(pieces, e.key, "(?isU)")) { // another way to take it apart
		return neutral.None, false
	}
	set := neutral.Set{}
	for _, p := range pieces {
		if p.variable == "" {
			continue
		}
		one, ok := conditionOn(p.variable, entry{e.Directive, parts[1], e.value, false}, hostnames)
		if !ok {
			return neutral.None, false
		}
		set, parts = set.And(one), parts[1:]
	}
	return set, true
}

// takeApart returns a text and the part of each variable in it, nil if there is no way. Flags say which of several ways.
func takeApart(pieces []piece, text, flags string) []string {
	var pattern strings.Builder
	for _, p := range pieces {
		switch shape, known := shapes[p.variable]; {
		case p.variable == "":
			pattern.WriteString(regexp.QuoteMeta(p.text))
		case known:
			pattern.WriteString("(" + shape + ")")
		default:
			pattern.WriteString("(.*)")
		}
	}
	return regexp.MustCompile(flags + "^" + pattern.String() + "$").FindStringSubmatch(text)
}

// expressionOnText is conditionOnText of an expression: for texts of a method and one more variable at the end.
func expressionOnText(pieces []piece, e entry) (neutral.Set, bool) {
	last := pieces[len(pieces)-1].variable
	others := func(p piece) bool { return p.variable != "" && p.variable != "request_method" }
	if last == "" || slices.ContainsFunc(pieces[:len(pieces)-1], others) {
		return neutral.None, false
	}
	rest, ok := remainder.Of(neutral.Insensitive(e.key))
	if !ok {
		return neutral.None, false
	}
	byRest := map[string][]string{} // methods, by what is left of the expression
	var order []string
	for _, method := range neutral.Methods {
		left := rest
		for _, p := range pieces[:len(pieces)-1] {
			text := p.text
			if p.variable != "" {
				text = method
			}
			left = left.Behind(text)
		}
		pattern := left.Pattern()
		if byRest[pattern] == nil {
			order = append(order, pattern)
		}
		byRest[pattern] = append(byRest[pattern], method)
	}
	var fitting []neutral.Set
	for _, pattern := range order {
		set, ok := neutral.Set{}, true
		if pattern != "" {
			set, ok = conditionOn(last, entry{e.Directive, pattern, e.value, true}, false)
		}
		if !ok {
			return neutral.None, false
		}
		if pattern != remainder.Nothing {
			fitting = append(fitting, ofMethods(byRest[pattern]).And(set))
		}
	}
	return neutral.Union(fitting...), true
}

// ofMethods are the requests with one of some methods.
func ofMethods(some []string) neutral.Set {
	if len(some) == 0 {
		return neutral.None
	}
	if !slices.Contains(some, "OTHER") {
		return neutral.Within("method", some...)
	}
	var left []string
	for _, m := range neutral.Methods {
		if !slices.Contains(some, m) {
			left = append(left, m)
		}
	}
	if left == nil {
		return neutral.Set{}
	}
	return neutral.Within("method", left...).Except()
}

// condition is the set of requests that an if fits; false if no conditions say so.
func (r *reader) condition(d *nginxconf.Directive) (neutral.Set, bool) {
	if len(d.Args) != 1 && len(d.Args) != 3 || !variablePattern().MatchString(d.Args[0]) {
		return neutral.None, false
	}
	operator, value, negated := "", "", true // neither empty nor 0
	if len(d.Args) == 3 {
		operator, negated = strings.CutPrefix(d.Args[1], "!")
		value = d.Args[2]
	}
	if onlyDash(value, strings.HasPrefix(operator, "~")) {
		r.Tell(d.Place(), dash, d.Args[0], map[bool]string{false: "no", true: "every"}[negated])
	}
	var fitting []neutral.Set
	for _, c := range r.cases(d.Args[0], d) {
		set, ok := fitsOperator(c.pieces, operator, value)
		if !ok {
			return neutral.None, false
		}
		fitting = append(fitting, c.set.And(set))
	}
	if negated {
		return neutral.Union(fitting...).Except(), true
	}
	return neutral.Union(fitting...), true
}

// fitsOperator is the set of requests whose text is a value, or fits it as an expression; without an operator, is empty or 0.
func fitsOperator(pieces []piece, operator, value string) (neutral.Set, bool) {
	text, fixed := fixedText(pieces)
	pattern := "^" + regexp.QuoteMeta(value) + "$"
	switch operator {
	case "":
		pattern = "^0?$"
	case "~*":
		pattern = "(?i)" + value
	case "~":
		pattern = value
	}
	re, err := regexp.Compile(pattern)
	switch {
	case err != nil || operator != "" && operator[0] == '=' && strings.Contains(value, "$"):
		return neutral.None, false
	case fixed && re.MatchString(text):
		return neutral.Set{}, true
	case fixed:
		return neutral.None, true
	case len(pieces) > 1:
		return neutral.None, false
	case operator == "" && strings.HasSuffix(pieces[0].variable, "remote_addr"): // which is never empty
		return neutral.None, true
	}
	e := entry{key: pattern, regexp: true}
	variable := pieces[0].variable
	if operator == "=" && (value == "" || slices.Contains([]string{"host", "remote_addr", "server_port"}, variable)) {
		e = entry{key: value}
	}
	set, ok := conditionOn(variable, e, false)
	if part, is := PartOf(variable); ok && is && neutral.CanLack(part) && re.MatchString("") {
		lacks, _ := conditionOn(variable, entry{}, false)
		set = neutral.Union(set, lacks)
	}
	return set, ok
}

// A zoneKey is a case of a zone's key, with its pieces.
type zoneKey struct {
	neutral.KeyCase
	made string
}

// alike reports whether two cases count in the same place.
func (k zoneKey) alike(other zoneKey) bool { return k.By == other.By && k.made == other.made }

func (k zoneKey) same(other zoneKey) bool { return k.alike(other) && k.Set.Same(other.Set) }

// keysIn are the keys of uses, each once.
func keysIn(uses []*usage) (keys []zoneKey) {
	for _, u := range uses {
		for _, s := range u.sets {
			for _, k := range s.keys {
				if !slices.ContainsFunc(keys, k.alike) {
					keys = append(keys, k)
				}
			}
		}
	}
	return keys
}

// limits returns the limits of the uses of a zone whose requests count by a key.
func (k zoneKey) limits(z *zone, spec string, uses []*usage) (limits []neutral.Limit) {
	largest := slices.MaxFunc(uses, func(a, b *usage) int { return cmp.Compare(a.size(), b.size()) })
	var all []neutral.Set
	for _, u := range uses {
		var sets []neutral.Set
		for _, s := range u.sets {
			for _, other := range s.keys {
				if k.alike(other) {
					sets = append(sets, s.And(other.Set))
				}
			}
		}
		all = append(all, sets...)
		options := append([]string{spec}, strings.Fields(u.options)...)
		if u.size() < largest.size() { // both count in one place
			options = append(options, "max="+largest.burst)
		}
		text := strings.Join(options, ",")
		if spec == "" {
			text = "conn:" + u.options
		}
		limits = append(limits, neutral.Limit{
			Text: text, By: k.By, Match: neutral.Union(sets...),
			Told: append([]string{fmt.Sprintf("%s zone %s by %s", z.Place(), z.name, z.Args[0])}, u.about...),
		})
	}
	limits = slices.DeleteFunc(limits, func(l neutral.Limit) bool { return l.Match.Never })
	for i := range limits {
		if limits[i].Count = neutral.Union(all...); len(limits) == 1 {
			limits[i].Count = limits[i].Match
		}
	}
	return limits
}
