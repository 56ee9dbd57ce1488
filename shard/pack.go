package shard

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"shadow/limit"
	"shadow/logfile"
	"shadow/request"
	"shadow/traffic"
	"shadow/traffic/ingest"
)

// MostShards is how many shards a set may have: each has a file open while a part is packed.
const MostShards = 4096

// Options say what to pack, and how.
type Options struct {
	Read   ingest.Options // how lines are read
	Names  []string       // of the logs, all of them: the same ones for each part, in the same order
	By     request.Key    // what the shards are divided by
	Shards int
	Bounds []limit.Time // of slices of time, see Slices; nil: shards go by the key
	Part   Part
	Quick  bool            // whether blocks are compressed less, see logfile.Packer
	Note   json.RawMessage // how the logs are read, for who judges; it must be the same for all parts
	Show   func(*ingest.Reader) (stop func())
}

// An Input is what must be known of a log before it is cut into parts.
type Input struct {
	Name       string
	Size       int64
	Head, Tail uint64 // hashes of its ends
	Whole      bool   // whether it cannot be cut
}

// InputsOf looks at logs.
func InputsOf(o *ingest.Options, names []string) (inputs []Input, err error) {
	for _, name := range names {
		in, err := logfile.OpenInput(name, nil)
		if err != nil {
			return nil, err
		}
		one := Input{Name: name, Whole: in.Compression() != ""}
		one.Size, one.Head, one.Tail = in.Identity()
		if one.Size < 0 {
			return nil, fmt.Errorf("%s: is no file, so that several processes could read other bytes of it", name)
		}
		sample, err := in.Peek()
		if err == nil && len(sample) > 0 {
			if found, err := o.Format.For(sample); err == nil {
				one.Whole = one.Whole || found.Format.MayChange()
			}
		}
		in.Close() //nolint:errcheck // it was looked at only
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, one)
	}
	return inputs, nil
}

// setOf is the identity of what is packed together.
func setOf(o *Options, inputs []Input) string {
	text, _ := json.Marshal([]any{version, inputs, o.By.String(), o.Shards, o.Note, o.Bounds})
	return fmt.Sprintf("%x", sha256.Sum256(text))[:32]
}

// Pack reads a part of logs, and writes a block for each shard. After an error no block of it counts.
func Pack(ctx context.Context, o Options, out Output) (facts *ingest.Facts, err error) {
	if o.Shards < 1 || o.Shards > MostShards {
		return nil, fmt.Errorf("%d shards: want 1 to %d", o.Shards, MostShards)
	}
	if o.Bounds != nil && (len(o.Bounds) != o.Shards-1 || !slices.IsSorted(o.Bounds)) {
		return nil, fmt.Errorf("%d shards with %d bounds of slices: want one bound between each two, ascending", o.Shards, len(o.Bounds))
	}
	inputs, err := InputsOf(&o.Read, o.Names)
	if err != nil {
		return nil, err
	}
	o.Read.Spans, o.Read.AsRead, o.Read.Lines, o.Read.Band = o.Part.spans(inputs), true, true, true
	reader, err := ingest.NewReader(ctx, o.Names, nil, o.Read)
	if err != nil {
		return nil, err
	}
	defer reader.Close() //nolint:errcheck // it is always nil
	stop := func() {}
	if o.Show != nil {
		stop = o.Show(reader)
	}
	defer func() { stop() }()
	p, err := newPacking(&o, out)
	if err != nil {
		return nil, err
	}
	defer p.close()
	for {
		b, err := reader.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = p.take(b)
		}
		if err != nil {
			return nil, errors.Join(err, p.abort())
		}
	}
	facts = reader.Facts()
	meta := Meta{
		Set: setOf(&o, inputs), Shards: o.Shards, By: o.By, Part: o.Part.String(), Columns: reader.Columns(), Facts: facts, Note: o.Note,
		Slack: p.stamps.Slack, Ends: p.stamps.Ends,
	}
	meta.Bounds = o.Bounds
	for _, part := range o.Read.Tables.Parts {
		meta.Values = append(meta.Values, part.String())
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, p.abort())
	}
	return facts, p.finish(&meta)
}

// A packing is a part on its way into blocks.
type packing struct {
	o         *Options
	packer    *logfile.Packer
	keys      traffic.Timelines
	owners    *traffic.Owners
	shardOf   []int32 // + 1, by key
	blocks    []blockWriter
	targets   []Target
	waiting   []*traffic.Batch // rows of each shard that are in no frame yet; nil: none
	reached   []limit.Time     // before the first of these
	rows      [][]int32        // of the batch at hand, by shard
	input     int              // whose rows wait
	now, last limit.Time       // how far it has come, see ingest
	frame     int              // rows of a frame
	stamps    traffic.Coarseness
}

// waitingRows is how many rows wait at most in all shards together.
const waitingRows = 1 << 20

func newPacking(o *Options, out Output) (*packing, error) {
	packer, err := logfile.NewPacker(frameBytes)
	if err != nil {
		return nil, err
	}
	packer.Quick = o.Quick
	n := o.Shards
	p := &packing{
		o: o, packer: packer, owners: traffic.NewOwners(n, o.Read.Tables), blocks: make([]blockWriter, n), waiting: make([]*traffic.Batch, n),
		reached: make([]limit.Time, n), rows: make([][]int32, n), frame: max(64, min(frameRows, waitingRows/n)), input: -1,
	}
	p.keys.By = o.By
	for i := range n {
		target, err := out.Create(i, n, o.Part.String())
		if err != nil {
			return nil, errors.Join(err, p.abort())
		}
		p.targets = append(p.targets, target)
		p.blocks[i] = blockWriter{to: target, packer: packer}
	}
	return p, nil
}

func (p *packing) close() { p.packer.Close() }

// take divides a batch of rows of one input among the shards.
func (p *packing) take(b *traffic.Batch) error {
	input := 0
	if b.Source != nil {
		input = int(b.Source[0])
	}
	if input != p.input {
		if err := p.flush(); err != nil {
			return err
		}
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
				if err := p.write(i); err != nil {
					return err
				}
			}
		}
	}
	for _, at := range b.At {
		p.now, p.last = max(p.now, min(p.last, at)), at
	}
	return nil
}

// divide finds the rows of each shard by their keys.
func (p *packing) divide(b *traffic.Batch) {
	p.keys.Fill(b, p.o.Read.Tables)
	if n := p.keys.Len - len(p.shardOf); n > 0 {
		p.shardOf = append(p.shardOf, make([]int32, n)...)
	}
	for row, key := range p.keys.Column {
		if p.shardOf[key] == 0 {
			p.shardOf[key] = int32(p.keys.ShardOf(b, row, p.o.Read.Tables, p.o.Shards)) + 1
		}
		p.rows[p.shardOf[key]-1] = append(p.rows[p.shardOf[key]-1], int32(row))
	}
}

// write writes what waits of a shard.
func (p *packing) write(i int) error {
	w := p.waiting[i]
	p.owners.Rename(w, int32(i))
	if err := p.blocks[i].add(w, p.input, p.reached[i]); err != nil {
		return err
	}
	w.Truncate(0)
	return nil
}

// flush writes what waits.
func (p *packing) flush() error {
	for i, w := range p.waiting {
		if w != nil && w.Len() > 0 {
			if err := p.write(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish writes what waits and ends the blocks. Only then they count.
func (p *packing) finish(meta *Meta) error {
	err := p.flush()
	for i := range p.blocks {
		if err == nil {
			meta.Shard = i
			err = p.blocks[i].finish(meta, p.owners.Pack(nil, int32(i)))
		}
	}
	if err != nil {
		return errors.Join(err, p.abort())
	}
	for len(p.targets) > 0 {
		target := p.targets[0]
		p.targets = p.targets[1:]
		if err := target.Commit(); err != nil {
			return errors.Join(err, p.abort())
		}
	}
	return nil
}

// abort forgets the blocks that do not count yet.
func (p *packing) abort() (err error) {
	for _, target := range p.targets {
		err = errors.Join(err, target.Abort())
	}
	p.targets = nil
	return err
}
