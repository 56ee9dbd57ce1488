package objects_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"shadow/internal/logfile/object"
	"shadow/scale/objects/objecttest"
)

// Google's and Azure's clients list, read, repeat and notice changes as that of S3 does.
func TestGoogleAndAzure(t *testing.T) {
	for scheme, start := range map[string]func(testing.TB) *objecttest.Fake{"gs": objecttest.NewGoogle, "azblob": objecttest.NewAzure} {
		t.Run(scheme, func(t *testing.T) {
			server := start(t)
			root := scheme + "://logs/"
			var all []string
			for _, key := range []string{"2026/a.log", "2026/b.log", "2026/c.log.gz", "2026/d é.log", "2026/deep/e.log", "2026/e%41#b?.log"} {
				server.Put(t, key, []byte("x"))
				all = append(all, root+key+server.Options)
			}
			if got, err := expand(t, newStore(), root+"2026/"+server.Options); err != nil || !slices.Equal(got, all) {
				t.Errorf("%q, %v", got, err)
			}
			if got, err := expand(t, newStore(), root+"2026/[a-c]*"+server.Options); err != nil || !slices.Equal(got, all[:3]) {
				t.Errorf("%q, %v", got, err)
			}
			for _, name := range all {
				if got, err := read(t, name); err != nil || string(got) != "x" {
					t.Errorf("%s: %q, %v", name, got, err)
				}
			}
			if _, err := expand(t, newStore(), root+"none.log"+server.Options); err == nil || !strings.Contains(err.Error(), "there is no such object") {
				t.Error(err)
			}

			content := bigObject()
			server.Put(t, "log", content)
			var times atomic.Int64
			server.Fail(func(w http.ResponseWriter, _ *http.Request) bool {
				if times.Add(1)%2 == 0 {
					return false
				}
				w.WriteHeader(http.StatusServiceUnavailable)
				return true
			})
			if got, err := io.ReadAll(open(t, newStore(), root+"log"+server.Options)); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			times.Store(0)
			server.Fail(func(w http.ResponseWriter, _ *http.Request) bool {
				times.Add(1)
				w.WriteHeader(http.StatusServiceUnavailable)
				return true
			})
			s := newStore()
			if _, err := s.Stat(t.Context(), root+"log"+server.Options); err == nil || !strings.Contains(err.Error(), "tried 6 times") || times.Load() != int64(s.Tries) {
				t.Errorf("%v, asked %d times", err, times.Load())
			}
			server.Fail(nil)

			r := open(t, newStore(), root+"log"+server.Options)
			if _, err := io.ReadFull(r, make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
			server.Put(t, "log", bytes.ToUpper(content))
			if rest, err := io.ReadAll(r); !errors.Is(err, object.ErrChanged) {
				t.Errorf("%d bytes, %v", len(rest), err)
			}
		})
	}
}
