package detect

import (
	"fmt"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/parse"
)

// HAProxy writes the headers that it captures between its queues and the request, those of answers behind those of
// requests, and no names: {example.org|curl/8.5.0} {text/html}. What they are, their values show.

// capturedHeaders finds those of a request, and those of its answer.
var capturedHeaders = lazy.Regexp(` \d+/\d+/\d+/\d+/\+?\d+ \d+/\d+ \{(.*?)\}( \{.*?\})? "`)

// capturable holds the headers that are looked for, what fewest others look like first.
var capturable = []string{"http_x_forwarded_for", "http_referer", "host", "http_user_agent"}

// withCaptured is a detection of HAProxy's format with the headers that most lines have captured. What it does not read is
// read without them.
func (d *Detector) withCaptured(found Detection, lines [][]byte) Detection {
	if found.Format.Name != parse.Syslogged {
		return found
	}
	type form struct {
		headers int
		answers bool
	}
	rows := map[form][][]string{}
	for _, line := range lines {
		if m := capturedHeaders().FindSubmatch(line); m != nil {
			row := strings.Split(string(m[1]), "|")
			f := form{len(row), m[2] != nil}
			rows[f] = append(rows[f], row)
		}
	}
	for f, all := range rows {
		if 2*len(all) <= len(lines) {
			continue
		}
		columns, named := captured(all)
		if named == nil {
			break
		}
		text := "{" + strings.Join(columns, "|") + "}"
		if f.answers {
			text += " {$answered}"
		}
		text = strings.Replace(found.Format.Text, `$queues "`, "$queues "+text+` "`, 1)
		format, err := parse.CompileAs(text, d.choice.Options, parse.Syslogged+" with "+strings.Join(named, ", "), true)
		if err != nil {
			break
		}
		name := format.Name
		format = parse.Either(format.BehindSyslog(), found.Format)
		format.Name, format.Text = name, text
		better := judge(format, lines, nil)
		better.Warnings = append(better.Warnings, fmt.Sprintf("captured headers have no names in the log; by their values they are {%s}: "+
			"if that is wrong, state the format with --format", strings.Join(columns, "|")))
		return better
	}
	return found
}

// captured says what the columns of captured headers are, and names those that are known.
func captured(rows [][]string) (columns, named []string) {
	for i := range rows[0] {
		var values []string
		for _, row := range rows {
			values = append(values, row[i])
		}
		variable := fmt.Sprintf("$field%d", i+1)
		for _, name := range capturable {
			shown := meanings[meaningOf(name)].shows(values)
			own := name == "http_x_forwarded_for" && constant(values) // a host that is an address
			if shown > nothing && !own && !slices.Contains(named, "$"+name) {
				variable = "$" + name
				named = append(named, variable)
				break
			}
		}
		columns = append(columns, variable)
	}
	return columns, named
}

// isHAProxy reports whether a format is HAProxy's, with or without captured headers.
func isHAProxy(f *parse.Format) bool {
	return f.Name == parse.Syslogged || strings.HasPrefix(f.Name, parse.Syslogged+" with $")
}
