package job

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"shadow/internal/logfile"
	"shadow/internal/request"
	"shadow/scale/shard"
)

// Prepare looks up all that a job names: which logs there are, into how many ranges of so many bytes they are cut, and
// how their requests are divided. Whatever is wrong with it is found here, before a worker starts.
func (j *Job) Prepare(ctx context.Context, rangeBytes int64) error {
	found, err := logfile.Expand(j.Logs)
	if err != nil {
		return err
	}
	if j.Copies, err = logfile.FindCopies(ctx, found.Names); err != nil {
		return err
	}
	j.Logs = slices.DeleteFunc(found.Names, func(name string) bool {
		return slices.ContainsFunc(j.Copies.Found, func(c logfile.Copy) bool { return c.Name == name })
	})
	if j.Copies.Found = slices.Concat(found.Links, j.Copies.Found); len(j.Logs) == 0 {
		return errors.New("there is no log")
	}
	p, err := j.build()
	if err != nil {
		return err
	}
	defer p.done() //nolint:errcheck // it removes a copy of the configuration
	inputs, total, err := shard.InputsOf(&p.Read, j.Logs)
	if err != nil {
		return err
	}
	j.Parts = int(max(1, (total+rangeBytes-1)/rangeBytes))
	if j.Shards == 0 {
		j.Shards = int(min(shard.MostShards, max(4, total/shardBytes)))
	}
	if j.Shards < 1 || j.Shards > shard.MostShards {
		return fmt.Errorf("--shards %d: want 1 to %d", j.Shards, shard.MostShards)
	}
	j.Apart = p.spread.Slices || !shard.Refines(request.ByClient, p.spread.By)
	if p.spread.Slices {
		if j.Bounds, err = j.sliceTimes(ctx, p, inputs, total); err != nil {
			return err
		}
		j.Shards = len(j.Bounds) + 1
	}
	return j.fresh(ctx)
}

// shardBytes is the number of bytes of the logs that a shard has about, unless told otherwise: some two million
// requests.
const shardBytes = 512 << 20

// fresh verifies that the place of the results is empty: those of two jobs must not mix.
func (j *Job) fresh(ctx context.Context) (err error) {
	there, err := filesystem.New(ctx, j.Output)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, there.Close()) }()
	names, err := there.List(ctx, join(j.Output, "*"))
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("--output %s: is not empty; name a new folder or prefix", j.Output)
	}
	return err
}
