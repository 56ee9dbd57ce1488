package logfile

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
)

// Compression is told by the first bytes of the content, never by the name: rotated logs are renamed by people and
// scripts alike.

// maxWindow bounds what a zstd frame may ask for, in bytes: as much as the zstd command grants without being asked.
const maxWindow = 128 << 20

// unzstd is how to decompress a frame that asks for more.
const unzstd = "zstd -dc --long=31"

// magicLen is how many bytes tell a compression.
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
