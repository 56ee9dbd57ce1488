//go:build !unix

package pipeline

import "time"

// cpuTime is unknown here.
func cpuTime() time.Duration { return 0 }
