package detect

import (
	"os"
	"path/filepath"
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
		if strings.HasSuffix(k.Name, "json") {
			continue
		}
		strict, err := parse.Compile(k.Text, parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := judge(strict, [][]byte{[]byte(k.Example)}, nil); d.Read != 1 && k.Name != "bare" && k.Name != "elb" && k.Name != "s3" {
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
		{Choice{Fields: "time=t,client=c"}, "json"},
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

// A stated format is taken even where it reads nothing; the numbers tell.
func TestChoiceThatReadsNothing(t *testing.T) {
	d, err := Choice{Format: "json"}.For([]byte("no\nJSON\n"))
	if err != nil || d.Lines != 2 || d.Read != 0 {
		t.Errorf("%+v, %v", d, err)
	}
}
