// Package logfile finds and reads the files of logs: names come in (files, globs, directories, standard input), and blocks
// of whole lines go out, decompressed. It knows a file again that was rotated, compressed or copied, and how far it was
// read.
package logfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
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
// What is wrong with the content never fails a run: the input ends there, and Problem says why. An object is another
// matter: its store has the rest, so that the run fails.
//
// One goroutine may call the methods, apart from Close and Consumed, which any may call at any time.
type Input struct {
	name     string
	stdin    io.Reader   // what "-" stands for
	info     fs.FileInfo // of the file when it was opened; nil for standard input
	codec    *codec      // of a pipe it is known when its first block is
	id       ends
	start    int64 // where reading begins, in bytes
	until    int64 // where it ends; 0: at the end
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
	file file          // what is being read
	head []byte        // of an object: all of it, when it is small and was read already
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
	info, err := stat(name)
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
	f, err := open(in.name)
	if err != nil {
		return explain(in.name, err)
	}
	defer f.Close()
	if in.info, err = f.Stat(); err != nil {
		return explain(in.name, err)
	}
	if o, ok := f.(*objectFile); ok {
		if err := o.fill(peekSize); err != nil {
			return err
		}
		in.keepHead(o)
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

// Name returns the name that the input was opened with.
func (in *Input) Name() string { return in.name }

// Compression returns "", "gzip", "zstd", "bzip2" or "xz". Of a pipe it is known after the first Peek or Next.
func (in *Input) Compression() string { return in.codec.name }

// Size returns the size on disk in bytes, or -1 for a pipe or standard input.
func (in *Input) Size() int64 { return in.id.size }

// Consumed returns how many bytes on disk have been read or skipped so far, out of Size; for a pipe, how many came.
func (in *Input) Consumed() int64 { return in.consumed.Load() }

// Identity tells the file apart from others: its size on disk and FNV-1a hashes of its first and last 4 KiB there. A
// pipe has the size -1 and hashes of 0.
func (in *Input) Identity() (size int64, head, tail uint64) {
	return in.id.size, in.id.head, in.id.tail
}

// Problem says what ended the input early, or stands unread behind its end, or is empty. It is known when Next has returned io.EOF, and already when
// Peek has met it.
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
func (in *Input) Is(info fs.FileInfo) bool { return in.info != nil && sameFile(in.info, info) }

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
	in.dropHead()
	return nil
}

// closed reports whether Close was called.
func (in *Input) closed() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.shut
}

// hold keeps the descriptor that is being read, unless the input was closed meanwhile.
func (in *Input) hold(f file) error {
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

// Next fills b with the next lines, about 512 KiB of them, and returns io.EOF when there are no more. It uses the
// capacity of b.Data, or exchanges it for another buffer; either way the array that b.Data had belongs to the Input
// afterwards, and the new one to the caller until b is handed to Next again. It returns fs.ErrClosed after Close, an
// *object.Error when a store does not hand out what it has, and no other error: see Problem.
//
// A line longer than MaxLine comes cut, MaxLine+1 bytes long and followed by a line feed. Line endings other than the
// line feed, NUL bytes and whatever else stands in the file are passed through.
func (in *Input) Next(b *Block) error {
	if in.closed() {
		return fs.ErrClosed
	}
	if in.peeked != nil {
		*b, in.peeked = *in.peeked, nil
		return nil
	}
	return in.take(b)
}

// take gets the next block from the source, opening that first.
func (in *Input) take(b *Block) error {
	if in.blocks == nil {
		in.begin()
	}
	err := in.blocks.next(b)
	if a, ok := in.blocks.(*ahead); ok && err != fs.ErrClosed && a.codec != nil {
		in.codec = a.codec
	}
	if err != nil {
		return in.end(err)
	}
	if in.codec == plain && in.raw != nil && (in.lean && !in.isObject() || in.raw.end != nil) {
		in.raw.file = nil
		in.release()
	}
	return nil
}

// begin opens the source. Plain files are read in place, straight into the caller's blocks; everything else runs ahead.
func (in *Input) begin() {
	if !in.regular() || in.codec != plain {
		in.blocks = startAhead(in.openHeld, in.cut, in.done)
		return
	}
	cut := newCutter(in.newReader(in.stop()-in.start), in.start)
	cut.last, cut.skipping = in.last, in.skipping
	in.blocks = cut
}

// end frees the descriptor and takes down why the input ended.
func (in *Input) end(err error) error {
	in.release()
	in.dropHead()
	if in.closed() {
		return fs.ErrClosed
	}
	in.blocks = over{in.Place()} // and its buffers are free
	if in.raw != nil && in.raw.end != nil {
		if failed := storeError(in.raw.end); failed != nil {
			return failed
		}
	}
	if err == io.EOF && in.raw != nil && in.raw.end != nil { // which not every decompressor passes on
		err = in.raw.end
	}
	in.raw = nil
	if err != io.EOF {
		in.problem = in.describe(err)
	}
	return io.EOF
}

// describe puts what ended the input early into words.
func (in *Input) describe(err error) string {
	var path *os.PathError
	var behind trailing
	switch {
	case errors.As(err, &behind):
		return behind.Error()
	case errors.Is(err, errShrunk), errors.Is(err, errRewritten), errors.Is(err, errGone), errors.Is(err, errUnsupported):
		return err.Error()
	case errors.As(err, &path):
		return fmt.Sprintf("cannot be read: %v", path.Err)
	case in.codec == plain:
		return fmt.Sprintf("cannot be read: %v", err)
	case isTooLarge(err):
		return fmt.Sprintf("%s that takes too much memory to decompress; try: %s … | shadow replay -", in.codec.name, in.codec.advice)
	case isTruncation(err):
		return fmt.Sprintf("truncated %s: the file ends before its compressed data does", in.codec.name)
	}
	return fmt.Sprintf("damaged %s, not read to its end: %v", in.codec.name, err)
}

// peekSize is the most bytes of content that Peek shows.
const peekSize = 256 << 10

// Peek returns the first 256 KiB of the content, decompressed and ended after a whole line if there is one. Next
// returns them again. A file is closed again right away; what a pipe has sent is kept for Next. Content that is
// damaged or cut short is shown as far as it goes; when nothing can be shown, Problem knows why already. The bytes belong
// to the caller, who may change them.
func (in *Input) Peek() ([]byte, error) { return in.PeekInto(nil) }

// PeekInto works as Peek, for callers that look at many inputs: the bytes stand in the array of room if that is large
// enough.
func (in *Input) PeekInto(room []byte) ([]byte, error) {
	if in.regular() {
		return in.peekFile(room)
	}
	if in.peeked == nil {
		var b Block
		if err := in.take(&b); err == io.EOF {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		in.peeked = &b
	}
	data := in.peeked.Data
	return append(room[:0], wholeLines(data[:min(len(data), peekSize)], len(data) <= peekSize)...), nil
}

func (in *Input) peekFile(room []byte) ([]byte, error) {
	f, err := in.openFile()
	if err != nil {
		return nil, explain(in.name, err)
	}
	defer in.dropPeeked()
	if in.codec == plain {
		defer f.Close()
		n := int(min(peekSize, in.id.size))
		data := slices.Grow(room[:0], n)[:n]
		n, err := readFull(f, data)
		if failed := storeError(err); failed != nil {
			return nil, failed
		}
		if n == 0 && len(data) > 0 {
			in.problem = in.describe(cmp.Or(shrunk(f, in.id.size), err))
		}
		data, err = fromText(f, data, n, err)
		return wholeLines(data, err != nil || in.id.size <= peekSize), nil
	}
	raw := &limited{f, in.id.size, nil}
	src, err := openContent(raw, func() { f.Close() })
	if failed := storeError(raw.err); failed != nil {
		if err == nil {
			src.close()
		}
		return nil, failed
	}
	if err != nil {
		in.problem = in.describe(err)
		return nil, nil
	}
	defer src.close()
	data := slices.Grow(room[:0], peekSize)[:peekSize]
	n, err := readFull(src, data)
	if failed := storeError(raw.err); failed != nil {
		return nil, failed
	}
	if gone := shrunk(f, in.id.size); n == 0 && gone != nil || err != nil && err != io.EOF {
		in.problem = in.describe(cmp.Or(gone, err))
	}
	data, err = fromText(src, data, n, err)
	return wholeLines(data, err != nil), nil
}

// A limited reader reads so many bytes, and remembers why it could not. Not every decompressor passes that on.
type limited struct {
	src  io.Reader
	left int64
	err  error
}

func (r *limited) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	n, err := r.src.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	r.err = err
	return n, err
}

// shrunk returns errShrunk if a file has less than the size that it had.
func shrunk(f file, size int64) error {
	if info, err := f.Stat(); err == nil && info.Size() < size {
		return errShrunk
	}
	return nil
}

// readFull reads until data is full or the content ends, and returns what ended it.
func readFull(r io.Reader, data []byte) (n int, err error) {
	for n < len(data) && err == nil {
		var k int
		k, err = r.Read(data[n:])
		n += k
	}
	return n, err
}

// fromText returns the beginning of an input from its first line on. So far n bytes of it are in data, and it reads on into
// the room of what comes before. err is what ended the reading.
func fromText(r io.Reader, data []byte, n int, err error) ([]byte, error) {
	for k := notText(data[:n]); k > 0; k = notText(data[:n]) {
		if n = copy(data, data[k:n]); err == nil {
			k, err = readFull(r, data[n:])
			n += k
		}
	}
	return data[:n], err
}

// wholeLines drops an unfinished line from the end, unless the content ends there or nothing would be left.
func wholeLines(data []byte, all bool) []byte {
	if end := bytes.LastIndexByte(data, '\n') + 1; end > 0 && !all {
		return data[:end]
	}
	return data
}
