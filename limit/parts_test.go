package limit

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// withParts returns a State with n parts, some of which have a ring.
func withParts(n int) (s State) {
	s.At, s.Level, s.Extra = 9, -3, 1
	for i := range n {
		*s.Part(i) = filled(i % 3 * 5)
	}
	return s
}

// Parts go with their State when that is cloned, encoded and decoded; the clone goes its own way.
func TestParts(t *testing.T) {
	for _, n := range []int{1, 2, 3, MaxParts} {
		s := withParts(n)
		text, _ := s.AppendBinary(nil)
		clone := s.Clone()
		decoded, rest, err := DecodeState(append(text, "rest"...))
		if err != nil || string(rest) != "rest" || decoded.Parts() != n {
			t.Fatalf("%d parts: %d are decoded, left %q: %v", n, decoded.Parts(), rest, err)
		}
		s.Part(0).Push(100, Hour)
		s.Part(n-1).Level++
		for _, other := range []*State{&clone, &decoded} {
			if again, _ := other.AppendBinary(nil); !bytes.Equal(again, text) {
				t.Errorf("%d parts: a copy is % x, want % x", n, again, text)
			}
		}
		if s.Release(); s != (State{}) || s.Parts() != 0 {
			t.Errorf("%d parts: %+v is left", n, s)
		}
		if again, _ := clone.AppendBinary(nil); !bytes.Equal(again, text) {
			t.Errorf("%d parts: releasing the original changes its clone", n)
		}
	}
}

// A list of parts that is used again has zero States in it, and so has one from which some were dropped.
func TestPartsBegin(t *testing.T) {
	for range 20 {
		s := withParts(5)
		s.DropParts(3)
		s.DropParts(4)
		if s.Parts() != 3 || *s.Part(4) != (State{}) || *s.Part(3) != (State{}) || s.Part(2).Ring().Len() != 10 {
			t.Fatalf("%d parts, %+v", s.Parts(), s.Part(4))
		}
		s.Release()
		s.Push(1, Hour) // a ring makes way for parts
		if p := s.Part(1); *p != (State{}) || *s.Part(0) != (State{}) || s.Ring().Len() != 0 {
			t.Fatalf("%+v beside %+v", s.Part(0), p)
		}
		s.Release()
	}
}

// Decoding takes neither parts of parts, nor more than there can be or there are bytes for.
func TestPartsErrors(t *testing.T) {
	head := func(n uint64) []byte { return binary.AppendUvarint([]byte{0, 0, 0}, n) }
	zeros := make([]byte, 4*(MaxParts+1))
	for name, text := range map[string][]byte{
		"none":     append(head(manyParts), zeros...),
		"too many": append(head(manyParts+MaxParts+1), zeros...),
		"short":    append(head(manyParts+2), 0, 0, 0, 0, 0, 0, 0),
		"cut":      append(head(manyParts+1), 0x80, 0x80, 0x80, 0x80),
		"nested":   append(append(head(manyParts+1), head(manyParts+1)...), zeros...),
	} {
		s, _, err := DecodeState(text)
		if err == nil || s != (State{}) || (err == errParts) != (name == "short" || name == "nested") {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	if s, rest, err := DecodeState(append(head(manyParts+MaxParts), zeros...)); err != nil || len(rest) != 4 || s.Parts() != MaxParts {
		t.Errorf("%d parts of zero States: %d left, %v", s.Parts(), len(rest), err)
	}
}
