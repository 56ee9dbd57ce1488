//go:build !race

package limittest

// RaceEnabled reports whether the race detector runs, under which pools forget at random.
const RaceEnabled = false
