package match

import (
	"bytes"
	"fmt"
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/parse"
)

// Values find the texts of lines that keys and costs go by: segments of the path, fields, headers and cookies. They are immutable.
type Values struct {
	parts []request.Part
	at    [][]int // of each part its places in Record.Extra; the second is the header that holds all cookies
}

// wholeTarget is the field that has a path with its query, as it was sent. Each log with a request has it.
const wholeTarget = "request_uri"

// cookies is the header that holds all cookies.
const cookies = "header:Cookie"

// NewValues returns Values for the parts of keys that are values, and for the fields of costs but the bytes sent; nil
// if there are none. extra is what is asked of the parser already; with what the parts need it comes back.
func NewValues(keys []request.Key, costs []request.Part, extra []string) (*Values, []string, error) {
	v := &Values{}
	var parts []request.Part
	for _, key := range keys {
		parts = append(parts, key.Parts()...)
	}
	for _, p := range append(parts, costs...) {
		if p.IsValue() && !slices.Contains(v.parts, p) {
			v.parts = append(v.parts, p)
		}
	}
	if len(v.parts) == 0 {
		return nil, extra, nil
	}
	if len(v.parts) > traffic.MaxValues {
		return nil, nil, fmt.Errorf("keys and costs go by %d segments, fields, headers and cookies: at most %d at once", len(v.parts), traffic.MaxValues)
	}
	extra = slices.Clone(extra)
	for _, p := range v.parts {
		var names []string
		switch p.Kind {
		case request.PartField:
			names = []string{p.Name}
		case request.PartHeader:
			names = []string{p.String()}
		case request.PartCookie:
			names = []string{p.String(), cookies}
		}
		at := make([]int, len(names))
		for i, name := range names {
			at[i], extra = placeOf(name, extra)
		}
		v.at = append(v.at, at)
	}
	return v, extra, tooMany(extra)
}

// Parts returns the part of keys that each value is; nil for nil Values.
func (v *Values) Parts() []request.Part {
	if v == nil {
		return nil
	}
	return v.parts
}

// Has reports whether a format has part i. One of JSON may have any.
func (v *Values) Has(i int, f *parse.Format) bool {
	if v.parts[i].Kind == request.PartSegment {
		return f.Has(parse.FieldPath)
	}
	return slices.ContainsFunc(v.at[i], f.HasExtra) || v.parts[i].Name == wholeTarget && f.Has(parse.FieldPath)
}

// Of returns part i of a request, nil if that has none. It is valid as long as the record.
func (v *Values) Of(i int, r *parse.Record) []byte {
	p, at := v.parts[i], v.at[i]
	if p.Kind == request.PartSegment {
		return logged(segment(p.N, r))
	}
	value := logged(r.Extra[at[0]])
	switch {
	case value != nil:
	case p.Kind == request.PartCookie:
		value = logged(cookie(p.Name, r.Extra[at[1]]))
	case p.Kind == request.PartField && p.Name == wholeTarget:
		value = r.Path
	}
	return value
}

// Counts reports whether a text does as part i: of a cost only a number does.
func (v *Values) Counts(i int, text []byte) bool {
	if !v.parts[i].Number {
		return text != nil
	}
	_, ok := parse.RoundUp(text)
	return ok
}

// logged returns a value, nil for what servers log where there is none.
func logged(value []byte) []byte {
	if len(value) == 0 || len(value) == 1 && value[0] == '-' {
		return nil
	}
	return value
}

// segment returns the nth segment of a request's path: c of /a/b/c is the third.
func segment(n int, r *parse.Record) []byte {
	if !IsHTTP(r.Method, r.Path) {
		return nil
	}
	path := PathOf(r.Path)
	for range n {
		slash := bytes.IndexByte(path, '/')
		if slash < 0 {
			return nil
		}
		path = path[slash+1:]
	}
	if end := bytes.IndexByte(path, '/'); end >= 0 {
		path = path[:end]
	}
	return path
}

// cookie returns the value of a cookie in a header (RFC 6265, 4.2.1).
func cookie(name string, header []byte) []byte {
	for len(header) > 0 {
		pair := header
		if end := bytes.IndexByte(header, ';'); end >= 0 {
			pair, header = header[:end], header[end+1:]
		} else {
			header = nil
		}
		pair = bytes.TrimLeft(pair, " ")
		if len(pair) > len(name) && pair[len(name)] == '=' && string(pair[:len(name)]) == name {
			return bytes.Trim(pair[len(name)+1:], `"`)
		}
	}
	return nil
}
