package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"shadow/testneeds"
)

// On a full disk the tail can write no checkpoint, no batch and no database. It says so, and goes on; when there is room
// again everything is stored, and what was killed meanwhile is judged anew.
func TestTailStoreDiskFull(t *testing.T) {
	k := newKeeper(t)
	k.base = testneeds.SmallDisk(t, 24<<10)
	t.Cleanup(func() { // before the disk goes
		if k.cmd != nil {
			k.kill()
		}
	})
	k.start()
	k.begun()
	k.write(1500 * time.Millisecond)
	k.wait("the database", func() bool { return existsFile(k.db()) })
	for round := range 3 {
		filler := filepath.Join(k.base, "filler")
		fillDisk(t, filler, 4096*round)
		k.write(700 * time.Millisecond)
		if round == 1 {
			k.kill()
		}
		must(t, os.Remove(filler))
		if round == 1 { // a tail that begins has to write
			must(t, os.Chtimes(k.state(), time.Time{}, time.Unix(0, 0)))
			k.start()
			k.wait("a checkpoint", func() bool {
				info, err := os.Stat(k.state())
				return err == nil && info.ModTime().Unix() > 0
			})
		}
		k.write(300 * time.Millisecond)
	}
	k.end()
	if !bytes.Contains(k.stderr.Bytes(), []byte("no space left on device")) {
		t.Errorf("the disk was full, and the tail says: %s", k.stderr.Bytes())
	}
	k.compare()
}

// fillDisk fills the disk apart from some bytes.
func fillDisk(t *testing.T, name string, but int) {
	t.Helper()
	f, err := os.Create(name)
	must(t, err)
	defer f.Close()
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	info, err := f.Stat()
	must(t, err)
	must(t, f.Truncate(max(0, info.Size()-int64(but))))
}
