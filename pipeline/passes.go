package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"shadow/calibrate"
	"shadow/pipeline/heap"
	"shadow/policy"
	"shadow/replay"
	"shadow/report"
	"shadow/sample"
	"shadow/traffic"
	"shadow/traffic/cache"
	"shadow/traffic/ingest"
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
	Of     int // how many there will be; 0: nobody knows yet
	Name   string
	At     func() (done, all int64) // bytes, from any goroutine; all is 0 where nobody knows
}

// String is what the pass is called: "pass 2 of 3: trying limits".
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

// again hands the requests that were read to do once more: those of the sample, if there is one.
func (l *Logs) again(ctx context.Context, do func(*traffic.Batch) error) error {
	if l.drawn == nil {
		return l.allAgain(ctx, do)
	}
	some := sample.Source{Has: l.drawn.Has}
	return l.allAgain(ctx, func(b *traffic.Batch) error {
		if drawn := some.Of(b); drawn.Len() > 0 {
			return do(drawn)
		}
		return nil
	})
}

// allAgain hands over all of them.
func (l *Logs) allAgain(ctx context.Context, do func(*traffic.Batch) error) error {
	pass := l.requests.Pass().Ahead()
	defer pass.Close()
	src, stop := l.passing("trying limits", pass, l.handed)
	defer stop()
	return each(ctx, src, do)
}

// release frees the requests that were read. There are no further passes then.
func (l *Logs) release() error {
	if l.requests == nil {
		return nil
	}
	err := l.requests.Close()
	l.requests = nil
	return err
}

// keeping returns the batches of a reader, and keeps them on the way where that is wanted.
func (l *Logs) keeping(reader *ingest.Reader) replay.Source {
	if !l.retain {
		return reader
	}
	l.requests = new(cache.Requests)
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

// Prepare is what a command begins with: it builds the pipeline, and finds the logs.
func (l *Logs) Prepare(ctx context.Context, names []string, choose func(*policy.Config) ([]policy.Policy, error)) error {
	return l.prepare(ctx, names, choose)
}

// Show shows a pass until stop is called.
func (l *Logs) Show(name string, at func() (done, all int64)) (stop func()) { return l.show(name, at) }

// Found are the names of the logs.
func (l *Logs) Found() []string { return l.found.Names }

// Each hands all requests to do, batch by batch. Where nothing was read, or was meant, that is an error.
func (l *Logs) Each(ctx context.Context, do func(*traffic.Batch) error) (ingest.Stats, error) {
	heap.CollectOften()
	stats, err := l.read(ctx, l.Read, func(src replay.Source, _ *ingest.Reader) error { return each(ctx, src, do) })
	if err == nil {
		_, err = l.settle(&stats, "", "")
	}
	return stats, err
}

// Head is what a report on the requests begins with.
func (l *Logs) Head(s *ingest.Stats, warnings ...string) report.Head {
	return report.NewHead(s, l.everyone(), l.reportOptions(append(l.warnings(s), warnings...)))
}

// A replay of a sample goes through the requests twice: first all of them are counted, then those of the sample are
// judged. What was read is kept meanwhile, so that the logs are read once.

// verifySample finds what cannot be told from a sample.
func (r *Replay) verifySample() error {
	if r.Sample.Share == 0 {
		return nil
	}
	for _, flag := range []struct {
		name  string
		given bool
		why   string
	}{
		{"redis", len(r.Redis.Addresses) > 0, "hosts share the state of all clients, not that of a sample"},
		{"resume", r.Resume != "", "what was not judged cannot be gone on with"},
		{"band", r.Band, "the ranges of both would have to be added"},
		{"harm", r.Harm || r.HarmAction != "", "the client that is hit worst may not be in the sample"},
		{"retries", r.Retries != "" && r.Retries != calibrate.NoRetries, "the load is that of all clients together"},
		{"verdicts", r.Verdicts != "", "the file has a verdict on each request"},
		{"sweep", r.Sweep, "the curves are kept with a run, and that of a sample is not"},
		{"fail-if", len(r.FailIf) > 0, "a condition asks for figures that are exact"},
		{"retain", r.Retain > 0, "a run of a sample is not stored"},
	} {
		if flag.given {
			return Usage("--sample and --%s: state one: %s", flag.name, flag.why)
		}
	}
	for _, p := range r.Policies {
		if replay.Approximates(p) {
			return Usage("--sample: policy %q is judged as an approximation, whose range and that of a sample would have to be "+
				"added: leave out one of them", p.Name)
		}
	}
	_, err := sample.Unit(PolicyKeys(r.Policies))
	if err != nil {
		return Usage("--sample: %w", err)
	}
	r.NoStore = true
	return nil
}

// judgeSample judges the requests of a sample.
func (r *Replay) judgeSample(ctx context.Context) (_ *replay.Result, err error) {
	defer func() { err = cmp.Or(err, r.release()) }()
	census, stats, err := r.count(ctx)
	if err != nil {
		return nil, r.explainMissing(err, r.Policies)
	}
	if _, err := r.settle(&stats, "", ""); err != nil {
		return nil, err
	}
	return r.judgeDrawn(ctx, census, stats)
}

// count reads the logs and counts all requests, which are kept.
func (l *Logs) count(ctx context.Context) (*sample.Census, ingest.Stats, error) {
	census := &sample.Census{Tables: l.Read.Tables}
	l.retain, l.ofPasses = true, 2
	stats, err := l.read(ctx, l.Read, func(src replay.Source, _ *ingest.Reader) error {
		return each(ctx, src, func(b *traffic.Batch) error { census.Count(b); return nil })
	})
	return census, stats, err
}

// judgeDrawn draws a sample and judges it.
func (r *Replay) judgeDrawn(ctx context.Context, census *sample.Census, stats ingest.Stats) (*replay.Result, error) {
	unit, err := sample.Unit(PolicyKeys(r.Policies))
	if err != nil {
		return nil, err
	}
	r.sampled = &replay.Sampled{Design: census.Draw(r.Sample, unit)}
	r.observers = observers{r.sampled}
	engine := r.newEngine(ctx, nil)
	pass := r.requests.Pass().Ahead()
	defer pass.Close()
	src, stop := r.passing("judging the sample", pass, r.handed)
	defer stop()
	if err := engine.Run(&sample.Source{From: src, Has: r.sampled.Design.Has}); err != nil {
		return nil, err
	}
	result := engine.Result(stats)
	result.OfSample(census, r.sampled)
	return result, nil
}
