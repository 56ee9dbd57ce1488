package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// A stream reads a stretch of an object, and goes on where it stopped when the connection breaks.
type stream struct {
	store   *Store
	ctx     context.Context
	info    Info
	at, end int64 // what is left of the stretch

	body   io.ReadCloser // nil: is asked for
	cancel context.CancelFunc
	stall  *time.Timer // ends the request when nothing comes
	failed int         // times
}

// Read fails with an *Error, or at the end of the stretch with io.EOF.
func (s *stream) Read(p []byte) (n int, err error) {
	for s.at < s.end {
		if s.body == nil {
			err = s.open()
		}
		if err == nil {
			s.stall.Reset(s.store.Stall)
			n, err = s.body.Read(p[:min(int64(len(p)), s.end-s.at)])
			s.at += int64(n)
			if err == io.EOF {
				err = io.ErrUnexpectedEOF // the answer was shorter than it should be
			}
		}
		if s.at == s.end {
			s.Close()
			return n, nil
		}
		if err != nil {
			err = s.again(err)
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.EOF
}

// open asks for what is left.
func (s *stream) open() error {
	n := Parse(s.info.Name)
	b, err := s.store.bucketOf(s.ctx, n)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.cancel, s.stall = cancel, time.AfterFunc(s.store.Stall, cancel)
	body, now, err := b.Open(ctx, n.Key, s.info.Version, s.at, s.end-s.at)
	if err != nil {
		return err
	}
	s.body = body
	if now.Size != s.info.Size || now.Version != s.info.Version {
		return fmt.Errorf("%w (%d bytes, version %s; found were %d bytes, version %s)",
			ErrChanged, now.Size, now.Version, s.info.Size, s.info.Version)
	}
	return nil
}

// again ends the request, and waits until another one may be tried. It returns why none is.
func (s *stream) again(err error) error {
	stalled := s.cancel != nil && s.ctx.Err() == nil && errors.Is(err, context.Canceled)
	s.Close()
	if stalled {
		err = fmt.Errorf("%w for %v", errStalled, s.store.Stall)
	}
	s.failed++
	b, none := s.store.bucketOf(s.ctx, Parse(s.info.Name))
	if none == nil {
		err = s.store.again(s.ctx, b, s.failed, err)
	}
	if isMissing(err) { // it was there
		err = ErrChanged
	}
	if err != nil && s.ctx.Err() == nil {
		err = &Error{s.info.Name, s.at, err}
	}
	return err
}

// Close ends the request.
func (s *stream) Close() error {
	if s.cancel != nil {
		s.stall.Stop()
		s.cancel()
	}
	if s.body != nil {
		s.body.Close()
	}
	s.body, s.cancel = nil, nil
	return nil
}
