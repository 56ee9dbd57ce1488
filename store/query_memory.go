package store

import (
	"context"
	"time"
)

// memoryInterval is how often the memory is looked at. In that time a machine fills about 100 MB.
const memoryInterval = 20 * time.Millisecond

// watchMemory calls exceeded when the process has come to hold more than limit bytes beyond what it holds now. It looks until
// ctx ends.
func watchMemory(ctx context.Context, limit int64, exceeded func()) {
	begun, ok := resident()
	if !ok {
		return
	}
	ticker := time.NewTicker(memoryInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if now, ok := resident(); ok && now-begun > limit {
			exceeded()
			return
		}
	}
}
