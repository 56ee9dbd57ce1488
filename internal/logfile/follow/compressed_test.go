package follow

import (
	"os"
	"testing"
	"time"
)

// Reading of a closed file that came back, grew and was compressed between two looks goes on where it stopped.
func TestFileComesBackCompressed(t *testing.T) {
	for _, long := range []bool{false, true} {
		for _, killed := range []bool{false, true} {
			for _, grows := range []bool{false, true} {
				b := newBench(t)
				b.following()
				want := int64(3)
				b.append("access.log", line(1, b.now))
				if long {
					want += b.fill("access.log")
				}
				b.step(time.Second)
				b.rename("access.log", "kept")
				b.append("access.log", line(2, b.now))
				b.step(time.Second)
				b.away(false)
				b.save()
				if killed {
					b.kill()
				}
				if grows {
					want += 2
					b.append("kept", line(3, b.now)+line(4, b.now))
				}
				b.rename("access.log", "access.log.1")
				b.copy("kept", "access.log.2.gz", true)
				check(t, os.Remove(b.path("kept")))
				b.append("access.log", line(5, b.now))
				if killed {
					b.start()
				}
				for range 3 {
					b.step(time.Second)
					b.counted(want + 1)
				}
				b.stop()
			}
		}
	}
}
