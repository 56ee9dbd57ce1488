package parse

import (
	"fmt"
	"strings"
)

// Apache writes a time by any format of strftime(3), and in as many tokens as the LogFormat likes:
//
//	[%{%Y-%m-%d %H:%M:%S}t.%{usec_frac}t]     [2016-09-02 10:42:51.003372]
//
// So each token fills in its parts of one timestamp, which is put together when the line has been read.

// A strptime is a row of verbs: bytes that must stand in the line, and parts of a timestamp.
type strptime []verb

// A verb is one part of a timestamp by its letter in strftime, or with letter 0 the byte that must stand in the line.
type verb struct{ letter, literal byte }

// strptimeVerbs are the letters that we know; each one that stands for others is spelt out.
var strptimeVerbs = map[byte]string{
	'Y': "", 'm': "", 'd': "", 'e': "", 'b': "", 'B': "", 'y': "", 'H': "", 'M': "", 'S': "", 's': "", 'z': "",
	'a': "", 'A': "", 'Z': "", 'h': "%b", 'T': "%H:%M:%S", 'F': "%Y-%m-%d", 'R': "%H:%M", 'D': "%m/%d/%y",
	'n': "\n", 't': "\t",
}

// parseStrptime reads a format of strftime.
func parseStrptime(format string) (strptime, error) {
	var l strptime
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			l = append(l, verb{literal: format[i]})
			continue
		}
		if i++; i == len(format) {
			return nil, fmt.Errorf("time format %q ends in %%", format)
		}
		if format[i] == '%' {
			l = append(l, verb{literal: '%'})
			continue
		}
		long, known := strptimeVerbs[format[i]]
		if !known {
			return nil, fmt.Errorf("time format %q: no such part as %%%c", format, format[i])
		}
		if long == "" {
			l = append(l, verb{letter: format[i]})
			continue
		}
		parts, err := parseStrptime(long)
		if err != nil {
			return nil, err
		}
		l = append(l, parts...)
	}
	return l, nil
}

// missingPart names the first part of a timestamp that the strptimes of a format lack, "time" when there are none.
func missingPart(tokens []token) string {
	var has [256]bool
	found := false
	for i := range tokens {
		for _, v := range tokens[i].strptime {
			has[v.letter], found = true, true
		}
	}
	if !found {
		return "time"
	}
	for _, part := range []struct{ letters, name string }{
		{"Yy", "year"}, {"mbB", "month"}, {"de", "day"}, {"H", "hour"}, {"M", "minute"}, {"S", "second"},
	} {
		if !has['s'] && !strings.ContainsFunc(part.letters, func(r rune) bool { return has[r] }) {
			return part.name
		}
	}
	return ""
}
