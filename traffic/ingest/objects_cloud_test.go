//go:build cloud

package ingest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"shadow/logfile/object/objecttest"
)

// Objects that are read one after the other are on their way together: a store takes its time for each.
func TestNextObjectsAreOnTheirWay(t *testing.T) {
	server := objecttest.New(t)
	const objects = 4
	var names []string
	day := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for i := range objects {
		var b bytes.Buffer
		for k := 0; b.Len() < 400<<10; k++ { // more than is kept of its beginning
			at := day.Add(time.Duration(i)*time.Hour + time.Duration(k)*time.Second/10)
			fmt.Fprintf(&b, "192.0.2.%d - - [%s] \"GET / HTTP/1.1\" 200 5 \"-\" \"curl/8\"\n", i, at.Format("02/Jan/2006:15:04:05 -0700"))
		}
		key := fmt.Sprintf("%d.log", i)
		server.Put(t, key, b.Bytes())
		names = append(names, "s3://logs/"+key)
	}
	var mu sync.Mutex
	asked := map[string]chan struct{}{} // closed when all of the object is asked for
	for i := range objects {
		asked[fmt.Sprintf("/logs/%d.log", i)] = make(chan struct{})
	}
	late := ""
	server.Fail(func(_ http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.Header.Get("Range"), "bytes=0-4") || strings.HasPrefix(r.Header.Get("Range"), "bytes=0-4095") {
			return false
		}
		close(asked[r.URL.Path])
		if next := strings.Replace(r.URL.Path, "0.log", "1.log", 1); next != r.URL.Path { // the first waits for the second
			select {
			case <-asked[next]:
			case <-time.After(20 * time.Second):
				mu.Lock()
				late = next
				mu.Unlock()
			}
		}
		return false
	})
	reader, err := NewReader(t.Context(), names, nil, readingOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for err == nil {
		_, err = reader.Next()
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if late != "" {
		t.Errorf("%s is asked for only when the object before it has been read", late)
	}
}
