package object

import "testing"

func TestNames(t *testing.T) {
	for text, want := range map[string]Name{
		"s3://b/a/x.log":                 {"s3", "b", "a/x.log", ""},
		"s3://b":                         {"s3", "b", "", ""},
		"gs://b/a/*.log?anonymous=true":  {"gs", "b", "a/*.log", "anonymous=true"},
		"s3://b/a/x.log.?":               {"s3", "b", "a/x.log.?", ""},
		"s3://b/x?region=a&endpoint=h:1": {"s3", "b", "x", "region=a&endpoint=h:1"},
		"s3://b/x??region=a":             {"s3", "b", "x?", "region=a"},
		"file:///tmp/logs/x.log":         {"file", "/tmp/logs/", "x.log", ""},
		"file:///tmp/*/x.log":            {"file", "/tmp/", "*/x.log", ""},
	} {
		if got := Parse(text); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		} else if back := got.String(); back != text && text != "s3://b" {
			t.Errorf("%s: comes back as %s", text, back)
		}
	}
	for text, want := range map[string]bool{"s3://b": true, "s3:/b": false, "access.log": false, "-": false, "http://x": false, "azblob://c/x": true} {
		if IsName(text) != want {
			t.Errorf("%s: is a name %t", text, !want)
		}
	}
	if got := Path("s3://b/x.gz?region=a"); got != "s3://b/x.gz" {
		t.Error(got)
	}
}
