package parse

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"shadow/limit"
	"shadow/parse/lex"
)

// W3C's extended log file format (www.w3.org/TR/WD-logfile) says itself what its columns are, and may do so again in the
// middle of a file. IIS and CloudFront write it:
//
//	#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status cs(User-Agent) time-taken
//	2026-01-01 00:00:00 192.0.2.7 GET /search q=1 200 Mozilla/5.0+(X11) 4
//
// Columns are divided by single spaces or tabs. A value in quotes may hold either, a quote in it is written twice; IIS
// writes "+" for a space, CloudFront %20. Times are UTC. A time-taken is in seconds if it has a fraction (CloudFront),
// else in milliseconds (IIS).

// W3CHeader begins the line that names the columns.
const W3CHeader = "#Fields:"

// w3cFields are the columns that feed a field of a record, in lower case; of those that feed one, the first of a row
// that says something does. Plain bytes, WebLogic's, do only without sc-bytes.
var w3cFields = map[string]fieldKind{
	"c-ip": kindClient, "cs-username": kindUser, "cs-method": kindMethod, "cs-uri-stem": kindPath, "cs-uri": kindPath,
	"cs(host)": kindHost, "x-host-header": kindHost, "cs-host": kindHost, "cs(referer)": kindReferer, "cs(user-agent)": kindAgent,
	"x-forwarded-for": kindForwarded, "cs(x-forwarded-for)": kindForwarded,
	"sc-status": kindStatus, "sc-bytes": kindBytes, "bytes": kindBytes, "time-taken": kindSeconds,
	"date": kindDate, "time": kindTimeOfDay, "cs-uri-query": kindQuery,
}

// What only W3C's columns are, beyond the kinds of formats.
const (
	kindDate = kindCount + iota
	kindTimeOfDay
)

// Bounds on what a log can make us keep.
const (
	mostColumns = 1024
	mostHeaders = 64
)

// A w3cFamily holds the formats of one log by the headers that it has.
type w3cFamily struct {
	options Options
	mu      sync.Mutex
	formats map[string]*Format
}

// CompileW3C makes a format of a header: "#Fields:" and the names of the columns.
func CompileW3C(header string, o Options) (*Format, error) {
	family := &w3cFamily{options: o, formats: map[string]*Format{}}
	return family.format(header)
}

// format returns the format of a header.
func (w *w3cFamily) format(header string) (*Format, error) {
	header = strings.TrimRight(header, "\r\n \t")
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.formats[header]; f != nil {
		return f, nil
	}
	names := strings.Fields(strings.TrimPrefix(header, W3CHeader))
	if len(names) > mostColumns {
		return nil, fmt.Errorf("parse: a header of a W3C log with %d columns: at most %d", len(names), mostColumns)
	}
	if len(w.formats) == mostHeaders {
		clear(w.formats)
	}
	f := &Format{Name: "w3c", Text: W3CHeader + " " + strings.Join(names, " "), zone: w.options.Zone, names: names}
	columns := make([]w3cColumn, len(names))
	has := map[fieldKind]bool{}
	for i, name := range names {
		known := w3cFields[strings.ToLower(name)]
		if strings.EqualFold(name, "bytes") && slices.ContainsFunc(names, isSent) {
			known = kindText
		}
		kind := w.options.Fields.kindOf(name, known)
		columns[i] = w3cColumn{kind: kind}
		if has[kind] = true; kind != kindText && kind < kindCount {
			f.fields[kindInfos[kind].feeds] = true
		}
		for j, extra := range w.options.Extra {
			if strings.EqualFold(name, extra) || extra == ServerPort && strings.EqualFold(name, "s-port") ||
				strings.EqualFold(name, "cs("+cmp.Or(headerOf(extra), extra)+")") {
				columns[i].extra, f.extra[j] = append(columns[i].extra, j), true
			}
		}
	}
	if !has[kindDate] || !has[kindTimeOfDay] {
		return nil, fmt.Errorf("parse: the header %q of a W3C log has no date and time: add them to the fields that the server logs", header)
	}
	f.fields[FieldTime] = true
	f.parser = func() Parser { return &w3cParser{family: w, first: columns, columns: columns} }
	f.after = func(block []byte) *Format { return w.after(f, block) }
	w.formats[header] = f
	return f, nil
}

func isSent(name string) bool { return strings.EqualFold(name, "sc-bytes") }

// after is the format in force behind a block of lines that begins with f.
func (w *w3cFamily) after(f *Format, block []byte) *Format {
	at := bytes.LastIndex(block, []byte("\n"+W3CHeader)) + 1
	if at == 0 && !bytes.HasPrefix(block, []byte(W3CHeader)) {
		return f
	}
	header, _, _ := bytes.Cut(block[at:], []byte("\n"))
	if next, err := w.format(string(header)); err == nil {
		return next
	}
	return f
}

// A w3cColumn says what a column is.
type w3cColumn struct {
	kind  fieldKind // kindText: nothing that we read
	extra []int     // its places in Record.Extra
}

// A w3cParser reads the lines of one log. A header among them changes the columns.
type w3cParser struct {
	family         *w3cFamily
	first, columns []w3cColumn
	dayText        [10]byte
	day            limit.Time
}

// Parse implements Parser.
func (p *w3cParser) Parse(line []byte, r *Record) Fault {
	*r = blank
	if line[0] == '#' {
		if bytes.HasPrefix(line, []byte(W3CHeader)) {
			f, err := p.family.format(string(line))
			if err != nil {
				return Fault{Reason: "a header that cannot be used", Column: 1}
			}
			p.columns = f.parser().(*w3cParser).columns
		}
		return Comment
	}
	fault := p.fill(line, r)
	if !fault.OK() {
		*r = blank
	}
	return fault
}

var (
	errW3CShort = errors.New("fewer columns than the header names")
	errW3CLong  = errors.New("more columns than the header names")
)

// fill reads the columns of a line.
func (p *w3cParser) fill(line []byte, r *Record) Fault {
	var day, clock limit.Time
	var rest []byte
	decode, tabs := plusDecode, bytes.IndexByte(line, '\t') >= 0
	if tabs {
		decode = percentDecode
	}
	rest = line
	for i := range p.columns {
		if rest == nil {
			return Fault{errW3CShort.Error(), len(line) + 1}
		}
		at := len(line) - len(rest)
		var v []byte
		v, rest = w3cValue(rest, tabs)
		c := &p.columns[i]
		for _, place := range c.extra {
			r.Extra[place] = v
		}
		if len(v) == 0 || len(v) == 1 && v[0] == '-' {
			continue
		}
		ok := true
		switch c.kind {
		case kindText:
		case kindDate:
			day, ok = p.date(v)
		case kindTimeOfDay:
			clock, ok = timeOfDay(v)
		case kindStatus:
			n, reason := status(v, r)
			ok = reason == "" && n == len(v)
		case kindBytes:
			size, n := lex.Integer(v)
			r.Bytes, ok = size, n == len(v)
		case kindSeconds:
			r.RequestTime, ok = timeTaken(v)
		case kindReferer, kindAgent:
			keep(c.kind, decode(v), r)
		default:
			if !p.filled(c.kind, r) {
				keep(c.kind, v, r)
			}
		}
		if !ok {
			return Fault{w3cFaults[c.kind], at + 1}
		}
	}
	if len(rest) > 0 {
		return Fault{errW3CLong.Error(), len(line) - len(rest) + 1}
	}
	r.Stamp = day + clock
	r.Start = r.Stamp
	if r.RequestTime != NotLogged { // servers write a line when they have answered
		r.Start -= r.RequestTime
	}
	r.dropLoneQuery()
	r.NotHTTP = r.Method == nil && r.Path == nil
	cleanAddresses(r)
	return Fault{}
}

// timeTaken reads a time-taken: seconds if it has a fraction, else milliseconds.
func timeTaken(v []byte) (limit.Time, bool) {
	if bytes.IndexByte(v, '.') >= 0 {
		return Duration(v, UnitSeconds)
	}
	return Duration(v, unitMillis)
}

// filled reports whether another column has said it already.
func (p *w3cParser) filled(k fieldKind, r *Record) bool {
	return k == kindHost && r.Host != nil || k == kindForwarded && r.Forwarded != nil || k == kindPath && len(r.Path) > 0 && r.Path[0] != '?'
}

// w3cFaults say what is wrong with a value.
var w3cFaults = map[fieldKind]string{
	kindDate: "the date is not yyyy-mm-dd", kindTimeOfDay: "the time is not hh:mm:ss", kindStatus: "status is not a number",
	kindBytes: "byte count is not a number", kindSeconds: "time-taken is not a duration",
}

// w3cValue cuts the first column off. What is left is nil behind the last one.
func w3cValue(b []byte, tabs bool) (v, rest []byte) {
	if len(b) > 0 && b[0] == '"' {
		for i := 1; i < len(b); i++ {
			if b[i] == '"' && (i+1 == len(b) || b[i+1] == ' ' || b[i+1] == '\t') {
				if i+1 == len(b) {
					return b[1:i], nil
				}
				return b[1:i], b[i+2:]
			}
		}
	}
	separator := byte(' ')
	if tabs {
		separator = '\t'
	}
	if end := bytes.IndexByte(b, separator); end >= 0 {
		return b[:end], b[end+1:]
	}
	return b, nil
}

// date reads yyyy-mm-dd. Most lines repeat that of the line before.
func (p *w3cParser) date(v []byte) (limit.Time, bool) {
	if len(v) != len(p.dayText) {
		return 0, false
	}
	if [10]byte(v) != p.dayText {
		day := civil{year: lex.Four(v), month: lex.Two(v[5:]), day: lex.Two(v[8:])}
		if v[4] != '-' || v[7] != '-' || !day.numeric() || !day.valid() {
			return 0, false
		}
		p.dayText, p.day = [10]byte(v), limit.Time(day.unix())*limit.Second
	}
	return p.day, true
}

// timeOfDay reads hh:mm:ss, with a fraction or not.
func timeOfDay(v []byte) (limit.Time, bool) {
	if len(v) < len("00:00:00") || !clockTime(v) {
		return 0, false
	}
	micros, n := lex.Fraction(v[8:])
	hour, minute, second := lex.Two(v), lex.Two(v[3:]), lex.Two(v[6:])
	ok := hour < 24 && minute < 60 && second <= 60 && 8+n == len(v)
	return limit.Time(hour*3600+minute*60+second)*limit.Second + micros, ok
}

// percentDecode undoes %20 and the like in a text's own bytes.
func percentDecode(v []byte) []byte {
	to := bytes.IndexByte(v, '%')
	if to < 0 {
		return v
	}
	for i := to; i < len(v); i++ {
		c := v[i]
		if code, ok := lex.Hex(v, i+1, i+3); c == '%' && ok {
			c, i = byte(code), i+2
		}
		v[to] = c
		to++
	}
	return v[:to]
}

// plusDecode puts spaces in the place of "+", in a text's own bytes.
func plusDecode(v []byte) []byte {
	for i, c := range v {
		if c == '+' {
			v[i] = ' '
		}
	}
	return v
}
