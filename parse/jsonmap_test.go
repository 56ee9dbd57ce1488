package parse

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestFieldMappingText(t *testing.T) {
	for text, want := range map[string]string{
		"time=ts":                                  "time=ts",
		" client = a | b.c , time = ts,":           "time=ts,client=a|b.c",
		"request_time_ms=took,start=t,client=a":    "start=t,client=a,request_time_ms=took",
		"time=a,time=b":                            "time=a|b",
		"agent=request.headers.User-Agent,time=ts": "time=ts,agent=request.headers.User-Agent",
	} {
		m, err := ParseFieldMapping(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := m.String(); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		again, err := ParseFieldMapping(m.String())
		if err != nil || again.String() != m.String() {
			t.Errorf("%q does not read back: %q, %v", m, again, err)
		}
	}
}

func TestFieldMappingErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":           "names no field",
		"time":       "want FIELD=KEY",
		"time=":      "want FIELD=KEY",
		"colour=red": `no field "colour", but time, start, client`,
	} {
		if _, err := ParseFieldMapping(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"client=a":                               "has no time",
		"time=ts,host=|":                         "want one to 16 names",
		"time=" + strings.Repeat("a.", 16) + "a": "want one to 16 names",
	} {
		m, err := ParseFieldMapping(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := CompileJSON(m, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// What a mapping states takes the place of the known names, and of those that would win over it.
func TestFieldMappingWithKnown(t *testing.T) {
	for _, c := range []struct{ mapping, line, want string }{
		{"path=route", `{"ts":1,"ip":"a","request":"GET /x HTTP/1.1","route":"/y","method":"PUT"}`, "1970-01-01T00:00:01 client=a method=PUT path=/y"},
		{"time=logged", `{"logged":5,"StartUTC":"2026-01-01T00:00:00Z","ip":"a"}`, "1970-01-01T00:00:05 client=a"},
		{"start=began", `{"ts":9,"began":5,"ip":"a","request_time":1}`, "1970-01-01T00:00:05 client=a took=1000000"},
		{"request_time_ms=t", `{"ts":9,"t":5,"ip":"a","request_time":1}`, "1970-01-01T00:00:09 start=1970-01-01T00:00:08.995 client=a took=5000"},
		{"request_time=t_us", `{"ts":9,"t_us":5,"ip":"a"}`, "1970-01-01T00:00:09 start=1970-01-01T00:00:08.999995 client=a took=5"},
	} {
		if got, fault := readJSON(t, c.mapping, c.line); got != c.want {
			t.Errorf("%s\n got %s %+v\nwant %s", c.line, got, fault, c.want)
		}
	}
}

func TestFieldMappingHas(t *testing.T) {
	f, err := CompileJSON(FieldMapping{"start": {"t"}, "request": {"r"}, "client": {"c"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[Field]bool{
		FieldTime: true, FieldMethod: true, FieldPath: true, FieldClient: true, FieldAgent: false, FieldRequestTime: false,
	} {
		if f.Has(field) != want {
			t.Errorf("Has(%d) = %v", field, !want)
		}
	}
}

// Found looks for all keys at once. The truth looks for each of them alone.
func TestFieldMappingFound(t *testing.T) {
	lines := [][]byte{
		[]byte(`{"ts":1,"request":{"uri":"/","client_ip":"192.0.2.7"},"status":"-","agent":"","size":0,"size":null}`),
		[]byte(`{"request.uri":"/","http_host":"a","http_host":"","user":"-","user":"b","ua":["x"],"msec":null}`),
		[]byte(`{"remote\u005fuser":"c","verb":"GE\u0054"} broken`),
		[]byte(`{"remote\u005faddr":"c","request_time":{"a":1}}`),
		[]byte("no object"),
	}
	m := FieldMapping{"path": {"a..b", "", strings.Repeat("a.", maxKeyPath) + "b", "request.uri"}, "user": {"user"}}.WithKnown()
	for n := range len(lines) + 1 {
		want := FieldMapping{}
		for field, keys := range m {
			for _, key := range keys {
				tree, err := newJSONTree(FieldMapping{field: {key}}, nil)
				if err == nil && slices.ContainsFunc(lines[:n], func(line []byte) bool {
					var s jsonScanner
					return s.scan(bytes.Clone(line), tree) && slices.ContainsFunc(s.found[:], func(v jsonValue) bool { return v.text != nil })
				}) {
					want[field] = append(want[field], key)
				}
			}
		}
		if !want.has("time") && !want.has("start") {
			want["time"] = m["time"]
		}
		if got := m.Found(lines[:n]).Timed(m); got.String() != want.String() {
			t.Errorf("%d lines: %s, want %s", n, got, want)
		}
	}
}
