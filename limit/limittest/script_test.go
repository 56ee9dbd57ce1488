package limittest

import (
	"errors"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
)

// A once admits one request of a key, ever.
type once struct{}

func (once) Wait(s *limit.State, _ limit.Time) limit.Time {
	return limit.Time(s.Level) * 1500 * limit.Millisecond
}

func (once) Charge(s *limit.State, _ limit.Time, refused bool) { s.Level = 1 }

func (once) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	s.Level = int64(min(1, len(at))) // and no request refused, which is wrong
	return dst
}

func (once) Horizon() limit.Time { return limit.Never }

func newOnce(s limit.Spec) (limit.Limiter, error) {
	if s.Algorithm != "once" {
		return nil, errors.New("not once")
	}
	return once{}, nil
}

// Rows are set below each other, and time goes on from row to row until the next limit.
func TestPlay(t *testing.T) {
	got, err := play(strings.Join([]string{
		"# a comment", "", "limit once:1/s", "at 0  0.000001 2", "want . . .", "wait", "at 7", "want", "limit once:1/s", "at -1.5 10 10", "want",
	}, "\n"), newOnce)
	want := strings.Join([]string{
		"# a comment", "", "limit once:1/s", "at    0 0.000001 2", "want  . x        x", "wait  0 1.5      1.5", "at    7", "want  x", "limit once:1/s",
		"at    -1.5 10 10", "want  .    x  x",
	}, "\n")
	if err != nil || got != want {
		t.Errorf("got\n%s\n(%v), want\n%s", got, err, want)
	}
}

// A guess admits one request of a key, or every one.
type guess struct{ once }

type always struct{ once }

func (always) Wait(*limit.State, limit.Time) limit.Time { return 0 }

func (guess) Variants() []limit.Limiter { return []limit.Limiter{once{}, always{}} }

// The variants of an approximation are played beside it, each with a state of its own.
func TestPlayVariants(t *testing.T) {
	build := func(limit.Spec) (limit.Limiter, error) { return guess{}, nil }
	got, err := play("limit once:1/s\nat 0 10 2\nwant\nor 2 x x x  if it always does\nor 1\nat 3\nor 2\nor 1", build)
	want := "limit once:1/s\nat    0 10 2\nwant  . x  x\nor 2  . .  .    if it always does\nor 1  . x  x\nat    3\nor 2  .\nor 1  x"
	if err != nil || got != want {
		t.Errorf("got\n%s\n(%v), want\n%s", got, err, want)
	}
	for _, row := range []string{"or 0", "or 3", "or x"} {
		if _, err := play("limit once:1/s\nat 0\n"+row, build); err == nil || !strings.Contains(err.Error(), "1 to 2") {
			t.Errorf("%s: %v", row, err)
		}
	}
}

// Only blocks that begin with a limit are scripts. What stands in them beside rows, behind a blank, stays as it is.
func TestPlayBlocks(t *testing.T) {
	got, played, err := playBlocks("at 0\n```yaml\nlimit: 6\n```\nat 0\n```\nlimit once:1/s\nat 0 0\nwant x x\n  └ one\n```\nat 0", newOnce)
	want := "at 0\n```yaml\nlimit: 6\n```\nat 0\n```\nlimit once:1/s\nat    0 0\nwant  . x\n  └ one\n```\nat 0"
	if got != want || played != 1 || err != nil {
		t.Errorf("got\n%s\n(%d played, %v), want\n%s", got, played, err, want)
	}
	if _, _, err = playBlocks("a\n```\nlimit once:1/s\nat x\n```", newOnce); err == nil || !strings.HasPrefix(err.Error(), "3: in this block, line 2: ") {
		t.Errorf("a wrong time in a block: %v", err)
	}
}

func TestPlayErrors(t *testing.T) {
	for script, want := range map[string]string{
		"":                           "1: the script has no limit",
		"at 0":                       "1: want a limit first",
		"limit once:1/s\nat x":       `2: time "x": want seconds`,
		"\nlimit nonce:1/s":          "2: not once",
		"limit 1":                    "no period",
		"limit once:1/s\nwaits 3":    "2: unknown line",
		"limit once:1/s 2/s\nat 0 0": "1: want a limit first",
	} {
		if _, err := play(script, newOnce); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want it to say %s", script, err, want)
		}
	}
}

// The suite finds a limiter whose Refuse is not the loop of Wait and Charge, and reports as few requests as will do.
func TestSuiteFinds(t *testing.T) {
	fails := func(at []limit.Time) bool {
		return Suite{}.twins(trial{limiter: once{}, at: at, rand: testneeds.Rand(t, 1, 2)}) != ""
	}
	at := []limit.Time{0, 1, 2, 3}
	if !fails(at) {
		t.Fatal("nothing found")
	}
	if at = shrink(at, fails); len(at) > 2 { // one will do where the random cut leaves an empty piece
		t.Errorf("shrunk to %v, want at most two requests", at)
	}
}
