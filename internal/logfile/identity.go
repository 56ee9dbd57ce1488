package logfile

import (
	"bytes"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
)

// A log keeps its content when it is renamed, and its inode; when it is compressed or copied it keeps the content only; and
// an inode may be given to another file once its own is deleted. So what a file is, is told by both: inode and beginning.

// HeadBlock is the number of bytes at the beginning of a file that are hashed.
const HeadBlock = 4096

// An Identity tells a log file apart from others, whatever it is called. A file that is shorter than HeadBlock is hashed as
// far as it goes; as it grows, what was hashed stays its beginning.
type Identity struct {
	Node
	Head      uint64 `json:"head"` // FNV-1a of the first HeadBytes bytes, after decompression
	HeadBytes int    `json:"head_bytes"`
}

// A Node identifies a file while it is there, whatever its names. It is zero where the system has no inodes: then files
// are told apart by their beginnings alone.
type Node struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// SameInode reports whether two files are one, or were one after the other given the same inode.
func (n Node) SameInode(other Node) bool { return n.Inode != 0 && n == other }

// Identify returns the Identity of an open file.
func Identify(r io.ReaderAt, info fs.FileInfo) (Identity, error) {
	id := Identity{Node: NodeOf(info)}
	block := make([]byte, HeadBlock)
	n, err := r.ReadAt(block, 0)
	if err != nil && err != io.EOF {
		return id, err
	}
	id.Head, id.HeadBytes = sum(block[:n]), n
	return id, nil
}

// Begins reports whether a file that begins with head has the content of the one with this identity.
func (id Identity) Begins(head []byte) bool {
	return len(head) >= id.HeadBytes && sum(head[:id.HeadBytes]) == id.Head
}

// Learn takes in more of the beginning of a file that has grown.
func (id *Identity) Learn(head []byte) {
	if len(head) > id.HeadBytes {
		id.Head, id.HeadBytes = sum(head), len(head)
	}
}

// LineSums returns a sum of a beginning up to each of its line feeds, so that what is shorter can be told to be a part of it.
func LineSums(head []byte) (sums []uint32) {
	h := fnv.New64a()
	for {
		end := bytes.IndexByte(head, '\n') + 1
		if end == 0 {
			return sums
		}
		h.Write(head[:end])
		sums, head = append(sums, uint32(h.Sum64())), head[end:]
	}
}

// Emptied returns the identity of the file when nothing is in it any more.
func (id Identity) Emptied() Identity {
	id.Head, id.HeadBytes = sum(nil), 0
	return id
}

// endBlock is the number of bytes at each end of a file that are hashed.
const endBlock = 4096

// ends tell files apart in the record of a run: the size on disk and FNV-1a hashes (64 bits) of the first and
// the last 4 KiB as they lie there, compressed or not. Of a file shorter than that, both are hashes of all of it. The
// zero ends, but for a size of -1, belongs to what has no size: standard input, a pipe.
type ends struct {
	size       int64
	head, tail uint64
}

// endsOf reads both ends of a file, and returns the first bytes as well.
func endsOf(r io.ReaderAt, size int64) (ends, []byte, error) {
	block := make([]byte, min(size, endBlock))
	if _, err := r.ReadAt(block, size-int64(len(block))); err != nil && err != io.EOF {
		return ends{}, nil, err
	}
	id := ends{size: size, tail: sum(block)}
	if _, err := r.ReadAt(block, 0); err != nil && err != io.EOF {
		return ends{}, nil, err
	}
	id.head = sum(block)
	return id, block, nil
}

func sum(block []byte) uint64 {
	h := fnv.New64a()
	h.Write(block)
	return h.Sum64()
}

// How far logs have been read is kept between two readings, and what their files were known by. A log is one name with the
// files that had it, one after the other:
//
//	access.log.2.gz   access.log.1   access.log
//	└── read to its end, now compressed  └── read as far as it went

// A SavedLog says how far one log had been read.
type SavedLog struct {
	Name  string      `json:"name"`
	Files []SavedFile `json:"files"` // oldest first; the last one had the name
	Known []Identity  `json:"known"` // siblings that had been read, or were not to be

	Closed []SavedFile `json:"closed,omitempty"` // files that were read and may come back, latest last

	Formers []SavedFile `json:"formers,omitempty"` // files that were truncated, while the rest of them is looked for in copies
	Empty   *Identity   `json:"empty,omitempty"`   // the file that had the name, if nothing was in it

	Series bool `json:"series,omitempty"` // whether it is one, and Name is that of it

	Missed int `json:"missed,omitempty"` // how many times it was not given since, where logs are given
}

// HasLines reports whether the whole lines of a beginning are the first ones of the file.
func (f *SavedFile) HasLines(head []byte) bool {
	n := bytes.Count(head, []byte{'\n'})
	if n == 0 || n > len(f.Lines) {
		return false
	}
	whole := head[:bytes.LastIndexByte(head, '\n')+1]
	return uint32(sum(whole)) == f.Lines[n-1]
}

// A SavedFile says how far one file had been read.
type SavedFile struct {
	Identity
	Place
	Compressed bool `json:"packed,omitempty"` // it was compressed, and read to its end: nothing can have been added

	Spent bool `json:"spent,omitempty"` // it had lost the name, and was read to its end: hardly anything can have been added

	Born int64 `json:"born,omitempty"` // see Born: an inode may be given to a file that is made later

	Lines []uint32 `json:"lines,omitempty"` // LineSums of its beginning, where a shorter copy of it may turn up
}

// CanBeReadAgain reports whether a name is that of an object or of a regular file. A pipe, say, is read once.
func CanBeReadAgain(name string) bool {
	if IsObject(name) {
		return true
	}
	info, err := os.Stat(onDisk(name))
	return name != "-" && err == nil && info.Mode().IsRegular()
}
