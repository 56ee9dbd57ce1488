package commands

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

// On a full disk the tail can write no checkpoint, no batch and no database. It says so, and goes on; when there is
// room again everything is stored, and what was killed meanwhile is judged again.
func TestTailStoreDiskFull(t *testing.T) {
	k := newKeeper(t)
	k.base = smallDisk(t, k)
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
	if !strings.Contains(k.stderr.String(), "no space left on device") {
		t.Errorf("the disk was full, and the tail says: %s", k.stderr.String())
	}
	k.compare()
}

// On a full disk of the would-blocks the tail reads nothing more, and says so; when there is room again it goes on, and
// each of them is told once, also when it was killed meanwhile.
func TestTailWouldBlocksDiskFull(t *testing.T) {
	k := newKeeper(t)
	disk := smallDisk(t, k)
	told := filepath.Join(disk, "would-blocks")
	k.flags = []string{"--would-blocks", told}
	k.start()
	k.begun()
	const full, room = "would-blocks cannot be written", "would-blocks can be written again"
	said := func(text string) int { return strings.Count(k.stderr.String(), text) }
	for round := range 4 {
		filler := filepath.Join(disk, "filler")
		fulls, rooms := said(full), said(room)
		fillDisk(t, filler, 4096*round)
		size := fileSize(told)
		k.write(time.Second)
		if round%2 == 1 {
			k.kill()
			k.start()
			k.write(500 * time.Millisecond)
		} else {
			k.wait(full, func() bool { return said(full) > fulls })
		}
		if grown := fileSize(told) - size; grown > int64(4096*(round+1)) {
			t.Fatalf("the disk was full, and %d bytes were written", grown)
		}
		must(t, os.Remove(filler))
		k.write(300 * time.Millisecond)
		if round%2 == 0 {
			k.wait(room, func() bool { return said(room) > rooms })
		}
	}
	k.end()
	if text := full + ", so nothing more is read until they can: write " + told + ": no space left on device"; said(text) == 0 {
		t.Errorf("it does not say %q: %s", text, k.stderr.String())
	}
	k.compare()
	text, err := os.ReadFile(told)
	must(t, err)
	stored := run(t, k.dir, "query", "SELECT sum(count) AS n FROM would_blocks", "--db", k.db(), "--output", "csv")
	if lines := fmt.Sprintf("n\n%d\n", bytes.Count(text, []byte("\n"))); lines != string(stored) {
		t.Errorf("%q would-blocks were told, %q stored", lines, stored)
	}
}

// A tail that is told to end on a full disk ends as documented: with 0 where the next one goes on from its checkpoint and loses
// nothing, else with 3.
func TestTailEndsOnFullDisk(t *testing.T) {
	for _, c := range []struct {
		name, says string
		exit       int
	}{
		{"checkpoint", "goes on from the last checkpoint", exitDone},
		{"no checkpoint", "requests may be missing", exitIncomplete},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newKeeper(t)
			k.base = smallDisk(t, k)
			filler := filepath.Join(k.base, "filler")
			k.start()
			k.begun()
			k.write(200 * time.Millisecond)
			fillDisk(t, filler, 0)
			tries := 0
			k.wait("the full disk", func() bool {
				k.write(200 * time.Millisecond)
				tries++
				fillDisk(t, fmt.Sprint(filler, "-", tries), 0) // what was given back meanwhile
				return strings.Contains(k.stderr.String(), "no space left on device")
			})
			if c.exit != exitDone {
				must(t, os.Remove(k.state()))
				fillDisk(t, filler+"2", 0)
			}
			must(t, k.cmd.Process.Signal(syscall.SIGTERM))
			_ = k.cmd.Wait() // its exit code tells
			if got := k.cmd.ProcessState.ExitCode(); got != c.exit || !strings.Contains(k.stderr.String(), c.says) {
				t.Fatalf("exit code %d, want %d; the tail says: %s", got, c.exit, k.stderr.String())
			}
			if c.exit != exitDone {
				return
			}
			fillers, err := filepath.Glob(filler + "*")
			must(t, err)
			for _, name := range fillers {
				must(t, os.Remove(name))
			}
			k.start()
			k.end()
			k.compare()
		})
	}
}

// smallDisk returns the folder of a disk of 24 MiB, which goes when the keeper has ended.
func smallDisk(t *testing.T, k *keeper) string {
	t.Helper()
	disk := testneeds.SmallDisk(t, 24<<10)
	t.Cleanup(func() { // before the disk goes
		if k.cmd != nil {
			k.kill()
		}
	})
	return disk
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
