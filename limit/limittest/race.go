//go:build race

package limittest

const raceEnabled = true
