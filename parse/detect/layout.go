package detect

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/parse"
)

// A line is taken apart into cells: words, times, text in quotes or brackets, and behind a label what the label names.
//
//	203.0.113.7 - [02/Mar/2026:10:00:01] rt=0.375 [Client 203.0.113.7] "GET / HTTP/1.1"
//	──────────  ─  ────────────────────     ─────          ───────────  ──────────────

// A cell is one of these: between it and the cell before stands other text.
type cell struct{ before, value string }

// A layout holds the values of lines by column, and what stands between the columns in the first line.
type layout struct {
	columns [][]string
	between []string // before each column, and behind the last
}

// cellTime finds a time that spaces do not divide.
var cellTime = lazy.Regexp(`^(\d\d/[A-Za-z]{3}/\d{4}[: ]\d\d:\d\d:\d\d([.,]\d+)?( [+-]\d{4})?|\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d([.,]\d+)?( ?[+-]\d\d:?\d\d|Z)?)`)

// labelled matches a name with text in quotes behind it.
var labelled = lazy.Regexp(`^[A-Za-z_][\w.-]*="`)

// cells takes a line apart. Behind the last cell stands end.
func cells(line string) (all []cell, end string) {
	from := 0 // where the text before the next cell begins
	for at := 0; at < len(line); {
		if line[at] == ' ' {
			at++
			continue
		}
		open := 0
		if strings.IndexByte(`["(`, line[at]) >= 0 {
			open = 1
		}
		if n := len(cellTime().FindString(line[at+open:])); n > 0 {
			all = append(all, cell{line[from : at+open], line[at+open : at+open+n]})
			at += open + n
			from = at
			if open > 0 && at < len(line) && line[at] != ' ' {
				at++
			}
			continue
		}
		at += max(0, len(labelled().FindString(line[at:]))-1)
		stop := fieldEnd(line, at)
		for goesOn(line, at, stop) {
			stop = fieldEnd(line, stop+1)
		}
		first, last := at, stop
		if shape, _ := shapeOf(line[at:stop]); shape != "%s" {
			first, last = at+1, stop-1
		}
		all = append(all, cell{line[from:first], line[first:last]})
		from, at = last, stop
	}
	return all, line[from:]
}

// apart returns the columns of lines that begin with open; nil if they do not have as many cells each.
func apart(lines [][]byte, open string) *layout {
	rows, counts, most := [][]cell{}, map[int]int{}, 0
	ends := map[int]string{}
	for _, line := range lines[:min(len(lines), guessLines)] {
		text, opens := bytes.CutPrefix(line, []byte(open))
		if !opens || len(line) > maxTailLine {
			continue
		}
		row, end := cells(string(text))
		if len(row) == 0 {
			continue
		}
		rows = append(rows, row)
		if counts[len(row)]++; counts[len(row)] > counts[most] {
			most = len(row)
		}
		if _, there := ends[len(row)]; !there {
			ends[len(row)] = end
		}
	}
	if counts[most]*100 < guessShare*min(len(lines), guessLines) || most > mostCells {
		return nil
	}
	l := &layout{columns: make([][]string, most)}
	for _, row := range rows {
		if len(row) != most {
			continue
		}
		for i, c := range row {
			if len(l.between) <= i {
				l.between = append(l.between, c.before)
			}
			l.columns[i] = append(l.columns[i], c.value)
		}
	}
	l.between = append(l.between, ends[most])
	l.between[0] = open + l.between[0]
	l.unlabel()
	return l
}

// divided returns the columns of lines that a separator divides; nil if they do not have as many each.
func divided(lines [][]byte, separator string) *layout {
	l := &layout{between: []string{separator}}
	lines = lines[:min(len(lines), guessLines)]
	for _, line := range lines {
		row := parse.SplitColumns(string(line[:min(len(line), maxTailLine)]), separator)
		if l.columns == nil {
			l.columns = make([][]string, len(row))
		}
		if len(row) != len(l.columns) {
			continue
		}
		for i, value := range row {
			if shape, inner := shapeOf(value); shape == "[%s]" {
				value = inner
			}
			l.columns[i] = append(l.columns[i], value)
		}
	}
	if n := len(l.columns); n < leastColumns || n > mostCells || len(l.columns[0])*100 < guessShare*len(lines) {
		return nil
	}
	return l
}

// header names the columns, as a log has it that names them itself.
func (l *layout) header(is []int) string {
	names := make([]string, len(is))
	for i := range is {
		if names[i] = fmt.Sprint("field", i+1); is[i] != unknown {
			names[i] = variable(is, i)
		}
	}
	return strings.Join(names, l.between[0])
}

// mostCells is the most cells of a line that are looked at.
const mostCells = 60

// label matches the name of the value behind it.
var label = lazy.Regexp(`^[A-Za-z_][\w-]*(=|: ?| )["(]?`)

// unlabel moves what all values of a column begin with, and a quote at their end, to the text around it.
func (l *layout) unlabel() {
	for i, values := range l.columns {
		name := label().FindString(values[0])
		query := strings.HasSuffix(l.between[i], `"`) && i > 0 && meanings[meaningOf("request_uri")].shows(l.columns[i-1]) > 0
		if name == "" || slices.ContainsFunc(meanings, func(m meaning) bool {
			return m.name != "http_user_agent" && (m.name != "args" || query) && m.shows(values) > 0
		}) {
			continue
		}
		end := ""
		if last := name[len(name)-1]; last == '"' || last == '(' {
			end = values[0][len(values[0])-1:]
		}
		bare := make([]string, 0, len(values))
		for _, value := range values {
			rest, has := strings.CutPrefix(value, name)
			rest, ends := strings.CutSuffix(rest, end)
			if has && ends && rest != "" && strings.IndexByte(rest, ' ') < 0 {
				bare = append(bare, rest)
			}
		}
		if len(bare) == len(values) {
			l.columns[i], l.between[i], l.between[i+1] = bare, l.between[i]+name, end+l.between[i+1]
		}
	}
}

// text is the layout as a log_format has it. Signs that all lines have stay: they divide fields. What says something
// today may say something else tomorrow.
func (l *layout) text(is []int) string {
	var b strings.Builder
	for i, values := range l.columns {
		b.WriteString(l.between[i])
		switch {
		case i > 1 && i+1 < len(is) && is[i+1] != unknown && l.isUser(is, i):
			b.WriteString("$remote_user")
		case is[i] != unknown && (meanings[is[i]].name != "request_time" || isMillis(values[0])):
			b.WriteString("$" + variable(is, i))
			if ported(values) && meanings[is[i]].name == "remote_addr" {
				b.WriteString(":$remote_port")
			}
		case !strings.ContainsFunc(values[0], isWordRune) && constant(values):
			b.WriteString(values[0])
		default:
			fmt.Fprintf(&b, "$field%d", i+1)
		}
	}
	return b.String() + l.between[len(l.columns)]
}

// variable is the name of what a column holds: a path with its query behind it is $uri, since $request_uri is whole.
func variable(is []int, i int) string {
	if i+1 < len(is) && is[i+1] == meaningOf("args") {
		return "uri"
	}
	return meanings[is[i]].name
}

// isUser reports whether a column stands where servers log the user: behind client and identity, before the time.
func (l *layout) isUser(is []int, i int) bool {
	return is[i] == unknown && is[i-1] == unknown && is[i-2] == meaningOf("remote_addr") && strings.HasPrefix(meanings[max(0, is[i+1])].name, "time_")
}

// ported reports whether addresses have ports.
func ported(values []string) bool {
	host, port, _ := strings.Cut(values[0], ":")
	return isDigits(port) && strings.Count(values[0], ":") == 1 && strings.Contains(host, ".") || strings.HasPrefix(values[0], "[")
}

func isWordRune(r rune) bool {
	return r == '-' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' || r >= 0x80
}
