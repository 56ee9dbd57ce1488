package heap

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// Room that begins where Go has had something before must not be touched as a whole.
func TestUseLargePagesTouchesNothing(t *testing.T) {
	const resetPeak, used, room = "5", 16 << 20, 512 << 20
	if err := os.WriteFile("/proc/self/clear_refs", []byte(resetPeak), 0); err != nil {
		t.Skip("the peak of memory cannot be reset here:", err)
	}
	before := memory(t, "VmRSS")
	before += touch(used)
	runtime.GC()
	UseLargePages(room)
	if grown := memory(t, "VmHWM") - before; grown > room/4 {
		t.Errorf("memory grew by %d MB, want next to nothing", grown>>20)
	}
}

// touch uses so many bytes of the heap, and leaves them as garbage.
func touch(bytes int) int {
	used := make([]byte, bytes)
	for i := range used {
		used[i] = 1
	}
	return len(used)
}

// memory is a figure of the system about this process, in bytes.
func memory(t *testing.T, name string) (n int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), name+":")
	if _, err := fmt.Sscan(after, &n); err != nil {
		t.Fatal(err)
	}
	return n << 10
}
