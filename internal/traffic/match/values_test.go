package match

import (
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/parse"
	"shadow/parse/detect"
)

// valueOf returns the part of a request, "" if it has none. extra are the fields of its line by their names.
func valueOf(t *testing.T, part string, r parse.Record, extra map[string]string) string {
	t.Helper()
	key, err := request.ParseKey(part)
	if err != nil {
		t.Fatal(err)
	}
	values, names, err := NewValues([]request.Key{request.ByClient, key, key}, nil, []string{"other"})
	if err != nil || names[0] != "other" || len(values.Parts()) != 1 {
		t.Fatalf("%v asks for %q: %v", values.Parts(), names, err)
	}
	for i, name := range names {
		if text, there := extra[name]; there {
			r.Extra[i] = []byte(text)
		}
	}
	return string(values.Of(0, &r))
}

func TestSegments(t *testing.T) {
	for _, c := range []struct{ part, method, path, want string }{
		{"segment:1", "GET", "/", ""},
		{"segment:1", "GET", "/a", "a"},
		{"segment:1", "GET", "/a/b/c?d=/e", "a"},
		{"segment:2", "GET", "/a/b/c?d=/e", "b"},
		{"segment:3", "GET", "/a/b/c?d=/e", "c"},
		{"segment:4", "GET", "/a/b/c?d=/e", ""},
		{"segment:2", "GET", "/a//c", ""},
		{"segment:3", "GET", "/a//c", "c"},
		{"segment:2", "GET", "/a/", ""},
		{"segment:2", "GET", "http://shop.example/a/%62#c", "%62"},
		{"segment:1", "", "\\x16\\x03/a", ""},
	} {
		if got := valueOf(t, c.part, parse.Record{Method: []byte(c.method), Path: []byte(c.path)}, nil); got != c.want {
			t.Errorf("%s of %s is %q, want %q", c.part, c.path, got, c.want)
		}
	}
}

func TestFieldsHeadersAndCookies(t *testing.T) {
	for _, c := range []struct {
		part  string
		extra map[string]string
		want  string
	}{
		{"field:ja4", map[string]string{"ja4": "t13d"}, "t13d"},
		{"field:ja4", map[string]string{"ja4": "-"}, ""},
		{"field:ja4", map[string]string{"ja4": ""}, ""},
		{"field:ja4", nil, ""},
		{"header:x-api-key", map[string]string{"header:X-Api-Key": "k1"}, "k1"},
		{"cookie:sid", map[string]string{"cookie:sid": "s1", "header:Cookie": "sid=s2"}, "s1"},
		{"cookie:sid", map[string]string{"cookie:sid": "-", "header:Cookie": "a=sid=1; sid=s2; sid=s3"}, "s2"},
		{"cookie:sid", map[string]string{"header:Cookie": `xsid=1;sid="s2"`}, "s2"},
		{"cookie:sid", map[string]string{"header:Cookie": "sid"}, ""},
		{"cookie:sid", map[string]string{"header:Cookie": "sid="}, ""},
		{"cookie:sid", map[string]string{"header:Cookie": ";;; ; SID=1"}, ""},
	} {
		if got := valueOf(t, c.part, parse.Record{}, c.extra); got != c.want {
			t.Errorf("%s of %v is %q, want %q", c.part, c.extra, got, c.want)
		}
	}
}

// More than a line can be asked for is an error.
func TestTooManyValues(t *testing.T) {
	keys := func(texts ...string) (keys []request.Key) {
		for _, text := range texts {
			keys = append(keys, request.Key(text))
		}
		return keys
	}
	for want, keys := range map[string][]request.Key{
		"keys and costs go by 9 segments, fields, headers and cookies: at most 8 at once": keys("segment:1+segment:2+segment:3", "segment:4", "segment:5", "segment:6", "segment:7", "segment:8", "segment:9"),
		`clients, tiers and keys go by 9 fields beyond the usual ones`:                    keys("field:a+field:b+field:c+field:d", "field:e+field:f+field:g", "cookie:h"),
	} {
		if _, _, err := NewValues(keys, nil, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Fields of costs stand behind those of keys, and only a number counts there.
func TestFieldsOfCosts(t *testing.T) {
	cost := request.Part{Kind: request.PartField, Name: "tokens", Number: true}
	values, extra, err := NewValues([]request.Key{"field:tokens"}, []request.Part{{}, cost, cost}, nil)
	if err != nil || len(values.Parts()) != 2 || values.Parts()[1] != cost || len(extra) != 1 {
		t.Fatalf("%v asks for %q: %v", values.Parts(), extra, err)
	}
	for text, number := range map[string]bool{"5": true, "0.5": true, "many": false} {
		if !values.Counts(0, []byte(text)) || values.Counts(1, []byte(text)) != number {
			t.Errorf("%q counts as a number: %t, want %t", text, !number, number)
		}
	}
	if values.Counts(0, nil) || values.Counts(1, nil) {
		t.Error("nothing counts")
	}
}

// A format has a segment of the path if it has paths, and another part if one of its fields is that.
func TestValuesOfFormats(t *testing.T) {
	for _, c := range []struct {
		part, format string
		want         bool
	}{
		{"segment:1", "combined", true},
		{"segment:1", "[$time_local] $status", false},
		{"field:ja4", "combined", false},
		{"field:ja4", "[$time_local] $status $ja4", true},
		{"cookie:sid", "[$time_local] $status $cookie_sid", true},
		{"cookie:sid", "[$time_local] $status $http_cookie", true},
		{"cookie:sid", "[$time_local] $status $cookie_id", false},
	} {
		key, err := request.ParseKey(c.part)
		if err != nil {
			t.Fatal(err)
		}
		values, names, err := NewValues([]request.Key{key}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		choice := detect.Choice{Format: c.format, Options: parse.Options{Extra: names}}
		found, err := choice.For(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := values.Has(0, found.Format); got != c.want {
			t.Errorf("%s has %s: %t", c.format, c.part, got)
		}
	}
}
