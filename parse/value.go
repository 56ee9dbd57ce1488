package parse

import (
	"bytes"
	"slices"

	"shadow/limit"
	"shadow/parse/lex"
)

// Values become fields in three moves. Texts are kept as they stand (keep), numbers and stamps are read where they
// stand (measure); when the whole line has turned out readable, the stamp is put together, escapes are undone and
// addresses are cleaned (complete). The scanner and the gonx parser share this and differ in how they cut the line.

// A reader fills records with the values of a program.
type reader struct {
	prog   *program
	clock  clock
	stamp  limit.Time     // of this line
	parts  timestampParts // or its parts
	unused timestampParts // the parts of a stamp that is read over
	rest   int            // how much of the line there was from the last strptime on

	unescaped bool // whether it is known that no line has a backslash
}

// blank is the initial value of each Record.
var blank = Record{RequestTime: NotLogged, UpstreamTime: NotLogged}

// keep stores a text.
func keep(k fieldKind, v []byte, r *Record) {
	if len(v) == 1 && v[0] == '-' {
		r.NotHTTP = r.NotHTTP || k == kindRequest
		return
	}
	switch k {
	case kindClient:
		r.Client = v
	case kindUser:
		r.User = v
	case kindRequest:
		r.Method, r.Path = requestParts(v)
		r.NotHTTP = r.Method == nil
	case kindMethod:
		r.Method = v
	case kindPath:
		if r.Path != nil { // its query stands before it
			v = slices.Concat(v, r.Path)
		}
		r.Path = v
	case kindQuery:
		r.Path = withQuery(r.Path, v)
	case kindHost:
		r.Host = v
	case kindReferer:
		r.Referer = v
	case kindAgent:
		r.Agent = v
	case kindForwarded:
		r.Forwarded = v
	}
}

// dropLoneQuery leaves out a query whose path was not logged.
func (r *Record) dropLoneQuery() {
	if len(r.Path) > 0 && r.Path[0] == '?' {
		r.Path = nil
	}
}

// measure reads the number or stamp that b opens with and returns its length, or the reason why it cannot be read.
// "-" stands for a number that the server does not have, and so does nothing at all, which nginx writes into JSON.
func (s *reader) measure(st *step, b []byte, r *Record) (n int, reason string) {
	if st.kind.stamp() {
		return s.measureStamp(st, b)
	}
	if len(b) > 0 && b[0] == '-' && st.kind != kindUpstream && st.kind != kindTimers {
		return 1, ""
	}
	var t limit.Time
	switch st.kind {
	case kindStatus:
		n, reason = status(b, r)
		return n, reason
	case kindBytes:
		r.Bytes, n = lex.Integer(b)
	case kindUpstream:
		r.UpstreamTime, n = sumOfSeconds(b)
	case kindSeconds:
		t, n = lex.Seconds(b)
	case kindMillis:
		t, n = thousandths(b, limit.Millisecond)
	case kindTimers:
		t, n = lastTimer(b)
	default:
		t, n = thousandths(b, limit.Microsecond)
	}
	if n == lex.TooLarge {
		return 0, st.excess
	}
	if n > 0 && kindInfos[st.kind].feeds == FieldRequestTime {
		r.RequestTime = t
	}
	return n, ""
}

// status reads the three digits of an HTTP status.
func status(b []byte, r *Record) (n int, reason string) {
	value, n := lex.Integer(b)
	if n == 0 {
		return 0, "status is not a number"
	}
	if n < 0 || value > 999 {
		return 0, "status is too large"
	}
	r.Status = int32(value)
	return n, ""
}

// lastTimer reads the last of HAProxy's timers, 0/0/0/4/4: how many milliseconds the request took. Those before it may be
// −1. A plus before the last says that the line was written before the end; then the request took as long at least.
func lastTimer(b []byte) (t limit.Time, n int) {
	for i := 0; i < len(b); {
		for i < len(b) && (b[i] == '-' || b[i] == '+') {
			i++
		}
		var digits int
		if t, digits = thousandths(b[i:], limit.Millisecond); digits <= 0 {
			return 0, digits
		}
		if i += digits; i == len(b) || b[i] != '/' {
			return t, i
		}
		i++
	}
	return 0, 0
}

// thousandths reads a whole number of milli- or microseconds.
func thousandths(b []byte, unit limit.Time) (t limit.Time, n int) {
	value, n := lex.Integer(b)
	if n > 0 && value > lex.MaxSeconds*int64(limit.Second/unit) {
		return 0, lex.TooLarge
	}
	return limit.Time(value) * unit, n
}

// sumOfSeconds adds up the times of the upstreams that served a request: nginx separates those of one group by ", ",
// and groups by " : "; one that was not reached has "-".
func sumOfSeconds(b []byte) (sum limit.Time, n int) {
	sum = NotLogged
	for {
		if n < len(b) && b[n] == '-' {
			n++
		} else {
			t, m := lex.Seconds(b[n:])
			if m == lex.TooLarge || t > lex.MaxSeconds*limit.Second-max(sum, 0) {
				return NotLogged, lex.TooLarge
			}
			if m == 0 {
				return sum, n
			}
			sum, n = max(sum, 0)+t, n+m
		}
		m := separator(b[n:])
		if m == 0 {
			return sum, n
		}
		n += m
	}
}

// separator is the length of the separator between the times of two upstreams, 0 if there is no further one.
func separator(b []byte) (n int) {
	switch {
	case bytes.HasPrefix(b, []byte(", ")):
		n = 2
	case bytes.HasPrefix(b, []byte(" : ")):
		n = 3
	}
	if n == 0 || n == len(b) || b[n] != '-' && b[n]-'0' > 9 {
		return 0
	}
	return n
}

// complete makes a Record of what a readable line held.
func (s *reader) complete(line []byte, r *Record) Fault {
	stamp, reason := s.time()
	if reason != "" {
		return Fault{reason, len(line) - s.rest + 1}
	}
	r.Stamp, r.Start = stamp, stamp
	if s.prog.endStamp && r.RequestTime != NotLogged && stamp != noStamp {
		r.Start -= r.RequestTime
	}
	if s.prog.apart {
		r.dropLoneQuery()
		r.NotHTTP = r.NotHTTP || r.Method == nil && r.Path == nil
	}
	if !s.unescaped && bytes.IndexByte(line, '\\') >= 0 {
		s.unescape(r)
	}
	for _, t := range s.prog.twins {
		r.Extra[t.to] = r.Extra[t.from]
	}
	cleanAddresses(r)
	return Fault{}
}

// unescape undoes the escapes of all texts. An extra field that shares its bytes with a usual one gets its own first.
func (s *reader) unescape(r *Record) {
	if s.prog.overlaps {
		for i := range r.Extra {
			r.Extra[i] = bytes.Clone(r.Extra[i])
		}
	}
	for _, text := range []*[]byte{&r.Client, &r.User, &r.Path, &r.Host, &r.Referer, &r.Agent, &r.Forwarded} {
		*text = lex.Unescape(*text)
	}
	for i := range r.Extra {
		r.Extra[i] = lex.Unescape(r.Extra[i])
	}
}

// cleanAddresses takes ports off. Where the client's address is a list, a front server wrote the addresses that the
// request came through into its place: the first is the client, and the whole list is what it was forwarded for.
func cleanAddresses(r *Record) {
	if !dotted(r.Client) {
		cleanClient(r)
	}
	if r.Host != nil {
		r.Host = host(r.Host)
	}
	if string(r.User) == `""` { // how Apache writes an empty name
		r.User = nil
	}
}

func cleanClient(r *Record) {
	if comma := bytes.IndexByte(r.Client, ','); comma >= 0 {
		if r.Forwarded == nil {
			r.Forwarded = r.Client
		}
		r.Client = r.Client[:comma]
	}
	r.Client = host(r.Client)
}

// dotted tells of an IPv4 address that it needs no cleaning: nothing in it is beyond '.' and the digits. It looks at
// eight bytes at once, the last eight of which may overlap the first; longer and shorter ones are looked at closely.
//
// A byte b lies in '.' … '9' when neither b + (0x7F − '9') nor b − '.', of which no borrow comes when b has its top bit
// set beforehand, shows a wrong top bit.
func dotted(b []byte) bool {
	if len(b) < 8 || len(b) > 16 {
		return false
	}
	return dottedWord(word64(b)) && dottedWord(word64(b[len(b)-8:]))
}

func dottedWord(w uint64) bool {
	const (
		ones = 0x0101010101010101
		top  = 0x80 * ones
	)
	above := w + (0x7F-'9')*ones  // top bit: beyond '9', if w's was not set
	below := (w | top) - '.'*ones // top bit: '.' or beyond
	return (w|above|^below)&top == 0
}
