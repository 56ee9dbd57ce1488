package calibrate

import (
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
)

// A limit that counts in milliseconds decides otherwise in whole seconds on many requests of a busy client, and yet on few second
// by second. Of a limit at half or twice the rate that is not so.
func TestWholeSecondsDoNotDenyTheLimit(t *testing.T) {
	rng := testneeds.Rand(t, 29, 1)
	exact := timeline{}
	for at := limit.Time(0); len(exact.at) < 3000; at += limit.Time(rng.ExpFloat64()*500) * limit.Millisecond {
		exact.at = append(exact.at, at)
	}
	server, err := newJudge("nginx:60r/m,burst=30,nodelay", false)
	if err != nil {
		t.Fatal(err)
	}
	r := &Requests{Keys: [][]int32{make([]int32, 3000)}, Verdict: append([]Verdict(nil), server.judge(&exact)...)}
	for _, at := range exact.at {
		r.At = append(r.At, at-at%limit.Second)
	}
	r.Spread()
	for text, same := range map[string]bool{
		"nginx:60r/m,burst=30,nodelay": true, "nginx:30r/m,burst=30,nodelay": false, "nginx:120r/m,burst=30,nodelay": false, "nginx:60r/m,burst=900,nodelay": false,
	} {
		f := r.Judge(r.Keys[0], nil, []string{text}, Options{Whole: true})
		if got := 5*f.Best.WrongBySecond < f.Refused; got != same || same && 2*f.Best.Wrong < f.Refused {
			t.Errorf("%s: of %d refusals %d are wrong, %d second by second", text, f.Refused, f.Best.Wrong, f.Best.WrongBySecond)
		}
	}
}

// One refusal too many makes up for one too few in the second beside it, and nowhere else.
func TestWrongBySecond(t *testing.T) {
	for _, want := range []struct {
		seconds         []limit.Time
		server, byLimit string
		wrong           int64
	}{
		{[]limit.Time{1, 1, 2, 2}, "x.x.", ".x.x", 0},
		{[]limit.Time{1, 2, 3, 4}, "x.x.", ".x.x", 0},
		{[]limit.Time{1, 3}, "x.", ".x", 2},
		{[]limit.Time{1, 2, 2}, "x..", ".xx", 1},
		{[]limit.Time{1, 2, 3}, ".x.", "x.x", 1},
		{[]limit.Time{1, 2}, "..", "xx", 2},
	} {
		verdicts := func(text string) (all []Verdict) {
			for _, c := range text {
				all = append(all, map[rune]Verdict{'x': Refused}[c])
			}
			return all
		}
		tl := timeline{verdict: verdicts(want.server)}
		for _, at := range want.seconds {
			tl.at = append(tl.at, at*limit.Second)
		}
		if got := wrongBySecond(&tl, verdicts(want.byLimit)); got != want.wrong {
			t.Errorf("%v: %s, and by the limit %s: %d are wrong, want %d", want.seconds, want.server, want.byLimit, got, want.wrong)
		}
	}
}
