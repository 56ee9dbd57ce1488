package parse

import (
	"fmt"
	"strings"
	"testing"
)

const nginxCombined = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`

func TestLenientTakesShorterAndLongerLines(t *testing.T) {
	f, err := CompileAs(nginxCombined, Options{}, "combined", true)
	if err != nil {
		t.Fatal(err)
	}
	p := f.NewParser()
	const common = `192.0.2.1 - bob [10/Oct/2000:13:55:36 -0700] "GET /a?b=1 HTTP/1.1" 200 12`
	for _, c := range []struct{ tail, referer, agent string }{
		{``, "", ""},
		{` 0.3`, "", ""},
		{` "http://example.com/"`, "http://example.com/", ""},
		{` "http://example.com/" "curl"`, "http://example.com/", "curl"},
		{` "http://example.com/" "curl" 0.33 "x"`, "http://example.com/", "curl"},
	} {
		var r Record
		if fault := p.Parse([]byte(common+c.tail), &r); !fault.OK() {
			t.Errorf("%s: %+v", c.tail, fault)
		}
		if string(r.Referer) != c.referer || string(r.Agent) != c.agent || string(r.Client) != "192.0.2.1" {
			t.Errorf("%s: referer %q, agent %q, client %q", c.tail, r.Referer, r.Agent, r.Client)
		}
	}
}

// FuzzCompile compiles arbitrary texts in all ways and reads lines by them: no panic, no hang, and where both the
// scanner and gonx read a line, whatever the format, they agree.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{
		nginxCombined, `$remote_addr\t$time_local`, `a$time_local$b`, `$time_local$status`, `x${time_iso8601}y$host.`,
		`%h %l %u %t \"%r\" %>s %b`, `[%{%Y-%m-%d %H:%M:%S}t.%{usec_frac}t]`, `%{sec}t%{msec_frac}t %!200,304{Referer}i %^FB`,
		`$msec\\$status`, `5$msec]`, "\x01$msec", `$msec $f1 $`, ` $msec `, `%{sec}t $f0 %h`, `$time_local _PLACEHOLDER___ $msec`,
		`$time_iso8601 $ost`,
	} {
		f.Add(text, benchLine)
	}
	f.Fuzz(func(t *testing.T, text, line string) {
		if len(text) > 300 || len(line) > 1000 || strings.Contains(line, "\n") {
			return
		}
		wants := Options{Extra: []string{"session", "status", "f"}}
		strict, err := Compile(text, wants)
		lenient, errLenient := CompileAs(text, wants, "lenient", true)
		said := fmt.Sprint(err, errLenient) // only formats of others are looked at for misspelt variables
		if (err == nil) != (errLenient == nil) && !strings.Contains(said, "gonx") && !strings.Contains(said, "did you mean") {
			t.Fatalf("%q: strict %v, lenient %v", text, err, errLenient)
		}
		wants.Gonx = true
		slow, errSlow := Compile(text, wants)
		if errSlow != nil && strings.Contains(errSlow.Error(), "come to an end") {
			t.Fatal(errSlow)
		}
		for _, line := range []string{line, text, benchLine} {
			fast := parseBy(t, strict, err, line)
			parseBy(t, lenient, errLenient, line)
			other := parseBy(t, slow, errSlow, line)
			if fast != "" && other != "" && fast != other && !gonxDiffers([]byte(line)) && !touching(text) {
				t.Fatalf("%q reads %q\nfast %s\ngonx %s", text, line, fast, other)
			}
		}
	})
}

// parseBy reads a line by a format, if there is one, and shows what it holds, if it can be read.
func parseBy(t *testing.T, f *Format, err error, line string) string {
	if err != nil {
		return ""
	}
	var r Record
	fault := f.NewParser().Parse([]byte(line), &r)
	if !fault.OK() {
		return ""
	}
	return show(&r)
}

// touching reports whether variables of a format touch, so that gonx gives everything to the first.
func touching(text string) bool {
	tokens, _, err := takeApart(Unquote(text))
	if err != nil {
		return true
	}
	for i := range tokens[1:] {
		if tokens[i].variable() && tokens[i+1].variable() {
			return true
		}
	}
	return false
}
