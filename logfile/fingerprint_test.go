package logfile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A file differs from what it was by each way of changing it, and by none that leaves its content.
func TestFingerprint(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789abcde\n"), 2000)
	middle := bytes.Clone(content)
	middle[16_000] ^= 1
	later := time.Now().Add(time.Minute) // by then the times of a change are known to be those of the last one
	for what, c := range map[string]struct {
		change func(name string) error
		want   string
	}{
		"nothing":   {func(string) error { return nil }, ""},
		"rewritten": {func(name string) error { return os.WriteFile(name, content, 0o600) }, ""},
		"moved":     {func(name string) error { return os.WriteFile(name+"~", content, 0o600) }, ""},
		"appended":  {func(name string) error { return os.WriteFile(name, append(bytes.Clone(content), 'x'), 0o600) }, "has grown"},
		"truncated": {func(name string) error { return os.Truncate(name, 30_000) }, "is shorter"},
		"beginning": {func(name string) error { return os.WriteFile(name, append([]byte("x"), content[1:]...), 0o600) }, "has changed"},
		"middle":    {func(name string) error { return os.WriteFile(name, middle, 0o600) }, "has changed"},
		"middle, and the old time": {func(name string) error {
			info, err := os.Stat(name)
			if err == nil {
				err = os.WriteFile(name, middle, 0o600)
			}
			if err == nil {
				err = os.Chtimes(name, info.ModTime(), info.ModTime())
			}
			return err
		}, "has changed"},
	} {
		for when, taken := range map[string]time.Time{"at once": time.Now(), "later": later} {
			name := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(name, content, 0o600); err != nil {
				t.Fatal(err)
			}
			kept, known, err := FingerprintOf(name)
			if err == nil {
				err = kept.AddSum(t.Context(), name)
			}
			if err != nil || !known {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond) // the clock of the file system may tick that slowly
			if err := c.change(name); err != nil {
				t.Fatal(err)
			}
			now, _, err := FingerprintOf(name)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := now.Differs(t.Context(), name, &kept, taken); err != nil || got != c.want {
				t.Errorf("%s, %s: %q, %v, want %q", what, when, got, err, c.want)
			}
		}
	}
	for _, name := range []string{"-", os.DevNull, t.TempDir()} {
		if _, known, err := FingerprintOf(name); known || err != nil {
			t.Errorf("%s is a file, %v", name, err)
		}
	}
}
