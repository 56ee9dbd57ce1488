package lex

import (
	"slices"
	"testing"

	"shadow/internal/testneeds"
)

// indexEach is the obvious twin of AppendIndex.
func indexEach(marks []uint32, data []byte) []uint32 {
	for i, c := range data {
		if c == '"' || c == '\n' || c == '\\' {
			marks = append(marks, uint32(i))
		}
	}
	return marks
}

func TestIndex(t *testing.T) {
	if !HasIndex {
		t.Skip("not on this processor, or left out of this build")
	}
	rng := testneeds.Rand(t, 7, 8)
	for range 20_000 {
		data := make([]byte, rng.IntN(400))
		dense := rng.IntN(20)
		for i := range data {
			data[i] = byte(rng.Uint32())
			if rng.IntN(20) < dense {
				data[i] = "\"\n\\"[rng.IntN(3)]
			}
		}
		const before = 7 // marks that are there
		room := make([]uint32, before, before+len(data)+IndexRoom)
		if got, want := AppendIndex(room, data), indexEach(room[:before:before], data); !slices.Equal(got, want) {
			t.Fatalf("%q:\n got %d\nwant %d", data, got, want)
		}
	}
}
