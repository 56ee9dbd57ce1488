package logfile

import (
	"errors"
	"slices"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// A Packer compresses pieces of data, each by itself, and undoes that. One goroutine may use it.
type Packer struct {
	Quick bool // whether to compress less in a third of the time: for data that no disk ever sees

	to   *zstd.Encoder
	from *zstd.Decoder
	most int
}

// quick stands before what was compressed quickly. Nothing that zstd writes begins with it.
const quick = 0xFF

// NewPacker returns one. No piece that it unpacks may become larger than most bytes.
func NewPacker(most int) (*Packer, error) {
	to, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, err
	}
	from, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(most)))
	return &Packer{to: to, from: from, most: most}, err
}

// Pack appends data, compressed.
func (p *Packer) Pack(to, data []byte) []byte {
	if !p.Quick {
		return p.to.EncodeAll(data, to)
	}
	start := len(to) + 1
	to = slices.Grow(append(to, quick), s2.MaxEncodedLen(len(data)))
	return to[:start+len(s2.Encode(to[start:start+s2.MaxEncodedLen(len(data))], data))]
}

// Unpack appends what Pack was given, of which the size is known.
func (p *Packer) Unpack(to, packed []byte, size int) ([]byte, error) {
	if len(packed) > 0 && packed[0] == quick {
		return p.unpackQuick(to, packed[1:], size)
	}
	before := len(to)
	to, err := p.from.DecodeAll(packed, to)
	if err == nil && len(to)-before != size {
		err = errPackedSize
	}
	return to, err
}

var errPackedSize = errors.New("logfile: packed data has another size than it says")

func (p *Packer) unpackQuick(to, packed []byte, size int) ([]byte, error) {
	n, err := s2.DecodedLen(packed)
	if err == nil && (n != size || n > p.most) {
		err = errPackedSize
	}
	if err != nil {
		return to, err
	}
	start := len(to)
	to = slices.Grow(to, n)[:start+n]
	_, err = s2.Decode(to[start:], packed)
	return to, err
}

// Close frees what the Packer uses.
func (p *Packer) Close() {
	p.to.Close()
	p.from.Close()
}
