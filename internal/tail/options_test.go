package tail

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A tail does not read what it writes, and writes into no log.
func TestOwnFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	check(t, os.WriteFile(path("access.log"), []byte("a line\n"), 0o600))
	check(t, os.Symlink(path("access.log"), path("link.log")))
	for name, c := range map[string]struct {
		options Options
		want    string // in the error; "" for none
	}{
		"apart":        {Options{Names: []string{path("access.log")}, State: path("state"), Events: path("events")}, ""},
		"into the log": {Options{Names: []string{path("access.log")}, Events: path("access.log")}, "would write into the log"},
		"by a link":    {Options{Names: []string{path("access.log")}, Events: path("link.log")}, "would write into the log"},
		"not there":    {Options{Names: []string{path("new.log")}, State: path("x/../new.log")}, "would write into the log"},
		"twice":        {Options{State: path("state"), Events: path("state")}, "for two purposes"},
		"lock":         {Options{State: path("state"), Events: path("state.lock")}, "for two purposes"},
		"database":     {Options{State: path("state"), Own: []string{path("state")}}, "for two purposes"},
		"nowhere":      {Options{Names: []string{path("access.log")}, State: path("state"), Events: os.DevNull}, ""},
	} {
		err := c.options.Verify()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A pattern that matches what the tail writes does not follow that.
func TestOwnFilesDoNotJoin(t *testing.T) {
	dir := t.TempDir()
	o := Options{State: filepath.Join(dir, "state"), Events: filepath.Join(dir, "events.json")}
	for base, own := range map[string]bool{"state": true, "state.lock": true, "events.json": true, "events.json.1": true, "access.log": false} {
		path := filepath.Join(dir, base)
		check(t, os.WriteFile(path, []byte("a line\n"), 0o600))
		if got := wasOwn(o.ownFiles(), path); got != own {
			t.Errorf("%s is our own: %v", base, got)
		}
	}
}
