package detect

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shadow/parse"
)

// Every format of the catalogue reads its own example, to the last field, and is found by its name.
func TestCatalogue(t *testing.T) {
	for _, k := range Catalogue() {
		d, err := Choice{Format: k.Name}.For([]byte(k.Example + "\n"))
		if err != nil {
			t.Errorf("%s: %v", k.Name, err)
			continue
		}
		if d.Read != 1 {
			t.Errorf("%s does not read its example: %+v\n%s", k.Name, d.fault, k.Example)
		}
		if k.Summary == "" || k.Text != d.Format.Text {
			t.Errorf("%s: summary %q, text %q, format's text %q", k.Name, k.Summary, k.Text, d.Format.Text)
		}
		if strings.HasSuffix(k.Name, "json") || !strings.ContainsAny(k.Text, "$%") {
			continue
		}
		strict, err := parse.Compile(k.Text, parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := judge(strict, [][]byte{[]byte(k.Example)}, nil); d.Read != 1 && !slices.Contains([]string{"bare", "elb", "s3", "gitea"}, k.Name) {
			t.Errorf("%s: the example has not the very fields of the text: %+v", k.Name, d.fault)
		}
	}
}

// What detection finds for an example is the format itself, or one that tells the same of it.
func TestCatalogueIsDetected(t *testing.T) {
	otherwise := map[string]string{"bare": "bare with $request_time"}
	for _, k := range Catalogue() {
		want, is := otherwise[k.Name]
		if !is {
			want = strings.TrimSuffix(k.Name, "-json")
		}
		d, err := detected([]byte(k.Example+"\n"), parse.Options{})
		if err != nil && want != "" || err == nil && strings.TrimSuffix(d.Format.Name, " json") != want {
			t.Errorf("%s: found %+v, %v, want %q", k.Name, d.Format, err, want)
		}
	}
}

func TestChoice(t *testing.T) {
	line := []byte(catalogue[0].Example + "\n")
	conf := filepath.Join(t.TempDir(), "nginx.conf")
	if err := os.WriteFile(conf, []byte("http { log_format main '$remote_addr [$time_local]'; }"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		choice Choice
		want   string // the format's name, or a part of the error
	}{
		{Choice{}, "combined"},
		{Choice{Format: "auto"}, "combined"},
		{Choice{Format: "common"}, "common"},
		{Choice{Format: "nginx-json"}, "nginx json"},
		{Choice{Format: "json"}, "json"},
		{Choice{Format: `$remote_addr $x`}, "no time"},
		{Choice{Format: `%h %l %u %t "%r"`}, "custom"},
		{Choice{Format: `{"t":"$msec","a":"$remote_addr"}`}, "nginx json"},
		{Choice{Format: `{"t":$msec,"a":}`}, "looks like JSON but is not"},
		{Choice{Format: "combind"}, `no format is called "combind" (did you mean "combined"?); there are combined, `},
		{Choice{Format: "nginx"}, `no format is called "nginx"; nginx's default is combined; `},
		{Choice{Fields: "time=t,client=c"}, "the format combined has no t, but remote_addr, "},
		{Choice{Fields: "user=remote_addr,agent=http_referer"}, "combined"},
		{Choice{Fields: "colour=t"}, "there is no field"},
		{Choice{NginxConf: conf}, "main"},
		{Choice{NginxConf: conf, LogName: "mian"}, `no log_format "mian"; there are main (`},
		{Choice{Format: "auto", NginxConf: conf}, "main"},
		{Choice{LogName: "main"}, "--log-name goes with --nginx-conf"},
	} {
		d, err := c.choice.For(line)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: got %v, want %q", c.choice, err, c.want)
			}
			continue
		}
		if d.Format.Name != c.want {
			t.Errorf("%+v: got %s, want %q", c.choice, d.Format.Name, c.want)
		}
	}
}

// --field names fields of text as it does of JSON, of a format that is found or stated.
func TestFieldsOfText(t *testing.T) {
	const combined = `192.0.2.7 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 312 "-" "curl/8.5.0" "198.51.100.9"`
	for _, c := range []struct{ fields, format, log, want string }{
		{"user=http_user_agent", "", combined, "user=curl/8.5.0 method=GET path=/ forwarded=198.51.100.9 status=200 bytes=312"},
		{"client=http_x_forwarded_for", "", combined, "client=198.51.100.9 method=GET path=/ agent=curl/8.5.0 status=200 bytes=312"},
		{"host=zone", `$remote_addr [$time_local] "$request" $status $zone`, `192.0.2.7 [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 shop`, "client=192.0.2.7 method=GET path=/ host=shop status=200"},
		{"client=x-real-ip", `%h %t "%r" %>s %{X-Real-IP}i`, `192.0.2.7 [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 198.51.100.9`, "client=198.51.100.9 method=GET path=/ status=200"},
		{"client=from,agent=what", "", "time=2026-01-01T00:00:00Z from=192.0.2.7 method=GET path=/ what=curl", "client=192.0.2.7 method=GET path=/ agent=curl"},
		{"client=from", "", "time:2026-01-01T00:00:00Z\thost:10.0.0.1\tfrom:192.0.2.7\treq:GET / HTTP/1.1", "client=192.0.2.7 method=GET path=/ host=10.0.0.1"},
		{"client=from", "", "time,from,method,path,client\n2026-01-01 00:00:00,192.0.2.7,GET,/,10.0.0.1", "client=192.0.2.7 method=GET path=/"},
		{"client=from", "time,from,method,path,client", "2026-01-01 00:00:00,192.0.2.7,GET,/,10.0.0.1", "client=192.0.2.7 method=GET path=/"},
		{"client=x-from", "", "#Fields: date time c-ip x-from cs-method cs-uri-stem\n2026-01-01 00:00:00 10.0.0.1 192.0.2.7 GET /", "client=192.0.2.7 method=GET path=/"},
		{"client=src", "", combined, "no src, but remote_addr, "},
		{"client=http_x_forwarded_for", "", `{"log":"` + strings.ReplaceAll(combined, `"`, `\"`) + `","time":"2026-01-01T00:00:00Z"}`, "client=198.51.100.9 method=GET"},
	} {
		d, err := Choice{Fields: c.fields, Format: c.format}.For([]byte(c.log + "\n"))
		got := fmt.Sprint(err)
		if err == nil {
			lines := sampleLines([]byte(c.log))
			var r parse.Record
			d.Format.NewParser().Parse(lines[len(lines)-1], &r)
			_, got, _ = strings.Cut(described(&r), " ")
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s of %q: %q, want %q", c.fields, c.log, got, c.want)
		}
	}
}

// Lines of two formats in one file are read each by its own.
func TestTwoFormatsInAFile(t *testing.T) {
	a, b := visits(), kinds[0]
	other := columned[0]
	var log strings.Builder
	for i, v := range a {
		if i%3 == 0 {
			log.WriteString(other.line(v) + "\n")
		} else {
			log.WriteString(b.line(v) + "\n")
		}
	}
	d, err := detected([]byte(log.String()), parse.Options{})
	if err != nil || d.Format.Name != "combined or guessed" || d.Read != 20 || len(d.Warnings) != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	kind{lacks: "host route ms"}.check(t, d.Format, []byte(log.String()), a)
}

// A stated format is taken even where it reads nothing; the numbers tell.
func TestChoiceThatReadsNothing(t *testing.T) {
	d, err := Choice{Format: "json"}.For([]byte("no\nJSON\n"))
	if err != nil || d.Lines != 2 || d.Read != 0 {
		t.Errorf("%+v, %v", d, err)
	}
}
