// Package heap decides when a command's garbage is collected, and asks the system for large pages.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// LargeBatches is the heap, in bytes, below which a replay's garbage is not collected. Its batches alone are some 300 MB
// of address space, of which little is ever touched, so that Go would collect while it starts and find nothing.
const LargeBatches = 512 << 20

// UsualRoom is the number of bytes that most commands want in large pages. A page is there only once it is touched.
const UsualRoom = 256 << 20

// smallestHeap is the heap, in bytes, below which Go itself does not collect, at GOGC=100.
const smallestHeap = 4 << 20

// largeHeap is the heap, in bytes, of a command with a configuration of many addresses, whose reading leaves much
// garbage.
const largeHeap = 32 << 20

// CollectLate postpones the next garbage collection until the heap has so many bytes, unless it is large already. After
// that one the usual rule holds; where GOGC is set, it holds from the start.
func CollectLate(bytes int) {
	if os.Getenv("GOGC") != "" || isLarge() {
		return
	}
	usual := debug.SetGCPercent(100 * bytes / smallestHeap)
	runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, usual)
}

func isLarge() bool {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc > largeHeap
}

// oftenPercent is GOGC for what holds much: most of the heap of a tail or of curves are numbers in which there is nothing
// to follow, so that collecting often costs little and keeps memory within a quarter of what is in use.
const oftenPercent = 25

// CollectOften collects more often than usual. Where GOGC is set, it holds.
func CollectOften() { CollectAbove(0, oftenPercent) }

// smallHeap is the heap, in bytes, below which collecting often would be most of the work.
const smallHeap = 64 << 20

// CollectOftenLater is CollectOften once the heap has smallHeap bytes.
func CollectOftenLater() { CollectAbove(smallHeap, oftenPercent) }

// CollectAbove collects once the heap has so many bytes, and has grown by so many percent since the last collection. Where
// GOGC is set, it holds.
func CollectAbove(bytes, percent int) {
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(max(percent, 100*bytes/max(int(live[0].Value.Uint64()), smallestHeap)-100))
	if bytes > 0 {
		runtime.AddCleanup(new([16]byte), func(int) { CollectAbove(bytes, percent) }, 0)
	}
}
