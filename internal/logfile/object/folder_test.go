package object

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Names of files stand for what names of objects would.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(key, content string) {
		t.Helper()
		name := filepath.Join(dir, key)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	all := []string{"a+x/z.log", "a/b/c.log", "a/x.log", "a1.log", "a[1].log", "b é%41.log"}
	for _, key := range append(all, "a/.hidden", ".git/config") {
		write(key, "content")
	}
	expand := func(name string) (keys []string, err error) {
		err = NewStore().Expand(t.Context(), "file://"+dir+"/"+name, func(i Info) error {
			keys = append(keys, strings.TrimPrefix(i.Name, "file://"+dir+"/"))
			return nil
		})
		return keys, err
	}
	for name, want := range map[string][]string{
		"": all, "a/": {"a/b/c.log", "a/x.log"}, "*.log": all[3:], "a*/*.log": {"a+x/z.log", "a/x.log"}, "a/b/*": {"a/b/c.log"},
		"a[1].log": {"a[1].log"}, "a[0-9].log": {"a1.log"}, "a/.h*": {"a/.hidden"}, "b é%41.log": {"b é%41.log"},
	} {
		if got, err := expand(name); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"none": "there is no such object", "none/": "there is no such folder", "a": "names all below it", "*.gz": "none of the",
		"a1.log?region=x": "files have no options",
	} {
		if got, err := expand(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; want %s", name, got, err, want)
		}
	}
	s := NewStore()
	info, err := s.Stat(t.Context(), "file://"+dir+"/a1.log")
	if err != nil {
		t.Fatal(err)
	}
	r := s.Open(info, 3, false)
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != "tent" {
		t.Errorf("%q, %v", got, err)
	}
	write("a1.log", "another one")
	again := s.Open(info, 0, false)
	defer again.Close()
	if got, err := io.ReadAll(again); !errors.Is(err, ErrChanged) {
		t.Errorf("%q, %v", got, err)
	}
}
