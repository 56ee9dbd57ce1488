package detect

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"shadow/internal/lazy"
	"shadow/parse"
)

// A log that no format reads is taken apart into fields, and what each of them is shows in the values of all lines. If a
// format of these reads the log, it is proposed.

// guessed are the kinds of fields, the best first. A variable is used once, and behind another where that is stated.
var guessed = []struct {
	variable string
	behind   string
	looks    func() *regexp.Regexp
}{
	{"$time_local", "", lazy.Regexp(`^\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d( [+-]\d{4})?$`)},
	{"$time_iso8601", "", lazy.Regexp(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:?\d\d)?$`)},
	{"$msec", "", lazy.Regexp(`^1\d{9}(\.\d+)?$`)},
	{"$remote_addr:$remote_port", "", lazy.Regexp(`^(\d+\.\d+\.\d+\.\d+|\[[0-9a-fA-F:]+\]):\d+$`)},
	{"$remote_addr", "", lazy.Regexp(`^(\d+\.\d+\.\d+\.\d+|[0-9a-fA-F]*:[0-9a-fA-F:]+)$`)},
	{"$request", "", lazy.Regexp(`^[A-Z]+ \S+( HTTP/[\d.]+)?$`)},
	{"$request_method", "", lazy.Regexp(`^(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE|PROPFIND)$`)},
	{"$request_uri", "$request_method", lazy.Regexp(`^(/|https?://)\S*$`)},
	{"$status", "", lazy.Regexp(`^[1-5]\d\d$`)},
	{"$body_bytes_sent", "$status", lazy.Regexp(`^(\d+|-)$`)},
	{"$request_time", "$status", lazy.Regexp(`^\d+\.\d{3}$`)},
	{"$http_referer", "$status", lazy.Regexp(`^(https?://.*|-)$`)},
	{"$http_user_agent", "$status", lazy.Regexp(`^.*[A-Za-z].*/.*|-$`)},
	{"$http_x_forwarded_for", "", lazy.Regexp(`^\d+\.\d+\.\d+\.\d+(, ?\d+\.\d+\.\d+\.\d+)*$`)},
}

const (
	guessShare = 90  // percent of the lines whose value must look like a variable's
	guessLines = 200 // that are taken apart
)

// guess proposes a format that reads the lines, "" if none is found.
func (d *Detector) guess(lines [][]byte) (text string, read int) {
	for _, open := range []string{"", `"`} { // some logs put a quote in front of each line
		text := guessText(lines, open)
		if text == "" {
			continue
		}
		format, err := compileLogFormat(text, d.choice.Options)
		if err != nil || !format.Has(parse.FieldClient) || !format.Has(parse.FieldPath) {
			continue
		}
		if found := judge(format, lines, nil); found.sound*100 >= guessShare*len(lines) {
			return text, found.sound
		}
	}
	return "", 0
}

// guessText is the text of a format as the first line has it.
func guessText(lines [][]byte, open string) string {
	first, opens := strings.CutPrefix(string(lines[0]), open)
	if !opens || len(first) > maxTailLine {
		return ""
	}
	fields := fieldsOf(nil, first)
	values := make([][]string, len(fields))
	for _, line := range lines[:min(len(lines), guessLines)] {
		text, _ := strings.CutPrefix(string(line), open)
		if of := fieldsOf(nil, text[:min(len(text), maxTailLine)]); len(of) == len(fields) {
			for i, field := range of {
				values[i] = append(values[i], field)
			}
		}
	}
	var b strings.Builder
	b.WriteString(open)
	used, at := map[string]bool{}, 0 // variables; where the next field begins
	for i, field := range fields {
		begins := at + strings.Index(first[at:], field)
		b.WriteString(first[at:begins])
		at = begins + len(field)
		b.WriteString(guessField(field, values[i], used, i))
	}
	return b.String() + first[at:]
}

// guessField returns the text of the format for a field: a variable, in quotes or brackets where the first line has
// them, or signs that all lines have.
func guessField(field string, values []string, used map[string]bool, i int) string {
	shape, _ := shapeOf(field)
	for _, g := range guessed {
		if used[g.variable] || g.variable == "$remote_addr:$remote_port" && used["$remote_addr"] || g.behind != "" && !used[g.behind] {
			continue
		}
		if looks(values, shape, g.looks().MatchString) {
			used[g.variable] = true
			if g.variable == "$remote_addr:$remote_port" { // another address is not the client's
				used["$remote_addr"] = true
			}
			return fmt.Sprintf(shape, g.variable)
		}
	}
	if !strings.ContainsFunc(field, isWordRune) && looks(values, "%s", func(value string) bool { return value == field }) {
		return field // it divides fields: what says something today may say something else tomorrow
	}
	return fmt.Sprintf(shape, fmt.Sprintf("$field%d", i+1))
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' }

// looks reports whether most values are written in a shape and look like something.
func looks(values []string, shape string, like func(string) bool) bool {
	n := 0
	for _, value := range values {
		got, inner := shapeOf(value)
		if shape == "%s" {
			inner = value
		}
		if (got == shape || shape == "%s") && like(inner) {
			n++
		}
	}
	return n > 0 && n*100 >= guessShare*len(values)
}
