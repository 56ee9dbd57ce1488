package suggest

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

func TestParsePromise(t *testing.T) {
	for _, c := range []struct {
		text, want string
	}{
		{"browsers=99.9%", "browsers=99.9%"},
		{"browsers=99.9", "browsers=99.9%"},
		{"monitors=100%", "monitors=100%"},
		{"all=0.000001%", "all=0.000001%"},
		{"offices=50.50%", "offices=50.5%"},
		{"browser=99%", `did you mean "browsers"?`},
		{"browsers", "which share"},
		{"browsers=0%", "above 0%"},
		{"browsers=100.1%", "up to 100%"},
		{"browsers=-1%", "above 0%"},
		{"browsers=99.99999999%", "six digits"},
		{"browsers=99.9999999%", "six digits"},
		{"browsers=", "above 0%"},
	} {
		p, err := ParseGoal(c.text)
		got := p.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

// MayHit against rational numbers, for as many clients as there can be.
func TestMayHit(t *testing.T) {
	testneeds.Rapid(t, func(rt *rapid.T) {
		p := Goal{Percent: Percent(rapid.Int64Range(1, int64(whole)).Draw(rt, "share"))}
		n := rapid.Int64Range(0, 1<<31-1).Draw(rt, "clients")
		want := new(big.Int).Mul(big.NewInt(n), big.NewInt(int64(whole-p.Percent)))
		if want.Div(want, big.NewInt(int64(whole))); p.MayHit(n) != want.Int64() {
			rt.Fatalf("%s of %d: %d may be hit, want %s", p.Percent, n, p.MayHit(n), want)
		}
		kept := new(big.Int).Mul(big.NewInt(n), big.NewInt(int64(p.Percent)))
		if kept.Div(kept, big.NewInt(int64(whole))); p.Percent.Of(n) != kept.Int64() {
			rt.Fatalf("%s of %d: %d, want %s", p.Percent, n, p.Percent.Of(n), kept)
		}
	})
}

// Of a few dozen, one may be hit where nothing else is asked for; of fewer, none.
func TestMayHitOneOfFew(t *testing.T) {
	for n, want := range map[int64]int64{0: 0, 9: 0, 10: 1, 62: 1, 99: 1, 100: 1, 199: 1, 200: 2} {
		if got := (Goal{Percent: 99_000_000, OneOf: true}).MayHit(n); got != want {
			t.Errorf("of %d, %d may be hit, want %d", n, got, want)
		}
	}
}

// "takes 3,000 clients"; with 811 of them 1 − 3/811 = 99.63 % can be shown.
func TestSample(t *testing.T) {
	for share, want := range map[Percent]int64{99_900_000: 3000, 99_000_000: 300, 99_990_000: 30_000, 66_600_000: 9, whole: 0} {
		if n := (Goal{Percent: share}).Sample(); n != want {
			t.Errorf("%s takes %d, want %d", share, n, want)
		}
	}
	for n, want := range map[int64]string{0: "0%", 3: "0%", 4: "25%", 300: "99%", 3000: "99.9%", 811: "99.630086%"} {
		if got := Provable(n).String(); got != want {
			t.Errorf("%d clients show %s, want %s", n, got, want)
		}
	}
	testneeds.Rapid(t, func(rt *rapid.T) { // so many show the share, one less does not
		p := Goal{Percent: Percent(rapid.Int64Range(1, int64(whole)-1).Draw(rt, "share"))}
		if n := p.Sample(); Provable(n) < p.Percent || n > 4 && Provable(n-1) >= p.Percent {
			rt.Fatalf("%s takes %d, which show %s", p.Percent, n, Provable(n))
		}
	})
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		text       string
		of, up     int64
		count, per int64 // of 3/10s; 0: an error
	}{
		{"1", 7, 7, 3, 10},
		{"2", 7, 14, 6, 10},
		{"1.5", 7, 11, 9, 20},
		{"1.0", 7, 7, 3, 10},
		{"0.5", 7, 4, 3, 20},
		{"1000", 1 << 32, 1000 << 32, 3000, 10},
		{"0.01", 7, 1, 3, 1000},
		{"1.2345", 7, 9, 7407, 20000},
		{"0.0099", 0, 0, 0, 0},
		{"1000.1", 0, 0, 0, 0},
		{"0", 0, 0, 0, 0},
		{"0.001", 0, 0, 0, 0},
		{"1001", 0, 0, 0, 0},
		{"-2", 0, 0, 0, 0},
		{"2x", 0, 0, 0, 0},
		{".5", 0, 0, 0, 0},
		{"1.00001", 0, 0, 0, 0},
		{"99999999999", 0, 0, 0, 0},
	} {
		s, err := ParseScale(c.text)
		if err != nil {
			if c.count != 0 {
				t.Errorf("%s: %v", c.text, err)
			}
			continue
		}
		if again, err := ParseScale(s.String()); err != nil || again != s {
			t.Errorf("%s is written %s", c.text, s)
		}
		count, per, ok := s.times(3, 10*limit.Second)
		if s.Up(c.of) != c.up || !ok || count != c.count || per != limit.Time(c.per)*limit.Second {
			t.Errorf("%s: %d becomes %d and 3/10s %d/%d, %v", c.text, c.of, s.Up(c.of), count, per, ok)
		}
	}
	two := Scale{2, 1}
	if _, _, ok := two.times(1<<62, limit.Second); ok {
		t.Error("2⁶³ fits")
	}
	if n, per, ok := two.times(math.MaxInt64/2, limit.Second); !ok || n != math.MaxInt64-1 || per != limit.Second {
		t.Errorf("2⁶³ − 2 is %d, %v", n, ok)
	}
	if _, _, ok := (Scale{1, 2}).times(1, limit.Never); ok {
		t.Error("twice forever fits")
	}
}

func TestParseSet(t *testing.T) {
	for _, word := range who.Words() {
		s, err := who.ParseSet(word)
		if err != nil || s.String() != word {
			t.Errorf("%s: %s, %v", word, s, err)
		}
	}
	if _, err := who.ParseSet("bots"); err == nil {
		t.Error("bots are not told apart")
	}
	if s := who.Everybody &^ (1<<who.Undecided | 1<<who.Monitor); s.String() != "people, offices, programs, disguised, attackers, search, crawlers, own and proxies" {
		t.Errorf("%s", s)
	}
}
