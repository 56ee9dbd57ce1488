package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/klauspost/compress/s2"

	"shadow/internal/pipeline"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/replay"
)

// A whole is what makes results whole.
type whole struct {
	Version  int // of the layout
	Job      *Job
	Files    []File // of the shards, in their order
	Requests []File // that are kept
	Facts    []*ingest.Facts
}

// runVersion is the version of the layout, apart from what traffic.TraceVersion is that of.
const runVersion = traffic.TraceVersion<<8 | 3

// mostRun is the most bytes that run.json may have.
const mostRun = 1 << 30

// A Collection is results that are whole, as what a replay of the logs comes to.
type Collection struct {
	Job    *Job
	Result *replay.Result
	replay *pipeline.Replay
	share  *pipeline.Share // of all
}

// Collect reads results. They must be whole: each file as the pipeline has written it, and what it says must add up.
func Collect(ctx context.Context, folder string) (*Collection, error) {
	r, err := readRun(ctx, folder)
	if err != nil {
		return nil, err
	}
	p, err := r.Job.build()
	if err != nil {
		return nil, err
	}
	defer p.done() //nolint:errcheck // it removes a copy of the configuration
	all, late := p.Share(ctx, true, true), new(lateness)
	for i, f := range r.Files {
		data, err := Read(ctx, folder, f)
		if err == nil {
			err = p.take(data, r.Job.shape(i), all, late)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", join(folder, f.Name), err)
		}
	}
	stats, err := ingest.Join(r.Facts, late.requests)
	if err != nil {
		return nil, err
	}
	stats.LateBy = late.by
	c := &Collection{r.Job, p.Result(all, *stats, r.Job.Copies), p.Replay, all}
	return c, c.verify()
}

func readRun(ctx context.Context, folder string) (*whole, error) {
	name := join(folder, RunFile)
	data, err := readAll(ctx, name, mostRun)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no %s, so the pipeline has not ended", folder, RunFile)
	}
	r := new(whole)
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case r.Version != runVersion:
		return nil, fmt.Errorf("%s: is of another version of the pipeline", name)
	case r.Job == nil || len(r.Facts) == 0 || r.Facts[0] == nil || len(r.Files) == 0 || len(r.Files) != r.Job.all():
		return nil, fmt.Errorf("%s: makes no sense", name)
	}
	for i, f := range r.Files {
		if f.Name != foundFile(i, len(r.Files)) {
			return nil, fmt.Errorf("%s: lacks shard %d of %d", name, i, len(r.Files))
		}
	}
	return r, nil
}

// take adds what was found in a shard.
func (b *built) take(data []byte, of shape, all *pipeline.Share, late *lateness) (err error) {
	defer func() { // whose checksum is right, and which no shadow has written
		if p := recover(); p != nil {
			err = fmt.Errorf("makes no sense: %v", p)
		}
	}()
	if n, err := s2.DecodedLen(data); err != nil || n > mostFile {
		return errors.New("is not what a shard was found to be")
	}
	if data, err = s2.Decode(nil, data); err != nil {
		return err
	}
	from := traffic.NewDecoder(data, b.Read.Tables, b.Read.Actions.Named)
	of.carry(traffic.Carrier{From: from}, all, late)
	from.End()
	return from.Err()
}

// verify verifies that what was counted adds up.
func (c *Collection) verify() error {
	r, requests := c.Result, int64(0)
	for id := range int32(r.Clients.Len()) {
		requests += r.Clients.At(id).Requests()
	}
	if judged := r.Stats.Judged(); requests != judged {
		return fmt.Errorf("the clients sent %d requests, and %d were read", requests, judged)
	}
	for i := range r.Policies {
		p, hit := &r.Policies[i], int64(0)
		for h := range p.Hits.All() {
			hit += h.Refused
		}
		if hit != p.Refused {
			return fmt.Errorf("policy %s refused %d requests, and %d of its clients", p.Policy.Name, p.Refused, hit)
		}
	}
	return nil
}
