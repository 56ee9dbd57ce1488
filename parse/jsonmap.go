package parse

import (
	"fmt"
	"maps"
	"strings"
)

// A FieldMapping says which JSON keys hold which field of a request: for each field the keys that may hold it, the
// best first. As text, fields stand side by side and alternatives apart by a bar:
//
//	time=ts,client=request.client_ip|request.remote_ip,agent=request.headers.User-Agent
//
// A key is a path: request.uri is "uri" within the object "request", and also the flat key "request.uri", as some
// loggers write it. Where the path leads to an array, its first element counts.
//
// The fields are those of Record, and three that are not: "request" is a whole request line ("GET / HTTP/1.1");
// "start" is a time at which the request began, while "time" is, as in nginx, the time at which the line was written;
// request_time and upstream_time are seconds, and with _ms, _us or _ns at their end the unit that this names.
type FieldMapping map[string][]string

// jsonFields are the left sides of a mapping, in the order in which its text states them.
var jsonFields = []struct {
	name string
	slot slot
	unit int8 // of a duration: the power of ten that makes it microseconds
}{
	{"time", slot(FieldTime), 0},
	{"start", slotStart, 0},
	{"client", slot(FieldClient), 0},
	{"user", slot(FieldUser), 0},
	{"request", slotRequest, 0},
	{"method", slot(FieldMethod), 0},
	{"path", slot(FieldPath), 0},
	{"host", slot(FieldHost), 0},
	{"referer", slot(FieldReferer), 0},
	{"agent", slot(FieldAgent), 0},
	{"forwarded", slot(FieldForwarded), 0},
	{"status", slot(FieldStatus), 0},
	{"bytes", slot(FieldBytes), 0},
	{"request_time", slot(FieldRequestTime), unitSeconds},
	{"request_time_ms", slot(FieldRequestTime), unitMillis},
	{"request_time_us", slot(FieldRequestTime), unitMicros},
	{"request_time_ns", slot(FieldRequestTime), unitNanos},
	{"upstream_time", slot(FieldUpstreamTime), unitSeconds},
	{"upstream_time_ms", slot(FieldUpstreamTime), unitMillis},
	{"upstream_time_us", slot(FieldUpstreamTime), unitMicros},
	{"upstream_time_ns", slot(FieldUpstreamTime), unitNanos},
}

// ParseFieldMapping reads a mapping as --field takes it.
func ParseFieldMapping(text string) (FieldMapping, error) {
	m := FieldMapping{}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		field, keys, ok := strings.Cut(part, "=")
		field = strings.TrimSpace(field)
		if !ok || keys == "" {
			return nil, fmt.Errorf("field mapping %q: want FIELD=KEY", part)
		}
		if !isJSONField(field) {
			return nil, fmt.Errorf("field mapping %q: there is no field %q, but %s", part, field, jsonFieldNames())
		}
		for key := range strings.SplitSeq(keys, "|") {
			m[field] = append(m[field], strings.TrimSpace(key))
		}
	}
	if len(m) == 0 {
		return nil, fmt.Errorf("field mapping %q names no field", text)
	}
	return m, nil
}

// String is the mapping as ParseFieldMapping reads it.
func (m FieldMapping) String() string {
	var parts []string
	for _, f := range jsonFields {
		if keys := m[f.name]; len(keys) > 0 {
			parts = append(parts, f.name+"="+strings.Join(keys, "|"))
		}
	}
	return strings.Join(parts, ",")
}

// WithKnown is the mapping with the names that are known anyway for each field that it leaves open.
func (m FieldMapping) WithKnown() FieldMapping {
	full := maps.Clone(m)
	if full == nil {
		full = FieldMapping{}
	}
	for field, keys := range knownJSONKeys {
		if !m.settles(field) {
			full[field] = keys
		}
	}
	return full
}

// settles reports whether the mapping says where a field is found, or another that tells the same and would give way.
func (m FieldMapping) settles(field string) bool {
	switch field {
	case "time", "start":
		return m.has("time") || m.has("start")
	case "request":
		return m.has("request") || m.has("method") || m.has("path")
	}
	for stated := range m {
		if durationBase(stated) == durationBase(field) {
			return true
		}
	}
	return false
}

func (m FieldMapping) has(field string) bool { return len(m[field]) > 0 }

// durationBase is the field without its unit: request_time for request_time_ms.
func durationBase(field string) string {
	for _, unit := range []string{"_ms", "_us", "_ns"} {
		if base, ok := strings.CutSuffix(field, unit); ok {
			return base
		}
	}
	return field
}

func isJSONField(name string) bool {
	for _, f := range jsonFields {
		if f.name == name {
			return true
		}
	}
	return false
}

func jsonFieldNames() string {
	names := make([]string, len(jsonFields))
	for i, f := range jsonFields {
		names[i] = f.name
	}
	return strings.Join(names, ", ")
}
