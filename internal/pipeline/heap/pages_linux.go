package heap

import (
	"runtime"
	"runtime/debug"
	"syscall"
)

// piece is the number of bytes that are taken at a time. What lies where Go has had something before is cleared, and so
// touched: mostly nothing does, at most the first piece.
const piece = 4 << 20

// UseLargePages has the system serve so many bytes that the heap grows by next in pages of 2 MB rather than 4 KB, where it
// does that if asked (/sys/kernel/mm/transparent_hugepage/enabled): a command that ends within a second spends up to a
// quarter of its time on the first touch of small pages. Go never asks. The room is taken, named to the system, and given
// back untouched; what is allocated next comes to lie there. That takes 5 ms. It comes before CollectLate and its like,
// whose cleanups must not run meanwhile.
func UseLargePages(room int) {
	if isLarge() {
		return
	}
	usual := debug.SetGCPercent(-1) // until all of it is taken
	area := make([][]byte, (room+piece-1)/piece)
	for i := range area {
		area[i] = make([]byte, piece)
		_ = syscall.Madvise(area[i], syscall.MADV_HUGEPAGE) // a system without large pages serves small ones
	}
	runtime.KeepAlive(area)
	debug.SetGCPercent(usual)
	debug.FreeOSMemory() // else the room would count as in use
}
