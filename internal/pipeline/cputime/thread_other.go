//go:build !linux

package cputime

import "time"

// ThreadIsExact reports whether Thread is CPU time.
const ThreadIsExact = false

var began = time.Now()

// Thread is the time of the wall: this system does not tell a thread its CPU time.
func Thread() time.Duration { return time.Since(began) }
