package follow

import (
	"os"
	"testing"
	"time"

	"shadow/internal/logfile"
)

// mirror brings a file over as rsync does: under a name of its own first.
func (b *bench) mirror(from, to string, pack bool) {
	b.t.Helper()
	b.copy(from, ".new", pack)
	b.age(".new", -time.Hour) // it was written later than what it takes the place of
	b.rename(".new", to)
}

// A log that is mirrored is not read again each time, however short it is, nor if lines came that were not read before.
func TestMirroredLog(t *testing.T) {
	for _, long := range []bool{false, true} {
		b := newBench(t)
		b.start()
		want := int64(1)
		b.append("master", line(1, b.now))
		if long {
			want += b.fill("master")
		}
		for i := range 5 {
			b.mirror("master", "access.log", false)
			b.step(time.Second)
			b.counted(want)
			b.append("master", line(i, b.now)+line(i+1, b.now))
			b.append("access.log", line(i, b.now)) // which comes with the next copy, too
			if want += 2; i%2 == 0 {
				b.step(time.Second)
			}
		}
		b.step(time.Second)
		b.step(2 * linger)
		b.counted(want - 1)
		b.stop()
	}
}

// A mirrored log that was rotated is read on where its rotated file goes on.
func TestMirroredLogIsRotated(t *testing.T) {
	for _, long := range []bool{false, true} {
		for _, pack := range []bool{false, true} {
			for _, last := range []bool{false, true} {
				b := newBench(t)
				b.start()
				want := int64(5)
				b.append("master", line(1, b.now)+line(2, b.now))
				if long {
					want += b.fill("master")
				}
				b.mirror("master", "access.log", false)
				b.step(time.Second)
				b.append("master", line(3, b.now)+line(4, b.now))
				b.append("next", line(5, b.now))
				rotated := "access.log.1"
				if pack {
					rotated += ".gz"
				}
				if last {
					b.mirror("next", "access.log", false)
					b.step(time.Second)
				}
				b.mirror("master", rotated, pack)
				if !last {
					b.mirror("next", "access.log", false)
				}
				b.step(time.Second)
				b.step(time.Second)
				b.counted(want)
				if !pack { // as is usual a day later
					b.mirror("master", rotated+".gz", true)
					check(t, os.Remove(b.path(rotated)))
					b.step(time.Second)
				}
				b.step(2 * linger)
				b.step(time.Second)
				b.counted(want)
				b.stop()
			}
		}
	}
}

// A log from which an editor removes a line is read on behind what was read.
func TestLogIsEdited(t *testing.T) {
	for _, more := range []int64{0, 1} {
		b := newBench(t)
		b.start()
		const want = 100
		for i := range want {
			b.append("access.log", line(i, b.now))
		}
		b.step(time.Second)
		text, err := os.ReadFile(b.path("access.log"))
		check(t, err)
		_, text = logfile.CutLine(text)
		b.append("sedX", string(text))
		b.rename("sedX", "access.log")
		for range more {
			b.append("access.log", line(1, b.now))
		}
		b.step(time.Second)
		b.append("access.log", line(1, b.now))
		b.step(2 * linger)
		b.counted(want + more + 1)
		b.saidOnce("was replaced by a file that has some of its lines no more, and is read on behind them")
		b.stop()
	}
}
