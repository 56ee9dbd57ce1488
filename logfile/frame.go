package logfile

import (
	"errors"

	"github.com/klauspost/compress/zstd"
)

// A Packer compresses pieces of data, each by itself, and undoes that. One goroutine may use it.
type Packer struct {
	to   *zstd.Encoder
	from *zstd.Decoder
}

// NewPacker returns one. No piece that it unpacks may become larger than most bytes.
func NewPacker(most int) (*Packer, error) {
	to, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, err
	}
	from, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(most)))
	return &Packer{to, from}, err
}

// Pack appends data, compressed.
func (p *Packer) Pack(to, data []byte) []byte { return p.to.EncodeAll(data, to) }

// Unpack appends what Pack was given, of which the size is known.
func (p *Packer) Unpack(to, packed []byte, size int) ([]byte, error) {
	before := len(to)
	to, err := p.from.DecodeAll(packed, to)
	if err == nil && len(to)-before != size {
		err = errors.New("logfile: packed data has another size than it says")
	}
	return to, err
}

// Close frees what the Packer uses.
func (p *Packer) Close() {
	p.to.Close()
	p.from.Close()
}
