package object

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A memory is a bucket of this process, whose answers can be made to fail.
type memory struct {
	mu      sync.Mutex
	objects map[string][]byte
	version string
	fault   func(offset int64) (after int64, err error) // how many bytes come, and then what; nil: all

	open_ atomic.Int64 // requests whose body is not closed
	most  atomic.Int64 // of these at a time
}

var errBroken = errors.New("broken")

func (m *memory) Page(context.Context, string, string, []byte) ([]Listed, []byte, error) {
	return nil, nil, nil
}

func (m *memory) Stat(_ context.Context, key string) (Listed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.objects[key]
	if !ok {
		return Listed{}, ErrMissing
	}
	return Listed{Key: key, Size: int64(len(data)), Version: m.version}, nil
}

func (m *memory) Open(ctx context.Context, key, version string, offset, n int64) (io.ReadCloser, Listed, error) {
	now, err := m.Stat(ctx, key)
	if err != nil {
		return nil, now, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b := &body{ctx: ctx, of: m, data: m.objects[key][offset : offset+n], end: io.EOF}
	if m.fault != nil {
		after, err := m.fault(offset)
		if err != nil {
			b.data, b.end = b.data[:min(after, n)], err
		}
	}
	m.most.Store(max(m.most.Load(), m.open_.Add(1)))
	return b, now, nil
}

func (m *memory) Explain(err error) (error, bool) {
	return err, errors.Is(err, errBroken) || errors.Is(err, io.ErrUnexpectedEOF)
}

// A body is an answer.
type body struct {
	ctx  context.Context
	of   *memory
	data []byte
	end  error
}

func (b *body) Read(p []byte) (int, error) {
	if len(b.data) == 0 {
		if b.end == errStalled {
			<-b.ctx.Done()
			return 0, b.ctx.Err()
		}
		return 0, b.end
	}
	n := copy(p, b.data)
	b.data = b.data[n:]
	return n, nil
}

func (b *body) Close() error {
	b.of.open_.Add(-1)
	return nil
}

// storeOf returns a Store with one bucket of this process, in which one object has some content.
func storeOf(t *testing.T, size int) (*Store, *memory, Info) {
	t.Helper()
	data := make([]byte, size)
	for i, x := 0, uint32(1); i < size; i++ {
		x = x*1664525 + 1013904223 // no two ranges are alike
		data[i] = byte(x >> 24)
	}
	m := &memory{objects: map[string][]byte{"log": data}, version: "1"}
	s := NewStore()
	s.Wait = 1
	s.open = func(context.Context, Name) (Bucket, error) { return m, nil }
	info, err := s.Stat(t.Context(), "s3://logs/log")
	if err != nil {
		t.Fatal(err)
	}
	return s, m, info
}

func TestRangesComeInOrder(t *testing.T) {
	for _, size := range []int{0, 1, rangeSize - 1, rangeSize, rangeSize + 1, 5*rangeSize + 17} {
		for _, offset := range []int{0, 1, size / 2, size} {
			for _, lean := range []bool{false, true} {
				s, m, info := storeOf(t, size)
				offset = min(offset, size)
				for _, end := range []int{size, max(offset, size-3), offset} {
					r := s.Open(info, int64(offset), lean)
					r.Until(int64(end))
					got, err := io.ReadAll(r)
					if err != nil || !bytes.Equal(got, m.objects["log"][offset:end]) {
						t.Errorf("of %d bytes from %d to %d, lean %t: %d bytes, %v", size, offset, end, lean, len(got), err)
					}
					r.Close()
					freed(t, s, m)
				}
			}
		}
	}
}

// freed fails the test unless nothing is held any more.
func freed(t *testing.T, s *Store, m *memory) {
	t.Helper()
	for range 1000 {
		if len(s.room) == 0 && m.open_.Load() == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d ranges and %d answers are still held", len(s.room), m.open_.Load())
}

// Many readers at once hold no more ranges than there is room for, and all of them come to their ends.
func TestRangesInMemoryAreFew(t *testing.T) {
	s, m, info := storeOf(t, 2*rangeSize+5)
	const readers = 40
	all := make([]*Reader, readers)
	got := make([][]byte, readers)
	for i := range all {
		all[i] = s.Open(info, 0, i%2 == 0)
	}
	piece := make([]byte, 512<<10)
	for done := 0; done < readers; {
		done = 0
		for i, r := range all { // in turns, so that all are in the middle at a time
			n, err := r.Read(piece)
			got[i] = append(got[i], piece[:n]...)
			if err == io.EOF {
				done++
			} else if err != nil {
				t.Fatal(err)
			}
			if len(s.room) > mostRanges {
				t.Fatalf("%d ranges are held", len(s.room))
			}
		}
	}
	for i := range got {
		if !bytes.Equal(got[i], m.objects["log"]) {
			t.Errorf("reader %d has read %d bytes, or others", i, len(got[i]))
		}
		all[i].Close()
	}
	freed(t, s, m)
}

// An answer that breaks off is read on from where it stopped.
func TestBrokenRangesAreReadOn(t *testing.T) {
	for name, end := range map[string]error{"reset": errBroken, "short": io.EOF, "stalled": errStalled} {
		t.Run(name, func(t *testing.T) {
			s, m, info := storeOf(t, 2*rangeSize+5)
			s.Stall = 20 * time.Millisecond
			var mu sync.Mutex
			broken := map[int64]bool{}
			m.fault = func(offset int64) (int64, error) {
				mu.Lock()
				defer mu.Unlock()
				if broken[offset/rangeSize] {
					return 0, nil
				}
				broken[offset/rangeSize] = true // each range once
				return 1000, end
			}
			r := s.Open(info, 0, false)
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, m.objects["log"]) || len(broken) != 3 {
				t.Errorf("%d bytes, %v; %d ranges were broken", len(got), err, len(broken))
			}
			r.Close()
			freed(t, s, m)
		})
	}
}

// An answer that ends before it should is never the end of the object.
func TestShortAnswersAreNoEnd(t *testing.T) {
	s, m, info := storeOf(t, 5000)
	m.fault = func(int64) (int64, error) { return 3, io.EOF }
	r := s.Open(info, 0, false)
	defer r.Close()
	got, err := io.ReadAll(r)
	var failed *Error
	if !errors.As(err, &failed) || failed.Offset != int64(len(got)) || failed.Name != "s3://logs/log" {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if want := int64(3 * s.Tries); failed != nil && failed.Offset != want {
		t.Errorf("failed at %d, want %d: a few bytes each time", failed.Offset, want)
	}
}

func TestFailuresAreLimited(t *testing.T) {
	s, m, info := storeOf(t, 3*rangeSize)
	var asked atomic.Int64
	m.fault = func(offset int64) (int64, error) {
		if offset < rangeSize {
			return 0, nil
		}
		if offset < 2*rangeSize {
			asked.Add(1)
		}
		return 0, errBroken
	}
	r := s.Open(info, 0, false)
	got, err := io.ReadAll(r)
	var failed *Error
	if !errors.As(err, &failed) || failed.Offset != rangeSize || !errors.Is(err, errBroken) || len(got) != rangeSize {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if asked.Load() != int64(s.Tries) {
		t.Errorf("asked %d times, want %d", asked.Load(), s.Tries)
	}
	if n, err := r.Read(make([]byte, 10)); n > 0 || !errors.As(err, &failed) {
		t.Errorf("then %d, %v", n, err)
	}
	r.Close()
	freed(t, s, m)
}

func TestChangedObjectsAreErrors(t *testing.T) {
	for name, change := range map[string]func(*memory){
		"other version": func(m *memory) { m.version = "2" },
		"longer":        func(m *memory) { m.objects["log"] = append(m.objects["log"], 1) },
		"deleted":       func(m *memory) { delete(m.objects, "log") },
	} {
		t.Run(name, func(t *testing.T) {
			s, m, info := storeOf(t, 5*rangeSize)
			r := s.Open(info, 0, false)
			defer r.Close()
			if _, err := r.Read(make([]byte, 10)); err != nil {
				t.Fatal(err)
			}
			m.mu.Lock()
			change(m)
			m.mu.Unlock()
			rest, err := io.ReadAll(r)
			var failed *Error
			if !errors.As(err, &failed) || !errors.Is(err, ErrChanged) {
				t.Errorf("%d bytes, %v", len(rest), err)
			}
		})
	}
}

func TestCloseEndsRead(t *testing.T) {
	s, m, info := storeOf(t, 3*rangeSize)
	m.fault = func(int64) (int64, error) { return 10, errStalled }
	r := s.Open(info, 0, false)
	ended := make(chan error)
	go func() {
		_, err := io.ReadAll(r)
		ended <- err
	}()
	for m.open_.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	r.Close()
	if err := <-ended; !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	freed(t, s, m)
}

func TestReadAt(t *testing.T) {
	s, m, info := storeOf(t, 1000)
	for _, c := range []struct{ offset, n, want int }{{0, 10, 10}, {990, 10, 10}, {990, 20, 10}, {1000, 5, 0}} {
		p := make([]byte, c.n)
		n, err := s.ReadAt(info, p, int64(c.offset))
		if n != c.want || !bytes.Equal(p[:n], m.objects["log"][c.offset:c.offset+n]) || (err == io.EOF) != (n < c.n) {
			t.Errorf("%v: %d, %v", c, n, err)
		}
	}
}
