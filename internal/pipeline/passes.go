package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"shadow/internal/logfile"
	"shadow/internal/pipeline/heap"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/trace"
	"shadow/parse"
	"shadow/replay"
	"shadow/report"
)

// Logs are read once. Who has to go through their requests several times keeps them on the way.

// each hands the batches of a source to do.
func each(ctx context.Context, src replay.Source, do func(*traffic.Batch) error) error {
	for {
		b, err := src.Next()
		switch {
		case err == io.EOF:
			return nil
		case ctx.Err() != nil:
			return ErrInterrupted
		case err != nil:
			return err
		}
		if err := do(b); err != nil {
			return err
		}
	}
}

// A Pass is one way through all requests. The first reads the logs, further ones what was kept of them.
type Pass struct {
	Number int
	Of     int // how many there will be; 0: not known yet
	Name   string
	At     func() (done, all int64) // bytes, from any goroutine; all is 0 where that is not known
}

// String returns what the pass is called: "pass 2 of 3: trying limits".
func (p Pass) String() string {
	switch {
	case p.Of > 1:
		return fmt.Sprintf("pass %d of %d: %s", p.Number, p.Of, p.Name)
	case p.Number > 1:
		return fmt.Sprintf("pass %d: %s", p.Number, p.Name)
	}
	return p.Name
}

// show shows a pass until stop is called.
func (l *Logs) show(name string, at func() (done, all int64)) (stop func()) {
	l.passes++
	if l.Progress == nil || l.Quiet {
		return func() {}
	}
	return l.Progress(Pass{l.passes, l.ofPasses, name, at})
}

// passing shows a pass over so many requests that were kept, which goes on as its batches are taken.
func (l *Logs) passing(name string, src replay.Source, requests int64) (shown replay.Source, stop func()) {
	done, size := new(atomic.Int64), l.requests.Size()
	stop = l.show(name, func() (int64, int64) {
		return int64(float64(size) * min(1, float64(done.Load())/float64(max(1, requests)))), size
	})
	return tee{src, func(b *traffic.Batch) { done.Add(int64(b.Len())) }}, stop
}

// again hands all requests that were read to do once more.
func (l *Logs) again(ctx context.Context, do func(*traffic.Batch) error) error {
	pass := l.requests.Pass().Ahead()
	defer pass.Close()
	src, stop := l.passing("trying limits", pass, l.handed)
	defer stop()
	return each(ctx, src, do)
}

// Release frees the requests that were read. There are no further passes then.
func (l *Logs) Release() error {
	if l.requests == nil {
		return nil
	}
	err := l.requests.Close()
	l.requests = nil
	return err
}

// keeping returns the batches of a reader, and keeps them on the way where that is wanted.
func (l *Logs) keeping(reader *ingest.Reader) replay.Source {
	if !l.severalPasses {
		return reader
	}
	l.requests = new(trace.Requests)
	return &keeper{Reader: reader, keep: func(b *traffic.Batch, only bool) {
		if only {
			l.requests.Hold(b)
			return
		}
		l.requests.Add(b)
		l.lost = l.requests.Lost()
	}}
}

// A keeper hands on what is read. Batches are kept after they have been looked at.
type keeper struct {
	*ingest.Reader
	keep    func(b *traffic.Batch, only bool)
	last    *traffic.Batch // that has been handed on; nil: none
	several bool           // whether that was not the first
}

// Next returns the next batch, or io.EOF. The batch is valid until Next returns another one.
func (k *keeper) Next() (*traffic.Batch, error) {
	var room []int32
	if k.last != nil {
		more := k.More()
		k.keep(k.last, !more && !k.several)
		if k.several = true; more { // the reader knows nothing of the column
			room, k.last.Visitor = k.last.Visitor[:0], nil
		}
	}
	b, err := k.Reader.Next()
	if k.last = b; b != nil {
		b.Visitor = room
	}
	return b, err
}

// What packages need that ask questions of their own.

// Beginning returns how the first log begins that can be looked at and has a known format, and that format; nil where
// there is none.
func (l *Logs) Beginning() ([]byte, *parse.Format) {
	for _, name := range l.found.Names {
		if sample, err := beginningOf(name); err == nil {
			if found, err := l.Read.Format.For(sample); err == nil {
				return sample, found.Format
			}
		}
	}
	return nil, nil
}

// beginningOf returns how a log begins that is not standard input.
func beginningOf(name string) ([]byte, error) {
	if name == standardInput {
		return nil, errors.ErrUnsupported
	}
	input, err := logfile.OpenInput(name, nil)
	if err != nil {
		return nil, err
	}
	defer input.Close()
	return input.Peek()
}

// Each hands all requests to do, batch by batch. Where nothing was read, or was meant, that is an error.
func (l *Logs) Each(ctx context.Context, do func(*traffic.Batch) error) (ingest.Stats, error) {
	heap.CollectOften()
	stats, err := l.read(ctx, l.Read, func(src replay.Source, _ *ingest.Reader) error { return each(ctx, src, do) })
	if err == nil {
		_, err = l.settle(&stats, "", "")
	}
	return stats, err
}

// Head returns what a report on the requests begins with.
func (l *Logs) Head(s *ingest.Stats, warnings ...string) report.Head {
	return report.NewHead(s, l.everyone(), l.reportOptions(append(l.warnings(s), warnings...)))
}

// Unpack hands the requests that are kept to do, batch by batch.
func (l *Logs) Unpack(do func(*traffic.Batch) error) error {
	return each(context.Background(), l.requests.Pass(), do)
}

// ReportOptions returns how to report on something else about the same requests.
func (l *Logs) ReportOptions() report.Options { return l.reportOptions(nil) }
