package logfile

import (
	"io"
	"os"
)

// A log that is truncated may have grown beyond its old length when it is read again, and may begin as before. So a place
// remembers what stood before it:
//
//	aaaa\nbbbb\ncccc\n
//	├── mark ──┤ Offset

// A Place says where reading goes on.
type Place struct {
	Offset   int64  `json:"offset"`             // of the first byte not yet read, after decompression
	Skipping bool   `json:"skipping,omitempty"` // inside a line of which no more is wanted
	Mark     uint64 `json:"mark,omitempty"`     // FNV-1a of the HeadBlock bytes before it, or of all; 0: it was not taken
}

// Marked adds the mark to a place in a plain file. What cannot be read leaves the place without one.
func (p Place) Marked(r io.ReaderAt) Place {
	p.Mark = 0
	if before := p.before(r); len(before) > 0 {
		p.Mark = sum(before)
	}
	return p
}

// Stands reports whether the bytes before a place are those that were read. A file that ends before the place was cut.
func (p Place) Stands(r io.ReaderAt) bool {
	if p.Mark == 0 {
		return true
	}
	before := p.before(r)
	return before == nil || sum(before) == p.Mark
}

// StandsIn reports whether the place stands in the file of that name. What cannot be read now is no other file.
func (p Place) StandsIn(name string) bool {
	if p.Mark == 0 {
		return true
	}
	f, err := os.Open(name)
	if err != nil {
		return true
	}
	defer f.Close()
	return p.Stands(f)
}

// before reads the bytes that a mark covers, nil if they are not all there.
func (p Place) before(r io.ReaderAt) []byte {
	block := make([]byte, min(p.Offset, HeadBlock))
	if n, _ := r.ReadAt(block, p.Offset-int64(len(block))); n < len(block) {
		return nil
	}
	return block
}

// isNow reports whether a sibling begins as the file did, and still has before the place what was read.
func (f *SavedFile) isNow(r *Sibling) bool {
	return r.Is(f.Identity) && (r.Compressed || f.StandsIn(r.Path))
}

// mark adds the mark to a place in a sibling, if that is still the file that was read, and is plain.
func (r *Sibling) mark(at Place) Place {
	if r.Compressed {
		return at
	}
	f, err := os.Open(r.Path)
	if err != nil {
		return at
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && sameFile(info, r.Info) {
		at = at.Marked(f)
	}
	return at
}
