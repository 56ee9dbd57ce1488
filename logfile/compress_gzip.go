package logfile

import (
	"bufio"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// A gzip file is one member after another, and at its end may stand what is none. We do as gzip(1) does, with which
// people check: zeros, which pad the blocks of tapes, are passed over without a word; whatever else there is, is not
// read, and that is told.
//
//	member  member  0 0 0 0                    nothing is missing
//	member  member  rubbish from a bad disk    everything in front of it is read

// gzipMagic are the first bytes of a member.
const gzipMagic = "\x1f\x8b"

// A gzipReader reads all members.
type gzipReader struct {
	member *gzip.Reader
	raw    *bufio.Reader // behind the member, once that has ended
}

func openGzip(r *bufio.Reader) (io.ReadCloser, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gzipReader{z, r}, nil
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
		err := g.member.Reset(g.raw)
		g.member.Multistream(false)
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

// trailing is how many bytes there are behind the last member, as an error.
type trailing int64

func (n trailing) Error() string {
	if n == 1 {
		return "1 byte behind the end of the gzip data is no gzip and was not read"
	}
	return fmt.Sprintf("%d bytes behind the end of the gzip data are no gzip and were not read", int64(n))
}
