package parse

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
)

// readBuffer is how much of a compressed file, or of a pipe, is read at once, in bytes.
const readBuffer = 128 << 10

var (
	errShrunk = errors.New("became shorter while it was being read")
	errGone   = errors.New("was gone, or replaced by another file, before it could be read")
)

// content is an open source, decompressed.
type content struct {
	io.ReadCloser
	codec *codec
	close func()
}

// openHeld opens the content to be read once, from its beginning to its end. Close may interrupt it.
func (in *Input) openHeld() (*content, error) {
	if in.stdin != nil {
		return openContent(&countingReader{in.stdin, &in.consumed}, func() {})
	}
	var raw io.Reader
	f, err := in.openFile()
	if err != nil {
		return nil, err
	}
	if err := in.hold(f); err != nil {
		return nil, err
	}
	if in.regular() {
		raw = &fileReader{file: f, left: in.id.size, consumed: &in.consumed}
	} else {
		raw = &countingReader{f, &in.consumed}
	}
	return openContent(raw, in.release)
}

// openContent finds out how raw is compressed, and undoes it. After close of the content, or an error, raw is closed.
// With an error the content tells its codec and no more.
func openContent(raw io.Reader, closeRaw func()) (*content, error) {
	br := bufio.NewReaderSize(raw, readBuffer)
	head, _ := br.Peek(magicLen) // what went wrong goes wrong again
	c := codecOf(head)
	if c.open == nil {
		closeRaw()
		return &content{codec: c}, c.unsupported("FILE")
	}
	r, err := c.open(br)
	if err != nil {
		closeRaw()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return &content{codec: c}, err
	}
	return &content{ReadCloser: r, codec: c, close: func() { r.Close(); closeRaw() }}, nil
}

// openFile opens the very file that OpenInput has seen, under the name that log rotation may have given it since.
func (in *Input) openFile() (*os.File, error) {
	if in.info.Mode()&fs.ModeNamedPipe != 0 {
		return in.openPipe()
	}
	f, err := os.Open(in.name)
	if !in.regular() {
		return f, err
	}
	if err == nil {
		if in.isSame(f) {
			return f, nil
		}
		f.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return in.openRenamed()
}

// openRenamed looks for the file among its neighbours.
func (in *Input) openRenamed() (*os.File, error) {
	dir := filepath.Dir(in.name)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, errGone
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !os.SameFile(info, in.info) {
			continue
		}
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if in.isSame(f) {
			return f, nil
		}
		f.Close()
	}
	return nil, errGone
}

func (in *Input) isSame(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && os.SameFile(info, in.info)
}

// fileReader reads the bytes that the file had when it was opened, and no further.
type fileReader struct {
	file     *os.File
	left     int64 // bytes
	consumed *atomic.Int64
}

func (r *fileReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n, err := r.file.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	r.consumed.Add(int64(n))
	if err == io.EOF {
		err = errShrunk
	}
	return n, err
}

// countingReader counts what comes through a pipe.
type countingReader struct {
	io.Reader
	count *atomic.Int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.count.Add(int64(n))
	return n, err
}
