package parse

import (
	"bytes"
	"slices"
	"testing"
)

// Values in columns are told apart by a separator, quotes and all.
func TestSplitColumns(t *testing.T) {
	for _, c := range []struct {
		line, separator string
		want            []string
	}{
		{`a,b,c`, ",", []string{"a", "b", "c"}},
		{`"a,b",c`, ",", []string{"a,b", "c"}},
		{`"say ""hi""",c`, ",", []string{`say "hi"`, "c"}},
		{`"say \"hi\"",c`, ",", []string{`say "hi"`, "c"}},
		{`"a"b,c`, ",", []string{`"a"b`, "c"}},
		{`"a`, ",", []string{`"a`}},
		{`a,,`, ",", []string{"a", "", ""}},
		{` a |  b | "c" `, "|", []string{"a", "b", "c"}},
		{`a - b-c - - - d`, " - ", []string{"a", "b-c", "-", "d"}},
		{"a\t\tb c", "\t", []string{"a", "", "b c"}},
		{"a   b c", " ", []string{"a", "b", "c"}},
	} {
		if got := SplitColumns(c.line, c.separator); !slices.Equal(got, c.want) {
			t.Errorf("%q at %q: %q, want %q", c.line, c.separator, got, c.want)
		}
	}
}

// Whatever lines hold, formats with names neither panic nor write beyond the line.
func FuzzNamedValues(f *testing.F) {
	for _, line := range []string{
		"time,client,request\n", `2026-01-01 00:00:00,192.0.2.7,"GET / HTTP/1.1"`, "[GIN] 2026/01/01 - 00:00:00|192.0.2.7|GET  \"/\"", "a=b, c=\"d\"", "a:b\tc:d", "date,time\n",
		`"[","]",`, "[,[],[ ]", "Jan 2, 2026 @ 00:00:00,a,b",
	} {
		f.Add([]byte(line))
	}
	var formats []*Format
	for _, header := range []string{"time,client,request,status", "date|time|client|request", "time request_time_ms client status", "time - client", "#fields\tts\turi"} {
		format, err := CompileColumns(header, Options{Extra: []string{"client"}})
		if err != nil {
			f.Fatal(err)
		}
		formats = append(formats, format)
	}
	for i := range pairSyntaxes {
		format, err := pairSyntaxes[i].Compile(FieldMapping(nil).WithKnown(), Options{})
		if err != nil {
			f.Fatal(err)
		}
		formats = append(formats, format)
	}
	formats = append(formats, Either(formats[0], formats[len(formats)-1]))
	f.Fuzz(func(t *testing.T, line []byte) {
		if len(line) == 0 || bytes.ContainsAny(line, "\r\n") {
			return
		}
		for _, format := range formats {
			room := append(bytes.Clone(line), "beyond"...)
			format.NewParser().Parse(room[:len(line)], new(Record))
			if !bytes.HasSuffix(room, []byte("beyond")) {
				t.Errorf("%s writes beyond %q", format.Name, line)
			}
		}
		Pairs([][]byte{line})
	})
}
