package shard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// An Output takes blocks in. Each of them is there whole or not at all.
type Output interface {
	// Create returns where the block of a shard of a part goes.
	Create(shard, shards int, part string) (Target, error)
}

// A Target is a block that is being written. After Commit it is there, in the place of what the same shard and part had; after
// Abort it is not.
type Target interface {
	io.Writer
	Commit() error
	Abort() error
}

// Dir is a folder with a folder for each shard, and in it a file for each part.
type Dir string

// Ending is that of files with blocks.
const Ending = ".shard"

// FolderOf is the folder of a shard: 017-of-256.
func FolderOf(shard, shards int) string {
	digits := max(3, len(fmt.Sprint(shards-1)))
	return fmt.Sprintf("%0*d-of-%d", digits, shard, shards)
}

// Create makes a file for its owner only, since it has addresses of clients.
func (d Dir) Create(shard, shards int, part string) (Target, error) {
	folder := filepath.Join(string(d), FolderOf(shard, shards))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(folder, ".part-*.tmp")
	if err != nil {
		return nil, err
	}
	return &fileTarget{f, filepath.Join(folder, "part-"+part+Ending)}, nil
}

type fileTarget struct {
	*os.File
	name string
}

func (t *fileTarget) Commit() error {
	err := t.Sync()
	if err = errors.Join(err, t.Close()); err == nil {
		err = os.Rename(t.File.Name(), t.name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(t.File.Name()))
	}
	folder, err := os.Open(filepath.Dir(t.name))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

func (t *fileTarget) Abort() error { return errors.Join(t.Close(), os.Remove(t.File.Name())) }

// Memory keeps blocks in memory, by shard.
type Memory map[int][]byte

// Create begins a block.
func (m Memory) Create(shard, _ int, _ string) (Target, error) {
	return &memoryTarget{shard: shard, in: m}, nil
}

type memoryTarget struct {
	pieces [][]byte
	shard  int
	in     Memory
}

func (t *memoryTarget) Write(p []byte) (int, error) {
	t.pieces = append(t.pieces, bytes.Clone(p))
	return len(p), nil
}

func (t *memoryTarget) Commit() error { t.in[t.shard] = bytes.Join(t.pieces, nil); return nil }

func (t *memoryTarget) Abort() error { return nil }
