package testneeds

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A failing test notes what it prints when it ends.
type failing struct {
	testing.TB
	printed []string
	ends    []func()
}

func (f *failing) Cleanup(end func()) { f.ends = append(f.ends, end) }
func (f *failing) Failed() bool       { return true }
func (f *failing) Logf(format string, args ...any) {
	f.printed = append(f.printed, fmt.Sprintf(format, args...))
}

// draws returns the first numbers of two generators with each seed, and what the tests print.
func draws(t *testing.T, seeds ...string) (first []uint64, printed []string) {
	for _, seed := range seeds {
		t.Setenv(SeedVariable, seed)
		f := &failing{TB: t}
		for i := range uint64(2) {
			first = append(first, Rand(f, 1, i).Uint64())
		}
		for _, end := range f.ends {
			end()
		}
		printed = append(printed, f.printed...)
	}
	return first, printed
}

func TestRand(t *testing.T) {
	first, printed := draws(t, "", "0", "1", "18446744073709551615")
	again, _ := draws(t, "", "0", "1", "18446744073709551615")
	if !slices.Equal(first, again) {
		t.Errorf("the same seeds give %v, then %v", first, again)
	}
	slices.Sort(first)
	if len(slices.Compact(first)) != 8 {
		t.Errorf("eight generators begin with %v", first)
	}
	want := []string{"seed: SHADOW_SEED=0", "seed: SHADOW_SEED=1", "seed: SHADOW_SEED=18446744073709551615"}
	if !slices.Equal(printed, want) {
		t.Errorf("tests that fail print %q, want %q", printed, want)
	}
	defer func() {
		if wrong := fmt.Sprint(recover()); !strings.Contains(wrong, "SHADOW_SEED=one is no seed") {
			t.Error(wrong)
		}
	}()
	draws(t, "one")
}

func TestRapidTakesTheSeed(t *testing.T) {
	t.Setenv(SeedVariable, "7")
	var runs [2][]uint64
	for i := range runs {
		Rapid(t, func(r *rapid.T) { runs[i] = append(runs[i], rapid.Uint64().Draw(r, "n")) })
	}
	if len(runs[0]) == 0 || !slices.Equal(runs[0], runs[1]) {
		t.Errorf("the same seed gives %v, then %v", runs[0], runs[1])
	}
}
