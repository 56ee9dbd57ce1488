package suggest

import (
	"slices"
	"testing"

	"shadow/internal/sweep"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

// curveOf is a curve of a window by the clients hit: pairs of a limit and how many browsers it hits.
func curveOf(pairs ...int64) *Curve {
	c := &Curve{Shape: sweep.Shape{Kind: sweep.Window, Per: limit.Minute}}
	for i := 0; i < len(pairs); i += 2 {
		p := Point{Limit: pairs[i], Figures: Figures{Counted: true}}
		p.Hit[who.Person] = pairs[i+1]
		c.Points = append(c.Points, p)
	}
	return c
}

func atMost(n int64) func(*Figures) bool {
	return func(f *Figures) bool { return f.Hit[who.Person] <= n }
}

func TestStrictest(t *testing.T) {
	logged, start, spread := curveOf(1, 9, 4, 5, 8, 1, 20, 0), curveOf(1, 9, 5, 4, 9, 1, 25, 0), curveOf(1, 9, 3, 1, 7, 0)
	for _, c := range []struct {
		curves []*Curve
		may    int64
		want   int64
	}{
		{[]*Curve{logged}, 9, 1},
		{[]*Curve{logged}, 5, 4},
		{[]*Curve{logged}, 4, 8},
		{[]*Curve{logged}, 0, 20},
		{[]*Curve{logged, start, spread}, 1, 9}, // the highest of 8, 9 and 3
		{[]*Curve{logged, spread}, 1, 8},
		{[]*Curve{logged, start, spread}, 0, 25},
	} {
		if n, ok := Strictest(c.curves, atMost(c.may)); !ok || n != c.want {
			t.Errorf("at most %d hit in %d placements: %d, %v; want %d", c.may, len(c.curves), n, ok, c.want)
		}
	}
	for _, none := range [][]*Curve{{curveOf()}, {curveOf(1, 9, 5, 3)}, {logged, curveOf(1, 3)}, nil} {
		if n, ok := Strictest(none, atMost(0)); ok {
			t.Errorf("%d where no limit keeps the promise", n)
		}
	}
}

// Two placements, two parts: the suggestion keeps the promise in all of them, and the rest has no say.
func TestAdviseWithPlacements(t *testing.T) {
	q := Question{Goals: []Goal{{Who: 1 << who.Person, Percent: 90_000_000}}, Target: 1 << who.Program, Scale: Scale{1, 1}}
	first := &Part{
		Last: limit.Day, Clients: who.Groups{who.Person: 20}, Requests: who.Groups{who.Person: 100},
		Placements: [][]Curve{{*curveOf(1, 20, 5, 2, 9, 0)}, {*curveOf(1, 20, 5, 3, 7, 1)}},
	}
	second := &Part{
		Last: limit.Day, Clients: who.Groups{who.Person: 10}, Requests: who.Groups{who.Person: 50},
		Placements: [][]Curve{{*curveOf(1, 10, 4, 0)}, {*curveOf(1, 10, 7, 2, 8, 1)}},
	}
	for _, test := range []struct {
		parts [PartCount]*Part
		want  int64
		proof Proof
	}{
		{[PartCount]*Part{first}, 7, NotTried},
		{[PartCount]*Part{second}, 8, NotTried},
		{[PartCount]*Part{first, second}, 8, NotTried},
		{[PartCount]*Part{first, nil, second}, 7, Fails},
		{[PartCount]*Part{second, nil, first}, 8, Holds},
		{[PartCount]*Part{first, first, second}, 7, Fails},
	} {
		s := &Advise(q, "", test.parts, Loads{}).Suggestions[0]
		if s.Chosen.Limit != test.want || s.Proof != test.proof {
			t.Errorf("chosen %d, %s; want %d, %s", s.Chosen.Limit, s.Proof, test.want, test.proof)
		}
	}
	s := &Advise(q, "", [PartCount]*Part{first, nil, second}, Loads{}).Suggestions[0]
	if s.Chosen.On[First].Hit[who.Person] != 2 || s.Chosen.On[Rest].Hit[who.Person] != 0 {
		t.Errorf("the figures are not those of the log as it is: %v", s.Chosen)
	}
}

// People take their time between pages. Where none loads a second one, nothing shows their pace.
func TestPaceOfPages(t *testing.T) {
	q := Question{Goals: []Goal{{Who: 1 << who.Person, Percent: 90_000_000}}, Target: 1 << who.Program, Scale: Scale{1, 1}}
	curve := *curveOf(1, 0)
	curve.Shape = sweep.Shape{Kind: sweep.Token, Rate: sweep.Rate{Count: 1, Per: limit.Second}}
	part := &Part{Last: limit.Day, Clients: who.Groups{who.Person: 20}, Requests: who.Groups{who.Person: 100}, Placements: [][]Curve{{curve}}}
	for _, c := range []struct {
		gap  limit.Time
		want Why
	}{{0, Found}, {4 * limit.Second, BelowPace}, {8 * limit.Second, Found}} {
		if s := &Advise(q, "", [PartCount]*Part{part}, Loads{Count: 300, P50: 8, Gap: c.gap}).Suggestions[0]; s.Why != c.want {
			t.Errorf("8 requests each %s: %d, want %d", limit.FormatPeriod(c.gap), s.Why, c.want)
		}
	}
}

// Where stamps are coarse, a bucket is not chosen that holds less than comes back in a second: what it refuses is not known.
func TestCoarseStampsWantTheirRate(t *testing.T) {
	q := Question{Goals: []Goal{{Who: 1 << who.Person, Percent: 90_000_000}}, Target: 1 << who.Program, Scale: Scale{1, 1}, Short: true}
	curve := *curveOf(1, 0)
	curve.Shape = sweep.Shape{Kind: sweep.Token, Rate: sweep.Rate{Count: 150, Per: 3 * limit.Second / 2}}
	for _, c := range []struct {
		placements [][]Curve
		want       int64
	}{{[][]Curve{{curve}}, 1}, {[][]Curve{{curve}, {curve}}, 100}} {
		part := &Part{Last: limit.Day, Clients: who.Groups{who.Person: 20}, Requests: who.Groups{who.Person: 100}, Placements: c.placements}
		if s := &Advise(q, "", [PartCount]*Part{part}, Loads{}).Suggestions[0]; s.Chosen.Limit != c.want {
			t.Errorf("%d placements: %d at once, want %d", len(c.placements), s.Chosen.Limit, c.want)
		}
	}
}

func TestRunnersUp(t *testing.T) {
	for _, c := range []struct {
		n             int64
		below, beyond []int64
	}{
		{1, nil, []int64{2, 3, 4}},
		{2, []int64{1}, []int64{3, 4, 5}},
		{4, []int64{3, 2, 1}, []int64{5, 6, 7}},
		{100, []int64{90, 75, 50}, []int64{110, 125, 150}},
	} {
		if got := stricter(c.n); !slices.Equal(got, c.below) {
			t.Errorf("stricter than %d: %v, want %v", c.n, got, c.below)
		}
		if got := looser(c.n); !slices.Equal(got, c.beyond) {
			t.Errorf("looser than %d: %v, want %v", c.n, got, c.beyond)
		}
	}
}

// From 100 hit at 1 to none at 101: at 11 there are 10, far below the line, which passes 90 there; at 51 there are 5 below 50.
func TestKnee(t *testing.T) {
	for _, c := range []struct {
		curve *Curve
		want  int64
	}{
		{curveOf(1, 100, 11, 10, 51, 5, 101, 0), 11},
		{curveOf(1, 100, 11, 10, 51, 5, 101, 0, 400, 0), 11}, // what changes for others beyond is not its end
		{curveOf(1, 4, 2, 3, 3, 2, 4, 1, 5, 0), 0},           // straight
		{curveOf(1, 4, 2, 0), 0},
		{curveOf(1, 0), 0},
		{curveOf(), 0},
		{curveOf(1, 100, 90, 99, 101, 0), 0}, // above the line only
	} {
		if n, ok := c.curve.Knee(1 << who.Person); n != c.want || ok != (c.want > 0) {
			t.Errorf("%v: knee at %d, want %d", c.curve.Points, n, c.want)
		}
	}
}

// A window, and the time in which a bucket refills, must fit into the parts that choose three times.
func TestTooLong(t *testing.T) {
	a := Advice{Parts: [PartCount]*Part{{Last: limit.Minute}, {First: limit.Minute, Last: 3 * limit.Minute}, {Last: limit.Hour}}}
	if !a.fits(limit.Minute) || a.fits(limit.Minute+1) {
		t.Error("a minute fits into three minutes three times, and nothing longer")
	}
	for _, c := range []struct {
		rate  sweep.Rate
		burst int64
		want  limit.Time
	}{
		{sweep.Rate{Count: 6, Per: limit.Hour}, 472, 472 * limit.Hour / 6},
		{sweep.Rate{Count: 100, Per: limit.Second}, 50, limit.Second / 2},
		{sweep.Rate{Count: 1, Per: limit.Never}, 1 << 40, limit.Never},
	} {
		if got := refills(c.rate, c.burst); got != c.want {
			t.Errorf("%d at %s refill in %d, want %d", c.burst, c.rate, got, c.want)
		}
	}
}
