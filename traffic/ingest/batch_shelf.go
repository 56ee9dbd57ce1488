package ingest

import (
	"sync"

	"shadow/traffic"
)

// A Reader's batches have room for all that may ever wait, most of which is never touched. When memory of that size is
// freed and allocated again it comes back cleared, which touches all of it. So a Reader that is closed leaves its batches
// on a shelf for the next one in this process, as where a log is read several times.
var shelf struct {
	sync.Mutex
	batches []*traffic.Batch
}

// shelved is how many batches lie on the shelf at most: those of one Reader.
const shelved = 3

// takeBatch is newBatch with the memory of an earlier batch, if one of that size is there.
func takeBatch(n int, like traffic.Columns) *traffic.Batch {
	shelf.Lock()
	defer shelf.Unlock()
	for i, b := range shelf.batches {
		if cap(b.At) >= n {
			shelf.batches = append(shelf.batches[:i], shelf.batches[i+1:]...)
			b.Reset()
			b.Refit(n, like)
			return b
		}
	}
	return traffic.NewBatch(n, like)
}

// shelve keeps a batch that nobody uses any more.
func shelve(b *traffic.Batch) {
	shelf.Lock()
	defer shelf.Unlock()
	if len(shelf.batches) < shelved {
		shelf.batches = append(shelf.batches, b)
	}
}
