package imports

import (
	"cmp"
	"fmt"
	"net/textproto"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/request"
	"shadow/internal/servers/imports/remainder"
	"shadow/parse/nginxconf"
)

// What a zone counts by, from what its key is made of.

// A part of a key, as --by takes it.
type part struct{ text string }

func (p part) canLack() bool {
	kind, _, named := strings.Cut(p.text, ":")
	return p.text == "user" || p.text == "agent" || named && kind != "segment" && p.text != wholeTarget
}

// wholeTarget is the path with its query as they were sent, which every request has.
const wholeTarget = "field:request_uri"

// partOf returns what limits count by for a variable of nginx itself; false where that is no part of a request.
func partOf(variable string) (p part, ok bool) {
	switch variable {
	case "binary_remote_addr", "remote_addr", "realip_remote_addr":
		return part{"client"}, true
	case "host", "http_host":
		return part{"host"}, true
	case "uri", "document_uri":
		return part{"path"}, true
	case "remote_user":
		return part{"user"}, true
	case "http_user_agent":
		return part{"agent"}, true
	case "request_method", "scheme", "server_port", "server_addr", "server_protocol", "https":
		return part{}, false
	}
	if strings.HasPrefix(variable, "client/") {
		return part{variable}, true
	}
	if name, is := strings.CutPrefix(variable, "http_"); is {
		return part{"header:" + textproto.CanonicalMIMEHeaderKey(strings.ReplaceAll(name, "_", "-"))}, true
	}
	if name, is := strings.CutPrefix(variable, "cookie_"); is {
		return part{"cookie:" + name}, true
	}
	return part{"field:" + variable}, true
}

// listed are the requests that limit_req_whitelist leaves alone: those for which a variable has a value.
// Source: https://tengine.taobao.org/document/http_limit_req.html.
func (r *nginxReader) listed() Set {
	var sets []Set
	for _, d := range r.white {
		words := map[string]string{}
		for _, word := range d.Args {
			name, value, _ := strings.Cut(word, "=")
			words[name] = value
		}
		if words["geo_var_name"] == "" || len(words) != 2 {
			r.lose(d.Place(), "limit_req_whitelist %s: want geo_var_name=NAME geo_var_value=VALUE", strings.Join(d.Args, " "))
			continue
		}
		for _, c := range r.variable(words["geo_var_name"], d) {
			if text, fixed := fixedText(c.pieces); fixed && text == words["geo_var_value"] {
				sets = append(sets, c.set)
			}
		}
	}
	return union(sets...)
}

// keysOf are the cases of a zone's key, for the requests of a way.
func (r *nginxReader) keysOf(z *nginxZone, w way) (all []nginxKey) {
	r.on(w)
	if known, ok := r.keys[z.name+w.state()]; ok {
		return known
	}
	defer func() { r.keys[z.name+w.state()] = all }()
	empty := r.listed()
	cases := in(empty.except(), merged(r.cases(z.Args[0], z.Directive)))
	if i := slices.IndexFunc(cases, func(c valueCase) bool { return len(c.pieces) == 0 }); i >= 0 { // an empty key is not limited
		empty = union(empty, cases[i].set)
		cases = slices.Delete(cases, i, i+1)
	}
	for _, c := range cases {
		if other := empty.except(); len(cases) == 1 && other.size() < c.set.size() {
			c.set = other
		}
		words, fixed, made := r.words(z, c.pieces)
		for _, k := range present(c.set, words, nil, fixed) {
			if _, err := request.ParseKey(k.by.String()); err != nil {
				r.lose(z.Place(), "%v", err)
				continue
			}
			all = append(all, nginxKey{k, made})
		}
	}
	return all
}

// words are the parts of a key by its pieces, whether it has a text that is fixed, and what it is made of.
func (r *nginxReader) words(z *nginxZone, pieces []piece) (words []string, fixed bool, made string) {
	for _, p := range pieces {
		if made += p.text + "$" + p.variable; p.moved != nil {
			r.lose(p.moved.Place(), "%s %s changes $uri, which is in a key: it counts apart from requests that ask for %s",
				p.moved.Name, strings.Join(p.moved.Args, " "), p.text)
		}
		part, ok := partOf(p.variable)
		switch {
		case p.variable == "":
			fixed = true
			continue
		case !ok:
			r.lose(z.Place(), "$%s is nothing that limits here count by, and left out of the key", p.variable)
			fixed = true
			continue
		}
		if !slices.Contains(words, part.text) {
			words = append(words, part.text)
		}
	}
	return words, fixed, made
}

// present are the cases of a key by which of its parts a request has. What it lacks is no part of the key, but for one by
// client, which can do with it. With none of them, it is not limited, unless a text is fixed.
func present(set Set, words, have []string, fixed bool) (all []keyCase) {
	if set.never {
		return nil
	}
	for i, word := range words {
		if !(part{word}).canLack() || slices.Contains(words, "client") || slices.Contains(have, "client") {
			have = append(slices.Clip(have), word)
			continue
		}
		lacks := within("without", word)
		if word == "agent" {
			lacks = within("agent", noAgent)
		}
		return append(present(set.and(lacks.except()), words[i+1:], append(slices.Clip(have), word), fixed),
			present(set.and(lacks), words[i+1:], have, fixed)...)
	}
	switch {
	case len(have) > 0:
		key, err := request.ParseKey(strings.Join(have, "+"))
		if err != nil {
			key = request.Key(strings.Join(have, "+"))
		}
		return []keyCase{{set: set, by: key}}
	case fixed:
		return []keyCase{{set: set, by: request.BySite}}
	}
	return nil
}

// A map may go by several variables at once: "$request_method:$uri". Its entries speak of the whole text, and conditions of
// one variable each. A text is taken apart by the shapes of its variables. An expression is asked for each method, which
// is known then: its remainder behind that is an expression for the last variable.

// shapes match the texts that variables may have where others follow.
var shapes = map[string]string{
	"request_method": "[A-Za-z]+", "scheme": "https?", "host": "[^/:]*", "http_host": "[^/]*", "server_port": "[0-9]+",
	"uri": "/.*", "document_uri": "/.*", "request_uri": "/.*",
}

// Of each of methods an expression is asked. The last stands for all others.
var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "OTHER"}

// conditionOnText is the set of requests whose text an entry fits; false if no conditions say so.
func conditionOnText(pieces []piece, e entry, hostnames bool) (Set, bool) {
	if e.regexp {
		return expressionOnText(pieces, e)
	}
	parts := takeApart(pieces, e.key, "(?is)")
	if parts == nil {
		return none, true
	}
	if !slices.Equal(parts, takeApart(pieces, e.key, "(?isU)")) { // another way to take it apart
		return none, false
	}
	set := Set{}
	for _, p := range pieces {
		if p.variable == "" {
			continue
		}
		one, ok := conditionOn(p.variable, entry{e.Directive, parts[1], e.value, false}, hostnames)
		if !ok {
			return none, false
		}
		set, parts = set.and(one), parts[1:]
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
func expressionOnText(pieces []piece, e entry) (Set, bool) {
	last := pieces[len(pieces)-1].variable
	others := func(p piece) bool { return p.variable != "" && p.variable != "request_method" }
	if last == "" || slices.ContainsFunc(pieces[:len(pieces)-1], others) {
		return none, false
	}
	rest, ok := remainder.Of(insensitive(e.key))
	if !ok {
		return none, false
	}
	byRest := map[string][]string{} // methods, by what is left of the expression
	var order []string
	for _, method := range methods {
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
	var fitting []Set
	for _, pattern := range order {
		set, ok := Set{}, true
		if pattern != "" {
			set, ok = conditionOn(last, entry{e.Directive, pattern, e.value, true}, false)
		}
		if !ok {
			return none, false
		}
		if pattern != remainder.Nothing {
			fitting = append(fitting, ofMethods(byRest[pattern]).and(set))
		}
	}
	return union(fitting...), true
}

// ofMethods are the requests with one of some methods.
func ofMethods(some []string) Set {
	if len(some) == 0 {
		return none
	}
	if !slices.Contains(some, "OTHER") {
		return within("method", some...)
	}
	var left []string
	for _, m := range methods {
		if !slices.Contains(some, m) {
			left = append(left, m)
		}
	}
	if left == nil {
		return Set{}
	}
	return within("method", left...).except()
}

// condition is the set of requests that an if fits; false if no conditions say so.
func (r *nginxReader) condition(d *nginxconf.Directive) (Set, bool) {
	if len(d.Args) != 1 && len(d.Args) != 3 || !nginxVariable().MatchString(d.Args[0]) {
		return none, false
	}
	operator, value, negated := "", "", true // neither empty nor 0
	if len(d.Args) == 3 {
		operator, negated = strings.CutPrefix(d.Args[1], "!")
		value = d.Args[2]
	}
	if onlyDash(value, strings.HasPrefix(operator, "~")) {
		r.tell(d.Place(), dash, d.Args[0], map[bool]string{false: "no", true: "every"}[negated])
	}
	var fitting []Set
	for _, c := range r.cases(d.Args[0], d) {
		set, ok := fitsOperator(c.pieces, operator, value)
		if !ok {
			return none, false
		}
		fitting = append(fitting, c.set.and(set))
	}
	if negated {
		return union(fitting...).except(), true
	}
	return union(fitting...), true
}

// fitsOperator is the set of requests whose text is a value, or fits it as an expression; without an operator, is empty or 0.
func fitsOperator(pieces []piece, operator, value string) (Set, bool) {
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
		return none, false
	case fixed && re.MatchString(text):
		return Set{}, true
	case fixed:
		return none, true
	case len(pieces) > 1:
		return none, false
	case operator == "" && strings.HasSuffix(pieces[0].variable, "remote_addr"): // which is never empty
		return none, true
	}
	e := entry{key: pattern, regexp: true}
	variable := pieces[0].variable
	if operator == "=" && (value == "" || slices.Contains([]string{"host", "remote_addr", "server_port"}, variable)) {
		e = entry{key: value}
	}
	set, ok := conditionOn(variable, e, false)
	if part, is := partOf(variable); ok && is && part.canLack() && re.MatchString("") {
		lacks, _ := conditionOn(variable, entry{}, false)
		set = union(set, lacks)
	}
	return set, ok
}

// A nginxKey is a case of a zone's key, with its pieces.
type nginxKey struct {
	keyCase
	made string
}

// alike reports whether two cases count in the same place.
func (k nginxKey) alike(other nginxKey) bool { return k.by == other.by && k.made == other.made }

func (k nginxKey) same(other nginxKey) bool { return k.alike(other) && k.set.same(other.set) }

// keysIn are the keys of uses, each once.
func keysIn(uses []*nginxUse) (keys []nginxKey) {
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
func (k nginxKey) limits(z *nginxZone, spec string, uses []*nginxUse) (limits []Limit) {
	largest := slices.MaxFunc(uses, func(a, b *nginxUse) int { return cmp.Compare(a.size(), b.size()) })
	var all []Set
	for _, u := range uses {
		var sets []Set
		for _, s := range u.sets {
			for _, other := range s.keys {
				if k.alike(other) {
					sets = append(sets, s.and(other.set))
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
		limits = append(limits, Limit{
			Text: text, By: k.by, Match: union(sets...),
			Told: append([]string{fmt.Sprintf("%s zone %s by %s", z.Place(), z.name, z.Args[0])}, u.about...),
		})
	}
	limits = slices.DeleteFunc(limits, func(l Limit) bool { return l.Match.never })
	for i := range limits {
		if limits[i].Count = union(all...); len(limits) == 1 {
			limits[i].Count = limits[i].Match
		}
	}
	return limits
}
