//go:build !nostore

package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// damage overwrites the first half of blocks of a file with what was never there.
func damage(t *testing.T, path string, size int64, blocks []int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, block := range blocks {
		if _, err := f.WriteAt(bytes.Repeat([]byte{0xab}, int(size)/2), headers*headerBytes+block*size); err != nil {
			t.Fatal(err)
		}
	}
}

// cutOff makes a database as a process leaves it that dies in a checkpoint, with all blocks torn that the checkpoint writes
// in place. It returns what the database holds.
func cutOff(t *testing.T, path string) (holds string, size int64, blocks []int64) {
	t.Helper()
	for i := range 3 {
		storeRun(t, path, makeRun(t, uint64(i), 2, 10, 1000), info)
	}
	holds = fingerprint(t, path)
	s := openStore(t, path)
	size, blocks, err := metadataBlocks(s.duck)
	if err != nil || len(blocks) == 0 {
		t.Fatal(blocks, err)
	}
	j, err := saveBlocks(path, s.file, size, blocks)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	j.file.Close()
	damage(t, path, size, blocks)
	return holds, size, blocks
}

func TestMend(t *testing.T) {
	readers := map[string]func(t *testing.T, path string){
		"query":  func(t *testing.T, path string) { mustAsk(t, path, "FROM runs") },
		"writer": func(t *testing.T, path string) { openStore(t, path).Close() },
		"report": func(t *testing.T, path string) {
			r, err := OpenReader(context.Background(), path, Wait{})
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
		},
		"merge": func(t *testing.T, path string) {
			if _, err := openStore(t, dbPath(t)).Merge(context.Background(), path); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, read := range readers {
		t.Run("torn blocks, "+name, func(t *testing.T) {
			path := dbPath(t)
			holds, _, _ := cutOff(t, path)
			read(t, path)
			if after := fingerprint(t, path); after != holds {
				t.Errorf("mended:\n%s\nbefore:\n%s", after, holds)
			}
			if existing(journalOf(path)) {
				t.Error("the journal is still there")
			}
		})
	}
	t.Run("by a link", func(t *testing.T) {
		path := dbPath(t)
		holds, _, _ := cutOff(t, path)
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		if after := fingerprint(t, link); after != holds {
			t.Errorf("mended:\n%s\nbefore:\n%s", after, holds)
		}
	})
	t.Run("journal that was not finished", func(t *testing.T) {
		path := dbPath(t)
		storeRun(t, path, makeRun(t, 1, 2, 10, 1000), info)
		holds := fingerprint(t, path)
		whole := dbPath(t)
		cutOff(t, whole)
		text, err := os.ReadFile(journalOf(whole))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 5, len(journalMagic), 5000, len(text) / 2, len(text) - 1} {
			if err := os.WriteFile(journalOf(path), text[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			if after := fingerprint(t, path); after != holds {
				t.Errorf("%d bytes of a journal: %s\nbefore:\n%s", n, after, holds)
			}
		}
	})
	t.Run("journal of another file", func(t *testing.T) {
		path, other := dbPath(t), dbPath(t)
		cutOff(t, path)
		storeRun(t, other, makeRun(t, 9, 2, 10, 1000), info)
		holds := fingerprint(t, other)
		if err := os.Rename(other, path); err != nil {
			t.Fatal(err)
		}
		if after := fingerprint(t, path); after != holds {
			t.Errorf("changed:\n%s\nbefore:\n%s", after, holds)
		}
	})
	t.Run("block that the disk has damaged later", func(t *testing.T) {
		path := dbPath(t)
		_, size, blocks := cutOff(t, path)
		old, err := os.ReadFile(journalOf(path))
		if err != nil {
			t.Fatal(err)
		}
		storeRun(t, path, makeRun(t, 7, 2, 10, 1000), info) // mends, and makes another header count
		if err := os.WriteFile(journalOf(path), old, 0o600); err != nil {
			t.Fatal(err)
		}
		damage(t, path, size, blocks)
		if err := mend(path); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); err != nil || !bytes.Contains(text, bytes.Repeat([]byte{0xab}, 1000)) {
			t.Error("a block that the journal does not know was replaced")
		}
	})
	t.Run("journal in use", func(t *testing.T) {
		path := dbPath(t)
		cutOff(t, path)
		f, err := os.OpenFile(journalOf(path), os.O_RDWR, 0)
		if err != nil || lockFile(f) != nil {
			t.Fatal("cannot lock the journal", err)
		}
		defer f.Close()
		if err := mend(path); !errors.Is(err, ErrBusy) {
			t.Errorf("mend: %v", err)
		}
	})
}

// A header counts as long as the file has it and the other one, which takes turns with it, is no newer.
func TestActiveHeader(t *testing.T) {
	header := func(slot int64, iteration uint64) region {
		r := region{slot * headerBytes, make([]byte, headerBytes)}
		binary.LittleEndian.PutUint64(r.bytes[8:], iteration)
		binary.LittleEndian.PutUint64(r.bytes, blockChecksum(r.bytes[8:]))
		return r
	}
	torn := header(2, 9)
	torn.bytes[100] ^= 1
	for name, c := range map[string]struct {
		here, other region
		want        bool
	}{
		"the other is older":                {header(1, 5), header(2, 4), true},
		"the other is torn":                 {header(1, 5), torn, true},
		"the other is newer":                {header(1, 5), header(2, 6), false},
		"is another, and the other is torn": {header(1, 7), torn, false},
		"is another, and the other older":   {header(1, 7), header(2, 4), false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "headers")
			file := slices.Concat(make([]byte, headerBytes), c.here.bytes, c.other.bytes)
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if got, err := header(1, 5).isActive(db); got != c.want || err != nil {
				t.Errorf("%v, %v, want %v", got, err, c.want)
			}
		})
	}
}

// A checkpoint of DuckDB must write into nothing that the file needs but what the journal saves. So the file after a
// checkpoint, with the journal's regions put back, is the file before it.
func TestCheckpointWritesOnlyWhatIsSaved(t *testing.T) {
	path := dbPath(t)
	ctx := context.Background()
	cut := 0
	for round := range 12 {
		var holds string
		if round > 0 {
			holds = fingerprint(t, path)
		}
		s := openStore(t, path)
		if round == 0 {
			s.Close()
			holds = fingerprint(t, path)
			s = openStore(t, path)
		}
		if err := s.duck.Exec("BEGIN"); err != nil {
			t.Fatal(err)
		}
		switch {
		case round%4 == 3: // half of the runs go, others stay beside them
			if err := forget(s.duck, []int32{int32(round), int32(round) / 2}); err != nil {
				t.Fatal(err)
			}
		default:
			if err := s.duck.Exec("ROLLBACK"); err != nil {
				t.Fatal(err)
			}
			r := begin(t, s, ctx)
			m := makeRun(t, uint64(round), 3, 40*(round+1), 3000*(round+1)*(round+1))
			if err := r.Write(m.events); err != nil {
				t.Fatal(err)
			}
			r.over, s.busy = true, false
			if err := errors.Join(r.load.stop(), r.writeResult(&m.result, finished)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.duck.Exec("COMMIT"); err != nil {
			t.Fatal(err)
		}
		size, blocks, err := metadataBlocks(s.duck)
		if err != nil {
			t.Fatal(err)
		}
		saved := filepath.Join(t.TempDir(), "saved")
		j := &journal{path: saved}
		if j.file, err = os.Create(saved); err != nil {
			t.Fatal(err)
		}
		before := fileSize(t, path)
		if err := errors.Join(j.write(s.file, regions(size, blocks)), s.duck.Exec("CHECKPOINT"), s.Close()); err != nil {
			t.Fatal(err)
		}
		if fileSize(t, path) < before { // DuckDB cuts the file once the new header counts: nothing is to be undone any more
			cut++
			continue
		}
		if after := fingerprint(t, path); after == holds {
			t.Fatal("nothing has changed")
		}
		undone := filepath.Join(t.TempDir(), "undone")
		copyFile(t, path, undone)
		f, err := os.OpenFile(undone, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		put := 0
		if err := eachRegion(j.file, func(r region) error {
			put++
			_, err := f.WriteAt(r.bytes, r.offset)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		f.Close()
		j.file.Close()
		if after := fingerprint(t, undone); after != holds {
			t.Errorf("round %d: with %d regions put back:\n%s\nbefore the checkpoint:\n%s", round, put, after, holds)
		}
	}
	if cut > 4 {
		t.Errorf("%d of 12 files were cut: the rest proves little", cut)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

func existing(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// A database is made under another name, so that a kill leaves no half of one.
func TestCreateLeftovers(t *testing.T) {
	path := dbPath(t)
	for name, text := range map[string]string{path + ".new": "half", path + ".new.wal": "half", path + ".wal": "of a file that is gone"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	openStore(t, path).Close()
	if n := askNumber(t, path, "SELECT count(*) FROM runs"); n != 0 {
		t.Error(n)
	}
	for _, name := range []string{path + ".new", path + ".new.wal", path + ".wal"} {
		if existing(name) {
			t.Error(name, "is still there")
		}
	}
}

// A link may lead to a file that is not there yet, and stays a link.
func TestCreateByLink(t *testing.T) {
	folder, file := t.TempDir(), t.TempDir()
	link, path := filepath.Join(folder, "link"), filepath.Join(file, "shadow.duckdb")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	storeRun(t, link, makeRun(t, 1, 2, 10, 100), info)
	if n := askNumber(t, path, "SELECT count(*) FROM runs"); n != 1 {
		t.Errorf("%d runs in the file that the link leads to", n)
	}
	if left, _ := os.ReadDir(folder); len(left) != 1 {
		t.Error("beside the link lies", left)
	}
}
