package traffic

import (
	"cmp"
	"slices"

	"shadow/limit"
)

// A Group is a batch sorted into timelines: the requests of each key side by side, in time order. It costs one
// counting sort, once for all policies that count by the same key.
//
//	rows of the batch   c1 c2 c1 c3 c2 c1        Keys    c1     c2    c3
//	                                             Rows    0 2 5  1 4   3
type Group struct {
	Keys []int32      // the keys that occur
	Ends []int32      // Ends[i] is where the timeline of Keys[i] ends, and the next one begins
	Rows []int32      // rows of the batch
	At   []limit.Time // their times

	sorter rowSorter
	next   []int32 // by key: how many rows, then where its next row goes; all zero between calls
}

// Sort makes g the timelines of b by the given column of keys, which are below keys.
func (g *Group) Sort(b *Batch, column []int32, keys int) {
	g.begin(column, keys)
	for row, key := range column {
		to := g.next[key]
		g.next[key]++
		g.Rows[to], g.At[to] = int32(row), b.At[row]
	}
	g.finish(b)
}

// SortSome sorts some rows as Sort does. They ascend, and the column has theirs only.
func (g *Group) SortSome(b *Batch, rows, column []int32, keys int) {
	g.begin(column, keys)
	for i, key := range column {
		to := g.next[key]
		g.next[key]++
		g.Rows[to], g.At[to] = rows[i], b.At[rows[i]]
	}
	g.finish(b)
}

// finish ends a sort.
func (g *Group) finish(b *Batch) {
	for _, key := range g.Keys {
		g.next[key] = 0
	}
	g.restore(b)
}

// Clear removes all timelines.
func (g *Group) Clear() { g.Keys, g.Ends, g.Rows, g.At = g.Keys[:0], g.Ends[:0], g.Rows[:0], g.At[:0] }

// Room makes room for so many timelines and requests to be added.
func (g *Group) Room(timelines, requests int) {
	g.Keys, g.Ends = slices.Grow(g.Keys, timelines), slices.Grow(g.Ends, timelines)
	g.Rows, g.At = slices.Grow(g.Rows, requests), slices.Grow(g.At, requests)
}

// Add appends a timeline.
func (g *Group) Add(key int32, rows []int32, at []limit.Time) {
	g.Keys, g.Rows, g.At = append(g.Keys, key), append(g.Rows, rows...), append(g.At, at...)
	g.Ends = append(g.Ends, int32(len(g.Rows)))
}

// Each hands over the requests, key by key in time order.
func (g *Group) Each(do func(key, row int32, at limit.Time)) {
	var start int32
	for i, end := range g.Ends {
		for j := start; j < end; j++ {
			do(g.Keys[i], g.Rows[j], g.At[j])
		}
		start = end
	}
}

// count notes which keys occur, and how often each. Where most keys occur they are listed in the order of their ids, so
// that a caller with a state per key walks through memory in one direction.
func (g *Group) count(column []int32, keys int) {
	g.next = append(g.next, make([]int32, max(0, keys-len(g.next)))...)
	g.Keys = g.Keys[:0]
	for _, key := range column {
		if g.next[key] == 0 {
			g.Keys = append(g.Keys, key)
		}
		g.next[key]++
	}
	if len(g.Keys) <= keys/8 {
		return
	}
	g.Keys = g.Keys[:0]
	for key, n := range g.next[:keys] {
		if n != 0 {
			g.Keys = append(g.Keys, int32(key))
		}
	}
}

// begin finds the indices where the timelines begin, and makes room for them.
func (g *Group) begin(column []int32, keys int) {
	g.count(column, keys)
	g.Rows = slices.Grow(g.Rows[:0], len(column))[:len(column)]
	g.At = slices.Grow(g.At[:0], len(column))[:len(column)]
	g.Ends = slices.Grow(g.Ends[:0], len(g.Keys))
	var sum int32
	for _, key := range g.Keys {
		start := sum
		sum += g.next[key]
		g.next[key] = start
		g.Ends = append(g.Ends, sum)
	}
}

// restore puts the timelines into order. Nearly all of them are already.
func (g *Group) restore(b *Batch) {
	plain := b.Seq == nil && b.Source == nil
	var start int32
	for _, end := range g.Ends {
		rows, at := g.Rows[start:end], g.At[start:end]
		if plain && b.inOrder(rows, at) || !plain && slices.IsSortedFunc(rows, b.Compare) {
			start = end
			continue
		}
		g.sorter.sort(b, rows)
		for i, row := range rows {
			at[i] = b.At[row]
		}
		start = end
	}
}

// inOrder reports whether rows of a batch without Seq and Source, which were read one after the other at these times, stand in
// the order of compare.
func (b *Batch) inOrder(rows []int32, at []limit.Time) bool {
	for i := 1; i < len(at); i++ {
		// Most requests of a moment share a whole second. To ask for that first spares looking all over the batch.
		if at[i] < at[i-1] || at[i] == at[i-1] && at[i]%limit.Second != 0 && b.ComesLast(rows[i-1]) && !b.ComesLast(rows[i]) {
			return false
		}
	}
	return true
}

// ComesLast reports whether a request stands behind the others of its moment: the server refused it. A server logs a request
// when it is answered. So where it enforces a limit, one that it keeps waiting is logged behind those that it refused at the same
// moment, and was admitted before them.
//
// A moment in whole seconds is mostly a rounded one, in which requests are refused and admitted in turns: there the log's order
// stands. So it does for requests that come too late.
func (b *Batch) ComesLast(row int32) bool {
	at := b.At[row]
	return at%limit.Second != 0 && int(row) < len(b.Status) && Refusal(int32(b.Status[row])) && b.Sequence()[row] == at
}

// Compare orders two rows: by sequence time, those that the server refused behind others, by input, and by when they were read.
func (b *Batch) Compare(x, y int32) int {
	seq := b.Sequence()
	if c := cmp.Compare(seq[x], seq[y]); c != 0 {
		return c
	}
	if last := b.ComesLast(x); last != b.ComesLast(y) {
		if last {
			return 1
		}
		return -1
	}
	if b.Source != nil && b.Source[x] != b.Source[y] {
		return cmp.Compare(b.Source[x], b.Source[y])
	}
	return cmp.Compare(x, y)
}

// Before reports whether row x comes before row y.
func (b *Batch) Before(x, y int32) bool { return b.Compare(x, y) < 0 }
