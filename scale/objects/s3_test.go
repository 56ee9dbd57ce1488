package objects_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"shadow/internal/logfile/object"
	"shadow/scale/objects"
	"shadow/scale/objects/objecttest"
)

func TestMain(m *testing.M) {
	objects.Register()
	os.Exit(m.Run())
}

// newStore returns one that does not wait long before it tries again.
func newStore() *object.Store {
	s := object.NewStore()
	s.Wait = time.Millisecond
	return s
}

// expand returns the keys that a name stands for.
func expand(t *testing.T, s *object.Store, name string) (keys []string, err error) {
	t.Helper()
	err = s.Expand(t.Context(), name, func(info object.Info) error {
		keys = append(keys, info.Name)
		return nil
	})
	return keys, err
}

// someObjects are the keys of the tests of names.
var someObjects = []string{
	"2026/01/access.log", "2026/01/access.log.gz", "2026/02/access.log", "2026/02/deep/access.log", "2026/.hidden", "2026/.git/config",
	"2026/folder/", "2026/a[1].log", "2026/a1.log", "b é+%41.log",
}

func TestExpand(t *testing.T) {
	server := objecttest.New(t)
	dir := t.TempDir()
	for _, key := range someObjects {
		server.Put(t, key, []byte("x"))
		if path := filepath.Join(dir, key); strings.HasSuffix(key, "/") {
			must(t, os.MkdirAll(path, 0o755))
		} else {
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must(t, os.WriteFile(path, []byte("x"), 0o644))
		}
	}
	all := []string{
		"2026/01/access.log", "2026/01/access.log.gz", "2026/02/access.log", "2026/02/deep/access.log", "2026/a1.log", "2026/a[1].log", "b é+%41.log",
	}
	for name, want := range map[string][]string{
		"":                         all,
		"2026/":                    all[:6],
		"2026/01/":                 all[:2],
		"2026/0*/access.log":       {all[0], all[2]},
		"2026/*/access.log*":       all[:3],
		"2026/0?/*.gz":             all[1:2],
		"2026/*.log":               all[4:6],
		"2026/.h*":                 {"2026/.hidden"},
		"2026/a[1].log":            all[5:6], // its name, and no pattern
		"2026/a[0-9].log":          all[4:5],
		"b é+%41.log":              all[6:],
		"2026/01/access.log":       all[:1],
		"2026/0*/access.log?x_y=1": nil,
	} {
		for _, root := range []string{"s3://logs/", "file://" + dir + "/"} {
			got, err := expand(t, newStore(), root+name)
			for i := range got {
				got[i], _, _ = strings.Cut(strings.TrimPrefix(got[i], root), "?x_y")
			}
			if !slices.Equal(got, want) || (err == nil) != (want != nil) {
				t.Errorf("%s: %q, %v; want %q", root+name, got, err, want)
			}
		}
	}
	for name, want := range map[string]string{
		"s3://logs/2026/01":           "s3://logs/2026/01/ names all below it",
		"s3://logs/none":              "there is no such object",
		"s3://logs/none/":             "no object has a name that begins so",
		"s3://logs/2026/x*":           "none of the 0 objects whose names begin with s3://logs/2026/x matches",
		"s3://logs/2026/*.zst":        "none of the",
		"s3://logs/**/nothing":        `"**" is no more than "*"`,
		"s3://logs/[":                 "is no pattern",
		"s3://other/x":                "there is no such",
		"s3://other/":                 "there is no such bucket: other",
		"s3:///x":                     "names no bucket",
		"s3://logs/x?colour=red":      "unknown query parameter",
		"file:///nonexistent/x/":      "there is no such folder",
		"s3://logs/x?endpoint=http:/": "endpoint",
	} {
		if keys, err := expand(t, newStore(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; want %q", name, keys, err, want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A listing comes page by page, in the order of names, and what does not match is not kept.
func TestHundredThousandObjects(t *testing.T) {
	server := objecttest.New(t)
	const objects = 100_000
	for i := range objects {
		server.Put(t, fmt.Sprintf("2026/%02d/%05d.log", i%20, i), []byte("x"))
	}
	server.Asked()
	n, last := 0, ""
	must(t, newStore().Expand(t.Context(), "s3://logs/2026/", func(info object.Info) error {
		if n++; info.Name <= last || info.Size != 1 || info.Version == "" {
			return fmt.Errorf("%+v comes behind %s", info, last)
		}
		last = info.Name
		return nil
	}))
	if asked := len(server.Asked()); n != objects || asked > objects/1000+1 {
		t.Errorf("%d objects with %d requests", n, asked)
	}
	keys, err := expand(t, newStore(), "s3://logs/2026/*/99*.log")
	if err != nil || len(keys) != 1000 {
		t.Errorf("%d objects, %v", len(keys), err)
	}
	server.Asked()
	if keys, err := expand(t, newStore(), "s3://logs/2026/07/*.log"); err != nil || len(keys) != objects/20 || len(server.Asked()) > 7 {
		t.Errorf("%d objects, %v", len(keys), err)
	}
}

// open finds an object and opens it.
func open(t *testing.T, s *object.Store, name string) *object.Reader {
	t.Helper()
	info, err := s.Stat(t.Context(), name)
	must(t, err)
	r := s.Open(info, 0, false)
	t.Cleanup(func() { r.Close() })
	return r
}

// bigObject returns an object of several ranges.
func bigObject() []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < 18<<20; i++ {
		fmt.Fprintln(&b, "line", i)
	}
	return b.Bytes()
}

func TestFaults(t *testing.T) {
	server := objecttest.New(t)
	want := bigObject()
	server.Put(t, "log", want)
	isRange := func(r *http.Request) bool { return r.Header.Get("Range") != "" }
	var times atomic.Int64
	for name, fault := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"500 thrice": func(w http.ResponseWriter, r *http.Request) bool {
			if !isRange(r) || times.Add(1) > 3 {
				return false
			}
			objecttest.Refuse(w, http.StatusInternalServerError, "InternalError")
			return true
		},
		"slow down": func(w http.ResponseWriter, r *http.Request) bool {
			if times.Add(1)%2 == 0 {
				return false
			}
			objecttest.Refuse(w, http.StatusServiceUnavailable, "SlowDown")
			return true
		},
		"cut in the middle": func(w http.ResponseWriter, r *http.Request) bool {
			if !isRange(r) || times.Add(1)%2 == 0 {
				return false
			}
			server.Cut(w, r, 1<<20)
			return true
		},
		"no answer at all": func(w http.ResponseWriter, r *http.Request) bool {
			if !isRange(r) || times.Add(1)%2 == 0 {
				return false
			}
			server.Cut(w, r, 0)
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			times.Store(0)
			server.Fail(fault)
			defer server.Fail(nil)
			got, err := io.ReadAll(open(t, newStore(), "s3://logs/log"))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
			}
			if times.Load() < 3 {
				t.Errorf("only %d requests could have failed", times.Load())
			}
		})
	}
}

// A store that goes on failing is asked a limited number of times, and the error says where that was, and why.
func TestFaultsAreLimited(t *testing.T) {
	server := objecttest.New(t)
	server.Put(t, "log", bigObject())
	var times atomic.Int64
	second := func(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("Range"), "bytes=4194304-") }
	server.Fail(func(w http.ResponseWriter, r *http.Request) bool {
		if !second(r) {
			return false
		}
		times.Add(1)
		objecttest.Refuse(w, http.StatusInternalServerError, "InternalError")
		return true
	})
	s := newStore()
	got, err := io.ReadAll(open(t, s, "s3://logs/log"))
	var failed *object.Error
	if !errors.As(err, &failed) || failed.Offset != 4<<20 || len(got) != 4<<20 || times.Load() != int64(s.Tries) {
		t.Fatalf("%d bytes, %v, asked %d times", len(got), err, times.Load())
	}
	if text := "cannot be read on from byte 4194304: the store answers 500 InternalError (tried 6 times)"; err.Error() != text {
		t.Errorf("%v, want %s", err, text)
	}
	server.Fail(func(w http.ResponseWriter, r *http.Request) bool {
		if second(r) {
			objecttest.Refuse(w, http.StatusForbidden, "AccessDenied")
		}
		return second(r)
	})
	if _, err = io.ReadAll(open(t, newStore(), "s3://logs/log")); err == nil || !strings.Contains(err.Error(), "access denied (403 AccessDenied)") {
		t.Error(err)
	}
}

// An object that changes between two ranges is an error, also where the server does not know If-Match.
func TestChangedObject(t *testing.T) {
	for name, knows := range map[string]bool{"If-Match": true, "ETag": false} {
		t.Run(name, func(t *testing.T) {
			server := objecttest.New(t)
			content := bigObject()
			server.Put(t, "log", content)
			server.Fail(func(w http.ResponseWriter, r *http.Request) bool { return knows && server.MustMatch(w, r) })
			r := open(t, newStore(), "s3://logs/log")
			if _, err := io.ReadFull(r, make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
			content = bytes.ReplaceAll(content, []byte("line"), []byte("LINE")) // of the same size
			server.Put(t, "log", content)
			if rest, err := io.ReadAll(r); !errors.Is(err, object.ErrChanged) {
				t.Errorf("%d bytes, %v", len(rest), err)
			}
		})
	}
	t.Run("file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "log")
		must(t, os.WriteFile(path, bigObject(), 0o644))
		r := open(t, newStore(), "file://"+path)
		if _, err := io.ReadFull(r, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		must(t, os.WriteFile(path, append(bigObject(), 'x'), 0o644))
		if rest, err := io.ReadAll(r); !errors.Is(err, object.ErrChanged) {
			t.Errorf("%d bytes, %v", len(rest), err)
		}
	})
}

// What is wrong with credentials, regions and servers is said, with what to do.
func TestRefusals(t *testing.T) {
	server := objecttest.New(t)
	server.Put(t, "log", []byte("x"))
	for name, c := range map[string]struct {
		env   []string
		fault func(http.ResponseWriter, *http.Request) bool
		name  string
		want  []string
	}{
		"no credentials": {
			env:  []string{"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY="},
			want: []string{"no valid credentials for S3: set AWS_ACCESS_KEY_ID"},
		},
		"wrong secret": {
			env: []string{"AWS_SECRET_ACCESS_KEY=wrong"}, name: "s3://logs/", want: []string{"no valid credentials", "SignatureDoesNotMatch"},
		},
		"denied": {
			fault: func(w http.ResponseWriter, _ *http.Request) bool {
				objecttest.Refuse(w, http.StatusForbidden, "AccessDenied")
				return true
			},
			want: []string{"access denied (403", "?region=eu-west-1&endpoint=https://HOST"},
		},
		"another region": {
			fault: func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("X-Amz-Bucket-Region", "us-east-2")
				objecttest.Refuse(w, http.StatusMovedPermanently, "PermanentRedirect")
				return true
			},
			want: []string{"bucket logs lies in region us-east-2: set AWS_REGION=us-east-2, or add ?region=us-east-2"},
		},
		"nobody there": {
			env:  []string{"AWS_ENDPOINT_URL=http://127.0.0.1:1"},
			want: []string{"connection failed", "refused", "tried 6 times"},
		},
		"no region": {env: []string{"AWS_REGION=", "AWS_DEFAULT_REGION="}, want: []string{"AWS_REGION"}},
		"not there": {name: "s3://logs/nothing", want: []string{"there is no such object"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, setting := range c.env {
				variable, value, _ := strings.Cut(setting, "=")
				t.Setenv(variable, value)
			}
			server.Fail(c.fault)
			defer server.Fail(nil)
			if c.name == "" {
				c.name = "s3://logs/log"
			}
			_, err := expand(t, newStore(), c.name)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v; want %q", err, want)
				}
			}
		})
	}
	t.Run("options", func(t *testing.T) {
		t.Setenv("AWS_ENDPOINT_URL", "")
		t.Setenv("AWS_REGION", "")
		name := "s3://logs/log?region=eu-west-1&endpoint=" + server.URL
		if got, err := io.ReadAll(open(t, newStore(), name)); err != nil || string(got) != "x" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// read reads an object.
func read(t *testing.T, name string) ([]byte, error) {
	s := newStore()
	info, err := s.Stat(t.Context(), name)
	if err != nil {
		return nil, err
	}
	r := s.Open(info, 0, false)
	defer r.Close()
	return io.ReadAll(r)
}
