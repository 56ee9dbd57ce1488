package traffic

import (
	"encoding/binary"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
)

// drawn returns a batch of random rows with columns of all widths.
func drawn(rng *rand.Rand, n int, like Columns) *Batch {
	b := NewBatch(n, like)
	wide := func() uint64 { return rng.Uint64() >> rng.IntN(64) }
	unit := []limit.Time{1, limit.Millisecond, limit.Second}[rng.IntN(3)]
	bits := rng.IntN(34)
	for range n {
		b.At = append(b.At, limit.Time(rng.Int64N(1<<bits)-1<<bits/2)*unit)
		b.Client, b.Agent = append(b.Client, int32(wide()>>33)), append(b.Agent, uint16(wide()))
		b.Action, b.Status, b.Bytes = append(b.Action, 7), append(b.Status, uint16(200+rng.IntN(304))), append(b.Bytes, int64(wide()))
		b.Source, b.Host, b.User = append(b.Source, uint32(wide())), append(b.Host, int32(rng.IntN(9))), append(b.User, int32(rng.IntN(300))-1)
		b.Path, b.Upstream, b.Marks = append(b.Path, int32(wide()>>33)), append(b.Upstream, int64(wide()>>1)), append(b.Marks, wide())
		b.Clues = append(b.Clues, Clue{Trait(wide()), uint16(wide()), uint16(wide())})
	}
	if rng.IntN(2) == 0 {
		b.NeedSeq()
		for range 1 + rng.IntN(n) {
			b.Seq[rng.IntN(n)] += 1 + limit.Time(rng.Int64N(int64(limit.Hour)))
		}
	}
	for _, c := range b.columns() {
		if c.wanted != nil && !c.wanted(like) {
			c.fit(0, false)
		}
	}
	return b
}

// Rows come back as they were, packed in one piece or in several.
func TestPackedRowsComeBack(t *testing.T) {
	rng := testneeds.Rand(t, 3, 1)
	for range 300 {
		n := 1 + rng.IntN(400)
		flag := func() bool { return rng.IntN(2) == 0 }
		like := Columns{Source: flag(), Host: flag(), User: flag(), Path: flag(), Upstream: flag(), Marks: flag(), Clues: flag()}
		want, got := drawn(rng, n, like), new(Batch)
		for i := 0; i < n; {
			j := min(n, i+1+rng.IntN(n))
			if err := got.Unpack(want.Pack(nil, i, j), j-i); err != nil {
				t.Fatal(err)
			}
			i = j
		}
		want.seqRoom, got.seqRoom = nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%d rows %+v come back as\n%+v", n, want, got)
		}
	}
}

// Rows that are cut short are an error, and so are those with something behind them; others that were changed may be anything.
func TestDamagedPackedRows(t *testing.T) {
	rng := testneeds.Rand(t, 3, 2)
	for range 20 {
		b := drawn(rng, 30, allColumns)
		packed := b.Pack(nil, 0, 30)
		for cut := range packed {
			if new(Batch).Unpack(packed[:cut], 30) == nil {
				t.Fatalf("the first %d bytes of %d are enough", cut, len(packed))
			}
			forged := append([]byte{}, packed...)
			forged[cut] ^= 1 << rng.IntN(8)
			_ = new(Batch).Unpack(forged, 30) // must not panic
		}
		if new(Batch).Unpack(append(packed, 0), 30) == nil {
			t.Fatal("nobody notices what stands behind the end")
		}
	}
	// One late request without any column.
	var head []byte
	head = binary.LittleEndian.AppendUint32(head, 1)
	head = packTimes(packNumbers(head, []int32{0}, 1), []limit.Time{limit.Hour})
	for columns := range 40 {
		text := slices.Concat(head, slices.Repeat([]byte{noColumn}, columns), make([]byte, packSlack))
		if new(Batch).Unpack(text, 1) == nil {
			t.Fatal("a request without times is unpacked")
		}
	}
}

// A request of an ordinary log takes about 12 bytes.
func TestPackedRowsAreSmall(t *testing.T) {
	b := NewBatch(0, Columns{})
	for i := range 50_000 {
		b.At, b.Client, b.Agent = append(b.At, limit.Time(i/60)*limit.Second), append(b.Client, int32(i*7%40_000)), append(b.Agent, uint16(i%250))
		b.Action, b.Status, b.Bytes = append(b.Action, uint16(i%200)), append(b.Status, uint16(200+i%2*204)), append(b.Bytes, int64(i*31%100_000))
	}
	if size := len(b.Pack(nil, 0, b.Len())); size > 12*b.Len() {
		t.Errorf("%d bytes of %d rows", size, b.Len())
	}
}
