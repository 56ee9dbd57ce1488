package parse

import (
	"math"
	"slices"
	"strings"
	"testing"

	"shadow/limit"
)

// readJSON parses one line with the known names, or with those of a mapping besides.
func readJSON(t *testing.T, mapping, line string, extra ...string) (string, Fault) {
	t.Helper()
	var m FieldMapping
	if mapping != "" {
		var err error
		if m, err = ParseFieldMapping(mapping); err != nil {
			t.Fatal(err)
		}
	}
	f, err := CompileJSON(m.WithKnown(), Options{Extra: extra})
	if err != nil {
		t.Fatal(err)
	}
	var r Record
	fault := f.NewParser().Parse([]byte(line), &r)
	return show(&r), fault
}

func TestJSON(t *testing.T) {
	for _, c := range []struct{ name, mapping, line, want string }{
		{
			"nginx", "",
			`{"time_local":"01/Jan/2026:01:00:10 +0100","remote_addr":"192.0.2.7","request_time":0.250,"request":"GET /a?b HTTP/2.0","status":200,"body_bytes_sent":100,"http_user_agent":"curl/8"}`,
			"2026-01-01T00:00:10 start=2026-01-01T00:00:09.75 client=192.0.2.7 method=GET path=/a?b agent=curl/8 status=200 bytes=100 took=250000",
		},
		{
			"nginx logs all as strings, and nothing as an empty one", "",
			`{"msec":"1767225610.250","time_local":"01/Jan/2026:00:00:10 +0000","remote_addr":"2001:db8::7","remote_user":"","request":"POST /x HTTP/1.1","status":"404","body_bytes_sent":"12","request_time":"0.004","upstream_response_time":"0.001, 0.002 : -","http_referer":"","http_user_agent":"-"}`,
			"2026-01-01T00:00:10.25 start=2026-01-01T00:00:10.246 client=2001:db8::7 method=POST path=/x status=404 bytes=12 took=4000 upstream=3000",
		},
		{
			"caddy", "",
			`{"level":"info","ts":1767225610.2504999,"request":{"remote_ip":"10.0.0.1","client_ip":"192.0.2.7","method":"GET","host":"example.org:8080","uri":"/","headers":{"User-Agent":["curl/8","second"],"Accept":[]}},"user_id":"","size":312,"status":200}`,
			"2026-01-01T00:00:10.250499 client=192.0.2.7 method=GET path=/ host=example.org agent=curl/8 status=200 bytes=312",
		},
		{
			"traefik stamps the start, and a list of addresses begins with the client", "",
			`{"ClientHost":"192.0.2.7, 10.0.0.1","ClientUsername":"-","DownstreamContentSize":0,"DownstreamStatus":204,"Duration":2337877,"OriginDuration":823492,"RequestMethod":"OPTIONS","RequestPath":"/s","StartUTC":"2026-01-01T00:00:10.645779561Z","time":"2026-01-01T00:00:11Z"}`,
			"2026-01-01T00:00:10.645779 client=192.0.2.7 method=OPTIONS path=/s forwarded=192.0.2.7, 10.0.0.1 status=204 took=2337 upstream=823",
		},
		{
			"other names", "time=when,client=who.addr,agent=who.browser,request_time_ms=took",
			`{"when":1767225610250,"took":1.5,"who":{"addr":"[2001:db8::7]:443","browser":"x"},"url":"/p"}`,
			"2026-01-01T00:00:10.25 start=2026-01-01T00:00:10.2485 client=2001:db8::7 path=/p agent=x took=1500",
		},
		{
			"a flat key with points", "",
			`{"@timestamp":"2026-01-01T00:00:10,5Z","client.ip":"192.0.2.7:5000","url.original":"/p"}`,
			"2026-01-01T00:00:10.5 client=192.0.2.7 path=/p",
		},
		{
			"escapes", "",
			`{"ts":1767225610,"client_ip":"192.0.2.7","uri":"\/\u00e9\ud83d\ude00\"\\","user_\u0061gent":"a\tb\x22c\ud800"}`,
			"2026-01-01T00:00:10 client=192.0.2.7 path=/é😀\"\\ agent=a\\x09b\"c\ufffd",
		},
		{
			"of equal keys the last, of several keys the best that says something", "",
			`{"ts":1,"client_ip":"192.0.2.1","client_ip":"192.0.2.2","remote_addr":"-","status":200,"status":404,"user":"a","user":null}`,
			"1970-01-01T00:00:01 client=192.0.2.2 status=404",
		},
		{
			"what nginx leaves out without quotes", "",
			`{"ts":1,"client_ip":"192.0.2.1","upstream_response_time":-,"body_bytes_sent": ,"request_time":}`,
			"1970-01-01T00:00:01 client=192.0.2.1",
		},
		{"a request line that is not HTTP", "", `{"ts":1,"client_ip":"192.0.2.1","request":"\x16\x03"}`, "1970-01-01T00:00:01 client=192.0.2.1 path=\\x16\\x03 not HTTP"},
		{"an empty request line", "", `{"ts":1,"client_ip":"192.0.2.1","request":"","status":"400"}`, "1970-01-01T00:00:01 client=192.0.2.1 status=400 not HTTP"},
		{"a request line that is a path", "", `{"ts":1,"client_ip":"192.0.2.1","request":"/a"}`, "1970-01-01T00:00:01 client=192.0.2.1 path=/a"},
		{"neither method nor path", "", `{"ts":1,"client_ip":"192.0.2.1","method":"-","uri":"","status":400}`, "1970-01-01T00:00:01 client=192.0.2.1 status=400 not HTTP"},
		{"no method", "", `{"ts":1,"client_ip":"192.0.2.1","method":"","status":400}`, "1970-01-01T00:00:01 client=192.0.2.1 status=400"},
		{"no keys of the request", "", `{"ts":1,"client_ip":"192.0.2.1","status":400}`, "1970-01-01T00:00:01 client=192.0.2.1 status=400"},
		{"no request line, but its parts", "", `{"ts":1,"client_ip":"192.0.2.1","request":"","method":"GET","uri":"/a"}`, "1970-01-01T00:00:01 client=192.0.2.1 method=GET path=/a"},
		{"white space", "", " { \"ts\" : 1 ,\t\"client_ip\" : \"192.0.2.1\" } \r", "1970-01-01T00:00:01 client=192.0.2.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fault := readJSON(t, c.mapping, c.line)
			if !fault.OK() {
				t.Fatalf("cannot read %s\n%+v", c.line, fault)
			}
			if got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.line, got, c.want)
			}
		})
	}
}

func TestJSONFaults(t *testing.T) {
	for _, c := range []struct {
		line, reason string
		column       int
	}{
		{``, "not a JSON object", 1},
		{`[1]`, "not a JSON object", 1},
		{`{"ts":1`, "the line ends inside the JSON object", 8},
		{`{"ts":1,"client_ip":"192.0`, "the line ends inside a string", 27},
		{`{"ts":1,"client_ip":"a"`, "the line ends inside the JSON object", 24},
		{`{"ts":1 "a":2}`, "no comma or brace after a value of an object", 9},
		{`{"ts":1,"client_ip":"a"} x`, "something follows the JSON object", 26},
		{`{"ts":1,}`, "no key where one is expected in an object", 9},
		{`{"ts" 1}`, "no colon after a key", 7},
		{`{"ts":[1 2]}`, "no comma or bracket after an element of an array", 10},
		{`{"ts":[,]}`, "neither a string nor a number, true, false or null", 8},
		{`{"ts":01}`, "neither a string nor a number, true, false or null", 7},
		{`{"ts":1,"client_ip":"\q"}`, "an escape in a string that JSON does not have", 22},
		{`{"ts":1,"client_ip":"\u12g4"}`, "an escape in a string that JSON does not have", 22},
		{"{\"ts\":1,\"client_ip\":\"a\x00b\"}", "a control character in a string", 23},
		{`{"client_ip":"a"}`, "no time", 1},
		{`{"ts":"noon","client_ip":"a"}`, "the time is neither ISO 8601 nor seconds since 1970 nor as in $time_local", 8},
		{`{"ts":1,"client_ip":"a","status":"OK"}`, "the status is not a number of three digits", 35},
		{`{"ts":1,"client_ip":"a","bytes":true}`, "the size is not a number", 33},
		{`{"ts":1,"client_ip":"a","request_time":"soon"}`, "the request time is not a duration", 41},
		{`{"ts":1,"msg":"started"}`, "an object without client, path and status: not a request", 1},
		{`{"a":` + strings.Repeat("[", 100000), "objects nest too deep", 69},
	} {
		_, fault := readJSON(t, "", c.line)
		if want := (Fault{c.reason, c.column}); fault != want {
			t.Errorf("%.60s\n got %+v\nwant %+v", c.line, fault, want)
		}
	}
}

func TestJSONExtra(t *testing.T) {
	line := `{"ts":1,"client_ip":"192.0.2.1","session":"-","request":{"headers":{"X-Api-Key":["k1","k2"]}}}`
	got, fault := readJSON(t, "", line, "session", "request.headers.X-Api-Key", "absent")
	if want := "1970-01-01T00:00:01 client=192.0.2.1 x0=- x1=k1"; got != want || !fault.OK() {
		t.Errorf("got %s %+v\nwant %s", got, fault, want)
	}
	for _, line := range []string{
		`{"ts":1,"client_ip":"192.0.2.1","request":{"headers":{"X-Api-Key":["k1"]}}}`,
		`{"ts":1,"client_ip":"192.0.2.1","request_X-Api-Key":"k1"}`,
		`{"ts":1,"client_ip":"192.0.2.1","x-api-key":"k1","request_X-Api-Key":"k2"}`,
	} {
		if got, fault := readJSON(t, "", line, "x-api-key"); got != "1970-01-01T00:00:01 client=192.0.2.1 x0=k1" {
			t.Errorf("%s\n got %s %+v", line, got, fault)
		}
	}
}

func TestEpochMagnitude(t *testing.T) {
	for text, want := range map[string]limit.Time{
		"0":                    0,
		"1767225610":           1767225610_000000,
		"1767225610.25":        1767225610_250000,
		"1.76722561025e9":      1767225610_250000,
		"1767225610250":        1767225610_250000,
		"1767225610250.5":      1767225610_250500,
		"1767225610250111":     1767225610_250111,
		"1767225610250111222":  1767225610_250111,
		"-1.5":                 -1_500000,
		"99999999999":          99999999999_000000,
		"1767225610.250111999": 1767225610_250111,
	} {
		if got, ok := Epoch([]byte(text)); !ok || got != want {
			t.Errorf("epoch(%s) = %d, %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "-", ".", "1.", "1x", "1e999", "99999999999999999999999999"} {
		if got, ok := Epoch([]byte(text)); ok {
			t.Errorf("epoch(%s) = %d, want none", text, got)
		}
	}
}

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		text string
		unit int8
		want limit.Time
	}{
		{"0.004", UnitSeconds, 4000},
		{"12", unitMillis, 12000},
		{"2337877", unitNanos, 2337},
		{"1.5e-3", UnitSeconds, 1500},
		{"350µs", UnitSeconds, 350},
		{"1m2.5s", unitNanos, 62_500000},
		{"1.25ms", UnitSeconds, 1250},
	} {
		if got, ok := Duration([]byte(c.text), c.unit); !ok || got != c.want {
			t.Errorf("duration(%s) = %d, %v, want %d", c.text, got, ok, c.want)
		}
	}
	for _, text := range []string{"", "-", "-1", "1 s", "s", "1e300", "99999999999999"} {
		if got, ok := Duration([]byte(text), UnitSeconds); ok {
			t.Errorf("duration(%q) = %d, want none", text, got)
		}
	}
}

// The times of many upstreams do not wrap around.
func TestDurationsAddUp(t *testing.T) {
	if got, ok := Durations([]byte("0.1, 0.2 : - , 1"), UnitSeconds); !ok || got != 1_300000 {
		t.Errorf("got %d, %v", got, ok)
	}
	if got, ok := Durations([]byte("-"), UnitSeconds); !ok || got != NotLogged {
		t.Errorf("got %d, %v", got, ok)
	}
	if got, ok := Durations([]byte(strings.Repeat("860000000,", 20000)), UnitSeconds); ok {
		t.Errorf("got %d, want none", got)
	}
}

func TestJSONDoesNotAllocate(t *testing.T) {
	for _, known := range KnownJSON {
		m, err := ParseFieldMapping(known.Mapping)
		if err != nil {
			t.Fatal(err)
		}
		f, err := CompileJSON(m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, line, work := f.NewParser(), []byte(known.Example+"  "), make([]byte, 0, 1000)
		var r Record
		allocs := testing.AllocsPerRun(100, func() {
			work = append(work[:0], line...) // because escapes are undone in it
			if fault := p.Parse(work, &r); !fault.OK() {
				t.Fatalf("%s: %+v", known.Name, fault)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations a line, want none", known.Name, allocs)
		}
	}
}

func BenchmarkJSON(b *testing.B) {
	known := KnownJSON[len(KnownJSON)-1]
	mapping, err := ParseFieldMapping(known.Mapping)
	if err != nil {
		b.Fatal(err)
	}
	f, err := CompileJSON(mapping, Options{})
	if err != nil {
		b.Fatal(err)
	}
	p, line := f.NewParser(), []byte(known.Example)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	var r Record
	for b.Loop() {
		p.Parse(line, &r)
	}
}

// Several records of OpenTelemetry in a line are a fault: counting the first alone would lose the others.
func TestJSONOfSeveralRequests(t *testing.T) {
	for _, line := range []string{
		`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1767225600250000000","attributes":[]},{"timeUnixNano":"1","attributes":[]}]}]}]}`,
		`{"resourceLogs":[{"scopeLogs":[{"logRecords":[]},{"logRecords":[]}]}]}`,
	} {
		i := slices.IndexFunc(KnownJSON, func(k struct{ Name, Mapping, Example, Summary string }) bool { return k.Name == "otlp json" })
		m, err := ParseFieldMapping(KnownJSON[i].Mapping)
		if err != nil {
			t.Fatal(err)
		}
		f, err := CompileJSON(m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if fault := f.NewParser().Parse([]byte(line), new(Record)); !strings.HasPrefix(fault.Reason, "several requests") {
			t.Errorf("%+v of %s", fault, line)
		}
	}
}

// The time of what a line is wrapped in counts for lines that have none, and only for these.
func TestTimeOfWrapping(t *testing.T) {
	for _, c := range []struct{ name, format, line, want string }{
		{"none of its own", `$remote_addr "$request" $status`, `2026-01-01T00:00:10.25Z stdout F 192.0.2.7 "GET / HTTP/1.1" 200`, "2026-01-01T00:00:10.25 client=192.0.2.7 method=GET path=/ status=200"},
		{
			"written behind the request", `$remote_addr "$request" $status $request_time`, `2026-01-01T00:00:10.25Z stdout F 192.0.2.7 "GET / HTTP/1.1" 200 0.250`,
			"2026-01-01T00:00:10.25 start=2026-01-01T00:00:10 client=192.0.2.7 method=GET path=/ status=200 took=250000",
		},
		{"its own", `$remote_addr [$time_local]`, `2026-01-01T00:00:10.25Z stdout F 192.0.2.7 [01/Jan/2026:00:00:09 +0000]`, "2026-01-01T00:00:09 client=192.0.2.7"},
		{"no time at all", `$remote_addr "$request" $status`, `192.0.2.7 "GET / HTTP/1.1" 200`, "no time"},
	} {
		f, err := Compile(c.format, Options{Timeless: true})
		if err != nil {
			t.Fatal(err)
		}
		wrapping := TextWrapping([][]byte{[]byte(`2026-01-01T00:00:10.25Z stdout F x`)})
		var r Record
		fault := f.In(wrapping).NewParser().Parse([]byte(c.line), &r)
		got := fault.Reason
		if fault.OK() {
			got = show(&r)
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	if _, err := Compile(`$remote_addr "$request"`, Options{}); err == nil {
		t.Error("a format without a time is taken where nothing is around the line")
	}
}

func TestRoundUp(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "7": 7, "7.0": 7, "7.01": 8, "0.001": 1, "-0.5": 0, "-7": 0, "1e3": 1000, "12.5e-1": 2, "1e-400": 1, "007": 7,
		"123456789012345678": 123456789012345678, "9223372036854775808": math.MaxInt64, "1e400": math.MaxInt64, "-1e400": 0, "0e400": 0,
	} {
		if got, ok := RoundUp([]byte(text)); got != want || !ok {
			t.Errorf("%s is %d, %t, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "-", "+7", "7.", ".5", "7 ", "1,5", "0x7", "1e", "n/a", "Inf", "NaN"} {
		if got, ok := RoundUp([]byte(text)); ok {
			t.Errorf("%q is %d, want no number", text, got)
		}
	}
}
