//go:build !linux

package pipeline

import "time"

// threadTimeIsCPU reports whether threadTime is CPU time.
const threadTimeIsCPU = false

var began = time.Now()

// threadTime is the time of the wall: this system does not tell a thread its CPU time.
func threadTime() time.Duration { return time.Since(began) }
