package job

import (
	"context"
	"errors"
	"fmt"

	"shadow/internal/pipeline"
	"shadow/internal/request"
	"shadow/scale/shard"
)

// A built holds what a job names, looked up, with tables that hold nothing yet.
type built struct {
	*pipeline.Replay
	spread Spread
	done   func() error
}

// build looks it up.
func (j *Job) build() (*built, error) {
	source, done, err := j.source()
	b := &built{done: done, Replay: &pipeline.Replay{Sweep: j.Sweep}}
	b.Caller = pipeline.Caller{Command: j.Command, Version: j.Version, Started: j.Started}
	b.Source, b.Limits, b.Chosen = source, j.Limits, j.Policies
	if err == nil {
		b.By, err = j.key()
	}
	if err == nil {
		b.Pipeline, err = b.Build(j.Started, b.Choose)
	}
	if err == nil {
		b.spread, err = j.spread(b)
	}
	return b, err
}

// spread says how the requests are divided.
func (j *Job) spread(b *built) (s Spread, err error) {
	keys := pipeline.PolicyKeys(b.Policies)
	if j.Sweep {
		keys = append(keys, b.By)
	}
	switch s, err = SpreadOf(b.Policies, keys); {
	case err != nil:
	case b.Read.Scopes.Busy() != 0:
		err = &SpreadError{"a condition asks for the load of the whole site, which no worker knows; shadow replay judges it"}
	case s.Slices && j.Sweep:
		err = &SpreadError{"--sweep --by site: each curve depends on all requests of the site, in their order, which no worker " +
			"has; shadow sweep draws them, on one machine"}
	}
	return s, err
}

// A shape says which requests shards have, and what is asked about them.
type shape struct {
	byClient bool // who sent them, and what there is to know of the log
	byKey    bool // what policies do
}

// shape returns that of a shard.
func (j *Job) shape(number int) shape {
	return shape{!j.Apart || number >= j.Shards, number < j.Shards}
}

// all returns how many shards there are.
func (j *Job) all() int {
	if j.Apart {
		return 2 * j.Shards
	}
	return j.Shards
}

// pack hands the blocks of one byte range to emit, one for each shard. If clients have shards of their own, it reads
// the range for them once more.
func (j *Job) pack(ctx context.Context, part int, emit func(shard int, block []byte)) error {
	for first := 0; first < j.all(); first += j.Shards {
		p, err := j.build()
		if err != nil {
			return err
		}
		blocks, _, err := shard.Pack(ctx, j.options(p, j.shape(first), shard.Part{Number: part + 1, Of: j.Parts}))
		if err = errors.Join(err, p.done()); err != nil {
			return fmt.Errorf("byte range %d of %d: %w", part+1, j.Parts, err)
		}
		for i, block := range blocks {
			emit(first+i, block)
		}
	}
	return nil
}

// options say how a byte range is packed.
func (j *Job) options(p *built, of shape, part shard.Part) shard.Options {
	p.see(of)
	read := p.Read
	read.Batch = rangeRows
	o := shard.Options{Read: read, Names: j.Logs, By: p.spread.By, Shards: j.Shards, Bounds: j.Bounds, Part: part}
	if !of.byKey {
		o.By, o.Bounds = request.ByClient, nil
	}
	return o
}

// see has as much read of requests as shards of a shape need.
func (b *built) see(of shape) {
	if b.Read.Origins = of.byClient; !of.byClient {
		b.Read.ClueFinder = nil
	}
}

// rangeRows is the number of requests that a reader of a byte range has room for at once. They are handed out block by
// block.
const rangeRows = 16 << 10
