package cache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"shadow/limit"
	"shadow/testneeds"
	"shadow/traffic"
)

// tables are those of what drawn draws.
func tables() *traffic.Tables {
	t := traffic.NewTables()
	for i := range 100 {
		t.Clients.ID(fmt.Appendf(nil, "192.0.2.%d", i))
		t.Agents.ID(fmt.Appendf(nil, "agent %d", i))
		t.Actions.ID(fmt.Appendf(nil, "action %d", i))
	}
	return t
}

// ordered is a batch of random rows in the order of time, from a moment on, of which each tenth was late.
func ordered(rng *rand.Rand, n int, from limit.Time) *traffic.Batch {
	b := traffic.NewBatch(n, traffic.Columns{Traces: true})
	b.Stamps.Slack = 999_999
	for range n {
		from += limit.Time(rng.IntN(1000)) * limit.Millisecond
		b.At, b.Client, b.Agent = append(b.At, from), append(b.Client, rng.Int32N(100)), append(b.Agent, uint16(rng.IntN(100)))
		b.Action, b.Status, b.Bytes = append(b.Action, uint16(rng.IntN(100))), append(b.Status, 200), append(b.Bytes, rng.Int64N(1<<30))
		b.Traces = append(b.Traces, traffic.Trace{Page: uint16(rng.IntN(1 << 16))})
	}
	b.NeedSeq()
	for i := range b.At {
		if rng.IntN(10) == 0 {
			b.At[i] -= limit.Hour
		}
	}
	b.DropSeq()
	return b
}

// save keeps some batches, and returns the file's path.
func save(t testing.TB, batches []*traffic.Batch) string {
	t.Helper()
	dir := t.TempDir()
	r, err := New(dir)
	if err == nil {
		for _, b := range batches {
			r.Add(b)
		}
		err = r.Save("kept", []byte("a note"), tables())
	}
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "kept")
}

func sample(t testing.TB) []*traffic.Batch {
	rng := testneeds.Rand(t, 15, 1)
	return []*traffic.Batch{ordered(rng, 100, 0), ordered(rng, 30, limit.Day), ordered(rng, 2*frameRows+5, 2*limit.Day)}
}

// What was kept comes back, with the names, in as many passes as are wanted.
func TestKept(t *testing.T) {
	batches := sample(t)
	f, err := Open(save(t, batches))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Expect(traffic.Columns{Traces: true})
	restored := traffic.NewTables()
	if err := f.Tables.Restore(restored); err != nil || string(f.Note) != "a note" {
		t.Errorf("note %q, %v", f.Note, err)
	}
	if restored.Clients.Len() != 100 || restored.Clients.Name(7) != "192.0.2.7" || restored.Agents.Name(99) != "agent 99" {
		t.Error("other names")
	}
	for range 2 {
		check(t, &f.Requests, batches)
	}
	ahead := f.Pass().Ahead()
	for _, want := range batches {
		if b, err := ahead.Next(); err != nil || b.Len() != want.Len() {
			t.Fatal(err)
		}
	}
	if _, err := ahead.Next(); err != io.EOF {
		t.Error(err)
	}
	ahead.Close()
	early := f.Pass().Ahead()
	if _, err := early.Next(); err != nil {
		t.Error(err)
	}
	early.Close()
}

// Rows that make no sense end a pass, whatever their checksums say.
func TestForgedRows(t *testing.T) {
	for what, change := range map[string]func(b *traffic.Batch){
		"a client without a name":     func(b *traffic.Batch) { b.Client[3] = 100 },
		"a client below all":          func(b *traffic.Batch) { b.Client[3] = -1 },
		"an agent without a name":     func(b *traffic.Batch) { b.Agent[3] = 100 },
		"an action without a name":    func(b *traffic.Batch) { b.Action[3] = 100 },
		"let in before its time":      func(b *traffic.Batch) { b.NeedSeq(); b.Seq[3] = b.At[3] - 1 },
		"a time beyond all":           func(b *traffic.Batch) { b.At[3], b.Seq = traffic.MaxTime+1, nil },
		"a time before all":           func(b *traffic.Batch) { b.At[3], b.Seq = traffic.MinTime-1, nil },
		"before the batch before":     func(b *traffic.Batch) { b.At[3], b.Seq = -limit.Day, nil },
		"no traces":                   func(b *traffic.Batch) { b.Traces = nil },
		"a column that nobody wanted": func(b *traffic.Batch) { b.Marks = make([]uint64, b.Len()) },
	} {
		t.Run(what, func(t *testing.T) {
			batches := sample(t)
			change(batches[1])
			f, err := Open(save(t, batches))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			f.Expect(traffic.Columns{Traces: true})
			pass := f.Pass()
			if _, err := pass.Next(); err != nil {
				t.Fatal(err)
			}
			if _, err := pass.Next(); err == nil {
				t.Error("nobody notices")
			}
		})
	}
}

// resum makes all checksums right again, as far as the lengths lead to them.
func resum(file []byte) {
	if len(file) < footBytes {
		return
	}
	end := len(file) - footBytes
	last := file[end:]
	frames := binary.LittleEndian.Uint64(last[16:])
	if frames > uint64(end) {
		return
	}
	heads := uint32(0)
	for at := 0; at+frameHead <= int(frames); {
		head := file[at : at+frameHead]
		next := at + frameHead + int(binary.LittleEndian.Uint32(head))
		if next > int(frames) {
			break
		}
		binary.LittleEndian.PutUint32(head[12:], checksum(head, file[at+frameHead:next]))
		heads = crc32.Update(heads, checksums, head)
		at = next
	}
	copy(last, foot(frames, heads, crc32.Checksum(file[frames:end], checksums)))
}

// FuzzOpen opens files that anybody may have written, with checksums that are right.
func FuzzOpen(f *testing.F) {
	rng := testneeds.Rand(f, 15, 2)
	for _, batches := range [][]*traffic.Batch{nil, {ordered(rng, 5, 0)}, {ordered(rng, 40, 0), ordered(rng, 3, limit.Day)}} {
		whole, err := os.ReadFile(save(f, batches))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(whole)
	}
	path := filepath.Join(f.TempDir(), "kept")
	f.Fuzz(func(t *testing.T, whole []byte) {
		resum(whole)
		path := path + fmt.Sprint(os.Getpid())
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		kept, err := Open(path)
		if err != nil {
			return
		}
		defer kept.Close()
		restored := traffic.NewTables()
		if !kept.Tables.Fits(restored) || kept.Tables.Restore(restored) != nil {
			return
		}
		kept.Expect(traffic.Columns{Traces: true})
		pass, now := kept.Pass(), traffic.MinTime
		for rows := 0; rows < 1<<20; {
			b, err := pass.Next()
			if err != nil {
				return
			}
			rows += b.Len()
			for i, seq := range b.Sequence() {
				if seq < now || b.At[i] > seq || restored.Clients.Name(b.Client[i]) == "\x00" || restored.Agents.Name(int32(b.Agent[i])) == "\x00" ||
					restored.Actions.Name(int32(b.Action[i])) == "\x00" || len(b.Traces) != b.Len() {
					break
				}
			}
		}
	})
}
