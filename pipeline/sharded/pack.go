package sharded

import (
	"context"
	"fmt"
	"slices"

	"shadow/logfile"
	"shadow/pipeline"
	"shadow/policy"
	"shadow/report/format"
	"shadow/request"
	"shadow/shard"
	"shadow/traffic/ingest"
)

// A Packing divides the requests of logs among shards: those of one part of the logs.
type Packing struct {
	pipeline.Logs
	By     request.Key
	With   []request.Key // further keys that policies will count by
	Shards int
	Part   shard.Part
	To     shard.Output
	Output string

	facts *ingest.Facts
}

// Packed is what came of that.
type Packed struct {
	Part       string `json:"part"`
	Shards     int    `json:"shards"`
	Key        string `json:"key"`
	Lines      int64  `json:"lines"`
	Requests   int64  `json:"requests"` // parsed
	Unreadable int64  `json:"unreadable"`
}

// Run reads the part and writes its blocks. They are there whole, or none of them counts.
func (p *Packing) Run(ctx context.Context, logs []string) error {
	if p.Since != "" {
		return pipeline.Usage("--since: shards hold logs from their beginning on, since limits remember what was before")
	}
	if err := p.Prepare(ctx, logs, p.choose); err != nil {
		return err
	}
	p.Read.Users, p.Read.Origins = true, true
	p.Read.NoUsers = p.Read.NoUsers || !slices.ContainsFunc(append(p.With, p.By), request.Key.ByUsers)
	copies, err := logfile.FindCopies(ctx, p.Found())
	if err != nil {
		return err
	}
	names := slices.DeleteFunc(slices.Clone(p.Found()), func(name string) bool {
		return slices.ContainsFunc(copies.Found, func(c logfile.Copy) bool { return c.Name == name })
	})
	note, err := pipeline.ShardNoteOf(&p.Logs, copies)
	if err != nil {
		return err
	}
	p.facts, err = shard.Pack(ctx, shard.Options{
		Read: p.Read, Names: names, By: p.By, Shards: p.Shards, Part: p.Part, Note: note,
		Show: func(r *ingest.Reader) func() { return p.Show("packing", r.Progress) },
	}, p.To)
	if err != nil {
		return err
	}
	f := p.facts
	switch {
	case p.Output == "json":
		err = format.WriteJSON(p.Out, format.ShardSchema, &Packed{p.Part.String(), p.Shards, p.By.String(), f.Lines, f.Parsed, f.Unreadable})
	case !p.Quiet:
		_, err = fmt.Fprintf(p.Out, "part %s: %s in %s by %s, %d unreadable\n", p.Part, format.Count(f.Lines, "line"),
			format.Count(int64(p.Shards), "shard"), p.By, f.Unreadable)
	}
	if err != nil {
		return err
	}
	return p.IncompletePart(f, p.Part == shard.Part{} || p.Part == shard.Part{Number: 1, Of: 1})
}

// Facts are what the part told of the logs.
func (p *Packing) Facts() *ingest.Facts { return p.facts }

// choose has logs read as for all policies of the configuration, and for the keys.
func (p *Packing) choose(config *policy.Config) ([]policy.Policy, error) {
	policies, err := config.Pick(nil)
	if err != nil {
		return nil, err
	}
	for _, key := range append(slices.Clone(p.With), p.By) {
		some, err := policy.ParseLimits([]string{"window:1/1s"}, key)
		if err != nil {
			return nil, err
		}
		policies = append(policies, some...)
	}
	return policies, nil
}
