package shard

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"

	"shadow/internal/logfile"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// MostShards is the most shards that a set may have: rows of each wait while a part is packed.
const MostShards = 4096

// Options say what to pack, and how.
type Options struct {
	Read   ingest.Options // how lines are read
	Names  []string       // of the logs, all of them: the same ones for each part, in the same order
	By     request.Key    // what the shards are divided by
	Shards int
	Bounds []limit.Time // of slices of time, see Slices; nil: shards go by the key
	Part   Part
}

// An Input describes a log, as must be known before it is cut into parts.
type Input struct {
	Name       string
	Size       int64
	Head, Tail uint64 // hashes of its ends
	Whole      bool   // whether it cannot be cut
}

// InputsOf looks at logs, and says how many bytes all of them have.
func InputsOf(o *ingest.Options, names []string) (inputs []Input, total int64, err error) {
	for _, name := range names {
		in, err := logfile.OpenInput(name, nil)
		if err != nil {
			return nil, 0, err
		}
		one := Input{Name: name, Whole: in.Compression() != ""}
		one.Size, one.Head, one.Tail = in.Identity()
		if one.Size < 0 {
			return nil, 0, fmt.Errorf("%s: is no file, so that several processes could read other bytes of it", name)
		}
		sample, err := in.Peek()
		if err == nil && len(sample) > 0 {
			if found, err := o.Format.For(sample); err == nil {
				one.Whole = one.Whole || found.Format.MayChange()
			}
		}
		in.Close() //nolint:errcheck // it was looked at only
		if err != nil {
			return nil, 0, err
		}
		inputs, total = append(inputs, one), total+one.Size
	}
	return inputs, total, nil
}

// setOf returns the identity of what is packed together.
func setOf(o *Options, inputs []Input) string {
	text, _ := json.Marshal([]any{traffic.TraceVersion, inputs, o.By.String(), o.Shards, o.Bounds})
	return fmt.Sprintf("%x", sha256.Sum256(text))[:32]
}

// Pack reads a part of logs, and returns a block for each shard, and what the part told of the logs.
func Pack(ctx context.Context, o Options) (blocks [][]byte, facts *ingest.Facts, err error) {
	inputs, total, err := InputsOf(&o.Read, o.Names)
	if err != nil {
		return nil, nil, err
	}
	o.Read.Spans, o.Read.AsRead, o.Read.Lines, o.Read.Band = o.Part.spans(inputs, total), true, true, true
	reader, err := ingest.NewReader(ctx, o.Names, nil, o.Read)
	if err != nil {
		return nil, nil, err
	}
	defer reader.Close() //nolint:errcheck // it is always nil
	p := newPacking(&o)
	for {
		b, err := reader.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		p.take(b)
	}
	facts = reader.Facts()
	meta := Meta{
		Set: setOf(&o, inputs), Shards: o.Shards, By: o.By, Part: o.Part.Number, Of: o.Part.Of, Columns: reader.Columns(),
		Facts: facts, Stamps: p.stamps,
	}
	for _, part := range o.Read.Tables.Parts {
		meta.Values = append(meta.Values, part.String())
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	blocks, err = p.finish(meta)
	return blocks, facts, err
}

// A packing is a part on its way into blocks.
type packing struct {
	o         *Options
	keys      traffic.Timelines
	owners    *owners
	shardOf   []int32 // + 1, by key
	blocks    []blockWriter
	waiting   []*traffic.Batch // rows of each shard that are in no frame yet; nil: none
	reached   []limit.Time     // before the first of these
	rows      [][]int32        // of the batch at hand, by shard
	input     int              // whose rows wait
	now, last limit.Time       // how far it has come, see ingest
	frame     int              // rows of a frame
	stamps    traffic.Coarseness
}

// waitingRows is the most rows that wait in all shards together.
const waitingRows = 1 << 20

func newPacking(o *Options) *packing {
	n := o.Shards
	p := &packing{
		o: o, owners: newOwners(n, o.Read.Tables), blocks: make([]blockWriter, n), waiting: make([]*traffic.Batch, n),
		reached: make([]limit.Time, n), rows: make([][]int32, n), frame: max(64, min(frameRows, waitingRows/n)), input: -1,
	}
	p.keys.By = o.By
	return p
}

// take divides a batch of rows of one input among the shards.
func (p *packing) take(b *traffic.Batch) {
	input := 0
	if b.Source != nil {
		input = int(b.Source[0])
	}
	if input != p.input {
		p.flush()
		p.input, p.now, p.last = input, traffic.MinTime, traffic.MinTime
	}
	p.stamps = b.Stamps
	if p.o.Bounds != nil {
		p.slice(b)
	} else {
		p.divide(b)
	}
	start := p.now
	for i := range p.rows {
		rows := p.rows[i]
		p.rows[i] = rows[:0]
		for len(rows) > 0 {
			w := p.waiting[i]
			if w == nil {
				w = new(traffic.Batch)
				p.waiting[i] = w
			}
			if w.Len() == 0 {
				p.reached[i] = start
			}
			n := min(len(rows), p.frame-w.Len())
			w.Append(b, rows[:n])
			if rows = rows[n:]; w.Len() == p.frame {
				p.write(i)
			}
		}
	}
	for _, at := range b.At {
		p.now, p.last = max(p.now, min(p.last, at)), at
	}
}

// divide finds the rows of each shard by their keys.
func (p *packing) divide(b *traffic.Batch) {
	p.keys.Fill(b, p.o.Read.Tables)
	if n := p.keys.Len - len(p.shardOf); n > 0 {
		p.shardOf = append(p.shardOf, make([]int32, n)...)
	}
	for row, key := range p.keys.Column {
		if p.shardOf[key] == 0 {
			p.shardOf[key] = int32(shardOf(p.o.By.Parts(), b, row, p.o.Read.Tables, p.o.Shards)) + 1
		}
		p.rows[p.shardOf[key]-1] = append(p.rows[p.shardOf[key]-1], int32(row))
	}
}

// write makes a frame of what waits of a shard.
func (p *packing) write(i int) {
	w := p.waiting[i]
	p.owners.renumber(w, int32(i))
	p.blocks[i].add(w, p.input, p.reached[i])
	w.Truncate(0)
}

// flush makes frames of what waits.
func (p *packing) flush() {
	for i, w := range p.waiting {
		if w != nil && w.Len() > 0 {
			p.write(i)
		}
	}
}

// finish ends the blocks, and returns them by shard.
func (p *packing) finish(meta Meta) (blocks [][]byte, err error) {
	p.flush()
	blocks = make([][]byte, len(p.blocks))
	for i := range p.blocks {
		meta.Shard = i
		if blocks[i], err = p.blocks[i].finish(meta, p.owners.pack(nil, int32(i))); err != nil {
			return nil, err
		}
	}
	return blocks, nil
}
