//go:build !nostore

package tail

import (
	"os"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

// A tail begins, and goes on, though there is no room for its checkpoint. That is written when there is.
func TestStartOnAFullDisk(t *testing.T) {
	for _, store := range []bool{false, true} {
		disk := testneeds.SmallDisk(t, 256)
		s := newStored(t, "token:1/24h")
		s.change = func(o *Options) {
			if o.State = disk + "/state"; store {
				o.Store, o.Flush, o.Spool = s.shelf, time.Hour, s.most
			}
		}
		fill := func() {
			t.Helper()
			f, err := os.Create(disk + "/ballast")
			check(t, err)
			for block := make([]byte, 1<<10); err == nil; {
				_, err = f.Write(block)
			}
			f.Close()
		}
		for round := range int64(2) { // without a checkpoint, and with one
			fill()
			s.said.Reset()
			s.start()
			s.saidOnce("as the disk is full")
			s.append("access.log", line(1, s.now)+line(2, s.now))
			s.step(6 * time.Second)
			s.step(6 * time.Second)
			s.counted(2 * (round + 1))
			s.saidOnce("as the disk is full")
			check(t, os.Remove(disk+"/ballast"))
			s.step(6 * time.Second)
			if c, err := ReadCheckpoint(disk + "/state"); err != nil || c.Tally.Lines != 2*(round+1) {
				t.Errorf("%v, %+v", err, c)
			}
			s.kill()
		}
	}
}
