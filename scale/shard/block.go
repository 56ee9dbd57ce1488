package shard

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"

	"github.com/klauspost/compress/s2"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// A block is the requests of one part that are in one shard, in the order of the lines. A part has a block for each
// shard, even without a request, so that what is known of the logs is in each shard.
//
//	frames   compressed rows of one log, each frame by itself: traffic.Batch.Pack
//	tail     what the block is and where its frames are, in JSON | names, kind by kind     compressed
//	foot     bytes of the tail | checksum of all before, which differs by the version of shadow

const (
	footBytes = 8
	frameRows = 4096 // at most
)

// errDamaged is the error of a block that is not as it was written.
var errDamaged = errors.New("a block is damaged, or of another version of shadow")

var checksums = crc32.MakeTable(crc32.Castagnoli)

// checksum returns that of a block without its last four bytes.
func checksum(b []byte) uint32 { return crc32.Update(uint32(traffic.TraceVersion), checksums, b) }

// A Meta says what a block is.
type Meta struct {
	Set      string      // its identity: the same logs, read and divided in the same way
	Shard    int         // from 0
	Shards   int         // how many there are
	By       request.Key // by which they were divided
	Part, Of int         // as in a Part
	Columns  traffic.Columns
	Values   []string // what Batch.Values are
	Stamps   traffic.Coarseness
	Rows     int64
	Facts    *ingest.Facts
	Frames   []frame
}

// A frame is one of a block.
type frame struct {
	Reached     limit.Time // how far its input had come in the part before it
	Offset, End int
	Rows, Input int
	At          limit.Time // of the first row, which is packed as 0; of times that are packed as they are, 0
	Line        int64      // likewise
}

// A blockWriter makes a block.
type blockWriter struct {
	block    []byte
	frames   []frame
	rows     int64
	raw, out []byte
}

// add appends rows of one input as a frame. The batch does not stay as it is.
func (w *blockWriter) add(b *traffic.Batch, input int, reached limit.Time) {
	f := frame{Reached: reached, Offset: len(w.block), Rows: b.Len(), Input: input}
	if b.DropSeq(); b.Seq == nil { // else sequence times are told by how they differ
		f.At = deltas(b.At)
	}
	f.Line = deltas(b.Line)
	w.raw = b.Pack(w.raw[:0], 0, b.Len())
	w.out = s2.Encode(w.out[:cap(w.out)], w.raw)
	w.block = append(w.block, w.out...)
	f.End = len(w.block)
	w.frames = append(w.frames, f)
	w.rows += int64(b.Len())
}

// finish appends the tail and the foot, and returns the whole block.
func (w *blockWriter) finish(meta Meta, names []byte) ([]byte, error) {
	meta.Rows, meta.Frames = w.rows, w.frames
	text, err := json.Marshal(&meta)
	if err != nil {
		return nil, err
	}
	tail := append(binary.AppendUvarint(nil, uint64(len(text))), text...)
	packed := s2.Encode(nil, append(tail, names...))
	block := binary.LittleEndian.AppendUint32(append(w.block, packed...), uint32(len(packed)))
	return binary.LittleEndian.AppendUint32(block, checksum(block)), nil
}

// deltas makes numbers their differences, and the first one 0, which it returns: it would take the width of all.
func deltas[T ~int64](v []T) (first T) {
	for i := len(v) - 1; i > 0; i-- {
		v[i] -= v[i-1]
	}
	first, v[0] = v[0], 0
	return first
}

// sums undoes deltas.
func sums[T ~int64](v []T, first T) {
	for i := range v {
		first += v[i]
		v[i] = first
	}
}

// A reader reads a block.
type reader struct {
	Meta
	block []byte
	names []byte              // packed
	known *traffic.KnownNames // nil: not yet
}

// open reads what is behind the frames. Once the checksum is right, all is as this version of shadow has written it.
func open(block []byte) (*reader, error) {
	end := len(block) - footBytes
	if end < 0 || binary.LittleEndian.Uint32(block[end+4:]) != checksum(block[:end+4]) {
		return nil, errDamaged
	}
	tail, err := s2.Decode(nil, block[end-int(binary.LittleEndian.Uint32(block[end:])):end])
	if err != nil {
		return nil, err
	}
	length, n := binary.Uvarint(tail)
	r := &reader{block: block, names: tail[n+int(length):]}
	return r, json.NewDecoder(bytes.NewReader(tail[n:])).Decode(&r.Meta)
}

// takeNames takes the names into the tables of o.
func (r *reader) takeNames(o *ingest.Options) (err error) {
	r.known = traffic.NewKnownNames(o.Tables, o.Actions.Named)
	for kind := range traffic.NameKind(traffic.NameKinds) {
		if r.names, err = r.known.Add(kind, r.names); err != nil {
			return err
		}
	}
	return nil
}

// rows appends the rows of frame i to a batch, which is empty, with the ids of the block.
func (r *reader) rows(b *traffic.Batch, i int, room *[]byte) (err error) {
	f := &r.Frames[i]
	if *room, err = s2.Decode((*room)[:cap(*room)], r.block[f.Offset:f.End]); err != nil {
		return err
	}
	if err := b.Unpack(*room, f.Rows); err != nil {
		return err
	}
	if b.Seq == nil {
		sums(b.At, f.At)
	}
	sums(b.Line, f.Line)
	return b.Verify()
}
