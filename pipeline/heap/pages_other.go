//go:build !linux

package heap

// useLargePages does nothing: only Linux is asked.
func useLargePages(int) {}
