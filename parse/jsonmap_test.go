package parse

import (
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
