package tail

import (
	"hash/fnv"
	"io"
	"io/fs"
)

// A log keeps its content when it is renamed, and its inode; when it is compressed or copied it keeps the content only; and
// an inode may be given to another file once its own is deleted. So what a file is, is told by both: inode and beginning.

// headBlock is how much of the beginning of a file is hashed, in bytes.
const headBlock = 4096

// An Identity tells a log file apart from others, whatever it is called. A file that is shorter than headBlock is hashed as
// far as it goes; as it grows, what was hashed stays its beginning.
type Identity struct {
	Device    uint64 `json:"device"` // 0 and 0 where the system has no inodes
	Inode     uint64 `json:"inode"`
	Head      uint64 `json:"head"` // FNV-1a of the first HeadBytes bytes, after decompression
	HeadBytes int    `json:"head_bytes"`
}

// identify is the Identity of an open file.
func identify(r io.ReaderAt, info fs.FileInfo) (Identity, error) {
	id := Identity{}
	id.Device, id.Inode = inodeOf(info)
	block := make([]byte, headBlock)
	n, err := r.ReadAt(block, 0)
	if err != nil && err != io.EOF {
		return id, err
	}
	id.Head, id.HeadBytes = hash(block[:n]), n
	return id, nil
}

func hash(block []byte) uint64 {
	h := fnv.New64a()
	h.Write(block)
	return h.Sum64()
}

// sameInode tells whether two files are one, or were one after the other given the same inode.
func (id Identity) sameInode(other Identity) bool {
	return id.Inode != 0 && id.Inode == other.Inode && id.Device == other.Device
}

// begins tells whether a file that begins with head has the content of the one with this identity.
func (id Identity) begins(head []byte) bool {
	return len(head) >= id.HeadBytes && hash(head[:id.HeadBytes]) == id.Head
}
