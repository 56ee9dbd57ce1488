package parse

import (
	"fmt"
	"strings"
)

// An Apache LogFormat holds directives: a percent sign, then modifiers (a list of statuses for which the field is
// logged at all, and "<" or ">" for the original or the final request), then an argument in braces, then a letter, or
// "^" and two letters. See httpd.apache.org/docs/2.4/mod/mod_log_config.html.

// A directive is one of these, taken apart; apache_field.go says what it means.
type directive struct {
	text     string // as it is spelt, from the percent sign
	original bool   // "<": of the request before internal redirects
	final    bool   // ">": of the request after them
	argument string // what the braces hold
	verb     string // "h", "^FB"
}

// apacheDirective reads the directive that text opens with.
func apacheDirective(text string) (directive, error) {
	var d directive
	at := 1
	for at < len(text) && strings.IndexByte("!,<>0123456789", text[at]) >= 0 {
		d.original = d.original || text[at] == '<'
		d.final = d.final || text[at] == '>'
		at++
	}
	if at < len(text) && text[at] == '{' {
		shut := strings.IndexByte(text[at:], '}')
		if shut < 0 {
			return d, fmt.Errorf("no closing brace behind %s", text[:at+1])
		}
		d.argument = text[at+1 : at+shut]
		at += shut + 1
	}
	end := at + 1
	if at < len(text) && text[at] == '^' {
		end = at + 3
	}
	if end > len(text) || !isVerb(text[at:end]) {
		return d, fmt.Errorf("no directive behind %s", text[:at])
	}
	d.text, d.verb = text[:end], text[at:end]
	return d, nil
}

// isVerb reports whether text can end a directive: letters, behind "^" or not, or a percent sign.
func isVerb(text string) bool {
	for _, c := range []byte(strings.TrimPrefix(text, "^")) {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			return text == "%"
		}
	}
	return true
}

// What the directives of an Apache LogFormat mean: which field each feeds, and with which rank where several feed one.

// apacheDirectives are the directives that feed a field whatever their argument.
var apacheDirectives = map[string]token{
	"a":   {kind: kindClient},
	"h":   {kind: kindClient, rank: 1},
	"u":   {kind: kindUser},
	"r":   {kind: kindRequest},
	"m":   {kind: kindMethod},
	"U":   {kind: kindPath, path: true, rank: 1},
	"q":   {kind: kindQuery, query: true},
	"v":   {kind: kindHost},
	"V":   {kind: kindHost, rank: 1},
	"s":   {kind: kindStatus, rank: 1},
	"b":   {kind: kindBytes},
	"B":   {kind: kindBytes},
	"O":   {kind: kindBytes, rank: 1},
	"S":   {kind: kindSkip},
	"D":   {kind: kindMicros},
	"T":   {kind: kindSeconds, rank: 2},
	"^FB": {kind: kindSkip},
}

// apacheHeaders are the request headers that feed a field.
var apacheHeaders = map[string]token{
	"referer":          {kind: kindReferer},
	"referrer":         {kind: kindReferer},
	"user-agent":       {kind: kindAgent},
	"x-forwarded-for":  {kind: kindForwarded, list: true, header: "x-forwarded-for"},
	"host":             {kind: kindHost, rank: 2},
	"x-real-ip":        {kind: kindClient, rank: 3, header: "x-real-ip"},
	"cf-connecting-ip": {kind: kindClient, rank: 4, header: "cf-connecting-ip"},
	"true-client-ip":   {kind: kindForwarded, rank: 5, header: "true-client-ip"},
	"forwarded":        {kind: kindForwarded, list: true, rank: 6, header: "forwarded"},
}

// apacheTokens reads the directive that text opens with, and how wide it is: one variable, or for %t a variable between
// brackets.
func apacheTokens(text string) (tokens []token, width int, err error) {
	d, err := apacheDirective(text)
	switch {
	case err != nil:
	case d.verb == "%":
		tokens = []token{{text: "%"}}
	case d.verb == "t" && d.argument == "":
		tokens = []token{{text: "["}, d.named(token{kind: kindLocal, rank: 3}), {text: "]"}}
	case d.verb == "t":
		var t token
		t, err = apacheTime(d.argument)
		tokens = []token{d.named(t)}
	default:
		tokens = []token{d.named(d.variable())}
	}
	return tokens, len(d.text), err
}

// variable says which field a directive feeds.
func (d directive) variable() token {
	skip := token{kind: kindSkip}
	switch d.verb {
	case "i":
		return apacheHeaders[strings.ToLower(d.argument)].orSkip()
	case "a", "h":
		if d.argument == "c" {
			return token{kind: kindClient, rank: 5}
		}
	case "p", "P":
		return skip
	case "s":
		if d.final {
			return token{kind: kindStatus}
		}
	case "T":
		switch d.argument {
		case "us":
			return token{kind: kindMicros}
		case "ms":
			return token{kind: kindMillis, rank: 1}
		}
		return token{kind: kindSeconds, rank: 2}
	}
	if d.argument != "" && d.verb != "a" && d.verb != "h" {
		return skip
	}
	return apacheDirectives[d.verb].orSkip()
}

// orSkip turns what a table did not hold into a variable that is skipped over.
func (p token) orSkip() token {
	if p.kind == kindText {
		p.kind = kindSkip
	}
	return p
}

// apacheTime is %{argument}t: a word, or a format of strftime; "begin:" and "end:" say of which end of the request.
func apacheTime(argument string) (token, error) {
	argument = strings.TrimPrefix(argument, "begin:")
	format, end := strings.CutPrefix(argument, "end:")
	p := token{end: end}
	if format == "sec" {
		format = "%s" // whole seconds: a point and a fraction may follow as another directive
	}
	switch format {
	case "msec":
		p.kind, p.rank = kindEpochMilli, 1
	case "usec":
		p.kind = kindEpochMicro
	case "msec_frac":
		p.kind, p.rank = kindMilliFrac, 1
	case "usec_frac":
		p.kind = kindMicroFrac
	default:
		verbs, err := parseStrptime(format)
		if err != nil {
			return p, err
		}
		p.kind, p.strptime, p.rank = kindStrptime, verbs, 4
	}
	return p, nil
}

// named gives a variable its names: that of its argument (a header, a cookie, a note), or else its letter.
func (d directive) named(p token) token {
	p.name, p.key, p.extra = d.text, d.verb, -1
	if d.argument != "" {
		p.key, p.fold = d.argument, true
	}
	return p
}
