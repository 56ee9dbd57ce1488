package parse

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"time"

	"shadow/limit"
)

// What collects the lines of servers writes each into a line of its own:
//
//	Mar  2 10:00:00 lb1 haproxy[17]: LINE                          syslog (wraphead.go)
//	2026-03-02T10:00:00.250000000Z stdout F LINE                   CRI: containerd and CRI-O on a node of Kubernetes
//	web-1  | LINE                                                  docker compose logs
//	[pod/web-7d9f/nginx] LINE                                      kubectl logs --prefix
//	2026-03-02T10:00:00.250000000Z LINE                            docker logs -t, kubectl logs --timestamps
//	2026-03-02T10:00:00Z {app="web"} LINE                          logcli
//	INFO:werkzeug:LINE                                             Python's logging
//	"LINE"                                                         OpenLiteSpeed, where the quotes around its format are a part of it
//	2026/03/02 10:00:00.250	INFO	http.log.access	handled request	LINE    Caddy's console
//	{"log":"LINE\n","stream":"stdout","time":"2026-03-02T10:00:00.25Z"}    docker's json-file; others have other keys
//
// Colours of terminals, as loggers of frameworks write them, may stand anywhere in a line.
//
// A Wrapping takes that off, and the format reads what is left. The time of the wrapping counts only for lines that
// have none.

// A Wrapping is one of these. It is immutable.
type Wrapping struct {
	Name string // to be said behind the name of a format

	head func(line []byte) (n int, stamp []byte) // what stands before the line, 0: nothing; and a time in it
	tree *jsonNode                               // of a JSON object that holds the line; nil: it is text

	table      *columns // that has the line in one of its columns; nil: there is none
	line, time int      // which columns: of the line and of its time, or −1
}

// ColumnWrapping returns the wrapping of lines in a column of a table whose header is given, as stores of logs export;
// nil if no column is called so.
func ColumnWrapping(header string) *Wrapping {
	w := &Wrapping{Name: "in columns", line: -1, time: -1, table: &columns{header: []byte(header), separator: []byte(SeparatorOf(header))}}
	for i, name := range ColumnNames(header) {
		switch foldName(name) {
		case "raw", "message", "line", "log":
			w.line = i
		case "time", "timestamp", "date":
			w.time = i
		}
	}
	if w.line < 0 || w.time < 0 || w.table.separator[0] == ' ' { // which prose has
		return nil
	}
	return w
}

// cells returns the line in a row of the table, and its time.
func (p *wrappedParser) cells(row []byte) (line, stamp []byte, fault Fault) {
	w, rows := p.wrapping, p.rows
	if bytes.Equal(row, w.table.header) {
		return nil, nil, Comment
	}
	rows.begin(row)
	last := max(w.line, w.time)
	for i := 0; i <= last; i++ {
		if rows.at > len(row) {
			return nil, nil, Fault{errW3CShort.Error(), len(row) + 1}
		}
		switch value, _ := rows.column(); i {
		case w.line:
			line = value
		case w.time:
			stamp = value
		}
	}
	return line, stamp, Fault{}
}

// wrappings lists the wrappings of text. A line that has one of them has none of those behind it.
var wrappings = []Wrapping{
	{Name: coloured, head: colourHead},
	{Name: "in cri", head: criHead},
	{Name: "in logcli", head: logcliHead},
	{Name: "behind syslog", head: syslogHeader},
	{Name: "in kubectl", head: kubectlHead},
	{Name: "in caddy console", head: consoleHead},
	{Name: "in compose", head: composeHead},
	{Name: "in python logging", head: pythonHead},
	{Name: inQuotes, head: quoteHead},
	{Name: Timestamped, head: stampHead},
}

const (
	coloured = "in colours"
	inQuotes = "in quotes"
)

var quote = []byte{'"'}

// Timestamped is the name of a wrapping that is a time and nothing else. Lines of formats may begin with one as well.
const Timestamped = "behind timestamps"

// behindSyslog is the wrapping of lines that may stand behind a header of syslog.
var behindSyslog = &wrappings[slices.IndexFunc(wrappings, func(w Wrapping) bool { return w.Name == "behind syslog" })]

// jsonWrappings are the keys that hold a line, with those of the time.
var jsonWrappings = []struct{ name, lines, times string }{
	{"in docker", "log", "time|@timestamp|date"},
	{"in journald", "MESSAGE", "_SOURCE_REALTIME_TIMESTAMP|__REALTIME_TIMESTAMP"},
	{"in loki", "line", "timestamp|ts"},
	{"in elastic", "_source.message|_source.event.original|_source.log", "_source.@timestamp"},
	{
		"in json", "message|event.original|_msg|_raw|result._raw|textPayload|Body|body|msg",
		"@timestamp|timestamp|_time|result._time|Timestamp|time|ts|date|datetime",
	},
}

// TextWrapping is the wrapping that most lines have in text, nil if there is none.
func TextWrapping(lines [][]byte) *Wrapping {
	for i := range wrappings {
		w := &wrappings[i]
		if len(lines) > 0 && Mostly(lines, func(line []byte) bool { n, _ := w.head(line); return n > 0 }) {
			return w
		}
	}
	return nil
}

// JSONWrapping is the wrapping of most lines, which are JSON objects that hold others; nil if there is none.
func JSONWrapping(lines [][]byte) *Wrapping {
	for _, known := range jsonWrappings {
		root := &jsonNode{}
		for _, field := range []struct {
			keys string
			slot slot
		}{{known.lines, slotRequest}, {known.times, slot(FieldTime)}} {
			for rank, key := range strings.Split(field.keys, "|") {
				if root.add(key, jsonTarget{slot: field.slot, rank: uint8(rank)}) != nil {
					panic("parse: a key of a wrapping is none: " + key)
				}
			}
		}
		w := &Wrapping{Name: known.name, tree: root}
		if bare := w.Lines(lines); len(lines) > 0 && Mostly(bare, func(line []byte) bool { return line != nil }) {
			return w
		}
	}
	return nil
}

// Lines are lines without their wrapping; nil in the place of an object that holds none.
func (w *Wrapping) Lines(lines [][]byte) [][]byte {
	p := w.newParser(nil, nil)
	bare := make([][]byte, len(lines))
	for i, line := range lines {
		if w.tree != nil || w.table != nil || w.Name == coloured {
			line = bytes.Clone(line) // because its bytes are changed
		}
		line, _, _, _ = p.unwrap(line)
		bare[i] = line
	}
	return bare
}

// In is the format of lines in a wrapping. It is called after it.
func (f *Format) In(w *Wrapping) *Format {
	wrapped := *f
	wrapped.Name += " " + w.Name
	wrapped.fields[FieldTime], wrapped.after = true, nil
	wrapped.parser = func() Parser { return w.newParser(f.NewParser(), f.zone) }
	return &wrapped
}

// BehindSyslog is a Format of the same name of lines that may stand behind a header of syslog.
func (f *Format) BehindSyslog() *Format {
	behind := f.In(behindSyslog)
	behind.Name = f.Name
	return behind
}

// A wrappedParser reads lines in their wrapping. A line of text may also come without.
type wrappedParser struct {
	Parser
	wrapping *Wrapping
	scanner  jsonScanner
	rows     *columnParser // of a table
	clock    clock
}

func (w *Wrapping) newParser(inner Parser, zone *time.Location) *wrappedParser {
	p := &wrappedParser{Parser: inner, wrapping: w, clock: clock{zone: zone}}
	if w.table != nil {
		p.rows = &columnParser{&jsonParser{}, w.table, nil}
	}
	return p
}

// Parse implements Parser.
func (p *wrappedParser) Parse(line []byte, r *Record) Fault {
	bare, stamp, at, fault := p.unwrap(line)
	if fault.OK() && len(bare) == 0 {
		fault = Empty
	}
	if fault.OK() {
		fault = p.Parser.Parse(bare, r)
		fault.Column += at
	}
	if fault.OK() && r.Stamp == noStamp {
		fault = p.date(stamp, r)
	}
	if !fault.OK() {
		*r = blank
		return fault
	}
	return Fault{}
}

// noStamp is the time of a record that has none yet: that of what is around it is wanted.
const noStamp = limit.Time(math.MinInt64)

// date gives a record the time of the wrapping, at which the line was written: after the request.
func (p *wrappedParser) date(stamp []byte, r *Record) Fault {
	if stamp == nil {
		return Fault{Reason: "no time", Column: 1}
	}
	if len(stamp) > 10 && stamp[4] == '/' { // Caddy's console
		stamp[4], stamp[7] = '-', '-'
	}
	t, ok := p.clock.any(stamp)
	if !ok {
		return Fault{Reason: "the time of what the line is wrapped in cannot be read", Column: 1}
	}
	r.Stamp, r.Start = t, t
	if r.RequestTime != NotLogged {
		r.Start -= r.RequestTime
	}
	return Fault{}
}

// unwrap returns the line that stands in another, the time beside it, and where it begins.
func (p *wrappedParser) unwrap(line []byte) (bare, stamp []byte, at int, fault Fault) {
	if p.wrapping.table != nil {
		bare, stamp, fault = p.cells(line)
		return bare, stamp, 0, fault
	}
	if p.wrapping.Name == coloured {
		return uncoloured(line), nil, 0, Fault{}
	}
	if p.wrapping.tree == nil {
		n, stamp := p.wrapping.head(line)
		if bare = line[n:]; p.wrapping.Name == inQuotes && n > 0 && bytes.Count(bare, quote)%2 == 1 {
			bare = bytes.TrimSuffix(bare, quote)
		}
		return bare, stamp, n, Fault{}
	}
	s := &p.scanner
	if !s.scan(line, p.wrapping.tree) {
		return nil, nil, 0, s.fault
	}
	inner := s.found[slotRequest]
	if inner.text == nil {
		return nil, nil, 0, Fault{Reason: "an object that holds no line of a log", Column: 1}
	}
	return bytes.TrimRight(inner.text, "\r\n"), s.found[FieldTime].text, inner.at, Fault{}
}

// Either is the format of a log whose lines are of one format or of another: servers of several sites, or before and
// after a change of their configuration, write into one file.
func Either(a, b *Format) *Format {
	f := *a
	f.Name, f.Text, f.after = a.Name+" or "+b.Name, a.Text+"\n"+b.Text, nil
	for i := range f.fields {
		f.fields[i] = a.fields[i] || b.fields[i]
	}
	for i := range f.extra {
		f.extra[i] = a.extra[i] || b.extra[i]
	}
	if a.names != nil && b.names != nil {
		f.names = slices.Concat(a.names, b.names)
		slices.Sort(f.names)
		f.names = slices.Compact(f.names)
	} else {
		f.names = nil
	}
	f.parser = func() Parser { return &eitherParser{first: a.NewParser(), second: b.NewParser()} }
	return &f
}

type eitherParser struct {
	first, second Parser
	line          []byte // as it was: a parser may undo escapes before it fails
	latest        Parser
}

// Parse implements Parser. The fault of a line that neither reads is that of the first.
func (p *eitherParser) Parse(line []byte, r *Record) Fault {
	p.line, p.latest = append(p.line[:0], line...), p.first
	fault := p.first.Parse(line, r)
	if fault.OK() || fault == Comment {
		return fault
	}
	copy(line, p.line)
	if second := p.second.Parse(line, r); second.OK() || second == Comment {
		p.latest = p.second
		return second
	}
	return fault
}
