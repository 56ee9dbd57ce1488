package detect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shadow/parse"
)

const nginxConf = "testdata/nginx/nginx.conf"

func TestFromNginxConf(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{
			"", `192.0.2.7 - - [01/Jan/2026:00:00:10 +0000] "GET /a HTTP/1.1" 200 5 "-" "curl/8" "198.51.100.9"`,
			"stamp=1767225610000000 client=192.0.2.7 method=GET path=/a agent=curl/8 forwarded=198.51.100.9 status=200 bytes=5",
		},
		{
			"double", `192.0.2.7 [2026-01-01T00:00:10+00:00] "GET /a HTTP/1.1" 200 0.250;`,
			"stamp=1767225610000000 start=1767225609750000 client=192.0.2.7 method=GET path=/a status=200 took=250000",
		},
		{"bare", `192.0.2.7|1767225610.250|/a|200`, "stamp=1767225610250000 client=192.0.2.7 path=/a status=200"},
		{
			"site", `example.org 192.0.2.7 [01/Jan/2026:00:00:10 +0000] "GET /a HTTP/1.1" 200`,
			"stamp=1767225610000000 client=192.0.2.7 method=GET path=/a host=example.org status=200",
		},
		{
			"combined", `192.0.2.7 - - [01/Jan/2026:00:00:10 +0000] "GET /a HTTP/1.1" 200 5 "-" "curl/8"`,
			"stamp=1767225610000000 client=192.0.2.7 method=GET path=/a agent=curl/8 status=200 bytes=5",
		},
		{
			"json", `{"at":"2026-01-01T00:00:10+00:00","took":0.250,"client":{"addr":"192.0.2.7","tags":["CH"]},"request":"GET /a HTTP/1.1","status":"200","bytes":5,"agent":"curl/8","upstream":"0.1, 0.1","cookie":"c1"}`,
			"stamp=1767225610000000 start=1767225609750000 client=192.0.2.7 method=GET path=/a agent=curl/8 status=200 bytes=5 took=250000 upstream=200000 extra0=c1 extra1=CH",
		},
		{
			"jsonlike", `{ "t": "1767225610.250", "ip": "192.0.2.7", "uri": "/a\x22", "mixed": "a 200" }`,
			`stamp=1767225610250000 client=192.0.2.7 path=/a"`,
		},
	} {
		f, err := FromNginxConf(nginxConf, c.name, parse.Options{Extra: []string{"cookie_session", "geoip_country"}})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var r parse.Record
		if fault := f.NewParser().Parse([]byte(c.line), &r); !fault.OK() {
			t.Errorf("%s: %+v\n%s", c.name, fault, c.line)
		} else if got := described(&r); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.line, got, c.want)
		}
	}
}

func TestFromNginxConfNames(t *testing.T) {
	for name, want := range map[string]string{"": "main", "json": "json", "site": "site", "combined": "combined"} {
		if f, err := FromNginxConf(nginxConf, name, parse.Options{}); err != nil || f.Name != want {
			t.Errorf("%q: got %+v, %v, want %s", name, f, err, want)
		}
	}
}

// Every error says where it arose, and which formats there are instead.
func TestFromNginxConfErrors(t *testing.T) {
	for name, want := range map[string]string{
		"mian":   `no log_format "mian"; there are main (testdata/nginx/nginx.conf:11), double (`,
		"notime": `testdata/nginx/nginx.conf:22: log_format notime: `,
		"fake":   `site (testdata/nginx/conf.d/site.conf:1); and combined`,
	} {
		if _, err := FromNginxConf(nginxConf, name, parse.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

func TestFromNginxConfOddities(t *testing.T) {
	for _, c := range []struct{ text, name, want string }{
		{"", "", "combined"},
		{"http { }", "main", "only combined"},
		{"http { log_format only '$remote_addr $msec'; }", "", "only"},
		{"http { log_format a '$remote_addr $msec'; log_format b '$remote_addr $msec'; }", "", "there are a ("},
		{"http { log_format a '$remote_addr $msec'; log_format a '$msec'; }", "a", "a"},
		{"log_format piece '$remote_addr $msec';", "piece", "piece"},
		{"http { log_format cut '$remote_addr", "cut", "premature end of file"},
		{"http { } }", "x", `unexpected "}"`},
		{"http { include nginx.conf; }", "x", "cycle"},
		{"http { include /nowhere/*.conf; include nowhere.conf; log_format a '$remote_addr $msec'; }", "a", "a"},
		{"log_format bad '{\"t\": $msec, }';", "bad", "looks like JSON but is not"},
		{"log_format bad '{\"t\": \"$status\"}';", "bad", "has no time"},
	} {
		path := filepath.Join(t.TempDir(), "nginx.conf")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := FromNginxConf(path, c.name, parse.Options{})
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", c.text, err, c.want)
			}
		} else if f.Name != c.want {
			t.Errorf("%s: got %s, want %q", c.text, f.Name, c.want)
		}
	}
	if _, err := FromNginxConf(t.TempDir(), "", parse.Options{}); err == nil {
		t.Error("a folder is no configuration")
	}
	if _, err := FromNginxConf("testdata/nowhere.conf", "", parse.Options{}); err == nil || !strings.Contains(err.Error(), "nowhere.conf") {
		t.Errorf("no such file: %v", err)
	}
}
