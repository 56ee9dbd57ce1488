package intern

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
)

func TestDictBehavesLikeAMap(t *testing.T) {
	name := rapid.OneOf(
		rapid.StringMatching(`[ab]{0,3}`),
		rapid.StringMatching(`[a-c]{13,18}`),
		rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat("x", rapid.IntRange(MaxName-2, MaxName+2).Draw(t, "length")) + rapid.StringMatching(`[ab]?`).Draw(t, "end")
		}),
		rapid.String(),
	)
	testneeds.Rapid(t, func(t *rapid.T) {
		d, want := NewDict(), map[string]int32{}
		for _, n := range rapid.SliceOfN(name, 0, 60).Draw(t, "names") {
			id, known := want[n]
			if got, ok := d.Find([]byte(n)); ok != known || ok && got != id {
				t.Fatalf("Find(%q) = %d, %v; want %d, %v", n, got, ok, id, known)
			}
			if !known {
				id = int32(len(want))
				want[n] = id
			}
			if got := d.ID([]byte(n)); got != id {
				t.Fatalf("ID(%q) = %d, want %d", n, got, id)
			}
			if got := d.Name(id); len(n) <= MaxName && got != n {
				t.Fatalf("Name(ID(%q)) = %q", n, got)
			}
		}
		if d.Len() != len(want) {
			t.Fatalf("Len() = %d, want %d", d.Len(), len(want))
		}
	})
}

// Names of one hash are rare; so the hash is made up here.
func TestDictTellsNamesOfOneHashApart(t *testing.T) {
	d := NewDict()
	names := []string{"", "a", "ab", "abc", "\x00", "a\x00", "exactly-15-byte", "exactly-16-bytes", "exactly-16-bytez", "exactly-16-bytes-and-more"}
	for _, h := range []uint64{0, 1<<64 - 1} { // at the first slot, and around the end
		first := d.Len()
		for i, n := range names {
			if got := d.insert(h, []byte(n)); int(got) != first+i {
				t.Errorf("%q has id %d, want %d", n, got, first+i)
			}
		}
		for i, n := range names {
			if got, ok := d.view.Load().find(h, []byte(n)); !ok || int(got) != first+i {
				t.Errorf("%q is found as %d, %v; want %d", n, got, ok, first+i)
			}
		}
	}
}

func TestDictGrows(t *testing.T) {
	const n = 100_000
	d := NewDict()
	name := func(i int) []byte { return fmt.Appendf(nil, "%d.%d.a-longer-one", i, i%7)[:5+i%14] }
	want := map[string]int32{}
	for i := range n {
		b := name(i)
		if _, ok := want[string(b)]; !ok {
			want[string(b)] = int32(len(want))
		}
		d.ID(b)
		clear(b) // the dictionary must not have kept it
	}
	for s, id := range want {
		if got := d.ID([]byte(s)); got != id || d.Name(id) != s {
			t.Fatalf("ID(%q) = %d, Name = %q; want %d", s, got, d.Name(id), id)
		}
	}
}

func TestDictKeepsLongNamesApart(t *testing.T) {
	d := NewDict()
	long := strings.Repeat("a", 100_000)
	x, y := d.ID([]byte(long+"x")), d.ID([]byte(long+"y"))
	if x == y {
		t.Error("two long names share an id")
	}
	if got := d.Name(x); len(got) != MaxName+1 || !strings.HasPrefix(got, long[:keptOfLong]+markOfLong) {
		t.Errorf("Name = %q, of %d bytes", got, len(got))
	}
	if z := d.ID([]byte(d.Name(x))); z == y || z == x && len(d.Name(x)) <= MaxName {
		t.Error("a name that looks shortened is taken for the long one")
	}
}

func TestDictThatIsFull(t *testing.T) {
	d := &Dict{most: 3}
	var got []int32
	for _, n := range strings.Fields("a b c d a c b") {
		got = append(got, d.ID([]byte(n)))
	}
	if want := []int32{0, 1, 2, 2, 0, 2, 1}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("ids are %v, want %v", got, want)
	}
	if d.Len() != 3 || d.Name(2) != furtherName {
		t.Errorf("Len() = %d, last name %q", d.Len(), d.Name(2))
	}
}

func TestDictFromManyGoroutines(t *testing.T) {
	const workers, names = 4, 6007 // a prime, beyond a chunk and several doublings
	d := NewDict()
	ids := make([][names]int32, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range names {
				k := (i*(2*w+1) + w) % names // each in an order of its own
				name := fmt.Appendf(nil, "client number %d", k)
				if k%2 == 0 {
					name = name[7:]
				}
				ids[w][k] = d.ID(name)
				if got := d.Name(ids[w][k]); got != string(name) {
					t.Errorf("Name(ID(%q)) = %q", name, got)
					return
				}
			}
		})
	}
	wg.Wait()
	if d.Len() != names {
		t.Errorf("Len() = %d, want %d", d.Len(), names)
	}
	for w := range workers {
		if ids[w] != ids[0] {
			t.Errorf("goroutine %d was told other ids than goroutine 0", w)
		}
	}
}

// An IPv4 client may cost 45 bytes, also right after the slots were doubled.
func TestDictIsSmall(t *testing.T) {
	const n = 1<<18/4*3 + 1
	d := NewDict()
	for i := range n {
		d.ID(fmt.Appendf(nil, "%d.%d.%d.%d", 100+i>>18, 100+i>>12&63, 100+i>>6&63, 100+i&63))
	}
	v := d.view.Load()
	bytes := 8*len(v.slots) + len(v.entries)*chunkNames*(1+inlineName) + len(v.blocks)*blockBytes
	if got := float64(bytes) / float64(d.Len()); got > 45 || d.Len() < n {
		t.Errorf("%.1f bytes per name, of %d names", got, d.Len())
	}
}

func TestDictDoesNotAllocate(t *testing.T) {
	d := NewDict()
	names := [][]byte{[]byte("203.0.113.7"), []byte("2001:db8:0:1:2:3:4:5"), []byte(strings.Repeat("long", 200)), {}}
	allocs := testing.AllocsPerRun(100, func() {
		for _, n := range names {
			d.ID(n)
			d.Find(n)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkDict(b *testing.B) {
	for _, n := range []int{300, 50_000, 2_000_000} {
		names := make([][]byte, n)
		d := NewDict()
		for i := range names {
			names[i] = fmt.Appendf(nil, "%d.%d.%d.%d", 1+i%200, i>>16&255, i>>8&255, i&255)
			d.ID(names[i])
		}
		// In a scattered order, out of a buffer that is itself warm: what is measured are the dictionary's misses.
		tile := make([][]byte, 4096)
		for i := range tile {
			tile[i] = names[i*7919%n]
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for i := range b.N {
				d.ID(tile[i%len(tile)])
			}
		})
	}
}

// A view that is out of date denies the names that came after it, also those that begin a chunk of their own.
func TestViewOutOfDate(t *testing.T) {
	d := NewDict()
	name := func(i int) []byte { return fmt.Appendf(nil, "%d", i) }
	for i := range chunkNames {
		d.ID(name(i))
	}
	old := d.view.Load()
	young := d.ID(name(chunkNames))
	if old.has(young, name(chunkNames)) || !d.view.Load().has(young, name(chunkNames)) {
		t.Error("a view has a name that is younger, or has not its own")
	}
	if last := int32(chunkNames - 1); !old.has(last, name(chunkNames-1)) {
		t.Error("the last name of a full chunk is denied")
	}
}
