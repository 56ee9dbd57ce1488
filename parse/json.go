package parse

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"shadow/limit"
)

// A JSON line is read in two steps. The scanner (jsonscan.go) walks the whole line and notes where the values of the
// mapping stand; what follows here makes a Record of them, in the order in which fields depend on each other. Numbers
// may be written as strings: nginx knows nothing but strings.

// CompileJSON makes a format of the keys that a mapping names, and of no others: see FieldMapping.WithKnown.
func CompileJSON(m FieldMapping, o Options) (*Format, error) {
	return CompileNamedJSON("json", m, o)
}

// CompileNamedJSON is CompileJSON for a format with a name of its own.
func CompileNamedJSON(name string, m FieldMapping, o Options) (*Format, error) {
	if len(o.Extra) > MaxExtra {
		return nil, fmt.Errorf("at most %d further fields can be read, not %d", MaxExtra, len(o.Extra))
	}
	m = m.under(o.Fields)
	if !m.has("time") && !m.has("start") && !o.Timeless {
		return nil, fmt.Errorf("the field mapping %q has no time", m)
	}
	tree, err := newJSONTree(m, o.Extra)
	if err != nil {
		return nil, err
	}
	f := &Format{Name: name, Text: m.String(), fields: m.fields(), zone: o.Zone}
	for i := range o.Extra {
		f.extra[i] = true
	}
	f.parser = func() Parser {
		return &jsonParser{tree: tree, clock: clock{zone: o.Zone}, timeless: o.Timeless, whole: m.Whole(false)}
	}
	return f, nil
}

// fields reports which fields a mapping can fill.
func (m FieldMapping) fields() (has [fieldCount]bool) {
	for _, f := range jsonFields {
		switch {
		case !m.has(f.name) || f.slot == slotQuery:
		case f.slot == slotStart:
			has[FieldTime] = true
		case f.slot == slotRequest:
			has[FieldMethod], has[FieldPath] = true, true
		default:
			has[f.slot] = true
		}
	}
	has[FieldForwarded] = has[FieldForwarded] || slices.ContainsFunc(m["client"], isAppended) && len(m["client"]) == 1
	return has
}

type jsonParser struct {
	jsonScanner
	tree     *jsonNode
	clock    clock
	timeless bool
	whole    bool // whether requests have client and path
}

// Parse implements Parser.
func (p *jsonParser) Parse(line []byte, r *Record) Fault {
	*r = blank
	if p.scan(line, p.tree) && p.fill(r) {
		return Fault{}
	}
	*r = blank
	return p.fault
}

// fill makes a record of what was found.
func (p *jsonParser) fill(r *Record) bool {
	return p.fillTexts(r) && p.fillNumbers(r) && p.fillTimes(r)
}

// fillTexts fills what is taken as it is. A request line has more than method and path apart, so it goes first.
func (p *jsonParser) fillTexts(r *Record) bool {
	text := func(f Field) []byte { return p.found[f].text }
	r.Client, r.User, r.Host = text(FieldClient), text(FieldUser), text(FieldHost)
	r.Referer, r.Agent, r.Forwarded = text(FieldReferer), text(FieldAgent), text(FieldForwarded)
	if p.found[FieldReferer].unit == percentEncoded {
		r.Referer = percentDecode(r.Referer)
	}
	if p.found[FieldAgent].unit == percentEncoded {
		r.Agent = percentDecode(r.Agent)
	}
	r.Route, r.Identity = text(FieldRoute), text(FieldIdentity)
	if p.found[FieldClient].unit == appended {
		if r.Forwarded == nil {
			r.Forwarded = r.Client
		}
		r.Client = bytes.TrimLeft(r.Client[bytes.LastIndexByte(r.Client, ',')+1:], " ")
	}
	cleanAddresses(r)
	request := p.found[slotRequest].text
	if request != nil {
		r.Method, r.Path = requestParts(request)
	}
	if r.Method == nil {
		r.Method = text(FieldMethod)
	}
	if r.Path == nil {
		if r.Path = text(FieldPath); r.Path != nil && p.found[FieldPath].unit != queried {
			r.Path = withQuery(r.Path, p.found[slotQuery].text)
		}
	}
	r.NotHTTP = r.Method == nil && text(FieldPath) == nil && p.notHTTP(request)
	for i := range r.Extra {
		r.Extra[i] = p.found[slotExtra+slot(i)].text
	}
	switch none := r.Client == nil && r.Path == nil && r.Method == nil; {
	case none && p.whole && p.found[FieldStatus].text != nil: // fastify writes a second line when it has answered
		p.fault = Comment
		return false
	case none && p.found[FieldStatus].text == nil:
		return p.failAt(jsonValue{}, "an object without client, path and status: not a request")
	}
	return true
}

// notHTTP reports whether an object without a method and a path is one that had no request: its request line is not
// HTTP, or the keys of the request are there and say nothing. What has none of these keys says nothing about its
// request, and there are loggers that write the path alone as the request.
func (p *jsonParser) notHTTP(request []byte) bool {
	const both = 1<<FieldMethod | 1<<FieldPath
	if request != nil {
		return request[0] != '/'
	}
	return p.blank&(1<<slotRequest) != 0 || p.blank&both == both
}

func (p *jsonParser) fillNumbers(r *Record) bool {
	if v := p.found[FieldStatus]; v.text != nil {
		status, ok := wholeNumber(v.text)
		if !ok || status < 0 || status > 999 {
			return p.failAt(v, "the status is not a number of three digits")
		}
		r.Status = int32(status)
	}
	if v := p.found[FieldBytes]; v.text != nil {
		size, ok := wholeNumber(v.text)
		if !ok || size < 0 {
			return p.failAt(v, "the size is not a number")
		}
		r.Bytes = size
	}
	if v := p.found[FieldRequestTime]; v.text != nil {
		took, ok := Duration(v.text, v.unit)
		if !ok {
			return p.failAt(v, "the request time is not a duration")
		}
		r.RequestTime = took
	}
	if v := p.found[FieldUpstreamTime]; v.text != nil {
		took, ok := Durations(v.text, v.unit)
		if !ok {
			return p.failAt(v, "the upstream time is not a duration")
		}
		r.UpstreamTime = took
	}
	return true
}

// fillTimes prefers a time that is the start. Any other stamp is taken as nginx's: the end.
func (p *jsonParser) fillTimes(r *Record) bool {
	v, isStart := p.found[slotStart], true
	if v.text == nil {
		v, isStart = p.found[FieldTime], false
	}
	if v.text == nil && p.timeless {
		r.Stamp = noStamp
		return true
	}
	if v.text == nil {
		return p.failAt(jsonValue{}, "no time")
	}
	stamp, ok := p.clock.any(v.text)
	if !ok {
		return p.failAt(v, "the time is neither ISO 8601 nor seconds since 1970 nor as in $time_local")
	}
	r.Stamp, r.Start = stamp, stamp
	if !isStart && r.RequestTime != NotLogged {
		r.Start -= r.RequestTime
	}
	return true
}

// any reads a time of any kind, which must be all of text but for brackets around it or a tag before it: "[GIN] ".
func (c *clock) any(text []byte) (limit.Time, bool) {
	if t, ok := Epoch(text); ok {
		return t, true
	}
	if len(text) > 1 && text[0] == '[' {
		text = bytes.TrimSuffix(text[1:], []byte("]"))
		text = bytes.TrimLeft(text[bytes.LastIndexByte(text, ']')+1:], " ")
	}
	if t, n, reason := c.iso(text); reason == "" && n == len(text) {
		return t, true
	}
	if t, n, reason := c.local(text); reason == "" && n == len(text) {
		return t, true
	}
	for range otherTimes() {
		if t, n := c.strptime(otherTimes()[c.form], text); n == len(text) {
			return t, true
		}
		c.form = (c.form + 1) % len(otherTimes())
	}
	return 0, false
}

// otherTimes are more spellings, as loggers of frameworks, Kibana and programs of C have them.
var otherTimes = sync.OnceValue(func() (all []strptime) {
	for _, text := range []string{
		"%Y/%m/%d - %H:%M:%S", "%b %e, %Y @ %H:%M:%S", "%a, %d %b %Y %H:%M:%S", "%a %b %e %H:%M:%S %Y", "%d %b %Y %H:%M:%S",
		"%d-%b-%Y %H:%M:%S", "%b %e, %Y %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%Y%m%dT%H%M%S",
	} {
		l, err := parseStrptime(text)
		if err != nil {
			panic(err)
		}
		all = append(all, l)
	}
	return all
})

// strptime reads a time as l spells it, with a fraction and a zone or not. The length is 0 if it is none.
func (c *clock) strptime(l strptime, text []byte) (t limit.Time, n int) {
	var parts timestampParts
	if n = parts.read(l, text); n <= 0 || !parts.valid() {
		return 0, 0
	}
	return c.finish(parts.unix(), text, n)
}

func (p *jsonParser) failAt(v jsonValue, reason string) bool {
	p.fault = Fault{Reason: reason, Column: v.at + 1}
	return false
}

// Durations adds up what nginx writes for several upstreams: "0.010, 0.020 : -".
func Durations(b []byte, unit int8) (sum limit.Time, ok bool) {
	sum = NotLogged
	for len(b) > 0 {
		end := bytes.IndexAny(b, ",:")
		part := b
		if end < 0 {
			b = nil
		} else {
			part, b = b[:end], b[end+1:]
		}
		if part = bytes.TrimSpace(part); len(part) == 0 || string(part) == "-" {
			continue
		}
		d, ok := Duration(part, unit)
		if !ok || max(sum, 0) > maxDuration-d {
			return 0, false
		}
		sum = max(sum, 0) + d
	}
	return sum, true
}
