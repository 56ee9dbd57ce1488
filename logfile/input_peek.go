package logfile

import (
	"bytes"
	"cmp"
	"io"
	"os"
)

// peekSize is how much Peek shows, in bytes of content.
const peekSize = 256 << 10

// Peek returns the first 256 KiB of the content, decompressed and ended after a whole line if there is one. Next
// returns them again. A file is closed again right away; what a pipe has sent is kept for Next. Content that is
// damaged or cut short is shown as far as it goes; when nothing can be shown, Problem knows why already. The bytes belong
// to the caller, who may change them.
func (in *Input) Peek() ([]byte, error) {
	if in.regular() {
		return in.peekFile()
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
	return bytes.Clone(wholeLines(data[:min(len(data), peekSize)], len(data) <= peekSize)), nil
}

func (in *Input) peekFile() ([]byte, error) {
	f, err := in.openFile()
	if err != nil {
		return nil, explain(in.name, err)
	}
	if in.codec == plain {
		defer f.Close()
		data := make([]byte, min(peekSize, in.id.size))
		n, err := readFull(f, data)
		if n == 0 && len(data) > 0 {
			in.problem = in.describe(cmp.Or(shrunk(f, in.id.size), err))
		}
		return bytes.TrimPrefix(wholeLines(data[:n], err != nil || in.id.size <= peekSize), ByteOrderMark), nil
	}
	src, err := openContent(io.LimitReader(f, in.id.size), func() { f.Close() })
	if err != nil {
		in.problem = in.describe(err)
		return nil, nil
	}
	defer src.close()
	data := make([]byte, peekSize)
	n, err := readFull(src, data)
	if gone := shrunk(f, in.id.size); n == 0 && (gone != nil || err != io.EOF) {
		in.problem = in.describe(cmp.Or(gone, err))
	}
	return bytes.TrimPrefix(wholeLines(data[:n], err != nil), ByteOrderMark), nil
}

// shrunk is errShrunk if a file has less than the size that it had.
func shrunk(f *os.File, size int64) error {
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

// wholeLines drops an unfinished line from the end, unless the content ends there or nothing would be left.
func wholeLines(data []byte, all bool) []byte {
	if end := bytes.LastIndexByte(data, '\n') + 1; end > 0 && !all {
		return data[:end]
	}
	return data
}
