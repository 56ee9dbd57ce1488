package match

import "testing"

// The expected paths are those that nginx 1.22 logs as $uri.
func TestNginxURI(t *testing.T) {
	for path, want := range map[string]string{
		"/a": "/a", "//a": "/a", "/%61": "/a", "/x/../a": "/a", "/./a": "/a", "/a/": "/a/", "/a//": "/a/", "/": "/", "//": "/",
		"/a/.": "/a/", "/a/..": "/", "/a/b/..": "/a/", "/a/b/../..": "/", "/a%2fb": "/a/b", "/%2e%2E/x": "/%2e%2E/x", "/a/%2e%2e/x": "/x",
		"/..": "/..", "/../a": "/../a", "/a/../../b": "/a/../../b", "/%": "/%", "/%4": "/%4", "/%zz": "/%zz", "/%00": "/%00",
		"/%2561": "/%61", "/a%3fb": "/a?b", "/a%23b": "/a#b", "/.a/..b/c.": "/.a/..b/c.", "/...": "/...", "/a//../b": "/b",
		"/A%20b": "/A b", "/%e4": "/\xe4", "*": "*", "": "",
	} {
		if got := string(NginxURI([]byte(path))); got != want {
			t.Errorf("%s: %q; want %q", path, got, want)
		}
	}
}
