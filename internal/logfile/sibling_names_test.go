package logfile

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// What rotation puts behind a name, or before its ending, makes no log of its own; another number there does.
func TestIsRotated(t *testing.T) {
	for name, want := range map[string]bool{
		"access.log.1": true, "access.log.2.gz": true, "access.log-20261121.zst": true, "access.log.old": true,
		"access-20261121.log": true, "access_2026-11-21.log.xz": true, "access.1.log": true, "access.12.log.gz": true,
		"access-2.log": false, "access-8080.log": false, "access.10.0.0.5.log": false, "access-ssl.log": false,
		"access.log": false, "other.log.1": false, "access.logs": false,
	} {
		if got := IsRotated("access.log", name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Rotated files are ordered by their numbers, whenever they were compressed, and by time where some have none.
func TestSiblingsOfInOrder(t *testing.T) {
	for _, c := range [][]string{ // by when they were written last; want the order of the second
		{"access.log.2", "access.log.10", "access.log.1", "access.log.10", "access.log.2", "access.log.1"},
		{"access.log.old", "access.log.2", "access.log.1", "access.log.old", "access.log.2", "access.log.1"},
		{"access.log.1", "access.log-20261121", "access.log.2", "access.log.1", "access.log-20261121", "access.log.2"},
	} {
		dir := t.TempDir()
		for i, name := range append([]string{"access.log"}, c[:3]...) {
			path := filepath.Join(dir, name)
			written := time.Unix(1_700_000_000+int64(i), 0)
			if err := os.WriteFile(path, []byte(name+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, written, written); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, r := range SiblingsOf(filepath.Join(dir, "access.log")) {
			got = append(got, filepath.Base(r.Path))
		}
		if !slices.Equal(got, c[3:]) {
			t.Errorf("%v, want %v", got, c[3:])
		}
	}
}

// A file that is to be compressed, and is not yet, is no sibling.
func TestSiblingsOfNotYetCompressed(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"access.log", "access.log.1", "access.log.1.gz", "access.log.2.zst"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := SiblingsOf(filepath.Join(dir, "access.log"))
	if len(all) != 1 || filepath.Base(all[0].Path) != "access.log.1" {
		t.Errorf("%v", all)
	}
}

// Of a link the siblings are found beside its target, also while there is none, and through links among its folders.
func TestSiblingsOfALinkToNothing(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.MkdirAll(path("disk/logs"), 0o755), os.Symlink("disk/logs", path("var")), os.Symlink("../told", path("disk/logs/latest")),
		os.Symlink("var/latest", path("would-blocks")), os.WriteFile(path("disk/told.1"), []byte("a line\n"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if all := SiblingsOf(path("would-blocks")); len(all) != 1 || filepath.Base(all[0].Path) != "told.1" {
		t.Errorf("%v", all)
	}
	if err := os.Symlink("endless", path("endless")); err != nil {
		t.Fatal(err)
	}
	if all := SiblingsOf(path("endless")); len(all) != 0 {
		t.Errorf("%v", all)
	}
}

// Copies without times have one time: then names tell which is the oldest.
func TestSiblingsOfOneTime(t *testing.T) {
	for _, want := range [][]string{ // with the files beside them
		{"access.log-0009", "access.log-0010", "access.log-0011"},
		{"access.log-20261109.gz", "access.log-20261110", "access.log-20261111.gz"},
		{"access-2026-11-09.log", "access-2026-11-10.log.gz", "access-2026-11-11.log"},
		{"access.log-9", "access.log-10", "access.log-11"},
		{"access.log.11", "access.log.10", "access.log.9"},
		{"access.11.log", "access.10.log", "access.9.log"},
	} {
		dir := t.TempDir()
		for _, name := range append([]string{"access.log"}, want...) {
			path, content := filepath.Join(dir, name), []byte(name+"\n")
			if IsCompressed(name) {
				content = gzipped(t, content)
			}
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, time.Unix(1_700_000_000, 0), time.Unix(1_700_000_000, 0)); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, r := range SiblingsOf(filepath.Join(dir, "access.log")) {
			got = append(got, filepath.Base(r.Path))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
