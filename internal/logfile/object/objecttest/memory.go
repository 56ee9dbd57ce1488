// Package objecttest keeps objects in memory for tests, behind names of S3. Answers can be made to fail.
package objecttest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"shadow/internal/logfile/object"
)

// Bucket is the name of the bucket.
const Bucket = "logs"

// ErrBusy reports a store that may be asked again.
var ErrBusy = errors.New("the store is busy")

// What is asked of a store.
const (
	List = "list"
	Stat = "stat"
	Read = "read"
)

// A Request is one that a store was asked.
type Request struct {
	What      string // List, Stat or Read
	Key       string // or a prefix
	Offset, N int64  // of a Read
}

// A Server is a store with one bucket.
type Server struct {
	mu      sync.Mutex
	objects map[string]stored
	fault   func(Request) error // see Fail; nil: there is none
	asked   []Request
}

type stored struct {
	content []byte
	version int
}

// New makes a store with one empty bucket, which has the names of S3 from then on.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{objects: map[string]stored{}}
	object.Register("s3", func(_ context.Context, n object.Name) (object.Bucket, error) {
		if n.Bucket != Bucket {
			return nil, errors.New("there is no such bucket")
		}
		return s, nil
	})
	return s
}

// Put stores an object.
func (s *Server) Put(t testing.TB, key string, content []byte) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[key] = stored{bytes.Clone(content), s.objects[key].version + 1}
}

// Fail has requests fail with what a function returns, where that is not nil.
func (s *Server) Fail(fault func(Request) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Asked returns what was asked since the last call.
func (s *Server) Asked() (asked []Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, s.asked = s.asked, nil
	return asked
}

// ask notes a request, and returns why it fails.
func (s *Server) ask(r Request) error {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	fault := s.fault
	s.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault(r)
}

func (s *Server) listed(key string) object.Listed {
	o := s.objects[key]
	return object.Listed{
		Key: key, Size: int64(len(o.content)), Version: string(rune('0' + o.version)),
		Modified: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC),
	}
}

// Page implements object.Bucket: all objects are one page.
func (s *Server) Page(_ context.Context, prefix, delimiter string, _ []byte) (all []object.Listed, _ []byte, err error) {
	if err := s.ask(Request{What: List, Key: prefix}); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.objects {
		if rest, ok := strings.CutPrefix(key, prefix); ok && (delimiter == "" || !strings.Contains(rest, delimiter)) {
			all = append(all, s.listed(key))
		}
	}
	slices.SortFunc(all, func(a, b object.Listed) int { return strings.Compare(a.Key, b.Key) })
	return all, nil, nil
}

// Stat implements object.Bucket.
func (s *Server) Stat(_ context.Context, key string) (object.Listed, error) {
	if err := s.ask(Request{What: Stat, Key: key}); err != nil {
		return object.Listed{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.objects[key]; !ok {
		return object.Listed{}, object.ErrMissing
	}
	return s.listed(key), nil
}

// Open implements object.Bucket.
func (s *Server) Open(_ context.Context, key, _ string, offset, n int64) (io.ReadCloser, object.Listed, error) {
	if err := s.ask(Request{What: Read, Key: key, Offset: offset, N: n}); err != nil {
		return nil, object.Listed{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[key]
	if !ok {
		return nil, object.Listed{}, object.ErrMissing
	}
	return io.NopCloser(io.NewSectionReader(bytes.NewReader(o.content), offset, n)), s.listed(key), nil
}

// Explain implements object.Bucket.
func (s *Server) Explain(err error) (text error, again bool) { return err, errors.Is(err, ErrBusy) }
