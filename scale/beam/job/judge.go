package job

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/replay"
	"shadow/scale/beam/rows"
	"shadow/scale/shard"
)

// A judged is a shard that an Engine has judged.
type judged struct {
	job    *Job
	shard  int
	set    *shard.Set
	source *shard.Source
	engine *replay.Engine
	tables *traffic.Tables
}

// judge judges a shard and encodes what that comes to; next returns its blocks. Of slices of time, before is what the one
// before has handed on, and after what is handed on to the next.
func (j *Job) judge(
	ctx context.Context, number int, next func(*[]byte) bool, before []byte,
) (sum, after []byte, err error) {
	p, err := j.build()
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, p.done()) }()
	s := &judged{job: j, shard: number, tables: p.Read.Tables}
	var blocks [][]byte
	for b := []byte(nil); next(&b); b = nil {
		blocks = append(blocks, b)
	}
	if s.set, err = shard.Open(blocks); err != nil {
		return nil, nil, err
	}
	if s.set.Shard != number {
		return nil, nil, fmt.Errorf("shard %d: its blocks are of shard %d", number, s.set.Shard)
	}
	if s.source, err = s.set.Source(&p.Read); err != nil {
		return nil, nil, err
	}
	o := replay.Options{Tables: s.tables, Policies: p.Policies, Lateness: p.Read.Lateness, Minutes: true, Stop: ctx.Err}
	s.engine = replay.New(o)
	if err := s.begin(before, p.Read.Actions.Named); err != nil {
		return nil, nil, err
	}
	if err := s.engine.Run(s.source); err != nil {
		return nil, nil, err
	}
	found, err := s.result(ctx)
	if err == nil {
		sum, err = found.encode()
	}
	if err == nil && number < len(j.Bounds) {
		after, err = s.handOn()
	}
	return sum, after, err
}

// begin gives a slice of time what the one before has handed on.
func (s *judged) begin(before []byte, action func([]byte) int32) error {
	bounds := s.job.Bounds
	if s.shard < len(bounds) {
		s.source.EndAt(bounds[s.shard])
	}
	if s.shard == 0 || bounds == nil {
		return nil
	}
	from := traffic.NewDecoder(before, s.tables, action)
	held := s.source.HoldRoom()
	held.Restore(from)
	s.engine.Restore(from)
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
	to := traffic.NewEncoder(s.tables, &after)
	s.source.Held().Save(to)
	s.engine.Save(to)
	err := to.Flush()
	return after.Bytes(), err
}

// result writes what was found of clients, and returns the rest.
func (s *judged) result(ctx context.Context) (*found, error) {
	stats, err := s.set.Stats(s.source.Late)
	if err != nil {
		return nil, err
	}
	res := s.engine.Result(*stats)
	f := &found{Shards: []int{s.shard}}
	if s.shard == 0 {
		facts, err := json.Marshal(s.set.Parts)
		if err != nil {
			return nil, err
		}
		f.Facts = string(facts)
	}
	name := func(what string) string { return shardFile(what, s.shard, s.job.Shards) }
	clients, err := write(ctx, s.job.Output, name("clients"), s.clients(res))
	if err != nil {
		return nil, err
	}
	hits, err := write(ctx, s.job.Output, name("hits"), s.hits(res))
	f.Files = []File{clients, hits}
	f.Tallies = s.tallies(res)
	return f, err
}

// clients returns what was found of clients apart from policies.
func (s *judged) clients(res *replay.Result) (all []rows.Client) {
	agents := make([]string, s.tables.Agents.Len())
	for i := range agents {
		agents[i] = s.tables.Agents.Name(int32(i))
	}
	all = make([]rows.Client, 0, res.Clients.Len())
	for id := range int32(res.Clients.Len()) {
		c := res.Clients.At(id)
		if c.Requests() == 0 {
			continue
		}
		n := &c.ByClass
		row := rows.Client{
			Client: s.tables.Clients.Name(id), Agent: agents[c.LastAgent],
			Browser: n[request.Browser], Crawler: n[request.Crawler], Tool: n[request.Tool], Monitor: n[request.Monitor],
			Unknown: n[request.Unknown],
		}
		if s.job.Bounds != nil {
			row.Slice = int32(s.shard)
		}
		if s.source.Lasts != nil {
			p := s.source.Lasts.At(id)
			row.At, row.Behind, row.Source, row.Line = int64(p.Seq), p.Last, int64(p.Source), p.Line
		}
		all = append(all, row)
	}
	return all
}

// hits returns the clients that policies refused.
func (s *judged) hits(res *replay.Result) (all []rows.Hit) {
	for i := range res.Policies {
		of := []*replay.Hits{&res.Policies[i].Hits}
		for _, v := range s.engine.Variants(i) {
			of = append(of, v.Hits)
		}
		for variant, hits := range of {
			for h := range hits.All() {
				all = append(all, rows.Hit{
					Policy: int32(i), Variant: int32(variant), Client: s.tables.Clients.Name(h.Client),
					Refused: h.Refused, First: int64(h.First), Last: int64(h.Last),
				})
			}
		}
	}
	return all
}

// tallies returns the figures that add up.
func (s *judged) tallies(res *replay.Result) (all []rows.Tally) {
	add := func(policy, variant int, what, name string, at limit.Time, n int64) {
		if n != 0 {
			all = append(all, rows.Tally{
				Policy: int32(policy), Variant: int32(variant), What: what, Name: name, Time: int64(at), Count: n,
			})
		}
	}
	requests := int64(0)
	for id, n := range res.Actions {
		requests += n
		add(rows.All, 0, rows.Action, s.tables.Actions.Name(int32(id)), 0, n)
	}
	add(rows.All, 0, rows.Requests, "", 0, requests)
	add(rows.All, 0, rows.Late, "", 0, s.source.Late)
	for id := range int32(s.tables.Agents.Len()) {
		add(rows.All, 0, rows.Agent, s.tables.Agents.Name(id), 0, 1)
	}
	for at, n := range res.OverTime.All() {
		add(rows.All, 0, rows.Time, "", at, n)
	}
	add(rows.All, 0, rows.Length, "", 0, int64(res.OverTime.Length()))
	for i := range res.Policies {
		p, sums := &res.Policies[i], s.engine.Details(i)
		add(i, 0, rows.Refused, "", 0, p.Refused)
		add(i, 0, rows.Bytes, "", 0, p.BytesSaved)
		add(i, 0, rows.Upstream, "", 0, int64(p.UpstreamSaved))
		for id, n := range p.ByAction {
			add(i, 0, rows.Action, s.tables.Actions.Name(int32(id)), 0, n)
		}
		for at, n := range sums.Minutes() {
			add(i, 0, rows.Minute, "", at, n)
		}
		coarse, total, delays := sums.Delays()
		add(i, 0, rows.Coarse, "", 0, int64(coarse))
		add(i, 0, rows.Delays, "", 0, int64(total))
		for by, n := range delays {
			add(i, 0, rows.Delay, "", by, n)
		}
		for v, variant := range s.engine.Variants(i) {
			add(i, v+1, rows.Refused, "", 0, variant.Refused)
		}
	}
	return all
}
