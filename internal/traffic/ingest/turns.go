package ingest

import (
	"cmp"
	"container/heap"
)

// Turns say which input is read next: the one that is furthest back in time, and of several the first. The times
// that inputs have reached move while others work, but never back. So a heap of these times as they were last seen finds
// the lowest one: it is that of the input on top, as soon as that has not moved since.
type turns struct {
	heap  turnHeap
	after map[*feed]*feed // which input of a log follows another one
}

// A turn is an input that may be read.
type turn struct {
	feed    *feed
	index   int   // among the inputs
	reached int64 // as it was seen last
}

// newTurns returns the turns of inputs at their beginning.
func newTurns(feeds []*feed) *turns {
	t := &turns{after: map[*feed]*feed{}}
	for i, f := range feeds {
		if f.after != nil {
			t.after[f.after] = f
		}
		if !f.exhausted && (f.after == nil || f.after.exhausted) {
			t.heap = append(t.heap, turn{f, i, f.reached.Load()})
		}
	}
	heap.Init(&t.heap)
	return t
}

// next returns the input to read next; nil when all are at their end.
func (t *turns) next() *feed {
	for len(t.heap) > 0 {
		top := &t.heap[0]
		if top.feed.exhausted {
			if next := t.after[top.feed]; next != nil && !next.exhausted {
				// Inputs of one log stand behind each other.
				*top = turn{next, top.index + 1, next.reached.Load()}
				heap.Fix(&t.heap, 0)
			} else {
				heap.Pop(&t.heap)
			}
			continue
		}
		reached := top.feed.reached.Load()
		if reached == top.reached {
			return top.feed
		}
		top.reached = reached
		heap.Fix(&t.heap, 0)
	}
	return nil
}

// nextInputs is the number of inputs that are prefetched, apart from the one whose turn it is.
const nextInputs = 4

// prefetch has the inputs that are read soon begin: those behind an input in its log, and those that are far back in time.
func (t *turns) prefetch(f *feed) {
	next := t.after[f]
	for range nextInputs {
		if next != nil {
			next.input.Prefetch()
			next = t.after[next]
		}
	}
	for i := range t.heap[:min(len(t.heap), nextInputs+1)] { // the first of a heap are among the lowest
		if other := t.heap[i].feed; other != f && !other.exhausted {
			other.input.Prefetch()
		}
	}
}

// A turnHeap is a heap.Interface.
type turnHeap []turn

func (h turnHeap) Len() int      { return len(h) }
func (h turnHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h turnHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].reached, h[j].reached), cmp.Compare(h[i].index, h[j].index)) < 0
}
func (h *turnHeap) Push(x any) { *h = append(*h, x.(turn)) }

func (h *turnHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
