package detect

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"shadow/parse"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite what the tests expect")

// detected returns what is found without a word on the format.
func detected(log []byte, o parse.Options) (Detection, error) { return Choice{Options: o}.For(log) }

// describeDetection writes down what detection made of a log.
func describeDetection(log []byte) string {
	d, err := detected(log, parse.Options{})
	if err != nil {
		return "refused: " + err.Error() + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, reads %d of %d\n%s\n", d.Format.Name, d.Read, d.Lines, d.Format.Text)
	for _, w := range d.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	var r parse.Record
	last := ""
	p := d.Format.NewParser()
	for _, line := range sampleLines(log) {
		if p.Parse(line, &r).OK() {
			last = described(&r)
		}
	}
	return b.String() + last + "\n"
}

// TestDetect holds detection against testdata/detect.txtar.
func TestDetect(t *testing.T) {
	const file = "testdata/detect.txtar"
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range archive.Files {
		want[f.Name] = string(f.Data)
	}
	var updated []txtar.File
	for _, f := range archive.Files {
		if strings.HasSuffix(f.Name, " ⇒") {
			continue
		}
		result := f.Name + " ⇒"
		got := describeDetection(bytes.Clone(f.Data))
		updated = append(updated, f, txtar.File{Name: result, Data: []byte(got)})
		if !*update && got != want[result] {
			t.Errorf("%s:\n%s\ngot\n%s\nwant\n%s", f.Name, f.Data, got, want[result])
		}
	}
	if *update {
		archive.Files = updated
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Data that is no text, or is compressed, is refused by name.
func TestDetectRefusesData(t *testing.T) {
	for data, want := range map[string]string{
		"\x1f\x8b\x08\x00":                       "gzip",
		"BZh91AY&SY":                             "bzip2",
		"\x28\xb5\x2f\xfd\x00":                   "zstd",
		"\xfd7zXZ\x00\x00":                       "xz",
		"PK\x03\x04":                             "ZIP",
		"\xff\xfe1\x009\x002\x00":                "UTF-16",
		strings.Repeat("\x00\x01\x02abc\n", 100): "not text",
	} {
		if _, err := detected([]byte(data), parse.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.10q: got %v, want %q", data, err, want)
		}
	}
}

// UTF-16 is refused also where the format is stated: no line of it could be read.
func TestUTF16IsRefused(t *testing.T) {
	for _, c := range []Choice{{}, {Format: "combined"}, {Format: "$remote_addr [$time_local]"}, {Fields: "time=ts"}} {
		for _, data := range []string{"\xff\xfe1\x009\x002\x00\n\x00", "\xfe\xff\x001\x009\x002\x00\n"} {
			if _, err := c.For([]byte(data)); err == nil || !strings.Contains(err.Error(), "UTF-16 text: convert it first") {
				t.Errorf("%+v, %.4q: %v", c, data, err)
			}
		}
	}
}

// A hostile first line reaches the terminal neither whole nor with its control characters.
func TestDetectShowsLineSafely(t *testing.T) {
	line := "\x1b[31mred\x00\a\u202e\xff " + strings.Repeat("é", 300)
	_, err := detected([]byte(line), parse.Options{})
	if err == nil {
		t.Fatal("want an error")
	}
	if strings.ContainsAny(err.Error(), "\x1b\x00\a\u202e") || strings.Contains(err.Error(), "\xff") {
		t.Errorf("control characters in %q", err)
	}
	if n := strings.Count(err.Error(), "é"); n < 80 || n > 100 {
		t.Errorf("%d letters of the line are shown", n)
	}
}

// One spoilt line must not decide: a log of a thousand good lines is read whatever its first one is.
func TestDetectNeedsNoGoodFirstLine(t *testing.T) {
	good := catalogue[0].Example + "\n"
	for _, first := range []string{"#Comment", "{}", "\x00\x00\x00", "x", `"`, "[", strings.Repeat("[\"", 10000)} {
		d, err := detected([]byte(first+"\n"+strings.Repeat(good, 1000)), parse.Options{})
		if err != nil || d.Format.Name != "combined" || d.Read != 1000 {
			t.Errorf("%.10q first: %+v, %v", first, d, err)
		}
	}
}

// A column that some lines lack is not worth those lines.
func TestDetectKeepsLinesRatherThanColumns(t *testing.T) {
	line := catalogue[0].Example
	log := strings.Repeat(line+" 0.010\n", 30)
	for tail, want := range map[string]string{
		"":       "combined with $request_time", // the last fields may be missing
		" x y":   "combined",
		" 0.010": "combined with $request_time",
	} {
		d, err := detected([]byte(log+line+tail+"\n"), parse.Options{})
		if err != nil || d.Format.Name != want || d.Read != 31 {
			t.Errorf("%q: %+v, %v, want %s", tail, d, err, want)
		}
	}
}

func FuzzDetect(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/detect.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		f.Add(file.Data)
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		before := bytes.Clone(log)
		d, err := detected(log, parse.Options{})
		if !bytes.Equal(before, log) {
			t.Error("the sample was changed")
		}
		if err == nil && (d.Format == nil || d.Read > d.Lines) {
			t.Errorf("%+v", d)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\x00\x1b\r") {
			t.Errorf("control characters in %q", err)
		}
	})
}

// described writes down what a record holds.
func described(r *parse.Record) string {
	var b strings.Builder
	text := func(name string, v []byte) {
		if v != nil {
			fmt.Fprintf(&b, " %s=%s", name, v)
		}
	}
	number := func(name string, v, none int64) {
		if v != none {
			fmt.Fprintf(&b, " %s=%d", name, v)
		}
	}
	number("stamp", int64(r.Stamp), 0)
	number("start", int64(r.Start), int64(r.Stamp))
	text("client", r.Client)
	text("user", r.User)
	text("method", r.Method)
	text("path", r.Path)
	text("host", r.Host)
	text("referer", r.Referer)
	text("agent", r.Agent)
	text("forwarded", r.Forwarded)
	number("status", int64(r.Status), 0)
	number("bytes", r.Bytes, 0)
	number("took", int64(r.RequestTime), parse.NotLogged)
	number("upstream", int64(r.UpstreamTime), parse.NotLogged)
	for i, v := range r.Extra {
		text(fmt.Sprintf("extra%d", i), v)
	}
	if r.NotHTTP {
		b.WriteString(" not HTTP")
	}
	return strings.TrimSpace(b.String())
}

// A log of nginx in JSON has the time of upstreams only if its lines have the key.
func TestUpstreamOfJSON(t *testing.T) {
	const line = `{"msec":"1767225600.254","remote_addr":"192.0.2.7","request":"GET / HTTP/1.1","status":"200","request_time":"0.004"`
	for _, format := range []string{"", "nginx-json"} {
		for log, want := range map[string]bool{
			line + "}\n": false, line + "}\n" + line + `,"upstream_response_time":""}` + "\n": true, line + `,"upstream_response_time":"0.003"}` + "\n": true,
			"web1 | " + line + `,"upstream_response_time":"0.003"}` + "\n": true,
		} {
			found, err := Choice{Format: format}.For([]byte(log))
			if err != nil || found.Format.Has(parse.FieldUpstreamTime) != want {
				t.Errorf("--format %q: %v, %v, want %v: %s", format, found.Format.Name, err, want, log)
			}
		}
	}
}
