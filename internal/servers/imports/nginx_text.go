package imports

import (
	"regexp"
	"slices"
	"strings"

	"shadow/internal/servers/imports/remainder"
)

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
