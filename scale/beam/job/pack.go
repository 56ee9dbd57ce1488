package job

import (
	"context"
	"fmt"

	"shadow/internal/pipeline"
	"shadow/scale/shard"
)

// A built holds what a job names, looked up, with tables that hold nothing yet.
type built struct {
	*pipeline.Pipeline
	spread Spread
	done   func() error
}

// build looks it up.
func (j *Job) build() (*built, error) {
	source, done, err := j.source()
	b := &built{done: done}
	choice := pipeline.Choice{Limits: j.Limits, Chosen: j.Policies}
	if err == nil {
		choice.By, err = j.key()
	}
	if err == nil {
		b.Pipeline, err = source.Build(j.Started, choice.Choose)
	}
	if err == nil {
		b.spread, err = SpreadOf(b.Policies)
	}
	if err == nil && b.Read.Scopes.Busy() != 0 {
		err = &SpreadError{"a condition asks for the load of the whole site, which no worker knows; shadow replay judges it"}
	}
	return b, err
}

// pack hands the blocks of one byte range to emit, one for each shard.
func (j *Job) pack(ctx context.Context, part int, emit func(shard int, block []byte)) error {
	p, err := j.build()
	if err != nil {
		return err
	}
	blocks, _, err := shard.Pack(ctx, j.options(p, shard.Part{Number: part + 1, Of: j.Parts}))
	if err != nil {
		return fmt.Errorf("byte range %d of %d: %w", part+1, j.Parts, err)
	}
	for i, block := range blocks {
		emit(i, block)
	}
	return p.done()
}

// options say how a byte range is packed.
func (j *Job) options(p *built, part shard.Part) shard.Options {
	read := p.Read
	read.Batch = rangeRows
	return shard.Options{
		Read: read, Names: j.Logs, By: p.spread.By, Shards: j.Shards, Bounds: j.Bounds, Part: part,
	}
}

// rangeRows is the number of requests that a reader of a byte range has room for at once. They are handed out block by
// block.
const rangeRows = 16 << 10
