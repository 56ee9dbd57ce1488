package ingest

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"shadow/internal/logfile/object/objecttest"
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
		asked[fmt.Sprintf("%d.log", i)] = make(chan struct{})
	}
	late := ""
	server.Fail(func(r objecttest.Request) error {
		if r.What != objecttest.Read || r.Offset > 0 || r.N < 400<<10 {
			return nil
		}
		close(asked[r.Key])
		if next := strings.Replace(r.Key, "0.log", "1.log", 1); next != r.Key { // the first waits for the second
			select {
			case <-asked[next]:
			case <-time.After(20 * time.Second):
				mu.Lock()
				late = next
				mu.Unlock()
			}
		}
		return nil
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
