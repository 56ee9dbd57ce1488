package job

import (
	"context"
	"slices"

	"shadow/limit"
	"shadow/scale/shard"
)

// sampleBytes is the number of bytes of a log that are read to find its times.
const sampleBytes = 64 << 10

// sliceTimes finds the bounds of slices of time, by the times that stand at places between byte ranges of as many
// bytes. What cannot be read in part, compressed logs, tells none. Wherever the bounds lie, all that depends on them
// is how long each slice takes.
func (j *Job) sliceTimes(
	ctx context.Context, p *built, inputs []shard.Input, total int64,
) (bounds []limit.Time, err error) {
	for i := 1; i < j.Shards; i++ {
		at, start := total/int64(j.Shards)*int64(i), int64(0)
		for _, in := range inputs {
			if start <= at && at < start+in.Size && !in.Whole {
				to := min(at+sampleBytes, start+in.Size)
				_, facts, err := shard.Pack(ctx, shard.Options{
					Read: p.Read, Names: j.Logs, By: p.spread.By, Shards: 1, Part: shard.Part{From: at, To: to},
				})
				if err != nil {
					return nil, err
				}
				if facts.LastAt > facts.FirstAt || facts.Parsed > facts.Excluded {
					bounds = append(bounds, facts.FirstAt+(facts.LastAt-facts.FirstAt)/2)
				}
			}
			start += in.Size
		}
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	if bounds == nil {
		bounds = []limit.Time{} // one slice
	}
	return bounds, nil
}
