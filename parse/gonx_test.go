package parse

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
)

// TestGonxRefuses lists what would make gonx.NewParser loop forever, panic, or misread: each must come back at once.
func TestGonxRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`$time_local\\$status`:      "backslash behind a variable",
		`a$time_local\\b`:           "backslash behind a variable",
		`x$time_local]`:             "between a letter and ']'",
		`%t x%h.`:                   "between a letter and '.'",
		`%t $5`:                     "a $ that is not a variable",
		`%t $host %h`:               "a $ that is not a variable",
		"$time_local \xff$host":     "gonx cannot read it",
		`$time_local$status$host) `: "between a letter and ')'",
	} {
		_, err := Compile(text, Options{Gonx: true})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestGonxReads lists formats on which a naive call of gonx.NewParser hangs or goes wrong, and that ours reads.
func TestGonxReads(t *testing.T) {
	for _, c := range []struct{ format, line, want string }{
		{"$time_iso8601\t$status", "2000-10-10T13:55:36Z\t200", "status=200"},
		{`$time_iso8601\t$status`, "2000-10-10T13:55:36Z\t200", "status=200"},
		{`$time_iso8601 s$status`, "2000-10-10T13:55:36Z s200", "status=200"},
		{`$time_iso8601 ${request_time}ms`, "2000-10-10T13:55:36Z 2ms", "start=2000-10-10T13:55:34 took=2000000"},
		{` $time_iso8601 $host `, " 2000-10-10T13:55:36Z example.com ", "host=example.com"},
		{`$time_iso8601 $host$status`, "2000-10-10T13:55:36Z example.com200", ""},
		{`$time_iso8601 $host$server_port`, "2000-10-10T13:55:36Z example.com8080", "host=example.com8080"},
		{`$time_iso8601 $host $host`, "2000-10-10T13:55:36Z a b", "host=a"},
		{`%{%FT%T%z}t %h`, "2000-10-10T13:55:36+0000 192.0.2.1", "client=192.0.2.1"},
		{`%t %h`, "[10/Oct/2000:13:55:36 +0000] 192.0.2.1 more", "client=192.0.2.1 more"},
	} {
		f, err := Compile(c.format, Options{Gonx: true})
		if err != nil {
			t.Errorf("%s: %v", c.format, err)
			continue
		}
		var r Record
		fault := f.NewParser().Parse([]byte(c.line), &r)
		want := strings.TrimSpace("2000-10-10T13:55:36 " + c.want)
		if c.want == "" {
			if fault.Reason != "status is not a number" || fault.Column != 1 {
				t.Errorf("%s: %+v", c.format, fault)
			}
		} else if got := show(&r); got != want {
			t.Errorf("%s: %+v %s, want %s", c.format, fault, got, want)
		}
	}
}

// TestGonxLenient has a lenient format go through gonx.
func TestGonxLenient(t *testing.T) {
	f, err := CompileAs(nginxCombined, Options{Gonx: true}, "combined", true)
	if err != nil {
		t.Fatal(err)
	}
	p := f.NewParser()
	const common = `192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 12`
	for tail, want := range map[string]string{
		``: "", ` 0.3`: "", ` "http://a/"`: "http://a/ ", ` "http://a/" "curl"`: "http://a/ curl",
		` "http://a/" "curl" 0.33 "x"`: "http://a/ curl",
	} {
		var r Record
		fault := p.Parse([]byte(common+tail), &r)
		if got := string(r.Referer) + " " + string(r.Agent); strings.TrimSpace(got) != strings.TrimSpace(want) || !fault.OK() {
			t.Errorf("%q: %+v %q, want %q", tail, fault, got, want)
		}
	}
}

// TestTouchingVariablesGoToGonx has the only formats that the scanner hands over.
func TestTouchingVariablesGoToGonx(t *testing.T) {
	for text, fast := range map[string]bool{
		nginxCombined:                 true,
		`$time_local $host$uri`:       true,
		`$time_local $uri$args x`:     true,
		`$time_local$status`:          true,
		`$time_local $pipe$tcpinfo a`: true,
		`$time_local $status$host`:    false,
		`$time_local $host$status`:    false,
	} {
		f, err := Compile(text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, got := f.NewParser().(*scanner); got != fast {
			t.Errorf("%s: scanner %t, want %t", text, got, fast)
		}
	}
}

// TestScannerAgreesWithGonx reads generated lines both ways. Values hold anything but what the server would escape.
func TestScannerAgreesWithGonx(t *testing.T) {
	formats := []string{
		nginxCombined,
		nginxCombined + ` $request_time $upstream_response_time "$http_x_forwarded_for" $host`,
		`%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`,
		`$msec|$remote_addr|$status|$request_method|$request_uri|$http_user_agent`,
	}
	samples := map[fieldKind][]string{
		kindClient:    {"192.0.2.1", "2001:db8::1", "host.example.com", "[::1]:80", "-"},
		kindUser:      {"-", "alice", "a-b"},
		kindHost:      {"example.com", "example.com:8080", "-"},
		kindMethod:    {"GET", "POST"},
		kindPath:      {"/", "/a?b=c", "/ä%20"},
		kindRequest:   {"GET / HTTP/1.1", "-", "", `\x16\x03`, "POST /a b HTTP/1.0", "HEAD /"},
		kindReferer:   {"-", "http://example.com/?q=1", `\x22`, ""},
		kindAgent:     {"-", "Mozilla/5.0 (X11; Linux)", "curl\xff", ""},
		kindForwarded: {"-", "192.0.2.1, 192.0.2.2"},
		kindStatus:    {"200", "404", "-"},
		kindBytes:     {"0", "12345", "-"},
		kindSeconds:   {"0.000", "12.345", "-"},
		kindUpstream:  {"0.001", "-"},
		kindEpoch:     {"971211336.123", "0.000"},
		kindLocal:     {"10/Oct/2000:13:55:36 -0700", "29/Feb/2024:23:59:60 +0530"},
		kindSkip:      {"-", "x"},
	}
	for _, text := range formats {
		fast, slow := mustCompile(t, text, Options{}), mustCompile(t, text, Options{Gonx: true})
		tokens, _, err := takeApart(text)
		if err != nil {
			t.Fatal(err)
		}
		testneeds.Rapid(t, func(t *rapid.T) {
			var line bytes.Buffer
			for i := range tokens {
				line.WriteString(tokens[i].text)
				if tokens[i].variable() {
					line.WriteString(rapid.SampledFrom(samples[tokens[i].kind]).Draw(t, tokens[i].name))
				}
			}
			if rapid.IntRange(0, 9).Draw(t, "broken") == 0 {
				line.Truncate(rapid.IntRange(0, line.Len()).Draw(t, "length"))
			}
			var a, b Record
			fa, fb := fast.Parse(bytes.Clone(line.Bytes()), &a), slow.Parse(bytes.Clone(line.Bytes()), &b)
			if fa.OK() != fb.OK() || !sameRecord(&a, &b) {
				t.Fatalf("%s\nscanner %+v %s\n   gonx %+v %s", line.Bytes(), fa, show(&a), fb, show(&b))
			}
		})
	}
}

func mustCompile(t *testing.T, text string, o Options) Parser {
	t.Helper()
	f, err := Compile(text, o)
	if err != nil {
		t.Fatal(err)
	}
	return f.NewParser()
}

// TestGonxIsNotWaitedFor says how long a refusal may take: far less than the patience with a loop.
func TestGonxIsNotWaitedFor(t *testing.T) {
	start := time.Now()
	for i := range 50 {
		text := strings.Repeat("$host", i%5) + fmt.Sprintf("a$time_local%c$status", rune(32+i))
		if _, err := Compile(text, Options{Gonx: true}); err != nil && strings.Contains(err.Error(), "come to an end") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if time.Since(start) > gonxPatience {
		t.Errorf("took %v", time.Since(start))
	}
}
