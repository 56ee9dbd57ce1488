package textfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"a: 1\n":                         "",
		"\x00\x00":                       "begins with zeros, so it is no text",
		"\xff\xfea\x00":                  "",
		strings.Repeat("x", 1<<20):       "",
		strings.Repeat("x", 1<<20) + "y": "has more than 1MiB, which is no configuration",
	} {
		name := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Read(name, 1<<20)
		if want != "" {
			if err == nil || err.Error() != name+": "+want {
				t.Errorf("%.9q: got %v, want %s", text, err, want)
			}
		} else if err != nil || string(got) != text {
			t.Errorf("%.9q: %d bytes, %v", text, len(got), err)
		}
	}
}

func TestReadDevice(t *testing.T) {
	if _, err := Read("/dev/zero", 1<<30); err == nil {
		t.Error("a device without end was read")
	}
}

// A directory was named by mistake, and an error says what to do.
func TestReadDirectory(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(dir, 1<<20); err == nil || err.Error() != dir+": is a directory: name files" {
		t.Error(err)
	}
}
