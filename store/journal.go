package store

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A checkpoint of DuckDB writes into blocks that the file still needs. A block of metadata has 64 parts, and a
// checkpoint fills those that are free, so that it writes the whole block again, in place. A write that ends halfway
// damages the other parts, and with them every run.
//
// So the blocks are saved first, in a rollback journal beside the file:
//
//	COMMIT       ──▶ file.wal      synced: from here on the change is there
//	blocks as they are ──▶ file.journal  synced
//	CHECKPOINT   ──▶ file          a kill here: the next opening restores the blocks and replays file.wal
//	                 file.journal removed
//
// DuckDB writes all other blocks of a checkpoint where the last checkpoint has nothing, then syncs, then writes the
// header that makes them count. It replays a log of changes only if the header is not yet the one that the log
// announces.
//
// The layout is that of DuckDB's storage versions 64 to 67. A file begins with three headers of 4 KiB: one that never
// changes, and two that take turns. Blocks follow, of one size. Each begins with the checksum of its rest.

const (
	headerBytes  = 4096
	headers      = 3
	journalMagic = "shadow rollback journal 1\n"
	mostRegion   = 1 << 20 // bytes, more than DuckDB's largest block
)

func journalOf(path string) string { return path + ".journal" }

// A region is a part of the file that begins with the checksum of its rest: a header or a block.
type region struct {
	offset int64
	bytes  []byte
}

// intact reports whether the region is as DuckDB has written it.
func (r region) intact() bool {
	return len(r.bytes) >= 16 && len(r.bytes)%8 == 0 && binary.LittleEndian.Uint64(r.bytes) == blockChecksum(r.bytes[8:])
}

// blockChecksum is DuckDB's checksum of a text of whole words.
func blockChecksum(b []byte) uint64 {
	sum := uint64(5381)
	for ; len(b) >= 8; b = b[8:] {
		sum ^= binary.LittleEndian.Uint64(b) * 0xbf58476d1ce4e5b9
	}
	return sum
}

// iteration is the number of the checkpoint that wrote a header.
func (r region) iteration() uint64 { return binary.LittleEndian.Uint64(r.bytes[8:]) }

// read reads a region of a file into its bytes, and reports whether the file is as long.
func (r region) read(file io.ReaderAt) (there bool, err error) {
	n, err := file.ReadAt(r.bytes, r.offset)
	if n == len(r.bytes) {
		return true, nil
	}
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return false, err
}

// regions are the headers and some blocks of a file.
func regions(blockSize int64, blocks []int64) []region {
	all := make([]region, 0, headers+len(blocks))
	for i := range int64(headers) {
		all = append(all, region{offset: i * headerBytes, bytes: make([]byte, headerBytes)})
	}
	buffer := make([]byte, blockSize)
	for _, block := range blocks {
		all = append(all, region{offset: headers*headerBytes + block*blockSize, bytes: buffer})
	}
	return all
}

// A journal is a rollback journal that is being used. Its lock, which ends with the process, keeps others from mending.
type journal struct {
	path string
	file *os.File
}

// saveBlocks writes the journal of the database at path, of which file reads, and syncs it. Blocks that the last
// checkpoint does not have are left out.
func saveBlocks(path string, file *os.File, blockSize int64, blocks []int64) (*journal, error) {
	if blockSize <= 0 || blockSize > mostRegion {
		return nil, fmt.Errorf("blocks of %d bytes, which no shadow knows", blockSize)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	j := &journal{path: journalOf(path)}
	if j.file, err = os.OpenFile(j.path, os.O_RDWR|os.O_CREATE, info.Mode().Perm()); err != nil {
		return nil, err
	}
	err = lockFile(j.file)
	if err == nil {
		err = j.file.Truncate(0)
	}
	if err == nil {
		sameOwner(j.path, info) //nolint:errcheck // whoever may write to both files can mend
		err = j.write(file, regions(blockSize, blocks))
	}
	if err == nil {
		err = errors.Join(j.file.Sync(), syncFolder(path))
	}
	if err != nil {
		return nil, errors.Join(err, j.remove())
	}
	return j, nil
}

func (j *journal) write(file io.ReaderAt, all []region) error {
	w := bufio.NewWriterSize(j.file, 1<<20)
	sum := sha256.New()
	both := io.MultiWriter(w, sum)
	io.WriteString(both, journalMagic) //nolint:errcheck // Flush returns the error
	for _, r := range all {
		there, err := r.read(file)
		if err != nil {
			return err
		}
		if !there || !r.intact() {
			continue
		}
		var head [16]byte
		binary.LittleEndian.PutUint64(head[:], uint64(r.offset))
		binary.LittleEndian.PutUint64(head[8:], uint64(len(r.bytes)))
		both.Write(head[:]) //nolint:errcheck // Flush returns the error
		both.Write(r.bytes) //nolint:errcheck // Flush returns the error
	}
	var end [16]byte      // a region without bytes ends the list
	both.Write(end[:])    //nolint:errcheck // Flush returns the error
	w.Write(sum.Sum(nil)) //nolint:errcheck // Flush returns the error
	return w.Flush()
}

// remove removes the journal, then its lock.
func (j *journal) remove() error { return errors.Join(os.Remove(j.path), j.file.Close()) }

// errTornJournal is that a journal was not finished: its checkpoint has not begun.
var errTornJournal = errors.New("the journal is not complete")

// eachRegion calls do with each region of a journal, whose bytes are valid until the next, and checks the journal's
// end.
func eachRegion(file *os.File, do func(region) error) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	buffered, sum, buffer := bufio.NewReaderSize(file, 1<<20), sha256.New(), make([]byte, mostRegion)
	both := io.TeeReader(buffered, sum)
	next := func(n uint64) ([]byte, error) {
		_, err := io.ReadFull(both, buffer[:n])
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errTornJournal
		}
		return buffer[:n], err
	}
	magic, err := next(uint64(len(journalMagic)))
	if err != nil || string(magic) != journalMagic {
		return errors.Join(errTornJournal, err)
	}
	for {
		head, err := next(16)
		if err != nil {
			return err
		}
		offset, size := binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint64(head[8:])
		if size == 0 {
			break
		}
		if size > mostRegion || offset > 1<<62 {
			return errTornJournal
		}
		content, err := next(size)
		if err != nil {
			return err
		}
		if err := do(region{int64(offset), content}); err != nil {
			return err
		}
	}
	end := make([]byte, sha256.Size)
	if _, err := io.ReadFull(buffered, end); err != nil || !bytes.Equal(end, sum.Sum(nil)) {
		return errTornJournal
	}
	return nil
}

// mend ends a checkpoint that was cut off: it restores the blocks that are torn, and removes the journal. Without a
// journal it does nothing. The error is ErrBusy as long as another process has the file.
func mend(path string) error {
	file, err := os.OpenFile(journalOf(path), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return errUnmended(path, err)
	}
	j := &journal{path: journalOf(path), file: file}
	if err := lockFile(file); err != nil {
		return errors.Join(busy(path, err), file.Close())
	}
	there, err := os.Stat(j.path)
	here, errHere := file.Stat()
	if err != nil || errHere != nil || !os.SameFile(there, here) { // its writer has just removed it
		return errors.Join(busy(path, nil), file.Close())
	}
	db, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return j.remove()
	}
	if err != nil {
		return errors.Join(errUnmended(path, err), file.Close())
	}
	defer db.Close()
	if err := lockDatabase(db); err != nil {
		return errors.Join(busy(path, err), file.Close())
	}
	if err := j.restore(db); err != nil {
		return errors.Join(errUnmended(path, err), file.Close())
	}
	return errors.Join(j.remove(), syncFolder(path))
}

func errUnmended(path string, err error) error {
	return fmt.Errorf("database %s: a checkpoint of it was cut off, and %s cannot be used to mend it: %w:"+
		" try again as somebody who may write both files", path, journalOf(path), err)
}

func busy(path string, err error) error {
	if err != nil && !errors.Is(err, errLocked) {
		return fmt.Errorf("database %s: %w", path, err)
	}
	return fmt.Errorf("database %s: another process holds it open: %w", path, ErrBusy)
}

// restore writes the journal's blocks over those that are torn, if the file is still as it was before the checkpoint. A
// block that was written whole serves the old header as well as the new one.
func (j *journal) restore(db *os.File) error {
	stands := true
	var active region
	err := eachRegion(j.file, func(r region) error {
		if 0 < r.offset && r.offset < headers*headerBytes && (active.bytes == nil || r.iteration() > active.iteration()) {
			active = region{r.offset, bytes.Clone(r.bytes)}
		}
		return nil
	})
	if errors.Is(err, errTornJournal) || err == nil && active.bytes == nil {
		return nil
	}
	if err == nil {
		stands, err = active.isActive(db)
	}
	if err != nil || !stands {
		return err
	}
	err = eachRegion(j.file, func(r region) error {
		now := region{r.offset, make([]byte, len(r.bytes))}
		there, err := now.read(db)
		if err != nil || !there || now.intact() {
			return err
		}
		_, err = db.WriteAt(r.bytes, r.offset)
		return err
	})
	return errors.Join(err, db.Sync())
}

// isActive reports whether a header is the one by which DuckDB reads the file. Of the two that take turns the other
// may be torn.
func (r region) isActive(db *os.File) (bool, error) {
	here := region{r.offset, make([]byte, len(r.bytes))}
	other := region{headers*headerBytes - r.offset, make([]byte, len(r.bytes))}
	for _, header := range []region{here, other} {
		if there, err := header.read(db); err != nil || !there {
			return false, err
		}
	}
	return bytes.Equal(here.bytes, r.bytes) && (!other.intact() || other.iteration() <= r.iteration()), nil
}

// syncFolder makes the names in a file's folder durable. File systems that cannot sync a folder need not.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil //nolint:nilerr // a folder may be one that nobody can list
	}
	folder.Sync() //nolint:errcheck // see above
	return folder.Close()
}
