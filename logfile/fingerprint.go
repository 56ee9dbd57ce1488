package logfile

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"time"
)

// What was made of files, and is kept, is worth something as long as they hold what they held. A file under another name,
// or a copy of it, holds the same.

// A Fingerprint reports whether a file holds what another one held, byte for byte as it lies on disk. Where its inode and the
// times of its last changes are the same, nothing of it need be read; else all of it is.
type Fingerprint struct {
	Node
	Size     int64  `json:"size"`
	Head     uint64 `json:"head"`     // FNV-1a of its first 4 KiB
	Tail     uint64 `json:"tail"`     // of its last 4 KiB
	Modified int64  `json:"modified"` // nanoseconds since 1970
	Changed  int64  `json:"changed"`  // the same of its inode, which nobody can set; 0: the system does not tell
	Sum      uint64 `json:"sum"`      // two CRC-32 of its content (Castagnoli, IEEE), by AddSum

	Version string `json:"version,omitempty"` // of an object, whose store vouches for its content: it has no sum
}

// FingerprintOf looks at a file, but not at all of it. What is no regular file has none: known is false.
func FingerprintOf(name string) (p Fingerprint, known bool, err error) {
	if name == "-" {
		return p, false, nil
	}
	if name = onDisk(name); IsObject(name) {
		return objectFingerprint(name)
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return p, false, err
	}
	f, err := os.Open(name)
	if err != nil {
		return p, false, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return p, false, err
	}
	ends, _, err := endsOf(f, info.Size())
	return Fingerprint{
		Node: NodeOf(info), Size: ends.size, Head: ends.head, Tail: ends.tail,
		Modified: info.ModTime().UnixNano(), Changed: changedAt(info),
	}, true, err
}

// AddSum reads all of the file, which has the fingerprint but for its sum. It fails if the file has changed.
func (p *Fingerprint) AddSum(ctx context.Context, name string) error {
	if p.Version != "" {
		return nil
	}
	name = onDisk(name)
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	block, n := make([]byte, compareBytes), int64(0)
	castagnoli, ieee := uint32(0), uint32(0)
	for err != io.EOF {
		var k int
		if k, err = f.Read(block); err != nil && err != io.EOF {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		castagnoli = crc32.Update(castagnoli, castagnoliTable, block[:k])
		ieee = crc32.Update(ieee, crc32.IEEETable, block[:k])
		n += int64(k)
	}
	p.Sum = uint64(castagnoli)<<32 | uint64(ieee)
	now, _, err := FingerprintOf(name)
	if now.Sum = p.Sum; err == nil && (now != *p || n != p.Size) {
		err = fmt.Errorf("%s has changed while it was read", name)
	}
	return err
}

var castagnoliTable = crc32.MakeTable(crc32.Castagnoli)

// clockSlack is by how much the clock of a file system may lie behind ours, or be coarser.
const clockSlack = 2 * time.Second

// Differs says in what the file of that name, which has the fingerprint p, differs from what it was when the fingerprint
// kept was taken, at a moment: "has grown". It returns "" where both hold the same.
func (p *Fingerprint) Differs(ctx context.Context, name string, kept *Fingerprint, taken time.Time) (string, error) {
	switch {
	case p.Size > kept.Size:
		return "has grown", nil
	case p.Size < kept.Size:
		return "is shorter", nil
	case p.Head != kept.Head || p.Tail != kept.Tail || p.Version != kept.Version:
		return "has changed", nil
	}
	if p.Version != "" {
		if *p != *kept {
			return "has changed", nil
		}
		return "", nil
	}
	// A change within the tick of the clock in which the fingerprint was taken would leave the times as they were.
	settled := taken.Add(-clockSlack).UnixNano()
	if p.Sum = kept.Sum; *p == *kept && p.Changed != 0 && max(p.Changed, p.Modified) < settled {
		return "", nil
	}
	if err := p.AddSum(ctx, name); err != nil {
		return "", err
	}
	if p.Sum != kept.Sum {
		return "has changed", nil
	}
	return "", nil
}
