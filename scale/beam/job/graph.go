package job

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local" // files of results
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.DoFn5x1[context.Context, state.Provider, int, int, func(int, []byte), error](&packFn{})
	register.DoFn4x1[context.Context, int, func(*[]byte) bool, func(int, []byte), error](&judgeFn{})
	register.DoFn6x1[context.Context, int, func(*[]byte) bool, []byte, func(int, []byte), func([]byte), error](&sliceFn{})
	register.DoFn3x1[context.Context, int, func(*[]byte) bool, error](&endFn{})
	register.Emitter1[[]byte]()
	register.Emitter2[int, []byte]()
	register.Iter1[[]byte]()
	register.Function2x1(sliceOf)
	register.Function1x2(keyed)
}

// Graph adds the steps of a job to a pipeline. Slices of time are judged one after the other, since each needs what
// the one before has handed on:
//
//	ranges ─▶ pack ─▶ by shard ─▶ judge ─▶ end
//
//	ranges ─▶ pack ─┬▶ slice 0 ─▶ judge ─────┬─▶ end
//	                ├▶ slice 1 ─▶ judge ◀────┘ …
//	                └▶ by client ─▶ judge ─────▶ …
func Graph(s beam.Scope, j *Job) {
	parts := make([]int, j.Parts)
	for i := range parts {
		parts[i] = i
	}
	pack := &packFn{Job: j, Alone: state.MakeValueState[int]("alone")}
	blocks := beam.ParDo(s.Scope("pack"), pack, beam.ParDo(s, keyed, beam.CreateList(s, parts)))
	var sums beam.PCollection
	if j.Bounds == nil {
		sums = beam.ParDo(s.Scope("judge"), &judgeFn{j}, beam.GroupByKey(s, blocks))
	} else {
		sums = inTurn(s, j, blocks)
	}
	beam.ParDo0(s.Scope("end"), &endFn{j}, beam.GroupByKey(s, sums))
}

// inTurn judges slices of time, each with what the one before has handed on.
func inTurn(s beam.Scope, j *Job, blocks beam.PCollection) beam.PCollection {
	all, state := make([]beam.PCollection, j.Shards), beam.Create(s, []byte{})
	parts := beam.Partition(s, j.all(), sliceOf, blocks)
	for i, slice := range parts[:j.Shards] {
		all[i], state = beam.ParDo2(s.Scope(fmt.Sprintf("judge slice %d", i)), &sliceFn{j},
			beam.GroupByKey(s, slice), beam.SideInput{Input: state})
	}
	clients := beam.GroupByKey(s, beam.Flatten(s, parts[j.Shards:]...))
	return beam.Flatten(s, append(all, beam.ParDo(s.Scope("judge clients"), &judgeFn{j}, clients))...)
}

func sliceOf(shard int, _ []byte) int { return shard }

// A packFn turns byte ranges into blocks, one for each shard. It has a state, which it does not use: Flink gives each key of
// what has one a bundle of its own. It makes one bundle of all that a slot packs otherwise, and stands still when that has
// handed over 100 messages of 4 MB, which it takes only when the bundle is over.
type packFn struct {
	Job   *Job
	Alone state.Value[int]
}

// ProcessElement packs a byte range.
func (f *packFn) ProcessElement(ctx context.Context, _ state.Provider, part, _ int, emit func(int, []byte)) error {
	return f.Job.pack(ctx, part, emit)
}

func keyed(part int) (key, value int) { return part, 0 }

// A judgeFn turns the blocks of a shard into what judging them comes to.
type judgeFn struct{ Job *Job }

// ProcessElement judges a shard.
func (f *judgeFn) ProcessElement(
	ctx context.Context, shard int, blocks func(*[]byte) bool, emit func(int, []byte),
) error {
	found, _, err := f.Job.judge(ctx, shard, blocks, nil)
	return tell(found, err, emit)
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
		handOn(after)
	}
	return tell(found, err, emit)
}

// tell emits where what was found is. All has one key.
func tell(f *found, err error, emit func(int, []byte)) error {
	if err != nil {
		return err
	}
	text, err := json.Marshal(f)
	emit(0, text)
	return err
}

// An endFn writes that the results are whole.
type endFn struct{ Job *Job }

// ProcessElement writes the last file.
func (f *endFn) ProcessElement(ctx context.Context, _ int, next func(*[]byte) bool) error {
	j := f.Job
	r := whole{Version: runVersion, Job: j, Files: make([]File, j.all())}
	for text := []byte(nil); next(&text); text = nil {
		var one found
		if err := json.Unmarshal(text, &one); err != nil {
			return err
		}
		if one.Shard < 0 || one.Shard >= j.all() || r.Files[one.Shard].Name != "" {
			return fmt.Errorf("shard %d of %d was judged twice", one.Shard, j.all())
		}
		r.Files[one.Shard] = one.File
		if one.Requests.Name != "" {
			r.Requests = append(r.Requests, one.Requests)
		}
		if one.Shard == 0 {
			r.Facts = one.Facts
		}
	}
	slices.SortFunc(r.Requests, func(a, b File) int { return strings.Compare(a.Name, b.Name) }) // in any order before
	for i, file := range r.Files {
		if file.Name == "" {
			return fmt.Errorf("shard %d of %d was not judged", i, j.all())
		}
	}
	text, err := json.Marshal(&r)
	if err == nil {
		_, err = write(ctx, j.Output, RunFile, text)
	}
	return err
}
