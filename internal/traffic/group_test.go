package traffic

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
	"shadow/limit"
)

// stably returns what a Group holds, the obvious way: the timeline of each key that occurs, sorted by place, then those
// that were refused last unless the moment is a whole second or they are late, then by input.
func stably(b *Batch, column []int32) map[int32][]int32 {
	timelines := map[int32][]int32{}
	for row, key := range column {
		timelines[key] = append(timelines[key], int32(row))
	}
	for _, rows := range timelines {
		slices.SortStableFunc(rows, func(x, y int32) int {
			place, source := func(r int32) limit.Time { return b.Sequence()[r] }, func(r int32) uint32 { return 0 }
			if b.Source != nil {
				source = func(r int32) uint32 { return b.Source[r] }
			}
			last := func(r int32) int {
				if (b.Status[r] == 429 || b.Status[r] == 503) && b.At[r] == place(r) && b.At[r]%1_000_000 != 0 {
					return 1
				}
				return 0
			}
			return cmp.Or(cmp.Compare(place(x), place(y)), cmp.Compare(last(x), last(y)), cmp.Compare(source(x), source(y)))
		})
	}
	return timelines
}

// drawBatch draws times that are more or less in order, with or without the columns that matter for sorting.
func drawBatch(t *rapid.T, n int) *Batch {
	b := new(Batch)
	shape := rapid.SampledFrom([]string{"sorted", "nearly", "reversed", "random", "one moment"}).Draw(t, "shape")
	now := limit.Time(rapid.IntRange(-5, 5).Draw(t, "start"))
	for i := range n {
		at := now + limit.Time(i/2)
		switch shape {
		case "nearly":
			at += limit.Time(rapid.IntRange(-3, 3).Draw(t, "jitter"))
		case "reversed":
			at = now - limit.Time(i/2)
		case "random":
			at = limit.Time(rapid.IntRange(-50, 50).Draw(t, "at"))
		case "one moment":
			at = now
		}
		b.At = append(b.At, at)
		b.Status = append(b.Status, rapid.SampledFrom([]uint16{200, 200, 404, 429, 503}).Draw(t, "status"))
	}
	if rapid.Bool().Draw(t, "several inputs") {
		b.Source = []uint32{}
		for range n {
			b.Source = append(b.Source, uint32(rapid.IntRange(0, 3).Draw(t, "source")))
		}
	}
	if rapid.Bool().Draw(t, "late ones") {
		b.Seq = slices.Clone(b.At)
		for i := range n {
			if rapid.IntRange(0, 3).Draw(t, "late") == 0 {
				b.Seq[i] += limit.Time(rapid.IntRange(0, 20).Draw(t, "by"))
			}
		}
	}
	return b
}

// One Group sorts batch after batch of very different sizes: what one leaves behind must not touch the next.
func TestGroupIsAStableSort(t *testing.T) {
	testneeds.Rapid(t, func(t *rapid.T) {
		var g Group
		keys := 0
		for range rapid.IntRange(1, 4).Draw(t, "batches") {
			n := rapid.IntRange(0, 120).Draw(t, "rows")
			keys += rapid.SampledFrom([]int{0, 1, 3, 40, 5000}).Draw(t, "new keys")
			keys = max(keys, 1)
			most := rapid.SampledFrom([]int{1, 2, keys}).Draw(t, "keys that occur")
			b, column := drawBatch(t, n), make([]int32, n)
			for i := range column {
				column[i] = int32(keys - 1 - rapid.IntRange(0, min(most, keys)-1).Draw(t, "key"))
			}
			g.Sort(b, column, keys)
			equalGroup(t, &g, b, stably(b, column))
		}
	})
}

func equalGroup(t *rapid.T, g *Group, b *Batch, want map[int32][]int32) {
	if len(g.Keys) != len(want) || len(g.Ends) != len(want) {
		t.Fatalf("%d keys and %d ends, want %d", len(g.Keys), len(g.Ends), len(want))
	}
	var start int32
	for i, key := range g.Keys {
		rows := g.Rows[start:g.Ends[i]]
		if !slices.Equal(rows, want[key]) {
			t.Fatalf("the timeline of key %d is %v, want %v", key, rows, want[key])
		}
		for j, row := range rows {
			if g.At[int(start)+j] != b.At[row] {
				t.Fatalf("row %d is at %d, want %d", row, g.At[int(start)+j], b.At[row])
			}
		}
		start = g.Ends[i]
	}
	if int(start) != b.Len() || len(g.Rows) != b.Len() || len(g.At) != b.Len() {
		t.Fatalf("%d rows in timelines, %d rows, %d times, want %d", start, len(g.Rows), len(g.At), b.Len())
	}
	if i := slices.IndexFunc(g.next, func(n int32) bool { return n != 0 }); i >= 0 {
		t.Fatalf("next[%d] = %d is left behind", i, g.next[i])
	}
}

// Where most keys occur, they come in the order of their ids.
func TestGroupListsDenseKeysInOrder(t *testing.T) {
	var g Group
	g.Sort(&Batch{At: []limit.Time{1, 2, 3, 4}}, []int32{3, 1, 3, 0}, 4)
	if !slices.Equal(g.Keys, []int32{0, 1, 3}) {
		t.Errorf("keys %v", g.Keys)
	}
}

// A timeline in the worst order is not sorted by insertion to the end: that takes minutes.
func TestGroupSortsTheWorstOrder(t *testing.T) {
	const n = 300_000
	b := new(Batch)
	for i := range n {
		b.At = append(b.At, limit.Time(n-i))
	}
	var g Group
	began := time.Now()
	g.Sort(b, make([]int32, n), 1)
	if !slices.IsSorted(g.At) || g.Rows[0] != n-1 || g.Rows[n-1] != 0 {
		t.Error("not sorted")
	}
	if took := time.Since(began); took > 10*time.Second { // 0.1 s, by insertion 40 s
		t.Errorf("it took %s", took)
	}
}

func TestGroupAllocatesNothing(t *testing.T) {
	b := new(Batch)
	for i := range 10_000 {
		b.At = append(b.At, limit.Time(i-i%7*3))
		b.Source = append(b.Source, uint32(i%2))
		b.Client = append(b.Client, int32(i%100))
	}
	for name, order := range map[string][]limit.Time{"in time": nil, "late": slices.Clone(b.At)} {
		b.Seq = order
		var g Group
		if n := testing.AllocsPerRun(10, func() { g.Sort(b, b.Client, 100) }); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Two inputs that were read block by block, all of it one timeline, with some lines a little late.
func BenchmarkGroupOfTwoInputs(b *testing.B) {
	const rows, block = 1 << 18, 2400
	batch := new(Batch)
	for i := range rows {
		source := i / block % 2
		at := limit.Time(i/(2*block)*block+i%block) * limit.Second / 100
		if i%200 == 0 {
			at -= 2 * limit.Second
		}
		batch.At, batch.Source = append(batch.At, at), append(batch.Source, uint32(source))
	}
	var g Group
	column := make([]int32, rows)
	for b.Loop() {
		g.Sort(batch, column, 1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}
