package object

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// A Store reaches all stores. It remembers what it has listed, so that an object is the one that was found. Any number of
// goroutines may use it.
type Store struct {
	Tries int           // how often something is tried before it fails
	Wait  time.Duration // before the second time; before each further one it waits three times as long, mostWait at most
	Stall time.Duration // without a byte after which a connection counts as broken

	mu      sync.Mutex
	buckets map[Name]Bucket // by name without a key
	known   map[string]Info // by name
	open    func(context.Context, Name) (Bucket, error)
	room    chan struct{} // one for each range that may wait in memory
}

const (
	tries    = 6
	wait     = 200 * time.Millisecond
	mostWait = 10 * time.Second
	stall    = time.Minute
)

// NewStore returns one.
func NewStore() *Store {
	return &Store{
		Tries: tries, Wait: wait, Stall: stall, buckets: map[Name]Bucket{}, known: map[string]Info{}, open: openBucket,
		room: make(chan struct{}, mostRanges),
	}
}

// bucketOf returns the bucket of a name.
func (s *Store) bucketOf(ctx context.Context, n Name) (Bucket, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n.Key = ""
	if b := s.buckets[n]; b != nil {
		return b, nil
	}
	b, err := s.open(ctx, n)
	if err == nil {
		s.buckets[n] = b
	}
	return b, err
}

// learn remembers an object.
func (s *Store) learn(n Name, l Listed) Info {
	info := Info{Name: n.WithKey(l.Key).String(), Size: l.Size, Modified: l.Modified, Version: l.Version}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[info.Name] = info
	return info
}

// Stat returns an object: as it was listed, if it was.
func (s *Store) Stat(ctx context.Context, name string) (Info, error) {
	s.mu.Lock()
	info, known := s.known[name]
	s.mu.Unlock()
	if known {
		return info, nil
	}
	n := Parse(name)
	found, err := s.look(ctx, n)
	if err != nil {
		return info, err
	}
	return s.learn(n, found), nil
}

func (s *Store) look(ctx context.Context, n Name) (found Listed, err error) {
	b, err := s.bucketOf(ctx, n)
	if err != nil {
		return found, err
	}
	err = s.try(ctx, b, func(ctx context.Context) (err error) {
		found, err = b.Stat(ctx, n.Key)
		return err
	})
	found.Key = n.Key
	return found, err
}

// try does something until it goes well, or was tried often enough, or will never go well.
func (s *Store) try(ctx context.Context, b Bucket, do func(context.Context) error) error {
	for n := 1; ; n++ {
		once, cancel := context.WithTimeout(ctx, s.Stall)
		err := do(once)
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w after %v", errStalled, s.Stall)
		}
		if err := s.again(ctx, b, n, err); err != nil {
			return err
		}
	}
}

var errStalled = errors.New("no answer")

// explain says what is wrong: what the Store itself has noticed, or else what the client makes of it.
func explain(b Bucket, err error) (text error, again bool) {
	switch {
	case errors.Is(err, ErrChanged):
		return err, false
	case errors.Is(err, errStalled):
		return fmt.Errorf("the connection failed: %w", err), true
	}
	return b.Explain(err)
}

// again waits before something is tried again that has failed n times. It returns what to say when it is not.
func (s *Store) again(ctx context.Context, b Bucket, n int, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text, again := explain(b, err)
	if !again {
		return text
	}
	if n >= s.Tries {
		return fmt.Errorf("%w (tried %d times)", text, n)
	}
	pause := s.Wait
	for range n - 1 {
		pause = min(3*pause, mostWait)
	}
	pause += time.Duration(rand.Int64N(int64(pause)/4 + 1)) // so that not all who were refused come again at once
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
