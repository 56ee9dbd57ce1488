package logfile

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
)

// Compression is told by the first bytes of the content, never by the name: rotated logs are renamed by people and
// scripts alike.

// maxWindow bounds what a zstd frame may ask for, in bytes: as much as the zstd command grants without being asked.
const maxWindow = 128 << 20

// unzstd decompresses a frame that asks for more.
const unzstd = "zstd -dc --long=31"

// magicLen is the number of bytes that tell a compression.
const magicLen = 10

// A codec is one way in which content can be stored.
type codec struct {
	name   string
	magic  string // the first bytes; "?" stands for any byte
	open   func(*bufio.Reader) (io.ReadCloser, error)
	advice string // a command that undoes what open cannot
}

var plain = &codec{open: func(r *bufio.Reader) (io.ReadCloser, error) { return io.NopCloser(r), nil }}

var codecs = []*codec{
	{name: "gzip", magic: gzipMagic, open: openGzip},
	{name: "zstd", magic: "\x28\xb5\x2f\xfd", open: openZstd, advice: unzstd},
	{name: "zstd", magic: "?\x2a\x4d\x18", open: openZstd, advice: unzstd}, // a skippable frame, as pzstd puts in front
	{name: "bzip2", magic: "BZh?1AY&SY", open: openBzip2},
	{name: "bzip2", magic: "BZh?\x17\x72\x45\x38\x50\x90", open: openBzip2}, // nothing, compressed
	{name: "xz", magic: "\xfd7zXZ\x00", open: openXz, advice: "xz -dc"},
	{name: "parquet", magic: "PAR1", open: openParquet, advice: unparquet},
	{name: "zip", magic: "PK\x03\x04", advice: "unzip -p"},
	{name: "7z", magic: "7z\xbc\xaf\x27\x1c", advice: "7z x -so"},
	{name: "compress", magic: "\x1f\x9d", advice: "zcat"},
	{name: "lz4", magic: "\x04\x22\x4d\x18", advice: "lz4cat"},
}

// codecOf tells how content that begins with head is stored.
func codecOf(head []byte) *codec {
	for _, c := range codecs {
		if c.matches(head) {
			return c
		}
	}
	return plain
}

func (c *codec) matches(head []byte) bool {
	if len(head) < len(c.magic) {
		return false
	}
	for i := range len(c.magic) {
		if c.magic[i] != '?' && c.magic[i] != head[i] {
			return false
		}
	}
	return true
}

var errUnsupported = errors.New("which is not supported")

// unsupported says what to do with a file that is stored in this way.
func (c *codec) unsupported(name string) error {
	return fmt.Errorf("is a %s file, %w; try: %s %s | shadow replay -", c.name, errUnsupported, c.advice, name)
}

// openZstd decodes in the goroutine that reads, which is the one that runs ahead (see ahead).
func openZstd(r *bufio.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

func openBzip2(r *bufio.Reader) (io.ReadCloser, error) { return io.NopCloser(bzip2.NewReader(r)), nil }

func openXz(r *bufio.Reader) (io.ReadCloser, error) {
	x, err := xz.NewReader(r, xz.DefaultDictMax)
	return io.NopCloser(x), err
}

// isTooLarge reports whether compressed content asks for more memory than it gets: nothing is wrong with it.
func isTooLarge(err error) bool {
	return errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, xz.ErrMemlimit)
}

// isTruncation reports whether err, which ended compressed content, means that the rest is missing.
func isTruncation(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, xz.ErrBuf)
}

// A gzip file is one member after another, and at its end may stand something else. We do as gzip(1) does, with which
// people check: zeros, which pad the blocks of tapes, are passed over without a word; whatever else there is, is not
// read, and that is told.
//
//	member  member  0 0 0 0                    nothing is missing
//	member  member  rubbish from a bad disk    everything in front of it is read

// gzipMagic are the first bytes of a member.
const gzipMagic = "\x1f\x8b"

// A gzipMember reads one member, and leaves what stands behind it. Two libraries can: see newMember.
type gzipMember interface {
	io.ReadCloser
	// reset begins another member, which has to begin with a header.
	reset(r *bufio.Reader) error
}

// A goMember reads a member through the library that is in Go.
type goMember struct{ gzip.Reader }

func (m *goMember) reset(r *bufio.Reader) error {
	err := m.Reset(r)
	m.Multistream(false)
	return err
}

// A gzipReader reads all members.
type gzipReader struct {
	member gzipMember
	raw    *bufio.Reader // behind the member, once that has ended
}

func openGzip(r *bufio.Reader) (io.ReadCloser, error) {
	g := &gzipReader{newMember(), r}
	if err := g.member.reset(r); err != nil {
		return nil, err
	}
	return g, nil
}

func (g *gzipReader) Read(p []byte) (n int, err error) {
	n, err = g.member.Read(p)
	if err == io.EOF {
		err = g.next()
	}
	return n, err
}

func (g *gzipReader) Close() error { return g.member.Close() }

// next begins the member behind the one that has ended. It returns io.EOF when there is none.
func (g *gzipReader) next() error {
	zeros, err := skipZeros(g.raw)
	if err != nil {
		return err
	}
	if head, _ := g.raw.Peek(len(gzipMagic)); string(head) == gzipMagic {
		err := g.member.reset(g.raw)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	rest, err := io.Copy(io.Discard, g.raw)
	if err != nil {
		return err
	}
	return trailing(zeros + rest)
}

// skipZeros reads up to the first byte that is not zero.
func skipZeros(r *bufio.Reader) (n int64, err error) {
	for {
		c, err := r.ReadByte()
		if err != nil {
			return n, err
		}
		if c != 0 {
			return n, r.UnreadByte()
		}
		n++
	}
}

// trailing is an error that has the number of bytes behind the last member.
type trailing int64

func (n trailing) Error() string {
	if n == 1 {
		return "1 byte behind the end of the gzip data is no gzip and was not read"
	}
	return fmt.Sprintf("%d bytes behind the end of the gzip data are no gzip and were not read", int64(n))
}

// aheadBlocks is the number of blocks that wait to be taken while the next one is cut. With fewer, the goroutine that
// cuts stands still longer while all cores judge.
const aheadBlocks = 8

// ahead cuts blocks in a goroutine of its own, a few in advance, so that decompressing one block and parsing another
// keep two cores busy. Buffers travel in a circle and are never copied: the reader's buffer is exchanged for a full one.
//
//	goroutine  ── full ──▶  next  ── the caller's empty buffer ──┐
//	    ▲────────────────────── free ────────────────────────────┘
type ahead struct {
	full chan aheadBlock
	free chan []byte
	done <-chan struct{} // closed by Input.Close

	ended bool   // whether the block that next returned was the last one
	place Place  // where reading would go on; known once full is closed
	codec *codec // how the content is stored; known once next has returned
	err   error  // what ended the content; known once full is closed
}

// An aheadBlock is a block, and whether it is the last one.
type aheadBlock struct {
	Block
	last bool
}

// startAhead starts to read what open opens, which may take as long as it likes, cut by what cut returns.
func startAhead(open func() (*content, error), cut func(io.Reader) *cutter, done <-chan struct{}) *ahead {
	a := &ahead{
		full: make(chan aheadBlock, aheadBlocks),
		free: make(chan []byte, aheadBlocks+1),
		done: done,
	}
	for range cap(a.free) {
		a.free <- nil // made when first filled
	}
	go a.run(open, cut)
	return a
}

func (a *ahead) run(open func() (*content, error), newCut func(io.Reader) *cutter) {
	defer close(a.full)
	src, err := open()
	if src != nil {
		a.codec = src.codec
	}
	if err != nil {
		a.err = err
		return
	}
	defer src.close()
	cut := newCut(src)
	defer func() { a.place = cut.place() }()
	var b Block
	for {
		select {
		case b.Data = <-a.free:
		case <-a.done:
			return
		}
		if a.err = cut.next(&b); a.err != nil {
			return
		}
		select {
		case a.full <- aheadBlock{b, cut.err != nil}:
		case <-a.done:
			return
		}
	}
}

// next exchanges b for the next block.
func (a *ahead) next(b *Block) error {
	select {
	case full, more := <-a.full:
		if !more {
			return a.err
		}
		a.free <- b.Data
		*b, a.ended = full.Block, full.last
		return nil
	case <-a.done:
		return fs.ErrClosed
	}
}
