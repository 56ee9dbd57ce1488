package limit

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"shadow/internal/testneeds"
)

func TestStateSize(t *testing.T) {
	if got := unsafe.Sizeof(State{}); got != 32 {
		t.Errorf("a State takes %d bytes, want 32", got)
	}
}

// Blocks of rings are as large as their class says, and classes grow without gaps.
func TestBlocks(t *testing.T) {
	var bytes []int
	for class := range uint32(12) {
		r := takeRing(class)
		if r.Len() != 0 || r.full != capacityOf(class) || len(r.times()) != int(r.full) {
			t.Errorf("class %d: %+v", class, *r)
		}
		bytes = append(bytes, r.Bytes())
		giveRing(r)
	}
	if want := []int{24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024}; !slices.Equal(bytes, want) {
		t.Errorf("blocks of %v bytes, want %v", bytes, want)
	}
	if got := capacityOf(classCount - 2); got <= MaxRing {
		t.Errorf("the last class but one holds %d times", got)
	}
	for n := range uint32(5000) {
		class := classFor(n)
		if capacityOf(class) < n || class > 0 && capacityOf(class-1) >= n {
			t.Fatalf("%d times go into class %d", n, class)
		}
	}
}

// A ring does what a slice of times does.
func TestRing(t *testing.T) {
	for seed := range uint64(300) {
		r := testneeds.Rand(t, seed, 0)
		age := Time(1 + r.IntN(500))
		var s State
		var want []Time // all times ever pushed that have not run out
		now := Time(r.IntN(100)) - 50
		for range 400 {
			now += Time(r.IntN(10))
			for len(want) > 0 && now-want[0] >= age {
				want = want[1:]
			}
			switch r.IntN(20) {
			case 0:
				s.Trim(now, age)
				check(t, seed, &s, want)
				if s.Ring() != nil && s.Ring().Bytes() > 48+64*len(want) {
					t.Fatalf("seed %d: %d times in %d bytes", seed, len(want), s.Ring().Bytes())
				}
			case 1:
				now += Time(r.IntN(int(age)))
			case 2:
				s.Trim(now, age)
				n := r.IntN(s.Ring().Len() + 1)
				if n > 0 {
					s.Ring().Drop(n)
				}
				want = want[n:]
			default:
				s.Push(now, age)
				want = append(want, now)
			}
		}
	}
}

func check(t *testing.T, seed uint64, s *State, want []Time) {
	t.Helper()
	var got []Time
	for i := range s.Ring().Len() {
		got = append(got, s.Ring().Nth(i))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("seed %d: ring %v, want %v", seed, got, want)
	}
}

// A ring that is always as full does not grow, however many times pass through it.
func TestRingDoesNotCreep(t *testing.T) {
	var s State
	for now := range Time(100_000) {
		s.Push(now, 10)
		if got := s.Ring().Bytes(); got > 192 {
			t.Fatalf("10 times inside take %d bytes", got)
		}
	}
}

func TestClone(t *testing.T) {
	s := filled(5)
	c := s.Clone()
	s.Push(100, 1000)
	s.Release()
	if s != (State{}) || c.At != 4 || c.Ring().Len() != 5 || c.Ring().Oldest() != 0 {
		t.Errorf("released %+v, clone %+v", s, c)
	}
}

func filled(n int) (s State) {
	for i := range Time(n) {
		s.At, s.Level, s.Extra = i, 7, -1
		s.Push(i, 1000)
	}
	return s
}

func TestDecodeErrors(t *testing.T) {
	s := filled(5)
	text, _ := s.AppendBinary(nil)
	for n := range text {
		if got, rest, err := DecodeState(text[:n]); err == nil || got != (State{}) || len(rest) != n {
			t.Errorf("the first %d bytes of %d: %+v, %v", n, len(text), got, err)
		}
	}
	for want, text := range map[string][]byte{
		"longer than 64 bits":           bytes.Repeat([]byte{0xff}, 11),
		"a ring of 100 times":           {0, 0, 0, 100, 0, 0},
		"a ring of 9223372036854775807": {0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0},
		"out of range":                  {0, 0, 0, 2, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
	} {
		if got, _, err := DecodeState(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("% x: %+v, %v; want %s", text, got, err, want)
		}
	}
}

func TestEncodeIsCompact(t *testing.T) {
	for n, want := range map[int]int{0: 4, 1: 5, 100: 106} {
		s := filled(n)
		if text, _ := s.AppendBinary(nil); len(text) > want {
			t.Errorf("%d times take %d bytes, want at most %d", n, len(text), want)
		}
	}
}

// What can be decoded can be encoded and decoded again; nothing else happens.
func FuzzDecodeState(f *testing.F) {
	for _, n := range []int{0, 1, 2, 50} {
		s := filled(n)
		text, _ := s.AppendBinary(nil)
		f.Add(text)
	}
	parts := withParts(3)
	text, _ := parts.AppendBinary(nil)
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		s, rest, err := DecodeState(text)
		if err != nil {
			return
		}
		if len(rest) >= len(text) {
			t.Fatal("a State of no bytes")
		}
		once, _ := s.AppendBinary(nil)
		again, rest, err := DecodeState(once)
		if err != nil || len(rest) != 0 {
			t.Fatalf("encoded again: %v, %d bytes left", err, len(rest))
		}
		if twice, _ := again.AppendBinary(nil); !bytes.Equal(once, twice) {
			t.Fatalf("% x encodes as % x", once, twice)
		}
	})
}

// A parked State says until when, keeps what it holds, and can be cloned and encoded as any other.
func TestPark(t *testing.T) {
	for _, times := range []int{0, 1, 6, 7} {
		s := State{At: 5, Level: 7, Extra: 1}
		for i := range times {
			s.Push(Time(i), Hour)
		}
		before, _ := s.AppendBinary(nil)
		s.Park(Minute)
		clone := s.Clone()
		text, _ := s.AppendBinary(nil)
		decoded, _, err := DecodeState(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, parked := range []*State{&s, &clone, &decoded} {
			if until, ok := parked.Parked(); !ok || until != Minute {
				t.Errorf("%d times: parked %v until %d, want until %d", times, ok, until, Minute)
			}
			parked.Unpark()
			text, _ := parked.AppendBinary(nil)
			if _, ok := parked.Parked(); ok || !bytes.Equal(text, before) {
				t.Errorf("%d times: unparked, the State is not what it was", times)
			}
		}
	}
	if _, parked := new(State).Parked(); parked {
		t.Error("a key never seen is parked")
	}
}
