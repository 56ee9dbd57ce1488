package heap

import (
	"runtime"
	"syscall"
)

// useLargePages has the system serve the next so many bytes of the heap in pages of 2 MB rather than 4 KB, where it does
// that if asked (/sys/kernel/mm/transparent_hugepage/enabled): a command that ends within a second spends up to a quarter
// of its time on the first touch of small pages. Go never asks. The room is taken, named to the system, and given back
// untouched; what is allocated next comes to lie there.
func useLargePages(bytes int) {
	room := make([]byte, bytes)
	_ = syscall.Madvise(room, syscall.MADV_HUGEPAGE) // a system without large pages serves small ones
	runtime.KeepAlive(room)
	runtime.GC() // else the room would stay taken until the heap has grown by as much
}
