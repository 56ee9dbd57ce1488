package parse

import (
	"cmp"
	"time"

	"shadow/internal/logfile"
	"shadow/limit"
)

// MaxExtra is the most fields beyond the usual ones that a caller can ask for by name (Options.Extra).
const MaxExtra = 8

// NotLogged stands for a number that the line does not have.
const NotLogged = -1

// A Record is one request as its line has it. It is reused: its slices point into the line and are valid until the
// line's buffer is used again; a caller may hold the records of many lines before it looks at them.
//
// A field that the format does not have is nil. A field that the server logged as "-" is nil as well, apart from
// Extra, which keeps it. Escapes (\x22, \") are undone.
type Record struct {
	Stamp limit.Time // the timestamp written in the line
	Start limit.Time // when the request began: Stamp, less the request time where the server stamps the end (nginx)

	Client  []byte // address or host name of the peer, without port
	Agent   []byte // User-Agent
	Method  []byte // GET; nil when the request line is not HTTP
	Path    []byte // request target with its query; of a request line that is not HTTP, all of it
	Status  int32  // HTTP status, 0 when not logged
	NotHTTP bool   // the format has a request line, and that of this line is not one of HTTP: see requestParts
	plain   bool   // whether only fields up to Referer may differ from those of blank; see plain.go
	Bytes   int64  // sent to the client; 0 when "-"
	Referer []byte

	User         []byte     // authenticated user
	Host         []byte     // virtual host, without port
	Forwarded    []byte     // X-Forwarded-For as it came, or the header of Format.ForwardedBy
	Route        []byte     // the pattern that the server found for the path: /users/{id}
	Identity     []byte     // who the client is, in a word of package who, where a log says so: traces do
	RequestTime  limit.Time // NotLogged, or how long the request took
	UpstreamTime limit.Time // NotLogged, or how long the upstreams took (the sum, if there were several)

	Extra [MaxExtra][]byte // the fields of Options.Extra, in that order
}

// A Fault says why a line cannot be read. The zero Fault means that it could.
type Fault struct {
	Reason string // a constant text, such as "no closing quote after the request"; nothing from the line
	Column int    // the byte of the line where reading stopped, from 1
}

// OK reports whether the line could be read.
func (f Fault) OK() bool { return f.Reason == "" }

// TooLong is the fault of a line of more than MaxLine bytes, whatever its beginning looks like.
var TooLong = Fault{Reason: "line longer than 1 MiB", Column: logfile.MaxLine + 1}

// Comment is the fault of a line that is none of a request and no bad one either: of W3C's headers.
var Comment = Fault{Reason: "a comment", Column: 1}

// Empty is the fault of a line without a byte, whatever the format.
var Empty = Fault{Reason: "empty line", Column: 1}

// A Parser turns lines of one format into records. It holds caches: one per goroutine.
type Parser interface {
	// Parse fills r from line, which has no line ending, and may undo escapes inside line's own bytes.
	// What r held before is gone. It does not allocate (the gonx parser does).
	Parse(line []byte, r *Record) Fault
}

// A Field is one thing that a format can have of a request.
type Field uint8

// The fields of a Record.
const (
	FieldTime Field = iota
	FieldClient
	FieldUser
	FieldMethod
	FieldPath
	FieldHost
	FieldReferer
	FieldAgent
	FieldForwarded
	FieldRoute
	FieldIdentity
	FieldStatus
	FieldBytes
	FieldRequestTime
	FieldUpstreamTime
	fieldCount
)

// Options says what a caller needs of a format beyond the usual.
type Options struct {
	Zone  *time.Location // of stamps that do not name theirs; nil is UTC
	Extra []string       // names of further fields (see extra.go), at most MaxExtra
	Gonx  bool           // read with gonx.Parser even where the scanner could

	Fields FieldMapping // which names hold which fields, where the names of variables, keys and columns do not say

	Timeless bool // lines may have no time: see Format.In
}

// A Format is a compiled log format. It is immutable; NewParser gives each goroutine a parser of its own.
type Format struct {
	Name   string // "combined", "vhost-combined", "nginx json", or "custom"
	Text   string // as the server's configuration would write it, or the JSON field mapping
	fields [fieldCount]bool
	extra  [MaxExtra]bool
	names  []string
	header string // that FieldForwarded is, in lower case
	zone   *time.Location
	after  func(block []byte) *Format
	parser func() Parser
}

// Has reports whether the format has a field, so that a report can say what a log lacks.
func (f *Format) Has(field Field) bool { return f.fields[field] }

// HasExtra reports whether the format has the field that Options.Extra names in place i.
func (f *Format) HasExtra(i int) bool { return f.extra[i] }

// After is the format of the lines behind a block of lines that began with f: another if the log says so itself.
func (f *Format) After(block []byte) *Format {
	if f.after == nil {
		return f
	}
	return f.after(block)
}

// MayChange reports whether the log itself may say that another format follows.
func (f *Format) MayChange() bool { return f.after != nil }

// Without is the Format of lines that do not have a field.
func (f *Format) Without(field Field) *Format {
	other := *f
	other.fields[field] = false
	return &other
}

// ForwardedBy names the header that is Record.Forwarded, in lower case: x-forwarded-for unless the format has another in
// its place.
func (f *Format) ForwardedBy() string { return cmp.Or(f.header, "x-forwarded-for") }

// NewParser returns a parser for one goroutine.
func (f *Format) NewParser() Parser { return f.parser() }
