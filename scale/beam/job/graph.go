package job

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local" // files of results
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"shadow/scale/beam/rows"
)

func init() {
	register.DoFn3x1[context.Context, int, func(int, []byte), error](&packFn{})
	register.DoFn4x1[context.Context, int, func(*[]byte) bool, func(int, []byte), error](&judgeFn{})
	register.DoFn6x1[context.Context, int, func(*[]byte) bool, []byte, func(int, []byte), func([]byte), error](&sliceFn{})
	register.DoFn3x1[context.Context, int, func(*[]byte) bool, error](&endFn{})
	register.Emitter1[[]byte]()
	register.Emitter2[int, []byte]()
	register.Iter1[[]byte]()
	register.Function2x1(sliceOf)
}

// Graph adds the steps of a job to a pipeline. Slices of time are judged one after the other, since each needs what
// the one before has handed on:
//
//	ranges ─▶ pack ─▶ by shard ─▶ judge ─▶ add up
//
//	ranges ─▶ pack ─┬▶ slice 0 ─▶ judge ─────┬─▶ add up
//	                └▶ slice 1 ─▶ judge ◀────┘ …
func Graph(s beam.Scope, j *Job) {
	parts := make([]int, j.Parts)
	for i := range parts {
		parts[i] = i
	}
	blocks := beam.ParDo(s.Scope("pack"), &packFn{j}, beam.Reshuffle(s, beam.CreateList(s, parts)))
	var sums beam.PCollection
	if j.Bounds == nil {
		sums = beam.ParDo(s.Scope("judge"), &judgeFn{j}, beam.GroupByKey(s, blocks))
	} else {
		sums = inTurn(s, j, blocks)
	}
	beam.ParDo0(s.Scope("add up"), &endFn{j}, beam.GroupByKey(s, sums))
}

// inTurn judges slices of time, each with what the one before has handed on.
func inTurn(s beam.Scope, j *Job, blocks beam.PCollection) beam.PCollection {
	all, state := make([]beam.PCollection, j.Shards), beam.Create(s, []byte{})
	for i, slice := range beam.Partition(s, j.Shards, sliceOf, blocks) {
		all[i], state = beam.ParDo2(s.Scope(fmt.Sprintf("judge slice %d", i)), &sliceFn{j},
			beam.GroupByKey(s, slice), beam.SideInput{Input: state})
	}
	return beam.Flatten(s, all...)
}

func sliceOf(shard int, _ []byte) int { return shard }

// A packFn turns byte ranges into blocks, one for each shard.
type packFn struct{ Job *Job }

// ProcessElement packs a byte range.
func (f *packFn) ProcessElement(ctx context.Context, part int, emit func(int, []byte)) error {
	return f.Job.pack(ctx, part, emit)
}

// A judgeFn turns the blocks of a shard into what judging them comes to.
type judgeFn struct{ Job *Job }

// ProcessElement judges a shard.
func (f *judgeFn) ProcessElement(
	ctx context.Context, shard int, blocks func(*[]byte) bool, emit func(int, []byte),
) error {
	found, _, err := f.Job.judge(ctx, shard, blocks, nil)
	if err == nil {
		emit(together, found)
	}
	return err
}

// A sliceFn is a judgeFn of slices of time.
type sliceFn struct{ Job *Job }

// ProcessElement judges a slice, and hands on what the next one begins with.
func (f *sliceFn) ProcessElement(
	ctx context.Context, shard int, blocks func(*[]byte) bool, before []byte, emit func(int, []byte),
	handOn func([]byte),
) error {
	found, after, err := f.Job.judge(ctx, shard, blocks, before)
	if err == nil {
		emit(together, found)
		handOn(after)
	}
	return err
}

// together is the key of all that shards came to.
const together = 0

// An endFn adds up what all shards came to, writes it, and then that the results are whole.
type endFn struct{ Job *Job }

// ProcessElement writes the last files.
func (f *endFn) ProcessElement(ctx context.Context, _ int, sums func(*[]byte) bool) error {
	j := f.Job
	all, err := addUp(sums)
	if err != nil {
		return err
	}
	if len(all.Shards) != j.Shards || all.Shards[j.Shards-1] != j.Shards-1 || all.Facts == "" {
		return fmt.Errorf("%d of %d shards were judged", len(all.Shards), j.Shards)
	}
	tallies, err := write(ctx, j.Output, TalliesFile, all.Tallies)
	if err != nil {
		return err
	}
	job, err := json.Marshal(j)
	if err != nil {
		return err
	}
	files, err := json.Marshal(append(all.Files, tallies))
	if err != nil {
		return err
	}
	_, err = write(ctx, j.Output, RunFile, []rows.Run{{
		Version: rows.Version, Job: string(job), Files: string(files), Facts: all.Facts,
	}})
	return err
}
