//go:build linux || darwin

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
)

// gzip input beside decompression alone, with the library that package parse uses, in a process of its own.

func (b *bench) gzip() error {
	lines := max(b.lines, b.large)
	log, err := b.log(lines, 50_000)
	if err != nil {
		return err
	}
	packed := log + ".gz"
	if _, err := os.Stat(packed); err != nil {
		if err := pack(log, packed); err != nil {
			return err
		}
	}
	if err := warm(packed); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	alone := &contender{name: "decompress alone", args: []string{self, "-decompress", packed}, cores: 2}
	replay := &contender{name: "3 policies, 2 cores", args: []string{b.shadow, "replay", packed, "--quiet", "--no-store", "--limit", "6/30s"}, cores: 2}
	if err := race(b.ctx, b.rounds, alone, replay); err != nil {
		return err
	}
	plain := logSize{lines, size(log)}
	t := newTable(b.out, fmt.Sprintf("gzip: %d lines, %d MB packed to %d MB", plain.lines, plain.bytes/1e6, size(packed)/1e6),
		"\ttime s\tlines/s\tMB/s\tCPU ns/line\t× alone\ttarget\t")
	t.speed(alone, alone, plain, "")
	t.speed(replay, alone, plain, b.atMost("× alone: ", replay.times(alone), 1.25))
	return t.Flush()
}

// pack compresses at the level that gzip and logrotate use.
func pack(log, packed string) error {
	in, err := os.Open(log)
	if err != nil {
		return err
	}
	defer in.Close()
	return create(packed, func(w io.Writer) error {
		zip, err := gzip.NewWriterLevel(w, 6)
		if err != nil {
			return err
		}
		if _, err := io.Copy(zip, in); err != nil {
			return err
		}
		return zip.Close()
	})
}

// gunzip reads a file and throws away what comes out.
func gunzip(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	unzip, err := gzip.NewReader(bufio.NewReaderSize(file, 1<<20))
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(io.Discard, onlyReader{unzip}, make([]byte, 1<<20))
	return err
}
