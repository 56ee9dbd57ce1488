package testneeds

import (
	"flag"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// SeedVariable names the variable from which tests with random input take their seed. Without it, a test that calls Rand
// has the same input each time, and a test that calls Rapid has other input each time.
const SeedVariable = "SHADOW_SEED"

// printing holds the tests that print their seed when they fail.
var printing sync.Map

// seed returns the seed that is asked for, if any, and has a test that fails print it.
func seed(t testing.TB) (seed uint64, given bool) {
	text := os.Getenv(SeedVariable)
	if text == "" {
		return 0, false
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(SeedVariable + "=" + text + " is no seed: a seed is a number from 0 to 2^64-1")
	}
	if t == nil {
		return seed, true
	}
	if _, twice := printing.LoadOrStore(t, true); !twice {
		t.Cleanup(func() {
			printing.Delete(t)
			if t.Failed() {
				t.Logf("seed: %s=%d", SeedVariable, seed)
			}
		})
	}
	return seed, true
}

// Rand returns a generator for a test. The two numbers tell the generators of a test from each other. A seed that is asked
// for changes all of them. A process that a test starts has no test, and passes nil.
func Rand(t testing.TB, a, b uint64) *rand.Rand {
	if seed, given := seed(t); given {
		mix := rand.NewPCG(seed, 0)
		a, b = a^mix.Uint64(), b^mix.Uint64()
	}
	return rand.New(rand.NewPCG(a, b))
}

// AllVariable names the variable by which tests with random input try all their cases, as they do at night.
const AllVariable = "CI_ALL"

// Draws returns how many random cases a test tries: few, or all of them where CI_ALL is set.
func Draws(few, all int) int {
	if os.Getenv(AllVariable) == "" || testing.Short() {
		return few
	}
	return all
}

// setRapid gives rapid, which takes its seed from a flag, the seed that is asked for.
var setRapid sync.Once

// Rapid checks a property of random values.
func Rapid(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	if seed, given := seed(t); given {
		setRapid.Do(func() {
			if err := flag.Set("rapid.seed", strconv.FormatUint(max(1, seed), 10)); err != nil { // 0 has it draw one
				t.Fatal(err)
			}
		})
	}
	rapid.Check(t, property)
}
