package parse

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"shadow/internal/testneeds"
	"shadow/parse/lex"
)

// slowCombined is the obvious twin of the scanner for the combined format: one regular expression, and package time.
var slowCombined = regexp.MustCompile(`(?s)^([^ ]*) - (.*?) \[(\d\d/[A-Za-z]{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] ` +
	`"((?:[^"\\]|\\.)*)" (\d{1,3}|-) (\d{0,18}|-) "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"$`)

// slowCombinedRead reads a line as far as it is ordinary; ok is false if it is not.
func slowCombinedRead(line string) (want Record, ok bool) {
	m := slowCombined.FindStringSubmatch(line)
	if m == nil || strings.Contains(m[2], " [") {
		return want, false
	}
	_, err := time.Parse(localLayouts[0], m[3])
	if err != nil || !ordinary.MatchString(m[3]) {
		return want, false
	}
	want = blank
	want.Stamp, _ = slowStamp(m[3], time.UTC, localLayouts[0])
	want.Start = want.Stamp
	undash := func(text string) []byte {
		if text == "-" {
			return nil
		}
		return lex.Unescape([]byte(text))
	}
	want.Client, want.User, want.Referer, want.Agent = host(undash(m[1])), undash(m[2]), undash(m[7]), undash(m[8])
	if string(want.User) == `""` {
		want.User = nil
	}
	if strings.Contains(m[4], " ") {
		return want, false // the script has requests in all shapes
	}
	want.Path, want.NotHTTP = undash(m[4]), true
	status, _ := lex.Integer([]byte(m[5]))
	size, _ := lex.Integer([]byte(m[6]))
	want.Status, want.Bytes = int32(status), size
	return want, true
}

// FuzzScan reads arbitrary lines by several formats, into a dirty record. Whatever a record holds must lie in the line,
// a line must read alike twice, and the twins must agree: a regular expression, and gonx where it can read the line.
func FuzzScan(f *testing.F) {
	formats := []string{
		nginxCombined,
		`$remote_addr [$time_iso8601] $request_time "$request" $upstream_response_time $http_x_forwarded_for ${status}s $session`,
		`%v:%p %h %u %t \"%r\" %>s %b %D %{session}C|%{User-Agent}i`,
		`[%{%Y-%m-%d %H:%M:%S}t.%{usec_frac}t] %a %m %U%q %{ms}T`,
		`$msec $host$request_uri "$http_user_agent" '$http_referer'`,
	}
	wants := Options{Extra: []string{"session", "http_user_agent"}, Zone: time.FixedZone("", 3600)}
	var parsers, slow []Parser
	for i, format := range formats {
		for _, lenient := range []bool{false, true} {
			c, err := CompileAs(format, wants, "", lenient)
			if err != nil {
				f.Fatal(i, err)
			}
			parsers = append(parsers, c.NewParser())
			if _, ok := parsers[len(parsers)-1].(*scanner); !ok {
				f.Fatalf("%s is not read by the scanner", format)
			}
		}
		withGonx := wants
		withGonx.Gonx = true
		c, err := Compile(format, withGonx)
		if err != nil {
			f.Fatal(i, err)
		}
		slow = append(slow, c.NewParser())
	}
	for _, line := range []string{
		benchLine,
		`192.0.2.1 - a\x20b [10/Oct/2000:13:55:36 -0700] "\x16\x03" 400 - "a\"b" "\\"`,
		`192.0.2.1 [2000-10-10T13:55:36Z] 0.1 "GET / HTTP/1.1" 0.1, 0.2 : - 192.0.2.7, 192.0.2.8 200s abc`,
		`example.com:80 192.0.2.1 - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 12 2500 abc|curl`,
		`[2016-09-02 10:42:51.003372] 192.0.2.1 GET /a?b 12`,
		`971211336.123 example.com/a "agent" 'http://example.com/'`,
		"[0000-01-01 00:00:00.000000] \x00,,   ", `192.0.2.1 [2000-10-10 13:55:36]  "000" 0 : 0s `,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, '\n') >= 0 {
			return
		}
		for i, p := range parsers {
			first, again := rubbish(), &Record{}
			mine, other := bytes.Clone(line), bytes.Clone(line)
			fault := p.Parse(mine, first)
			if other := p.Parse(other, again); other != fault || !sameRecord(first, again) {
				t.Fatalf("%q: %+v %s, then %+v %s", line, fault, show(first), other, show(again))
			}
			if fault.OK() {
				checkInside(t, mine, first)
			} else if fault.Column < 1 || fault.Column > len(line)+1 || !sameRecord(first, &blank) {
				t.Fatalf("%q: %+v %s", line, fault, show(first))
			}
			if i%2 == 0 && !strings.Contains(formats[i/2], "$host$request_uri") { // of which gonx takes all for the host
				checkGonx(t, slow[i/2], line, first, fault)
			}
			checkHead(t, p.(*scanner), line, fault, first)
			if want, ok := slowCombinedRead(string(line)); ok && i == 0 {
				want.Extra[1] = first.Extra[1]
				if !fault.OK() || !sameRecord(first, &want) {
					t.Fatalf("%q\n got %+v %s\nwant %s", line, fault, show(first), show(&want))
				}
			}
		}
	})
}

// checkHead reads the line once more without the quick way over its head, which must make no difference.
func checkHead(t *testing.T, p *scanner, line []byte, fault Fault, got *Record) {
	t.Helper()
	prog := *p.prog
	prog.head = false
	want := rubbish()
	twin := scanner{reader{prog: &prog, clock: clock{zone: p.clock.zone}}}
	if other := twin.Parse(bytes.Clone(line), want); other != fault || !sameRecord(got, want) {
		t.Fatalf("%q\n got %+v %s\nwant %+v %s", line, fault, show(got), other, show(want))
	}
}

// TestHead changes good lines in one place and then another, and reads them with and without the head.
func TestHead(t *testing.T) {
	c, err := CompileAs(nginxCombined, Options{}, "combined", true)
	if err != nil {
		t.Fatal(err)
	}
	p := c.NewParser().(*scanner)
	if !p.prog.head {
		t.Fatal("the combined format has no head")
	}
	rng := testneeds.Rand(t, 1, 2)
	const odd = `"" \\ --[]:,/09azAZ%` + "\x00\xff"
	heads := 0
	for range 200_000 {
		line := []byte(benchLine)
		for range rng.IntN(3) {
			line[rng.IntN(len(line))] = odd[rng.IntN(len(odd))]
		}
		line = line[:len(line)-rng.IntN(2)*rng.IntN(len(line))]
		var r Record
		if p.head(line, &r) > 0 {
			heads++
		}
		fault := p.Parse(bytes.Clone(line), &r)
		checkHead(t, p, line, fault, &r)
	}
	if heads < 50_000 || heads > 150_000 {
		t.Errorf("%d of 200,000 lines were read by their heads", heads)
	}
}

// checkInside reports whether all texts lie in the line, apart from copies of extra fields.
func checkInside(t *testing.T, line []byte, r *Record) {
	t.Helper()
	for i, v := range texts(r)[:8] {
		if len(v) > 0 && !overlaps(line, v) {
			t.Fatalf("%q: %s %q is not in the line", line, textNames[i], v)
		}
	}
}

// overlaps reports whether v is a part of line, and not a copy of it: a change in line would show in v.
func overlaps(line, v []byte) bool {
	at := cap(line) - cap(v)
	return at >= 0 && at+len(v) <= len(line) && &line[at] == &v[0]
}

// checkGonx holds a record against gonx's: what gonx reads, the scanner reads alike.
func checkGonx(t *testing.T, slow Parser, line []byte, got *Record, fault Fault) {
	t.Helper()
	var want Record
	if slowFault := slow.Parse(bytes.Clone(line), &want); slowFault.OK() && !gonxDiffers(line) {
		if !fault.OK() || !sameRecord(got, &want) {
			t.Fatalf("%q\nscanner %+v %s\n   gonx %s", line, fault, show(got), show(&want))
		}
	}
}

// gonxDiffers tells of lines that gonx reads by rules of its own: to it a backslash does not hide a quote, and neither a
// comma goes on with a list of addresses nor a colon with one of times.
func gonxDiffers(line []byte) bool {
	return bytes.Contains(line, []byte(`\"`)) || bytes.Contains(line, []byte(", ")) || bytes.Contains(line, []byte(" : "))
}
