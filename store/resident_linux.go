package store

import (
	"fmt"
	"os"
)

// resident returns how many bytes of memory the process holds for itself alone, without what it shares with files.
func resident() (int64, bool) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	var size, resident, shared int64 // pages
	if _, err := fmt.Sscan(string(text), &size, &resident, &shared); err != nil {
		return 0, false
	}
	return (resident - shared) * int64(os.Getpagesize()), true
}
