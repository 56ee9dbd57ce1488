package redis

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"shadow/internal/policy"
	"shadow/limit"
)

// Redis computes in doubles, which hold whole numbers below 2⁵³. So a time goes there in two parts: the cell that it
// lies in, a length of time of a second or more that the limit's grid divides, and the microseconds from the
// beginning of a cell. A script counts from the cell of the key's first request, and starts a key again that is 142
// years away from there.

const (
	exact = 1 << 53 // whole numbers below this are exact
	reach = 1 << 52 // how far from the beginning of a key's first cell its times may lie, in microseconds
)

// A Limit is a limit whose state is shared.
type Limit struct {
	script *script
	header []byte     // the numbers of the limit, for the script
	cell   limit.Time // microseconds
	unit   limit.Time // of State.At, in microseconds
	level  bool       // whether State.Level is a time
	prefix string     // of its keys
}

// Terms say when a shared key is forgotten.
type Terms struct {
	Lateness limit.Time    // a key whose time steps back by more resets
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
	l := &Limit{
		cell: limit.Second, unit: max(1, sharing.Unit), level: sharing.Level,
		prefix: fmt.Sprintf("shadow:{%s/%s/", name, part.Spec),
	}
	if l.script, err = loadScript(sharing.Script); err != nil {
		return nil, fmt.Errorf("limit %q cannot be shared: %w", part.Spec, err)
	}
	if step := sharing.Step; step > 0 { // the least multiple of a second or more: so many seconds fit into 53 bits
		l.cell = limit.Time(limit.CeilDiv(int64(limit.Second), int64(step))) * step
	}
	horizon := part.Limiter.Horizon()
	if sharing.Most >= exact || max(horizon, t.Lateness, l.cell) >= reach/2 {
		return nil, fmt.Errorf("limit %q cannot be shared: its numbers are not exact in Redis, which computes with 53 bits; "+
			"take a shorter period or a rounder count", part.Spec)
	}
	ttl := int64(horizon/limit.Millisecond) + 1 + t.MaxLag.Milliseconds() // of a key without requests
	l.header = packed(append([]int64{
		int64(l.cell), int64(t.Lateness), int64(min(t.Idle, reach)), ttl, int64(sharing.Cooldown), limit.Bit(sharing.Extend),
	}, sharing.Numbers...)...)
	return l, nil
}

//go:embed scripts/*.lua
var scripts embed.FS

// loadScript makes the script of an algorithm: its file between two that all have in common; see scripts/begin.lua.
func loadScript(name string) (*script, error) {
	var text strings.Builder
	for _, part := range []string{"begin", name, "end"} {
		content, err := scripts.ReadFile("scripts/" + part + ".lua")
		if err != nil {
			return nil, fmt.Errorf("there is no script for %s", name)
		}
		text.Write(content)
	}
	return newScript(text.String()), nil
}

// split returns the cell in which t lies, and when that began.
func (l *Limit) split(t limit.Time) (cell, begin limit.Time) {
	cell = t / l.cell
	if t%l.cell < 0 {
		cell--
	}
	return cell, cell * l.cell
}

// longestName is the length of the longest name of a key, in bytes; a longer one goes by its hash.
const longestName = 200

// key returns what the state of one of the limit's keys is called in Redis. The braces keep what belongs to it on one
// node of a cluster.
func (l *Limit) key(name string) string {
	if len(name) > longestName {
		sum := sha256.Sum256([]byte(name))
		name = "sha256:" + hex.EncodeToString(sum[:])
	}
	return l.prefix + name + "}"
}

// distance returns how far apart two times are.
func distance(x, y limit.Time) uint64 {
	if x < y {
		x, y = y, x
	}
	return uint64(x) - uint64(y)
}
