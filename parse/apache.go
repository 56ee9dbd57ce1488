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

// apachePieces takes a LogFormat apart.
func apachePieces(text string) ([]piece, error) {
	var pieces []piece
	for rest := text; rest != ""; {
		at := strings.IndexByte(rest, '%')
		if at < 0 {
			return append(pieces, piece{text: rest}), nil
		}
		if at > 0 {
			pieces = append(pieces, piece{text: rest[:at]})
		}
		d, err := apacheDirective(rest[at:])
		if err == nil {
			var p []piece
			p, err = d.pieces()
			pieces = append(pieces, p...)
		}
		if err != nil {
			return nil, fmt.Errorf("column %d: %w", len(text)-len(rest)+at+1, err)
		}
		rest = rest[at+len(d.text):]
	}
	return pieces, nil
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
var apacheDirectives = map[string]piece{
	"a":   {use: useClient},
	"h":   {use: useClient, rank: 1},
	"u":   {use: useUser},
	"r":   {use: useRequest},
	"m":   {use: useMethod},
	"U":   {use: usePath, path: true, rank: 1},
	"q":   {use: useSkip, query: true},
	"v":   {use: useHost},
	"V":   {use: useHost, rank: 1},
	"s":   {use: useStatus, rank: 1},
	"b":   {use: useBytes},
	"B":   {use: useBytes},
	"O":   {use: useBytes, rank: 1},
	"S":   {use: useSkip},
	"D":   {use: useMicros},
	"T":   {use: useSeconds, rank: 2},
	"^FB": {use: useSkip},
}

// apacheHeaders are the request headers that feed a field.
var apacheHeaders = map[string]piece{
	"referer":          {use: useReferer},
	"referrer":         {use: useReferer},
	"user-agent":       {use: useAgent},
	"x-forwarded-for":  {use: useForwarded, list: true},
	"host":             {use: useHost, rank: 2},
	"x-real-ip":        {use: useClient, rank: 3},
	"cf-connecting-ip": {use: useClient, rank: 4},
}

// pieces says what a directive means: one variable, or for %t a variable between brackets.
func (d directive) pieces() ([]piece, error) {
	switch {
	case d.verb == "%":
		return []piece{{text: "%"}}, nil
	case d.verb == "t" && d.argument == "":
		return []piece{{text: "["}, d.named(piece{use: useLocal, rank: 3}), {text: "]"}}, nil
	case d.verb == "t":
		p, err := apacheTime(d.argument)
		return []piece{d.named(p)}, err
	}
	return []piece{d.named(d.variable())}, nil
}

// variable says which field a directive feeds.
func (d directive) variable() piece {
	skip := piece{use: useSkip}
	switch d.verb {
	case "i":
		return apacheHeaders[strings.ToLower(d.argument)].orSkip()
	case "a", "h":
		if d.argument == "c" {
			return piece{use: useClient, rank: 5}
		}
	case "p", "P":
		return skip
	case "s":
		if d.final {
			return piece{use: useStatus}
		}
	case "T":
		return apacheDuration(d.argument)
	}
	if d.argument != "" && d.verb != "a" && d.verb != "h" {
		return skip
	}
	return apacheDirectives[d.verb].orSkip()
}

// orSkip turns what a table did not hold into a variable that is skipped over.
func (p piece) orSkip() piece {
	if p.use == useText {
		p.use = useSkip
	}
	return p
}

// apacheDuration is %T with its unit.
func apacheDuration(unit string) piece {
	switch unit {
	case "us":
		return piece{use: useMicros}
	case "ms":
		return piece{use: useMillis, rank: 1}
	}
	return piece{use: useSeconds, rank: 2}
}

// apacheTime is %{argument}t: a token, or a layout of strftime; "begin:" and "end:" say of which end of the request.
func apacheTime(argument string) (piece, error) {
	argument = strings.TrimPrefix(argument, "begin:")
	format, end := strings.CutPrefix(argument, "end:")
	p := piece{end: end}
	switch format {
	case "sec":
		p.use, p.rank = useEpoch, 3
	case "msec":
		p.use, p.rank = useEpochMilli, 1
	case "usec":
		p.use = useEpochMicro
	case "msec_frac":
		p.use, p.rank = useMilliFrac, 1
	case "usec_frac":
		p.use = useMicroFrac
	default:
		layout, err := newLayout(format)
		if err != nil {
			return p, err
		}
		p.use, p.layout, p.rank = useLayout, layout, 4
	}
	return p, nil
}

// named gives a variable its names: that of its argument (a header, a cookie, a note), or else its letter.
func (d directive) named(p piece) piece {
	p.name, p.key, p.extra = d.text, d.verb, -1
	if d.argument != "" {
		p.key, p.fold = d.argument, true
	}
	return p
}
