//go:build !linux

package heap

// UseLargePages does nothing: only Linux is asked.
func UseLargePages(int) {}
