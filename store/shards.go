package store

import (
	"fmt"
	"slices"

	"shadow/limit"
	"shadow/store/duck"
)

// A run may have judged some shards of a set. Then it keeps what it came to in full, so that all runs of the set can be added to
// what one run of all requests would be.

// A ShardRun says which shards a run judged, and what they came to.
type ShardRun struct {
	Run   int32
	Shard string // which ones: 17, or 0-63
	Of    int32  // how many the set has
	Key   string // what they are divided by
	Set   string // its identity
	Sum   []byte // see shard.Sum; empty where only the others are wanted
}

// writeShards writes which shards were judged.
func (r *Run) writeShards() error {
	s := r.Shards
	if s == nil {
		return nil
	}
	w := r.store.duck.Writer(r.id)
	w.Add("shard_runs", s.Shard, s.Of, s.Key, s.Set)
	piece := int32(0)
	for bytes := range slices.Chunk(s.Sum, pieceBytes) {
		w.Add("shard_sums", piece, bytes)
		piece++
	}
	return w.Done()
}

// ShardRuns are the runs of shards, by number. Of several of the same shards of one set the last one stands for all.
func (r *Reader) ShardRuns() (runs []ShardRun, err error) {
	there, err := hasTable(r.duck, "", "shard_runs")
	if err != nil || !there {
		return nil, err
	}
	all, err := duck.List[ShardRun](r.duck, "SELECT run, shard, shards, shard_key, shard_set, NULL::BLOB FROM shard_runs ORDER BY run")
	for _, run := range all {
		runs = slices.DeleteFunc(runs, func(s ShardRun) bool { return s.Shard == run.Shard && s.Of == run.Of && s.Set == run.Set })
		runs = append(runs, run)
	}
	return runs, err
}

// ShardSum is what the shards of a run came to.
func (r *Reader) ShardSum(run int32) (sum []byte, err error) {
	for from, more := 0, true; err == nil && more; from += piecesAtOnce {
		more = false
		question := fmt.Sprintf("SELECT bytes FROM shard_sums WHERE run = %d AND piece >= %d AND piece < %d ORDER BY piece", run, from, from+piecesAtOnce)
		err = duck.Each(r.duck, question, func(piece *[]byte) error {
			sum, more = append(sum, *piece...), true
			return nil
		})
	}
	return sum, err
}

// A NamedEvent is an event with the names of its client and its action.
type NamedEvent struct {
	Policy         int32
	At             limit.Time
	Client, Action string
	Status         int32
	Count          int64
	Degraded       bool
}

// KeepsEvents is of how many policies, the first ones, a run keeps the events.
func (r *Reader) KeepsEvents(run int32) (int64, error) {
	return duck.One[int64](r.duck, fmt.Sprintf("SELECT count(*) FROM policies WHERE run = %d AND events_kept", run))
}

// Events has do see the events of a run.
func (r *Reader) Events(run int32, do func(*NamedEvent) error) error {
	return duck.Each(r.duck, fmt.Sprintf(`SELECT e.policy, e.time, c.name, a.name, e.status::INTEGER, e.count::BIGINT, e.degraded FROM events e
		JOIN clients c ON c.run = e.run AND c.client = e.client JOIN actions a ON a.run = e.run AND a.action = e.action
		WHERE e.run = %d`, run), do)
}
