package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/s2"

	"shadow/internal/pipeline"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/scale/shard"
)

// A judged is a shard that was judged.
type judged struct {
	*built
	job    *Job
	shard  int
	set    *shard.Set
	source *shard.Source
	share  *pipeline.Share
}

// judge judges a shard and writes what that comes to; next returns its blocks. Of slices of time, before is what the one
// before has handed on, and after what is handed on to the next.
func (j *Job) judge(
	ctx context.Context, number int, next func(*[]byte) bool, before []byte,
) (f *found, after []byte, err error) {
	p, err := j.build()
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, p.done()) }()
	s, of := &judged{built: p, job: j, shard: number}, j.shape(number)
	var blocks [][]byte
	for b := []byte(nil); next(&b); b = nil {
		blocks = append(blocks, b)
	}
	if s.set, err = shard.Open(blocks); err != nil {
		return nil, nil, err
	}
	if s.set.Shard != number%j.Shards {
		return nil, nil, fmt.Errorf("shard %d: its blocks are of shard %d", number, s.set.Shard)
	}
	p.see(of)
	if s.source, err = s.set.Source(&p.Read); err != nil {
		return nil, nil, err
	}
	s.share = p.Share(ctx, of.byClient, of.byKey)
	if err := s.begin(before); err != nil {
		return nil, nil, err
	}
	for {
		b, err := s.source.Next()
		if err == io.EOF {
			break
		}
		if err = errors.Join(err, ctx.Err()); err == nil {
			err = take(s.share, b)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	f, err = s.write(ctx, of)
	if err == nil && j.Trace && of.byClient && s.set.Rows() > 0 {
		f.Requests, err = j.keep(ctx, number, blocks)
	}
	if err == nil && number < len(j.Bounds) {
		after, err = s.handOn()
	}
	return f, after, err
}

// begin gives a slice of time what the one before has handed on.
func (s *judged) begin(before []byte) error {
	bounds := s.job.Bounds
	if s.shard < len(bounds) {
		s.source.EndAt(bounds[s.shard])
	}
	if s.shard == 0 || s.shard > len(bounds) {
		return nil
	}
	from := traffic.NewDecoder(before, s.Read.Tables, s.Read.Actions.Named)
	held := s.source.HoldRoom()
	held.Restore(from)
	s.share.Engine.Restore(from)
	from.End()
	if err := from.Err(); err != nil {
		return fmt.Errorf("slice %d: what the one before has handed on is damaged: %w", s.shard, err)
	}
	s.source.Hold(held)
	return nil
}

// handOn returns what the next slice of time begins with.
func (s *judged) handOn() ([]byte, error) {
	var after bytes.Buffer
	to := traffic.NewEncoder(s.Read.Tables, &after)
	s.source.Held().Save(to)
	s.share.Engine.Save(to)
	err := to.Flush()
	return after.Bytes(), err
}

// write writes what was found.
func (s *judged) write(ctx context.Context, of shape) (f *found, err error) {
	var text bytes.Buffer
	to := traffic.NewEncoder(s.Read.Tables, &text)
	late := lateness{s.source.Late, s.source.LateBy}
	of.carry(traffic.Carrier{To: to}, s.share, &late)
	if err := to.Flush(); err != nil {
		return nil, err
	}
	f = &found{Shard: s.shard}
	if s.shard == 0 {
		f.Facts = s.set.Parts
	}
	f.File, err = write(ctx, s.job.Output, foundFile(s.shard, s.job.all()), s2.Encode(nil, text.Bytes()))
	return f, err
}

// A found says where to find what judging one shard came to.
type found struct {
	Shard    int
	File     File
	Requests File            // that are kept; without a name: none
	Facts    []*ingest.Facts // of shard 0: of all byte ranges
}

// lateness counts requests that came too late, and says by how much.
type lateness struct {
	requests int64
	by       limit.Time
}

// carry carries what was found in a shard.
func (s shape) carry(c traffic.Carrier, share *pipeline.Share, late *lateness) {
	if s.byClient {
		by := late.by
		c.Value(&by)
		late.by = max(late.by, by)
		c.Sum(&late.requests)
		share.Engine.CarryRequests(c)
		share.Look.Carry(c)
	}
	if s.byKey {
		share.Engine.CarryVerdicts(c)
	}
	if s.byKey && share.Sweep != nil {
		share.Sweep.Carry(c)
	}
}

// take has a share take in a batch.
func take(s *pipeline.Share, b *traffic.Batch) error {
	if s.Look != nil { // first: it sorts for the engine
		s.Look.Take(b)
	}
	if s.Sweep != nil {
		s.Sweep.Take(b)
	}
	return s.Engine.Judge(b)
}
