package shard

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// A block is the requests of one part that are in one shard, in the order of the lines, and what the part told of the logs. A part
// has a block for each shard, even without a request, so that what is known of the logs is in each shard.
//
//	frames   compressed rows of one log, each frame by itself: traffic.Batch.Pack
//	tail     what the block is | index of the frames, with checksums | names, kind by kind     compressed
//	foot     magic, version | where the tail is, its sizes and checksum | checksum of the foot

var magic = fmt.Appendf(nil, "shadow shard %3d", traffic.TraceVersion)

const (
	footBytes  = 48
	frameRows  = 4096     // at most
	frameBytes = 1 << 20  // that no frame has: a row takes fewer than 200
	tailBytes  = 1 << 30  // that no tail has
	mostFrames = 64 << 20 // likewise
)

var checksums = crc32.MakeTable(crc32.Castagnoli)

// A Meta says what a block is.
type Meta struct {
	Set     string       // its identity: the same logs, read and divided in the same way
	Shard   int          // from 0
	Shards  int          // how many there are
	By      request.Key  // by which they were divided
	Bounds  []limit.Time `json:",omitempty"` // of the slices of time that the shards are; nil: they are none
	Part    string
	Columns traffic.Columns
	Values  []string // what Batch.Values are
	Slack   limit.Time
	Ends    bool // see traffic.Coarseness
	Rows    int64
	Facts   *ingest.Facts
}

// A Block is a packed one. Its name is for messages.
type Block struct {
	Name string
	Data []byte
}

// A frame is one of a block.
type frame struct {
	reached      limit.Time // how far its input had come in the part before it
	offset       int64
	packed, size int
	rows, input  int
	at           limit.Time // of the first row, which is packed as 0; of times that are packed as they are, 0
	line         int64      // likewise
	sum          uint32
}

// A blockWriter makes a block.
type blockWriter struct {
	pieces [][]byte
	offset int64
	frames []frame
	rows   int64
	raw    []byte
	out    []byte
}

// add appends rows of one input as a frame. The batch does not stay as it is.
func (w *blockWriter) add(b *traffic.Batch, input int, reached limit.Time) {
	var at limit.Time
	if b.DropSeq(); b.Seq == nil { // else sequence times are told by how they differ
		at = deltas(b.At)
	}
	line := deltas(b.Line)
	w.raw = b.Pack(w.raw[:0], 0, b.Len())
	w.out = pack(w.out[:0], w.raw)
	w.frames = append(w.frames, frame{
		reached: reached, offset: w.offset, packed: len(w.out), size: len(w.raw), rows: b.Len(), input: input,
		at: at, line: line, sum: crc32.Checksum(w.out, checksums),
	})
	w.rows += int64(b.Len())
	w.write(bytes.Clone(w.out))
}

func (w *blockWriter) write(piece []byte) {
	w.pieces = append(w.pieces, piece)
	w.offset += int64(len(piece))
}

// finish appends the tail and the foot, and returns the whole block.
func (w *blockWriter) finish(meta *Meta, names []byte) ([]byte, error) {
	meta.Rows = w.rows
	text, err := json.Marshal(meta)
	if err != nil {
		return nil, err
	}
	tail := append(binary.AppendUvarint(nil, uint64(len(text))), text...)
	tail = binary.AppendUvarint(tail, uint64(len(w.frames)))
	for _, f := range w.frames {
		for _, v := range []int{f.packed, f.size, f.rows, f.input} {
			tail = binary.AppendUvarint(tail, uint64(v))
		}
		for _, v := range []int64{int64(f.reached), int64(f.at), f.line} {
			tail = binary.AppendVarint(tail, v)
		}
		tail = binary.LittleEndian.AppendUint32(tail, f.sum)
	}
	tail = append(tail, names...)
	packed := pack(nil, tail)
	last := foot(w.offset, len(packed), len(tail), crc32.Checksum(packed, checksums))
	w.write(packed)
	w.write(last)
	block := bytes.Join(w.pieces, nil)
	w.pieces = nil
	return block, nil
}

func foot(at int64, packed, size int, sum uint32) []byte {
	f := binary.LittleEndian.AppendUint64(bytes.Clone(magic), uint64(at))
	f = binary.LittleEndian.AppendUint64(f, uint64(packed))
	f = binary.LittleEndian.AppendUint64(f, uint64(size))
	f = binary.LittleEndian.AppendUint32(f, sum)
	return binary.LittleEndian.AppendUint32(f, crc32.Checksum(f, checksums))
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

// A DamagedError reports that a block is not as it was written.
type DamagedError struct {
	Name string
	Why  string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s %s: pack its part again", e.Name, e.Why)
}

// A reader reads a block.
type reader struct {
	Block
	Meta
	frames []frame
	names  []byte              // packed
	known  *traffic.KnownNames // nil: not yet
}

// open reads what is behind the frames, and verifies it.
func open(b Block) (*reader, error) {
	damaged := func(why string) (*reader, error) { return nil, &DamagedError{b.Name, why} }
	if len(b.Data) < footBytes {
		return damaged("is no shard, or is cut short")
	}
	end := uint64(len(b.Data) - footBytes)
	last := b.Data[end:]
	if !bytes.HasPrefix(last, magic[:12]) {
		return damaged("is no shard, or is cut short")
	}
	if !bytes.HasPrefix(last, magic) {
		return damaged("is of another version of shadow")
	}
	at, packed := binary.LittleEndian.Uint64(last[16:]), binary.LittleEndian.Uint64(last[24:])
	size, sum := binary.LittleEndian.Uint64(last[32:]), binary.LittleEndian.Uint32(last[40:])
	if !bytes.Equal(foot(int64(at), int(packed), int(size), sum), last) || at > end || packed != end-at || size > tailBytes || packed > tailBytes {
		return damaged("is damaged: its checksum is wrong")
	}
	buffer := b.Data[at:end]
	if crc32.Checksum(buffer, checksums) != sum {
		return damaged("is damaged: its checksum is wrong")
	}
	tail, err := unpack(nil, buffer, int(size))
	r := &reader{Block: b}
	if err != nil || r.readTail(tail, int64(at)) != nil {
		return damaged("makes no sense, though its checksums are right")
	}
	return r, nil
}

var errTail = errors.New("shard: a tail that makes no sense")

// A tailReader cuts numbers off a tail. One that has none left is cut, and reads as zeros.
type tailReader struct {
	rest []byte
	cut  bool
}

func (t *tailReader) number() int64 {
	v, n := binary.Uvarint(t.rest)
	if n <= 0 || v > 1<<40 {
		t.cut = true
		return 0
	}
	t.rest = t.rest[n:]
	return int64(v)
}

func (t *tailReader) signed() int64 {
	v, n := binary.Varint(t.rest)
	if n <= 0 {
		t.cut = true
		return 0
	}
	t.rest = t.rest[n:]
	return v
}

// readTail reads what stands behind the frames, which have so many bytes.
func (r *reader) readTail(tail []byte, frames int64) error {
	t := &tailReader{rest: tail}
	n := t.number()
	if t.cut || n > int64(len(t.rest)) {
		return errTail
	}
	if err := json.Unmarshal(t.rest[:n], &r.Meta); err != nil {
		return err
	}
	t.rest = t.rest[n:]
	if err := r.readFrames(t, frames); err != nil {
		return err
	}
	if err := r.checkMeta(); err != nil {
		return err
	}
	for _, f := range r.frames {
		if f.input >= len(r.Meta.Facts.Inputs) {
			return errTail
		}
	}
	r.names = t.rest
	return nil
}

// takeNames takes the names into the tables of o.
func (r *reader) takeNames(o *ingest.Options) (err error) {
	r.known = traffic.NewKnownNames(o.Tables, o.Actions.Named)
	rest := r.names
	for kind := range traffic.NameKind(traffic.NameKinds) {
		if rest, err = r.known.Add(kind, rest); err != nil {
			return r.senseless()
		}
	}
	if len(rest) > 0 {
		return r.senseless()
	}
	r.names = nil
	return nil
}

// senseless is the error of what no shadow writes.
func (r *reader) senseless() error {
	return &DamagedError{r.Name, "makes no sense, though its checksums are right"}
}

// readFrames reads where the frames are, and checks that they have so many bytes.
func (r *reader) readFrames(t *tailReader, frames int64) error {
	n := t.number()
	if t.cut || n > min(mostFrames, int64(len(t.rest))/8) {
		return errTail
	}
	r.frames = make([]frame, n)
	var offset, rows int64
	for i := range r.frames {
		f := &r.frames[i]
		f.offset, f.packed, f.size = offset, int(t.number()), int(t.number())
		f.rows, f.input = int(t.number()), int(t.number())
		reached, at := t.signed(), t.signed()
		f.line = t.signed()
		if t.cut || len(t.rest) < 4 {
			return errTail
		}
		f.reached, f.at, f.sum = traffic.Bounded(reached), traffic.Bounded(at), binary.LittleEndian.Uint32(t.rest)
		t.rest = t.rest[4:]
		offset, rows = offset+int64(f.packed), rows+int64(f.rows)
		if f.rows == 0 || f.rows > frameRows || f.size > frameBytes || f.packed > frameBytes {
			return errTail
		}
	}
	if offset != frames || rows != r.Meta.Rows {
		return errTail
	}
	return nil
}

// checkMeta checks what a block says of itself, and bounds its times.
func (r *reader) checkMeta() error {
	m := &r.Meta
	if len(m.Values) != m.Columns.Values || len(m.Values) > traffic.MaxValues || m.Slack < 0 || m.Slack > limit.Day {
		return errTail
	}
	if m.Facts == nil || m.Shards < 1 || m.Shard < 0 || m.Shard >= m.Shards || !m.Columns.Lines {
		return errTail
	}
	if _, err := request.ParseKey(m.By.String()); err != nil {
		return err
	}
	for i := range m.Facts.Inputs {
		in := &m.Facts.Inputs[i]
		for _, at := range []*limit.Time{&in.Reached, &in.Last, &in.FirstAt} {
			*at = traffic.Bounded(int64(*at))
		}
	}
	return nil
}

// rows appends the rows of frame i to a batch, which is empty, with the ids of the block.
func (r *reader) rows(b *traffic.Batch, i int, room *[]byte) error {
	f := &r.frames[i]
	packed := r.Data[f.offset : f.offset+int64(f.packed)]
	if crc32.Checksum(packed, checksums) != f.sum {
		return &DamagedError{r.Name, "is damaged: its checksum is wrong"}
	}
	var err error
	if *room, err = unpack((*room)[:0], packed, f.size); err == nil {
		err = b.Unpack(*room, f.rows)
	}
	if err == nil {
		if b.Seq == nil {
			sums(b.At, f.at)
		}
		sums(b.Line, f.line)
		if err = b.Verify(); len(b.Line) != f.rows {
			err = errTail
		}
	}
	if err != nil {
		return r.senseless()
	}
	return nil
}
