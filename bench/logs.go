//go:build linux || darwin

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	samplelogs "shadow/sample-logs"
)

// seed makes the logs the same everywhere.
const seed = 1

// bytesPerLine is what a generated line takes, rounded up; for asking whether a log fits on the disk.
const bytesPerLine = 230

// sizes are the numbers of lines of the logs that are measured.
func (b *bench) sizes() []int64 {
	if b.large == 0 {
		return []int64{b.lines}
	}
	return []int64{b.lines, b.large}
}

// log returns the path of a generated log, which it makes if it is not there, and reads once so that it lies in the
// page cache. Files are kept for the next run.
func (b *bench) log(lines, clients int64) (string, error) {
	name := filepath.Join(b.dir, fmt.Sprintf("access-%d-lines-%d-clients-seed-%d.log", lines, clients, seed))
	if _, err := os.Stat(name); err != nil {
		if err := b.room(lines * bytesPerLine); err != nil {
			return "", err
		}
		err := create(name, func(w io.Writer) error {
			_, err := samplelogs.New(samplelogs.Config{Lines: lines, Clients: clients, Seed: seed}).WriteTo(w)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return name, warm(name)
}

// small is a log of which no disk takes notice, in bytes.
const small = 16 << 20

// room makes sure that a file of this size fits, and a tenth of the disk stays free, unless it is small.
func (b *bench) room(size int64) error {
	if size < small {
		return nil
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(b.dir, &disk); err != nil {
		return err
	}
	unit := uint64(disk.Bsize)
	free, all := disk.Bavail*unit, disk.Blocks*unit
	if free < uint64(size)+all/10 {
		return fmt.Errorf("%s: %d MB free, a log of %d MB would leave less than a tenth of the disk (-dir or SHADOW_BENCH_DIR names another place, -large 0 does without the larger log)",
			b.dir, free/1e6, size/1e6)
	}
	return nil
}

// create writes a file that exists whole or not at all.
func create(name string, fill func(io.Writer) error) error {
	part := name + ".part"
	file, err := os.Create(part)
	if err != nil {
		return err
	}
	err = fill(file)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(part)
		return err
	}
	return os.Rename(part, name)
}

func warm(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.CopyBuffer(io.Discard, onlyReader{file}, make([]byte, 1<<20))
	return err
}

// onlyReader hides whatever else a file can do, so that copying really reads.
type onlyReader struct{ io.Reader }

func size(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}
