package sweep

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/window"
)

// drawTimes draws the times of one key: bursts, pauses about as long as the window, and steps back.
func drawTimes(t *rapid.T, length limit.Time) (at []limit.Time) {
	now := limit.Time(rapid.SampledFrom([]int{-3600, 0, 1_800_000_000}).Draw(t, "start")) * limit.Second
	steps := []limit.Time{0, 0, 0, 0, 0, 1, length / 7, length / 2, length - 1, length, length + 1, 3 * length, -1, -length / 2}
	for range rapid.IntRange(1, 400).Draw(t, "requests") {
		now += rapid.SampledFrom(steps).Draw(t, "step")
		at = append(at, now)
	}
	return at
}

// cut hands times over in segments of random length.
func cut(t *rapid.T, at []limit.Time, hand func([]limit.Time)) {
	for len(at) > 0 {
		n := rapid.IntRange(1, len(at)).Draw(t, "segment")
		hand(at[:n])
		at = at[n:]
	}
}

// slowNeeds gives each request the lowest slot that no request of the last while has, by looking at all of them.
func slowNeeds(at []limit.Time, length limit.Time) (admitted, all []uint32) {
	var times []limit.Time
	var last limit.Time
	for i, t := range at {
		if last = max(last, t); i == 0 {
			last = t
		}
		var taken []uint32
		inside := uint32(1)
		for j, before := range times {
			if last-before < length {
				taken = append(taken, admitted[j]-1)
				inside++
			}
		}
		slot := uint32(0)
		for slices.Contains(taken, slot) {
			slot++
		}
		times, admitted, all = append(times, last), append(admitted, slot+1), append(all, inside)
	}
	return admitted, all
}

// needsOf has the quick twin find the same.
func needsOf(t *rapid.T, w *rolling, key int32, at []limit.Time) (admitted, all []uint32) {
	cut(t, at, func(segment []limit.Time) {
		a, b := make([]uint32, len(segment)), make([]uint32, len(segment))
		w.need(w.keys.At(key), segment, a, b)
		admitted, all = append(admitted, a...), append(all, b...)
	})
	return admitted, all
}

func TestRollingAgainstSlowTwin(t *testing.T) {
	testneeds.Rapid(t, func(rt *rapid.T) {
		length := rapid.SampledFrom([]limit.Time{1, 7, 10 * limit.Second, limit.Day}).Draw(rt, "length")
		w := &rolling{span: span{length: uint64(length)}}
		w.keys.Grow(3)
		for key := range int32(3) { // which share arena and overflow
			at := drawTimes(rt, length)
			admitted, all := needsOf(rt, w, key, at)
			wantAdmitted, wantAll := slowNeeds(at, length)
			if !slices.Equal(admitted, wantAdmitted) || !slices.Equal(all, wantAll) {
				rt.Fatalf("at %v\nneed %v, %v\nwant %v, %v", at, admitted, all, wantAdmitted, wantAll)
			}
			if rapid.Bool().Draw(rt, "forget") {
				w.release(key)
			}
		}
	})
}

// What a limit admits a higher one admits as well, and each limit admits just the requests that need no more than it.
func TestNeedsAreNested(t *testing.T) {
	testneeds.Rapid(t, func(rt *rapid.T) {
		const length = 10 * limit.Second
		at := drawTimes(rt, length)
		w := &rolling{span: span{length: uint64(length)}}
		w.keys.Grow(1)
		admitted, all := needsOf(rt, w, 0, at)
		f := &fixed{length: length, needs: new(dense)}
		f.grow(1, 1)
		var places []uint32
		cut(rt, at, func(times []limit.Time) {
			f.judge(&segment{rows: make([]int32, len(times)), at: times, clients: []int32{0}})
			places = append(places, f.needed...)
		})
		n := int64(rapid.IntRange(1, 100).Draw(rt, "limit"))
		for name, needed := range map[string][]uint32{"window": admitted, "window,charge=all": all, "fixed": places} {
			if got, want := refusedBy(t, name, n, length, at), above(needed, n); !slices.Equal(got, want) {
				rt.Fatalf("%s of %d at %v refuses %v, want %v", name, n, at, got, want)
			}
		}
	})
}

// The busiest window has as many requests as the request of a key that needs most, on a grid and off it.
func TestBusiestAgainstRolling(t *testing.T) {
	testneeds.Rapid(t, func(rt *rapid.T) {
		length := rapid.SampledFrom([]limit.Time{1, 7, 10 * limit.Second, limit.Day}).Draw(rt, "length")
		over := span{length: uint64(length)}
		if rapid.Bool().Draw(rt, "grid") {
			over = span{cell: length, slack: uint64(rapid.SampledFrom([]limit.Time{0, 1, limit.Second}).Draw(rt, "slack"))}
		}
		slow := &rolling{span: over, admitted: new(dense)}
		slow.grow(1, 1)
		most := 0
		for range rapid.IntRange(1, 4).Draw(rt, "lives") {
			at, latest := drawTimes(rt, length), uint64(0)
			slow.judge(&segment{rows: make([]int32, len(at)), at: at, clients: []int32{0}})
			slow.release(0)
			var times []uint64
			for _, t := range at {
				latest = max(latest, ordinal(t))
				times = append(times, latest)
			}
			most = over.busiest(most, times)
			if want := slow.admitted.most(0); most != int(want) {
				rt.Fatalf("at %v it needs %d, want %d", at, most, want)
			}
		}
	})
}

func refusedBy(t *testing.T, name string, n int64, length limit.Time, at []limit.Time) []int32 {
	build, options := window.New, ""
	if name == "fixed" {
		build = window.NewFixed
	}
	if name == "window,charge=all" {
		options = "charge=all"
	}
	l, err := build(limit.Spec{Algorithm: "window", Count: n, Period: length, Options: options})
	if err != nil {
		t.Fatal(err)
	}
	var s limit.State
	return l.Refuse(nil, &s, at)
}

// above are the indices of the requests that need more than n.
func above(needed []uint32, n int64) (indices []int32) {
	for i, need := range needed {
		if int64(need) > n {
			indices = append(indices, int32(i))
		}
	}
	return indices
}

// Slots beyond the first words, taken and freed in any order.
func TestSlotsAgainstSlowTwin(t *testing.T) {
	testneeds.Rapid(t, func(rt *rapid.T) {
		var s slots
		var taken []bool
		n := 0
		for range rapid.IntRange(1, 8).Draw(rt, "rounds") {
			lowest := 0
			for range rapid.SampledFrom([]int{1, 63, 64, 65, 5000}).Draw(rt, "take") {
				for lowest < len(taken) && taken[lowest] {
					lowest++
				}
				if lowest == len(taken) {
					taken = append(taken, false)
				}
				if slot := s.take(); int(slot) != lowest {
					rt.Fatalf("lent %d, the lowest free slot is %d", slot, lowest)
				}
				taken[lowest] = true
				n++
			}
			step := rapid.IntRange(1, 5000).Draw(rt, "free every so many")
			for slot := rapid.IntRange(0, 100).Draw(rt, "from"); slot < len(taken); slot += step {
				if taken[slot] {
					s.give(uint32(slot))
					taken[slot] = false
					n--
				}
			}
			if s.taken != n {
				rt.Fatalf("%d taken, want %d", s.taken, n)
			}
		}
	})
}

// Every class has room for what it is chosen for, and the class below has not.
func TestClasses(t *testing.T) {
	for n := 1; n < 5000; n++ {
		class := classFor(n)
		if roomOf(class) < n || class > 0 && roomOf(class-1) >= n {
			t.Fatalf("%d elements: class %d has room for %d", n, class, roomOf(class))
		}
	}
}

// Blocks do not overlap.
func TestArena(t *testing.T) {
	testneeds.Rapid(t, func(rt *rapid.T) {
		var a arena[uint32]
		type block struct {
			class  uint8
			number uint32
		}
		lent := map[block]uint32{}
		for mark := range uint32(200) {
			b := block{class: uint8(rapid.IntRange(0, 24).Draw(rt, "class"))}
			b.number = a.take(b.class)
			if _, twice := lent[b]; twice {
				rt.Fatalf("block %v is lent twice", b)
			}
			lent[b] = mark
			for i := range a.at(b.class, b.number) {
				a.at(b.class, b.number)[i] = mark
			}
			for b := range lent {
				if rapid.IntRange(0, 9).Draw(rt, "give back") == 0 {
					a.give(b.class, b.number)
					delete(lent, b)
				}
				break
			}
		}
		for b, mark := range lent {
			elements := a.at(b.class, b.number)
			if len(elements) != roomOf(b.class) || slices.Min(elements) != mark || slices.Max(elements) != mark {
				rt.Fatalf("block %v holds %v, want %d", b, elements, mark)
			}
		}
	})
}
