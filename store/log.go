package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// DuckDB's log of changes is a row of entries behind its version. A transaction is there when the entry that commits it
// is:
//
//	version │ size, checksum, change │ … │ size, checksum, commit │ … │ size, checksum, commit │ half of an ent
//	                                                                                          ◀── cut off ──▶
//
// What a kill or a full disk leaves behind the last commit must not be replayed. But DuckDB then keeps the rows that
// it had written to the file before, such as a million events, without the rest of their transaction. So the log ends
// with a commit before DuckDB opens it.
//
// The layout is that of version 2 of the log. Others are left alone.

const (
	logVersion  = "d\x00be\x00\x02\xff\xff" // field 100: the kind, 98; field 101: the version, 2
	logEntry    = 16                        // bytes before each change: its size, and a checksum
	logKind     = "d\x00"                   // field 100, which each entry begins with; the kind follows
	logCommit   = 100
	checkpoints = 99 // announces the header of a checkpoint
)

// committed returns how much of a log of so many bytes ends with a commit.
func committed(log io.ReaderAt, size int64) (end int64, err error) {
	head := make([]byte, max(len(logVersion), logEntry+len(logKind)+1))
	if n, err := log.ReadAt(head[:len(logVersion)], 0); n < len(logVersion) {
		return 0, ignoreEnd(err)
	}
	if string(head[:len(logVersion)]) != logVersion {
		return size, nil
	}
	for at := int64(len(logVersion)); at+int64(len(head)) <= size; {
		if _, err := log.ReadAt(head, at); err != nil {
			return 0, err
		}
		length := binary.LittleEndian.Uint64(head)
		if length > uint64(size-at-logEntry) {
			break
		}
		at += logEntry + int64(length)
		if kind := head[logEntry+len(logKind)]; kind == logCommit || kind == checkpoints {
			end = at
		}
	}
	return end, nil
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// cutLog cuts off what a log of changes has behind its last commit. A writer at work has it as well; then the database
// is locked, and that is an error.
func cutLog(path string) error {
	log, err := os.OpenFile(path+".wal", os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if errors.Is(err, fs.ErrPermission) {
		log, err = os.Open(path + ".wal")
	}
	if err != nil {
		return fmt.Errorf("database %s: %w", path, err)
	}
	defer log.Close()
	if whole, _, err := endsWithCommit(log); whole || err != nil {
		return err
	}
	db, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("database %s: a change of it was cut off, and nothing can mend it: %w: try again as somebody who may write it", path, err)
	}
	defer db.Close()
	if err := lockDatabase(db); err != nil {
		return busy(path, err)
	}
	whole, end, err := endsWithCommit(log) // again, for nobody writes now
	if err == nil && !whole {
		err = errors.Join(log.Truncate(end), log.Sync())
	}
	return err
}

// endsWithCommit reports whether a log ends with a commit, and where the last one ends.
func endsWithCommit(log *os.File) (whole bool, end int64, err error) {
	info, err := log.Stat()
	if err != nil {
		return false, 0, err
	}
	end, err = committed(log, info.Size())
	return end == info.Size(), end, err
}
