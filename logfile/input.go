package logfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
)

// An Input is one source of log lines: a file, a named pipe, or standard input, plain or compressed. Its lines come
// in blocks from Next.
//
// Opening a file only looks at it and closes it again; a descriptor is held from the first Next until the end, or
// Close (see HoldNothing). So a run may have any number of inputs and read a few at a time.
//
// An Input is the bytes that the file had when it was opened: what the server appends meanwhile is not read, so that
// Identity describes exactly what was read. A file that log rotation renames in between is found again.
//
// What is wrong with the content never fails a run: the input ends there, and Problem says why.
//
// One goroutine may call the methods, apart from Close and Consumed, which any may call at any time.
type Input struct {
	name     string
	stdin    io.Reader   // what "-" stands for
	info     fs.FileInfo // of the file when it was opened; nil for standard input
	codec    *codec      // of a pipe it is known when its first block is
	id       ends
	start    int64 // where reading begins, in bytes
	skipping bool  // … with the rest of a line of which no more is wanted
	last     lastLine
	consumed atomic.Int64

	raw     *fileReader // of a regular file that is being read
	lean    bool        // whether no descriptor is held between two blocks, if that can be helped
	blocks  blocks      // what Next takes them from; nil before the first
	peeked  *Block      // first block of a pipe, which Peek took and Next has not
	problem string

	done chan struct{} // closed by Close
	mu   sync.Mutex    // guards what follows
	shut bool          // done is closed
	file *os.File      // what is being read
}

// blocks hands over an input in pieces, and then what ended it.
type blocks interface{ next(b *Block) error }

// OpenInput opens a file or a named pipe, or standard input for "-". Files are looked at; pipes and standard input are
// not touched before the first Peek or Next.
func OpenInput(name string, stdin io.Reader) (*Input, error) {
	in := &Input{name: name, codec: plain, id: ends{size: -1}, done: make(chan struct{})}
	if name == "-" && stdin != nil {
		in.stdin = stdin
		return in, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, explain(name, err)
	}
	in.info = info
	switch {
	case info.IsDir():
		return nil, fmt.Errorf("logfile: %s: is a directory, not a log", name)
	case info.Mode().IsRegular():
		return in, in.inspect()
	}
	return in, nil
}

// inspect takes down what a regular file is at the moment.
func (in *Input) inspect() error {
	f, err := os.Open(in.name)
	if err != nil {
		return explain(in.name, err)
	}
	defer f.Close()
	if in.info, err = f.Stat(); err != nil {
		return explain(in.name, err)
	}
	id, head, err := endsOf(f, in.info.Size())
	if err != nil {
		return explain(in.name, err)
	}
	in.id, in.codec = id, codecOf(head)
	if in.codec.open == nil {
		return fmt.Errorf("logfile: %s: %w", in.name, in.codec.unsupported(in.name))
	}
	return nil
}

// Name is the name that the input was opened with.
func (in *Input) Name() string { return in.name }

// Compression is "", "gzip", "zstd", "bzip2" or "xz". Of a pipe it is known after the first Peek or Next.
func (in *Input) Compression() string { return in.codec.name }

// Size is the size on disk in bytes, or -1 for a pipe or standard input.
func (in *Input) Size() int64 { return in.id.size }

// Consumed is how many bytes on disk have been read or skipped so far, out of Size; for a pipe, how many came.
func (in *Input) Consumed() int64 { return in.consumed.Load() }

// Identity tells the file apart from others: its size on disk and FNV-1a hashes of its first and last 4 KiB there. A
// pipe has the size -1 and hashes of 0.
func (in *Input) Identity() (size int64, head, tail uint64) {
	return in.id.size, in.id.head, in.id.tail
}

// Problem says what ended the input early, or stands unread behind its end, or is empty. It is known when Next has returned io.EOF, and already when
// Peek has nothing to show.
func (in *Input) Problem() string { return in.problem }

// AtEnd reports whether the next call of Next returns io.EOF. It may report that it does not know, with false.
func (in *Input) AtEnd() bool {
	switch b := in.blocks.(type) {
	case *cutter:
		return in.peeked == nil && b.err != nil
	case *ahead:
		return in.peeked == nil && b.ended
	}
	return false
}

// HoldNothing makes a plain file be opened for each block, so that any number of files can be read at a time. It must be
// called before Next. What is compressed holds its descriptor until its end.
func (in *Input) HoldNothing() { in.lean = true }

// Is reports whether the input is a file that was looked at.
func (in *Input) Is(info fs.FileInfo) bool { return in.info != nil && os.SameFile(in.info, info) }

// regular reports whether the input is a file that can be opened again.
func (in *Input) regular() bool { return in.id.size >= 0 }

// Close ends the input and frees its descriptor. Next returns an error from then on, also one that is waiting for a
// pipe. Standard input is not closed: a goroutine that waits for its next bytes ends when they come. The error is
// always nil.
func (in *Input) Close() error {
	in.mu.Lock()
	if !in.shut {
		in.shut = true
		close(in.done)
	}
	in.mu.Unlock()
	in.release()
	return nil
}

// closed reports whether Close was called.
func (in *Input) closed() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.shut
}

// hold keeps the descriptor that is being read, unless the input was closed meanwhile.
func (in *Input) hold(f *os.File) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.shut {
		f.Close()
		return fs.ErrClosed
	}
	in.file = f
	return nil
}

// release frees the descriptor, if one is held.
func (in *Input) release() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.file != nil {
		in.file.Close() // it was only read: nothing can be lost
		in.file = nil
	}
}
