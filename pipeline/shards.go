package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"shadow/calibrate"
	"shadow/limit"
	"shadow/logfile"
	"shadow/pipeline/flagvalue"
	"shadow/policy"
	"shadow/replay"
	"shadow/request"
	"shadow/shard"
	"shadow/store"
	"shadow/sweep"
	"shadow/traffic"
	"shadow/traffic/cache"
	"shadow/traffic/ingest"
)

// Where shards are named in the place of logs, their requests are judged. How the logs were read was settled when they were
// packed; that stands in the note of each block.

// A ShardNote says how the logs of shards were read.
type ShardNote struct {
	Reading
	Zone    string // Reading.Timezone, by its name
	Actions string // what else requests are, of the configuration
	Scopes  string
	Traces  string
	Copies  logfile.Copies
}

// ShardNoteOf is that of logs that are to be packed.
func ShardNoteOf(l *Logs, copies logfile.Copies) ([]byte, error) {
	n := ShardNote{
		Reading: l.Reading, Zone: l.Timezone.String(), Actions: actionsText(l.Pipeline), Scopes: scopesText(l.Pipeline),
		Copies: copies,
	}
	n.Reading.Timezone = nil
	if l.Read.Tracer != nil {
		n.Traces = l.Read.Tracer.Rules()
	}
	return json.Marshal(&n)
}

func actionsText(p *Pipeline) string { return fmt.Sprintf("%q", p.Config.Actions) }

func scopesText(p *Pipeline) string {
	return fmt.Sprintf("%q %+v %+v", p.Config.Scopes, p.Config.Exempt, p.Config.Tiers)
}

// A shardSet is the shards that a command judges.
type shardSet struct {
	*shard.Set
	note   ShardNote
	source *shard.Source // once it is read
}

// findShards looks whether shards are named. How they were read takes the place of what flags say: these cannot say anything
// else.
func (l *Logs) findShards(names []string) error {
	blocks, err := l.Blocks, error(nil)
	if blocks == nil {
		blocks, err = shard.Find(names)
	}
	if err != nil || blocks == nil {
		return err
	}
	set, err := shard.Open(blocks)
	if err != nil {
		return err
	}
	return l.useShards(set)
}

// useShards has a set take the place of logs.
func (l *Logs) useShards(set *shard.Set) error {
	s := &shardSet{Set: set}
	if err := json.Unmarshal(set.Note, &s.note); err != nil {
		return fmt.Errorf("shards: %w", err)
	}
	switch {
	case !l.parted:
		return Usage("this command reads logs; shards are for shadow replay, sweep, suggest, keys, explain, diff and doctor")
	case !l.apart && !set.Complete():
		return Usage("these are %d of %d shards: a finding about a log needs all of them", len(set.Has), set.Shards)
	case l.Since != "" || l.Until != "":
		return Usage("--since and --until: shards hold whole logs; shadow shard --until leaves out what is later")
	}
	if l.Given != nil {
		for _, flag := range l.Given() {
			return Usage("--%s: how the lines are read was settled when the shards were packed: pack them again with it", flag)
		}
	}
	zone, err := flagvalue.ParseZone(s.note.Zone)
	if err != nil {
		return fmt.Errorf("shards: %w", err)
	}
	owners, ranges := l.NetworkDB, l.CrawlerRanges
	l.Reading = s.note.Reading
	l.Timezone, l.NetworkDB, l.CrawlerRanges, l.NginxConf, l.LogName = zone, owners, ranges, "", ""
	if s.note.NginxConf != "" {
		l.Format = "auto"
	}
	l.shards = s
	return nil
}

// ShardSet are the shards that are judged, nil if there are none.
func (l *Logs) ShardSet() *shard.Set {
	if l.shards == nil {
		return nil
	}
	return l.shards.Set
}

// names are those of the logs.
func (s *shardSet) names() (names []string) {
	for _, in := range s.Parts[0].Inputs {
		names = append(names, in.Stats.Name)
	}
	return names
}

// fits reports why the shards cannot be judged by what was built.
func (s *shardSet) fits(l *Logs) error {
	p := l.Pipeline
	switch {
	case s.note.Actions != actionsText(p):
		return Usage("the shards were packed with other actions: state the same configuration, or pack them again")
	case p.Read.Scopes != nil && s.note.Scopes != scopesText(p):
		return Usage("the shards were packed with other scopes or tiers: state the same configuration, or pack them again")
	}
	if s.Complete() {
		return nil
	}
	for _, policy := range l.Policies {
		for _, key := range policy.Keys() {
			if !shard.Refines(key, s.By) {
				return Usage("policy %s counts by %s, and the shards are divided by %s: requests that share a counter lie in several "+
					"of them. Judge all shards at once, or pack the logs with --by %s", policy.Name, key, s.By, coarsest(key))
			}
		}
	}
	if l.Wanted {
		return Usage("--evidence: who is a bot shows only beside all other clients: judge all shards at once")
	}
	return nil
}

// coarsest is what shards would have to be divided by for a key.
func coarsest(key request.Key) request.Key { return key.Who() }

// fromShards has do judge the requests of the shards.
func (l *Logs) fromShards(
	ctx context.Context, o ingest.Options, do func(replay.Source, *ingest.Reader) error,
) (stats ingest.Stats, err error) {
	s := l.shards
	if o.Tracer != nil && o.Tracer.Rules() != s.note.Traces {
		return stats, Usage("the shards were packed with other rules of evidence: state the same configuration, or pack them again")
	}
	o.Origins = true
	source, err := s.Source(&o)
	if err != nil {
		return stats, err
	}
	s.source = source
	l.copies = &s.note.Copies
	if l.retain {
		l.requests = new(cache.Requests)
	}
	some := partial{first: traffic.MaxTime, last: traffic.MinTime}
	src, stop := l.passingOf("reading shards", &shardSource{source, l, &some, nil}, s.Rows(), s.Bytes())
	err = do(src, nil)
	stop()
	if ctx.Err() != nil {
		return stats, ErrInterrupted
	}
	if err != nil {
		return stats, err
	}
	whole, err := s.Stats(source.Late)
	if err != nil {
		return stats, err
	}
	if !o.Band {
		whole.Whole = 0
	}
	if stats = *whole; !s.Complete() {
		some.of(&stats)
	}
	stats.Copies = *l.copies
	return stats, nil
}

// passingOf shows a pass over so many requests in so many bytes.
func (l *Logs) passingOf(name string, src replay.Source, requests, size int64) (shown replay.Source, stop func()) {
	done := new(atomic.Int64)
	stop = l.show(name, func() (int64, int64) {
		return int64(float64(size) * min(1, float64(done.Load())/float64(max(1, requests)))), size
	})
	return tee{src, func(b *traffic.Batch) { done.Add(int64(b.Len())) }}, stop
}

// A shardSource hands on the requests of shards, and keeps them where there are to be further passes.
type shardSource struct {
	*shard.Source
	logs *Logs
	some *partial
	last *traffic.Batch
}

// Next returns the next batch, or io.EOF.
func (s *shardSource) Next() (*traffic.Batch, error) {
	if l := s.logs; s.last != nil && l.requests != nil {
		l.requests.Add(s.last) // once it has been looked at
		if l.lost = l.requests.Lost(); !l.retain {
			l.release() //nolint:errcheck // nobody needs them
		}
	}
	b, err := s.Source.Next()
	if s.last = b; b != nil {
		s.some.add(b)
	}
	return b, err
}

// partial is what is known of the requests of some shards.
type partial struct {
	requests, refusals int64
	first, last        limit.Time
}

func (p *partial) add(b *traffic.Batch) {
	p.requests += int64(b.Len())
	for _, status := range b.Status {
		if traffic.Refusal(int32(status)) {
			p.refusals++
		}
	}
	if b.Len() > 0 {
		p.first, p.last = min(p.first, slices.Min(b.At)), max(p.last, slices.Max(b.At))
	}
}

// of makes statistics those of the requests alone: lines that are none are in no shard.
func (p *partial) of(s *ingest.Stats) {
	s.Lines, s.Parsed, s.Bytes, s.Unreadable, s.Excluded, s.Moved, s.NotHTTP, s.Faults = p.requests, p.requests, 0, 0, 0, 0, nil, nil
	s.Refusals, s.FirstAt, s.LastAt, s.Whole = p.refusals, p.first, p.last, 0
	if p.requests == 0 {
		s.FirstAt, s.LastAt = 0, 0
	}
}

// run is what is stored of a run beside its result: what the shards came to, judged as asked says.
func (s *shardSet) run(sum *shard.Sum) (*store.ShardRun, error) {
	body, err := sum.MarshalBinary()
	return &store.ShardRun{Shard: shard.Ranges(s.Has), Of: int32(s.Shards), Key: s.By.String(), Set: s.Set.Set, Sum: body}, err
}

// sum is what the shards came to by policies, and curves; nil: none.
func (s *shardSet) sum(counted *replay.Sum, policies []policy.Policy, curves *sweep.Result) (*shard.Sum, error) {
	counted.Lasts = s.source.Lasts
	var added *sweep.Sum
	if curves != nil {
		if !s.Complete() && !shard.Refines(request.ByClient, s.By) {
			return nil, Usage("curves count clients, and a client may lie in several shards, which are divided by %s: sweep all shards at "+
				"once, or with --no-store for those of one shard", s.By)
		}
		var err error
		if added, err = curves.Sum(); err != nil {
			return nil, Usage("%w: judge all shards at once, with --no-store or from the logs", err)
		}
	}
	return shard.NewSum(s.Set, s.source.Late, judgedBy(policies), len(policies), counted, added)
}

// judgedBy says what policies judged.
func judgedBy(policies []policy.Policy) string {
	var texts []string
	for _, p := range replay.TextsOf(policies) {
		text := p.Name + " by " + p.By
		for _, part := range p.Parts {
			text += fmt.Sprintf(" %s/%s/%s/%s", part.Text, part.By, part.Match, part.Counts)
		}
		texts = append(texts, text+" "+p.Combine)
	}
	return strings.Join(texts, "; ")
}

// asksAll reports whether the answer needs all requests, beside those of a shard.
func (r *Replay) asksAll() bool {
	return r.Band || r.Harm || r.HarmAction != "" || r.Verdicts != "" || r.Retries != "" && r.Retries != calibrate.NoRetries ||
		len(r.Redis.Addresses) > 0 || r.Resume != ""
}

// Sum judges blocks of shards, and returns what they come to. Nothing is written.
func (r *Replay) Sum(ctx context.Context, blocks []shard.Block) (*shard.Sum, error) {
	r.Blocks, r.Quiet = blocks, true
	if err := r.prepareReplay(ctx, nil); err != nil {
		return nil, err
	}
	if r.shards == nil || r.asksAll() || r.Wanted {
		return nil, Usage("shards add up without --band, --harm, --evidence, --verdicts, --retries, --redis and --resume only")
	}
	defer r.shards.Close()
	r.summing = true
	if _, err := r.judge(ctx, nil); err != nil {
		return nil, err
	}
	return r.sum, nil
}

// shardWarnings say what the answer is about.
func (l *Logs) shardWarnings() []string {
	if l.shards == nil || l.shards.Complete() {
		return nil
	}
	return []string{fmt.Sprintf("these are the requests of %d of %d shards, by %s: shadow merge --sum adds what all of them come to",
		len(l.shards.Has), l.shards.Shards, l.shards.By)}
}
