package parse

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"shadow/parse/lex"
)

// Columns are divided by a sign, and a header names them: databases, spreadsheets and Kibana export such, Zeek and
// loggers of frameworks write them.
//
//	time,client_ip,request,status,user_agent
//	2026-01-01 00:00:00.250,192.0.2.7,"GET / HTTP/1.1",200,"say ""hi"""
//
// A value in quotes may hold the sign; a quote in it is written twice or behind a backslash. Spaces around values are
// taken off. What the names mean is said as for JSON, whatever their case.

// separators divide columns; of several in a header the first counts. Without any, spaces do.
var separators = []string{"\t", "|", ";", ",", " - "}

// ZeekHeader begins the line that names the columns of Zeek's logs, in which lines with # are comments.
const ZeekHeader = "#fields\t"

// SeparatorOf returns the sign that divides the names of a header, a space if there is nothing else.
func SeparatorOf(header string) string {
	for _, s := range separators {
		if strings.Contains(header, s) {
			return s
		}
	}
	return " "
}

// ColumnNames returns the names in a header.
func ColumnNames(header string) (names []string) {
	header = strings.TrimPrefix(strings.TrimPrefix(header, "\ufeff"), ZeekHeader)
	separator := SeparatorOf(header)
	for name := range strings.SplitSeq(header, separator) {
		if name = strings.Trim(name, "\" \r"); name != "" || separator != " " {
			names = append(names, name)
		}
	}
	return names
}

// SplitColumns takes a line apart at a separator.
func SplitColumns(line, separator string) (values []string) {
	p := columnParser{&jsonParser{}, &columns{separator: []byte(separator)}, nil}
	for p.begin([]byte(line)); p.at <= len(line); {
		value, _ := p.column()
		values = append(values, string(value))
	}
	return values
}

// Separators lists what may divide columns.
func Separators() []string { return separators }

// CompileColumns makes a format of a header.
func CompileColumns(header string, o Options) (*Format, error) {
	return CompileNamedColumns("columns", header, o)
}

// CompileNamedColumns is CompileColumns for a format with a name of its own.
func CompileNamedColumns(name, header string, o Options) (*Format, error) {
	names := ColumnNames(header)
	if len(names) > mostColumns {
		return nil, fmt.Errorf("parse: a header with %d columns: at most %d", len(names), mostColumns)
	}
	c := &columns{header: []byte(strings.TrimPrefix(header, "\ufeff")), separator: []byte(SeparatorOf(strings.TrimPrefix(header, ZeekHeader))), joined: -1}
	known := o.Fields.WithKnown()
	mapping := known.Named(names).Timed(known)
	for i := range len(names) - 1 {
		if foldName(names[i]) == "date" && foldName(names[i+1]) == "time" {
			c.joined = i
			mapping["time"] = []string{names[i+1]}
		}
	}
	f, err := CompileNamedJSON(name, mapping, o)
	if err != nil {
		return nil, err
	}
	objects := f.parser
	f.parser = func() Parser { return newColumnParser(c, names, objects().(*jsonParser)) }
	f.Text, f.names = header, names
	for i, extra := range o.Extra {
		f.extra[i] = slices.ContainsFunc(extraKeys(extra), func(key string) bool { return slices.Contains(names, key) })
	}
	return f, nil
}

// columns say how lines are divided.
type columns struct {
	header    []byte
	separator []byte
	joined    int // the column of a date before one of a time of day, or −1
}

type columnParser struct {
	*jsonParser
	*columns
	nodes []*jsonNode // of the columns, nil where nothing is wanted
}

func newColumnParser(c *columns, names []string, objects *jsonParser) *columnParser {
	p := &columnParser{objects, c, make([]*jsonNode, len(names))}
	for i, name := range names {
		p.nodes[i] = objects.tree.child([]byte(name))
	}
	return p
}

// Parse implements Parser. The header may come again.
func (p *columnParser) Parse(line []byte, r *Record) Fault {
	*r = blank
	if line[0] == '#' && p.header[0] == '#' || bytes.Equal(bytes.TrimPrefix(line, []byte("\ufeff")), p.header) {
		return Comment
	}
	if p.row(line) && p.fill(r) {
		return Fault{}
	}
	*r = blank
	return p.fault
}

// row notes the values of a line.
func (p *columnParser) row(line []byte) bool {
	p.begin(line)
	var day []byte
	for i, n := range p.nodes {
		if p.at > len(line) {
			return p.fail(errW3CShort.Error())
		}
		value, from := p.column()
		switch {
		case i == p.joined:
			day = value
			continue
		case n == nil:
			continue
		case i == p.joined+1 && p.joined >= 0: // the date moves right before the time, over quotes between them
			end := from + len(value)
			line[from-1] = ' '
			from -= len(day) + 1
			copy(line[from:], day)
			value = line[from:end]
		}
		p.keep(n, value, from)
	}
	if p.at <= len(line) {
		return p.fail(errW3CLong.Error())
	}
	if v := &p.found[slotRequest]; v.text != nil {
		v.text = tidyRequest(v.text)
	}
	if v := &p.found[FieldStatus]; v.text != nil { // squid's TCP_MISS/200
		v.text = v.text[bytes.IndexByte(v.text, '/')+1:]
	}
	return true
}

// column cuts the next column off.
func (p *columnParser) column() (value []byte, from int) {
	line := p.line
	for p.at < len(line) && line[p.at] == ' ' {
		p.at++
	}
	if from = p.at; from < len(line) && line[from] == '"' {
		if end, next := p.closing(from + 1); next > 0 {
			p.at = next
			return unquoteColumn(line[from+1 : end]), from + 1
		}
	}
	end := bytes.Index(line[from:], p.separator)
	if end < 0 {
		p.at = len(line) + 1
		return bytes.TrimRight(line[from:], " "), from
	}
	p.at = from + end + len(p.separator)
	return bytes.TrimRight(line[from:from+end], " "), from
}

// closing finds the quote that ends a value, and where the next column begins; 0 if none does.
func (p *columnParser) closing(at int) (end, next int) {
	for line := p.line; at < len(line); at++ {
		switch {
		case line[at] == '\\':
			at++
		case line[at] != '"':
		case at+1 < len(line) && line[at+1] == '"':
			at++
		default:
			rest := bytes.TrimLeft(line[at+1:], " ")
			if len(rest) == 0 {
				return at, len(line) + 1
			}
			if bare := bytes.TrimLeft(p.separator, " "); bytes.HasPrefix(rest, bare) {
				return at, len(line) - len(rest) + len(bare)
			}
		}
	}
	return 0, 0
}

// unquoteColumn undoes doubled quotes and backslashes in a value's own bytes.
func unquoteColumn(v []byte) []byte {
	if to := bytes.Index(v, []byte(`""`)); to >= 0 {
		for i := to; i < len(v); i++ {
			if v[to] = v[i]; v[i] == '"' && i+1 < len(v) && v[i+1] == '"' {
				i++
			}
			to++
		}
		v = v[:to]
	}
	return lex.Unescape(v)
}

// tidyRequest takes padding and quotes off the target of a request line without a protocol: GET      "/".
func tidyRequest(v []byte) []byte {
	space := bytes.IndexByte(v, ' ')
	target := bytes.TrimLeft(v[max(space, 0):], " ")
	if space < 0 || len(target) < 2 || target[0] != '"' && len(target) == len(v)-space-1 {
		return v
	}
	return v[:space+1+copy(v[space+1:], bytes.Trim(target, `"`))]
}
