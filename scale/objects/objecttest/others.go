package objecttest

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Fake answers what the clients of Google and of Azure ask for when they list and read, and nothing else. It checks no
// credentials: that is the clients' part.
type Fake struct {
	URL     string
	Options string // behind the names of objects

	mu      sync.Mutex
	objects map[string]fakeObject
	fault   func(http.ResponseWriter, *http.Request) bool
}

type fakeObject struct {
	content    []byte
	generation int64
}

func (o fakeObject) etag() string { return fmt.Sprintf(`"%x"`, md5.Sum(o.content)) }

// fakePage is the most objects of a listing, so that several pages are asked for.
const fakePage = 3

var fakeTime = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// NewGoogle starts a fake of Google Cloud Storage that the client finds.
func NewGoogle(t testing.TB) *Fake {
	t.Helper()
	f := start(t, (*Fake).google)
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(f.URL, "http://"))
	return f
}

// NewAzure starts a fake of Azure's blobs that the client finds.
func NewAzure(t testing.TB) *Fake {
	t.Helper()
	f := start(t, (*Fake).azure)
	t.Setenv("AZURE_STORAGE_ACCOUNT", "account")
	t.Setenv("AZURE_STORAGE_KEY", base64.StdEncoding.EncodeToString([]byte("a key of tests")))
	f.Options = "?domain=" + strings.TrimPrefix(f.URL, "http://") + "&protocol=http" // variables are read once in a process
	return f
}

func start(t testing.TB, answer func(*Fake, http.ResponseWriter, *http.Request)) *Fake {
	f := &Fake{objects: map[string]fakeObject{}}
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		fault := f.fault
		f.mu.Unlock()
		if fault == nil || !fault(w, r) {
			answer(f, w, r)
		}
	}))
	t.Cleanup(listening.Close)
	f.URL = listening.URL
	return f
}

// Put stores an object.
func (f *Fake) Put(_ testing.TB, key string, content []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[key] = fakeObject{content, f.objects[key].generation + 1}
}

// Fail has a function answer requests in the place of the server, where it returns true.
func (f *Fake) Fail(fault func(http.ResponseWriter, *http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

func (f *Fake) get(key string) (fakeObject, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, ok := f.objects[key]
	return o, ok
}

// list returns a page of keys, and the key from which to go on.
func (f *Fake) list(prefix, delimiter, from string) (keys []string, next string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key := range f.objects {
		rest, ok := strings.CutPrefix(key, prefix)
		if ok && key >= from && (delimiter == "" || !strings.Contains(rest, delimiter)) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	if len(keys) > fakePage {
		keys, next = keys[:fakePage], keys[fakePage]
	}
	return keys, next
}

// google answers the JSON API, and reads of the XML API.
func (f *Fake) google(w http.ResponseWriter, r *http.Request) {
	attributes := func(key string, o fakeObject) map[string]any {
		return map[string]any{
			"name": key, "bucket": Bucket, "size": strconv.Itoa(len(o.content)), "generation": strconv.FormatInt(o.generation, 10),
			"updated": fakeTime.Format(time.RFC3339), "etag": o.etag(),
		}
	}
	switch key, isObject := strings.CutPrefix(r.URL.Path, "/storage/v1/b/"+Bucket+"/o/"); {
	case r.URL.Path == "/storage/v1/b/"+Bucket+"/o":
		q := r.URL.Query()
		keys, next := f.list(q.Get("prefix"), q.Get("delimiter"), q.Get("pageToken"))
		items := []any{}
		for _, key := range keys {
			o, _ := f.get(key)
			items = append(items, attributes(key, o))
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"items": items, "nextPageToken": next})
	case isObject:
		o, ok := f.get(key)
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(attributes(key, o))
	default:
		key, inBucket := strings.CutPrefix(r.URL.Path, "/"+Bucket+"/")
		o, ok := f.get(key)
		asked := r.URL.Query().Get("generation")
		if !inBucket || !ok || asked != "" && asked != strconv.FormatInt(o.generation, 10) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("X-Goog-Generation", strconv.FormatInt(o.generation, 10))
		http.ServeContent(w, r, "", fakeTime, strings.NewReader(string(o.content)))
	}
}

// azure answers listings and reads of one container.
func (f *Fake) azure(w http.ResponseWriter, r *http.Request) {
	key, _ := strings.CutPrefix(r.URL.Path, "/account/"+Bucket)
	key = strings.TrimPrefix(key, "/")
	if q := r.URL.Query(); q.Get("comp") == "list" {
		type properties struct {
			Modified string `xml:"Last-Modified"`
			Size     int    `xml:"Content-Length"`
			ETag     string `xml:"Etag"`
		}
		type item struct {
			Name       string
			Properties properties
		}
		type page struct {
			XMLName xml.Name `xml:"EnumerationResults"`
			Blobs   []item   `xml:"Blobs>Blob"`
			Next    string   `xml:"NextMarker"`
		}
		var p page
		var keys []string
		keys, p.Next = f.list(q.Get("prefix"), q.Get("delimiter"), q.Get("marker"))
		for _, key := range keys {
			o, _ := f.get(key)
			p.Blobs = append(p.Blobs, item{key, properties{fakeTime.Format(http.TimeFormat), len(o.content), o.etag()}})
		}
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprint(w, xml.Header)
		_ = xml.NewEncoder(w).Encode(p)
		return
	}
	o, ok := f.get(key)
	if !ok {
		w.Header().Set("X-Ms-Error-Code", "BlobNotFound")
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Etag", o.etag())
	w.Header().Set("X-Ms-Blob-Type", "BlockBlob")
	w.Header().Set("X-Ms-Creation-Time", fakeTime.Format(http.TimeFormat))
	if asked := r.Header.Get("X-Ms-Range"); asked != "" {
		r.Header.Set("Range", asked)
	}
	http.ServeContent(w, r, "", fakeTime, strings.NewReader(string(o.content))) // it knows If-Match
}
