package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// slowest is how many bytes a second an object is written with at least; a slower connection counts as broken.
const slowest = 1 << 20

// Put makes an object of what content holds, in the place of one that has the name. It is there whole or not at all.
func (s *Store) Put(ctx context.Context, n Name, content io.ReaderAt, size int64) error {
	b, err := s.bucketOf(ctx, n)
	if err != nil {
		return err
	}
	for tried := 1; ; tried++ {
		err := s.putOnce(ctx, b, n.Key, io.NewSectionReader(content, 0, size))
		if err == nil {
			break
		}
		if err := s.again(ctx, b, tried, err); err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, n.String()) // it is another one now
	return nil
}

func (s *Store) putOnce(ctx context.Context, b bucket, key string, content *io.SectionReader) error {
	allowed := s.Stall + time.Duration(content.Size()/slowest)*time.Second
	once, cancel := context.WithTimeout(ctx, allowed)
	defer cancel()
	w, err := b.create(once, key)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, content)
	if err != nil {
		cancel() // so that to close it leaves nothing
	}
	if closed := w.Close(); err == nil {
		err = closed
	}
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w after %v", errStalled, allowed)
	}
	return err
}

// Reach finds out whether there is a bucket of the name. That it may be written to is known once something is.
func (s *Store) Reach(ctx context.Context, n Name) error {
	b, err := s.bucketOf(ctx, n)
	if err != nil {
		return err
	}
	err = s.try(ctx, b, func(ctx context.Context) error {
		_, _, err := b.page(ctx, n.Key, "/", nil)
		return err
	})
	if errors.Is(err, errNoBucket) { // who may not list may write nevertheless
		return fmt.Errorf("%s: %w", n, err)
	}
	return nil
}
