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
