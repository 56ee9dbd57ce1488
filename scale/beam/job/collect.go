package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"shadow/internal/request"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/replay"
	"shadow/scale/beam/rows"
	"shadow/scale/shard"
)

// mostRun is the most bytes that run.parquet may have.
const mostRun = 1 << 30

// A Collection is results that are whole, as what a replay of the logs comes to.
type Collection struct {
	Job      *Job
	Result   *replay.Result
	lasts    map[int32]lastOf // by client
	details  []replay.Details
	variants [][]replay.Variant
}

// lastOf holds the place of the last request of a client.
type lastOf struct {
	slice int32
	shard.Place
}

func (l lastOf) behind(other lastOf) bool {
	return l.slice > other.slice || l.slice == other.slice && other.Before(l.Place)
}

// Collect reads results. They must be whole: each file as the pipeline has written it, and what it says must add up.
func Collect(ctx context.Context, folder string) (*Collection, error) {
	run, err := readRun(ctx, folder)
	if err != nil {
		return nil, err
	}
	c := &Collection{Job: new(Job)}
	var files []File
	var parts []*ingest.Facts
	err = errors.Join(json.Unmarshal([]byte(run.Job), c.Job), json.Unmarshal([]byte(run.Files), &files),
		json.Unmarshal([]byte(run.Facts), &parts))
	if err != nil || len(parts) == 0 {
		return nil, fmt.Errorf("%s makes no sense: %w", join(folder, RunFile), err)
	}
	p, err := c.Job.build()
	if err != nil {
		return nil, err
	}
	defer p.done() //nolint:errcheck // it removes a copy of the configuration
	c.begin(p)
	read := map[string]bool{}
	for _, f := range files {
		data, err := Read(ctx, folder, f)
		if err == nil {
			err = c.take(f.Name, data)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", join(folder, f.Name), err)
		}
		read[f.Name] = true
	}
	for i := range c.Job.Shards {
		if !read[shardFile("clients", i, c.Job.Shards)] || !read[shardFile("hits", i, c.Job.Shards)] {
			return nil, fmt.Errorf("%s: lacks shard %d of %d", folder, i, c.Job.Shards)
		}
	}
	return c, c.finish(parts)
}

func readRun(ctx context.Context, folder string) (run *rows.Run, err error) {
	name := join(folder, RunFile)
	data, err := readAll(ctx, name, mostRun)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no %s, so the pipeline has not ended", folder, RunFile)
	}
	if err != nil {
		return nil, err
	}
	err = rows.Each(data, func(r *rows.Run) error {
		if r.Version != rows.Version {
			return errors.New("is of another version of the pipeline")
		}
		one := *r
		run = &one
		return nil
	})
	if err == nil && run == nil {
		err = errors.New("is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return run, nil
}

// begin makes a result that holds nothing yet.
func (c *Collection) begin(p *built) {
	c.Result = &replay.Result{
		Tables: p.Read.Tables, Clients: new(replay.Paged[replay.ClientTally]), OverTime: new(replay.Stretches),
		Policies: make([]replay.PolicyTally, len(p.Policies)),
	}
	for i := range p.Policies {
		c.Result.Policies[i].Policy = p.Policies[i]
	}
	c.lasts, c.details = map[int32]lastOf{}, make([]replay.Details, len(p.Policies))
	c.variants = make([][]replay.Variant, len(p.Policies))
}

// take takes in a file.
func (c *Collection) take(name string, data []byte) error {
	switch {
	case name == TalliesFile:
		return c.takeTallies(data)
	case isShardFile(name, "clients"):
		return rows.Each(data, c.takeClient)
	case isShardFile(name, "hits"):
		return rows.Each(data, c.takeHit)
	}
	return errors.New("is not one of the files of results")
}

func (c *Collection) client(name string) int32 { return c.Result.Tables.Clients.ID([]byte(name)) }

func (c *Collection) takeClient(r *rows.Client) error {
	id := c.client(r.Client)
	c.Result.Clients.Grow(int(id) + 1)
	tally := c.Result.Clients.At(id)
	for class, n := range map[request.Class]int64{
		request.Browser: r.Browser, request.Crawler: r.Crawler, request.Tool: r.Tool, request.Monitor: r.Monitor,
		request.Unknown: r.Unknown,
	} {
		if n < 0 {
			return errors.New("has a negative count")
		}
		tally.ByClass[class] += n
	}
	at := lastOf{r.Slice, shard.Place{
		Known: true, Seq: limit.Time(r.At), Last: r.Behind, Source: uint32(r.Source), Line: r.Line,
	}}
	if last, known := c.lasts[id]; !known || at.behind(last) {
		c.lasts[id], tally.LastAgent = at, c.Result.Tables.Agents.ID([]byte(r.Agent))
	}
	return nil
}

func (c *Collection) takeHit(r *rows.Hit) error {
	if int(r.Policy) >= len(c.variants) || r.Policy < 0 || r.Variant < 0 || r.Variant > mostVariants || r.Refused < 1 {
		return errors.New("is about a policy that the job does not have")
	}
	hits := &c.Result.Policies[r.Policy].Hits
	if r.Variant > 0 {
		hits = c.variant(int(r.Policy), int(r.Variant)).Hits
	}
	hits.Add(c.client(r.Client), r.Refused, limit.Time(r.First), limit.Time(r.Last))
	return nil
}

// mostVariants is more than an approximation has.
const mostVariants = 64

// variant returns a variant of a policy, by its number from 1.
func (c *Collection) variant(policy, number int) *replay.Variant {
	for len(c.variants[policy]) < number {
		c.variants[policy] = append(c.variants[policy], replay.Variant{Hits: new(replay.Hits)})
	}
	return &c.variants[policy][number-1]
}

// takeTallies adds all tallies up. How coarse times are is known first.
func (c *Collection) takeTallies(data []byte) error {
	var all []rows.Tally
	coarse, totals := map[int32]uint{}, map[int32]limit.Time{}
	length := limit.Time(0)
	err := rows.Each(data, func(t *rows.Tally) error {
		if t.Policy < rows.All || int(t.Policy) >= len(c.details) || t.Variant < 0 || t.Variant > mostVariants ||
			t.Count < 0 {
			return errors.New("is about a policy that the job does not have")
		}
		switch t.What {
		case rows.Coarse:
			coarse[t.Policy] = uint(min(t.Count, 62))
		case rows.Delays:
			totals[t.Policy] = limit.Time(t.Count)
		case rows.Length:
			length = limit.Time(t.Count)
		default:
			one := *t
			all = append(all, one)
		}
		return nil
	})
	if err != nil {
		return err
	}
	delay := make([]func(limit.Time, int64), len(c.details))
	for i := range c.details {
		delay[i] = c.details[i].AddDelays(coarse[int32(i)], totals[int32(i)])
	}
	for i := range all {
		t := &all[i]
		if t.Policy == rows.All {
			c.takeTotal(t, length)
		} else if err := c.takeTally(t, delay[t.Policy]); err != nil {
			return err
		}
	}
	return nil
}

// takeTotal takes in a figure of no policy.
func (c *Collection) takeTotal(t *rows.Tally, length limit.Time) {
	r := c.Result
	switch t.What {
	case rows.Action:
		addTo(&r.Actions, r.Tables.Actions.ID([]byte(t.Name)), t.Count)
	case rows.Agent:
		r.Tables.Agents.ID([]byte(t.Name))
	case rows.Time:
		r.OverTime.AddStretch(limit.Time(t.Time), length, t.Count)
	case rows.Late:
		r.Stats.Late = t.Count
	}
}

// takeTally takes in a figure of a policy.
func (c *Collection) takeTally(t *rows.Tally, delay func(limit.Time, int64)) error {
	p := &c.Result.Policies[t.Policy]
	switch t.What {
	case rows.Refused:
		if t.Variant > 0 {
			c.variant(int(t.Policy), int(t.Variant)).Refused = t.Count
		} else {
			p.Refused = t.Count
		}
	case rows.Bytes:
		p.BytesSaved = t.Count
	case rows.Upstream:
		p.UpstreamSaved = limit.Time(t.Count)
	case rows.Action:
		addTo(&p.ByAction, c.Result.Tables.Actions.ID([]byte(t.Name)), t.Count)
	case rows.Minute:
		if t.Time%int64(limit.Minute) != 0 || t.Count > math.MaxUint32 {
			return errors.New("has a minute that is none")
		}
		c.details[t.Policy].AddMinute(limit.Time(t.Time), t.Count)
	case rows.Delay:
		delay(limit.Time(t.Time), t.Count)
	}
	return nil
}

// addTo counts n at an id.
func addTo(counts *[]int64, id int32, n int64) {
	*counts = append(*counts, make([]int64, max(0, int(id)+1-len(*counts)))...)
	(*counts)[id] += n
}

// finish verifies that what was counted adds up, and finds the figures that depend on all of it.
func (c *Collection) finish(parts []*ingest.Facts) error {
	r := c.Result
	stats, err := ingest.Join(parts, r.Stats.Late)
	if err != nil {
		return err
	}
	r.Stats = *stats
	var requests int64
	for id := range int32(r.Clients.Len()) {
		requests += r.Clients.At(id).Requests()
	}
	r.Clients.Grow(r.Tables.Clients.Len())
	if requests != stats.Judged() {
		return fmt.Errorf("the clients sent %d requests, and %d were read", requests, stats.Judged())
	}
	for i := range r.Policies {
		p := &r.Policies[i]
		var hit int64
		for h := range p.Hits.All() {
			hit += h.Refused
		}
		if p.Requests = requests; hit != p.Refused {
			return fmt.Errorf("policy %s refused %d requests, and %d of its clients", p.Policy.Name, p.Refused, hit)
		}
		p.ByAction = append(p.ByAction, make([]int64, max(0, len(r.Actions)-len(p.ByAction)))...)
		p.WorstMinute, p.WorstMinuteRefused = c.details[i].WorstMinute()
		if replay.MayDelay(p.Policy) {
			p.Delays = c.details[i].DelayTally()
		}
		if n := replay.VariantsOf(p.Policy); n > 0 {
			c.variant(i, n)
			p.Range = replay.RangeOf(p, c.variants[i])
		}
	}
	return nil
}
