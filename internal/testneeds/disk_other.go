//go:build !linux

package testneeds

import "testing"

// SmallDisk skips the test: only Linux has a disk in memory without more ado.
func SmallDisk(t testing.TB, _ int) string {
	t.Skip("a small disk needs Linux")
	return ""
}
