package parse

import (
	"fmt"
	"strings"
)

// Apache writes a time by any layout of strftime(3), and in as many pieces as the format likes:
//
//	[%{%Y-%m-%d %H:%M:%S}t.%{usec_frac}t]     [2016-09-02 10:42:51.003372]
//
// So each piece fills in its parts of one moment, and the stamp is made of them when the line has been read.

// A layout is a row of verbs: bytes that must stand in the line, and parts of a moment.
type layout []verb

// A verb is one part of a moment by its letter in strftime, or with letter 0 the byte that must stand in the line.
type verb struct{ letter, literal byte }

// layoutVerbs are the letters that we know; each one that stands for others is spelt out.
var layoutVerbs = map[byte]string{
	'Y': "", 'm': "", 'd': "", 'e': "", 'b': "", 'B': "", 'y': "", 'H': "", 'M': "", 'S': "", 's': "", 'z': "",
	'a': "", 'A': "", 'Z': "", 'h': "%b", 'T': "%H:%M:%S", 'F': "%Y-%m-%d", 'R': "%H:%M", 'D': "%m/%d/%y",
	'n': "\n", 't': "\t",
}

// newLayout reads a layout of strftime.
func newLayout(format string) (layout, error) {
	var l layout
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			l = append(l, verb{literal: format[i]})
			continue
		}
		if i++; i == len(format) {
			return nil, fmt.Errorf("time layout %q ends in %%", format)
		}
		if format[i] == '%' {
			l = append(l, verb{literal: '%'})
			continue
		}
		long, known := layoutVerbs[format[i]]
		if !known {
			return nil, fmt.Errorf("time layout %q: no such part as %%%c", format, format[i])
		}
		if long == "" {
			l = append(l, verb{letter: format[i]})
			continue
		}
		parts, err := newLayout(long)
		if err != nil {
			return nil, err
		}
		l = append(l, parts...)
	}
	return l, nil
}

// missing names the first part that the layouts of a format lack to make a moment of them, or is empty.
func missing(layouts []layout) string {
	var has [256]bool
	for _, l := range layouts {
		for _, v := range l {
			has[v.letter] = true
		}
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
