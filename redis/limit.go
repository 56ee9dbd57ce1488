package redis

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"shadow/limit"
	"shadow/policy"
)

// Redis computes in doubles, which hold whole numbers below 2⁵³. So a time goes there in two parts: the cell that it lies
// in, a length of time of a second or more that the limit's grid divides, and the microseconds from the beginning of a
// cell. A script counts from the cell of the key's first request, and starts a key again that is 142 years away from there.

const (
	exact = 1 << 53 // whole numbers below this are exact
	reach = 1 << 52 // how far from the beginning of a key's first cell its times may lie, in microseconds
)

// A Limit is a limit whose state is shared.
type Limit struct {
	script *redis.Script
	header []byte     // what the script is told of the limit
	cell   limit.Time // microseconds
	unit   limit.Time // of State.At, in microseconds
	level  bool       // whether State.Level is a time
	prefix string     // of its keys
}

// Terms say when a shared key is forgotten.
type Terms struct {
	Lateness limit.Time    // a key whose time steps back by more starts again
	Idle     limit.Time    // one that was idle for longer does, too; must not be less than the limit's horizon
	MaxLag   time.Duration // by how much hosts may lag behind the log that is furthest ahead
}

// NewLimit makes a limit that is shared, or says why it cannot be.
func NewLimit(name string, part *policy.Part, t Terms) (*Limit, error) {
	sharer, ok := part.Limiter.(limit.Sharer)
	if !ok {
		return nil, fmt.Errorf("limit %q cannot be shared: it has no script", part.Spec)
	}
	sharing, err := sharer.Sharing()
	if err != nil {
		return nil, fmt.Errorf("limit %q cannot be shared: %w", part.Spec, err)
	}
	script, ok := loadScript(sharing.Script)
	if !ok {
		return nil, fmt.Errorf("limit %q cannot be shared: there is no script for %s", part.Spec, sharing.Script)
	}
	l := &Limit{script: script, cell: cellOf(sharing.Step), unit: max(1, sharing.Unit), level: sharing.Level, prefix: fmt.Sprintf("shadow:{%s/%s/", name, part.Spec)}
	horizon := part.Limiter.Horizon()
	if sharing.Most >= exact || max(horizon, t.Lateness, l.cell) >= reach/2 {
		return nil, fmt.Errorf("limit %q cannot be shared: its numbers are not exact in Redis, which computes with 53 bits; take a shorter period or a rounder count", part.Spec)
	}
	l.header = packed(append([]int64{
		int64(l.cell), int64(t.Lateness), int64(min(t.Idle, reach)), keep(horizon, t.MaxLag),
		int64(sharing.Cooldown), bit(sharing.Extend),
	}, sharing.Numbers...)...)
	return l, nil
}

// cellOf is the least multiple of a step that lasts a second or more. So many seconds as time has fit into 53 bits.
func cellOf(step limit.Time) limit.Time {
	if step == 0 {
		return limit.Second
	}
	return limit.Time(limit.CeilDiv(int64(limit.Second), int64(step))) * step
}

// keep is for how many milliseconds Redis keeps a key that nobody asks for.
func keep(horizon limit.Time, lag time.Duration) int64 {
	return int64(horizon/limit.Millisecond) + 1 + lag.Milliseconds()
}

// split is t as its cell and the microseconds since that began.
func (l *Limit) split(t limit.Time) (cell, into limit.Time) {
	cell, into = t/l.cell, t%l.cell
	if into < 0 {
		cell, into = cell-1, into+l.cell
	}
	return cell, into
}

// longestName is how long a key's name may be, in bytes; a longer one goes by its hash.
const longestName = 200

// key is what the state of one of the limit's keys is called in Redis. The braces keep what belongs to it on one node of
// a cluster.
func (l *Limit) key(name string) string {
	if len(name) > longestName {
		sum := sha256.Sum256([]byte(name))
		name = "sha256:" + hex.EncodeToString(sum[:])
	}
	return l.prefix + name + "}"
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// distance is how far apart two times are.
func distance(x, y limit.Time) uint64 {
	if x < y {
		x, y = y, x
	}
	return uint64(x) - uint64(y)
}
