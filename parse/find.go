package parse

import (
	"bytes"
	"encoding/binary"
)

// Where a text ends depends on what the format has behind it; each span searches in its own way. A search goes over
// the line once, or twice for a quoted tail, so that no line can make it slow.

// Instead of the place where the next value begins, a search can say:
const (
	nowhere = -1 // the value does not end as the format says
	enough  = -2 // the value ends at the end of a lenient format's line, or where its unread rest begins
)

// behind returns the place behind st.follow, which should stand in line at end.
func (st *step) behind(line []byte, end int) int {
	switch {
	case st.follows(line, end):
		return end + len(st.follow)
	case st.tail && endsField(line, end):
		return enough
	}
	return nowhere
}

// find returns where the value that begins at from ends and where the next one begins.
func (st *step) find(line []byte, from int) (end, next int) {
	end = len(line)
	switch st.span {
	case spanPhrase:
		if end = st.phrase(line, from); end < 0 && st.tail {
			end = word(line, from, ' ')
		}
	case spanWord:
		end = word(line, from, st.stop)
	case spanPort:
		end = bytes.LastIndexByte(line[from:word(line, from, ' ')], st.stop)
		if end >= 0 {
			end += from
		}
	case spanSlash:
		if end = bytes.IndexByte(line[from:], '/'); end >= 0 {
			end += from
		}
	}
	if end < 0 {
		return 0, nowhere
	}
	return end, st.behind(line, end)
}

// quoted finds the quote that closes the value: an unescaped one with st.follow behind it. Others are taken for quotes
// that the writer failed to escape. When there is none, a tail may end at a quote that ends a field.
func (st *step) quoted(line []byte, from int) (end, next int) {
	if end = st.quote(line, from, false); end >= 0 {
		return end, end + 1 + len(st.follow)
	}
	if st.tail {
		if end = st.quote(line, from, true); end >= 0 {
			return end, enough
		}
	}
	return 0, nowhere
}

// unended is the Fault of a value at from whose end is not found. The first quote behind it closes it, unless more
// quotes follow: then it may as well open the next value.
func (st *step) unended(line []byte, from int) Fault {
	last := bytes.LastIndexByte(line[from:], '"')
	if st.span != spanQuoted || last < 0 || escaped(line[from:from+last]) || unescapedQuote(line[from:from+last]) {
		return Fault{st.noEnd, from + 1}
	}
	return Fault{st.noText, from + last + 2}
}

// unescapedQuote reports whether there is an unescaped quote in b.
func unescapedQuote(b []byte) bool {
	for i, c := range b {
		if c == '"' && !escaped(b[:i]) {
			return true
		}
	}
	return false
}

// quote finds the unescaped quote with st.follow behind it, or if tail is set the first one that ends a field.
func (st *step) quote(line []byte, from int, tail bool) int {
	for at := from; ; at++ {
		n := bytes.IndexByte(line[at:], '"')
		if n < 0 {
			return -1
		}
		at += n
		if at > from && line[at-1] == '\\' && escaped(line[from:at]) {
			continue
		}
		if tail && endsField(line, at+1) || st.closes(line, at+1) {
			return at
		}
	}
}

// closes reports whether what stands behind a quote is what the format wants there. Behind the last value that is the
// end of the line; one more quoted field is not taken for a part of the value, so that it becomes a Fault.
func (st *step) closes(line []byte, at int) bool {
	if !st.follows(line, at) {
		return false
	}
	if !st.last {
		return true
	}
	at += len(st.follow)
	if st.tail {
		return endsField(line, at)
	}
	return at == len(line) || bytes.HasPrefix(line[at:], []byte(` "`))
}

// phrase finds where st.follow begins; behind the last value it stands at the end of the line.
func (st *step) phrase(line []byte, from int) int {
	if st.last && !st.tail {
		if end := len(line) - len(st.follow); end >= from && st.follows(line, end) {
			return end
		}
		return -1
	}
	if from+1 < len(line) && line[from] == '-' && st.follows(line, from+1) {
		return from + 1
	}
	for at := from; ; at++ {
		n := bytes.IndexByte(line[at:], st.stop)
		if n < 0 {
			return -1
		}
		if at += n; st.follows(line, at) {
			return at
		}
	}
}

// word finds the first stop byte, or the end of the line. Spaces of a list, as in "10.0.0.2, 10.0.0.1" and
// "0.1 : 0.2", do not stop it.
func word(line []byte, from int, stop byte) int {
	for at := from; ; at++ {
		n := bytes.IndexByte(line[at:], stop)
		if n < 0 {
			return len(line)
		}
		at += n
		switch {
		case stop != ' ' || at == from:
			return at
		case line[at-1] == ',':
		case bytes.HasPrefix(line[at:], []byte(" : ")):
			at += 2
		default:
			return at
		}
	}
}

// follows reports whether st.follow stands in line at at. Eight bytes are compared at once, as one number, where there
// are as many.
func (st *step) follows(line []byte, at int) bool {
	if len(line)-at >= 8 && len(st.follow) <= 8 {
		return binary.LittleEndian.Uint64(line[at:])&st.mask == st.want
	}
	return bytes.HasPrefix(line[at:], st.follow)
}

// endsField reports whether a field can end at at: with the line or before a space.
func endsField(line []byte, at int) bool { return at == len(line) || line[at] == ' ' }

// escaped reports whether what follows b is escaped: b ends in an odd number of backslashes.
func escaped(b []byte) bool {
	n := len(b)
	for n > 0 && b[n-1] == '\\' {
		n--
	}
	return (len(b)-n)%2 == 1
}
