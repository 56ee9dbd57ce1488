package sweep

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// A share of the clients is left alone by the first limit that hits no more than the others.
func TestSparing(t *testing.T) {
	window := new(Curve) // limit n hits 1001 − n browsers of 1000
	for n := range int64(1001) {
		p := Point{Limit: n + 1}
		p.Hit[request.Browser] = 1000 - n
		window.Points = append(window.Points, p)
	}
	for thousandths, want := range map[int64]int64{500: 501, 900: 901, 990: 991, 999: 1000, 1000: 1001} {
		if p := window.Protecting(1000, thousandths, (*Point).HitBrowsers); p == nil || p.Limit != want {
			t.Errorf("%d ‰: %v, want the limit %d", thousandths, p, want)
		}
		if p := window.Protecting(3, thousandths, (*Point).HitAny); p == nil || p.Limit != 1001-(3-(3*thousandths+999)/1000) {
			t.Errorf("%d ‰ of 3: %v", thousandths, p)
		}
	}
	if p := new(Curve).Protecting(1000, 500, (*Point).HitAny); p != nil {
		t.Errorf("no curve, and yet %v", p)
	}
}

// A larger bucket refuses no more than a smaller one, though it may refuse other requests: Within goes by that.
func TestLargerBucketsRefuseNoMore(t *testing.T) {
	rates := []Rate{{1, 10 * limit.Second}, {7, 30 * limit.Second}, {1, 333}, {100, limit.Second}, {5, limit.Day}}
	testneeds.Rapid(t, func(rt *rapid.T) {
		rate := rapid.SampledFrom(rates).Draw(rt, "rate")
		at := drawTimes(rt, rapid.SampledFrom([]limit.Time{7, limit.Second, 10 * limit.Second, limit.Hour}).Draw(rt, "length"))
		burst := rapid.Int64Range(1, 20).Draw(rt, "burst")
		if x, y := refusedOf(t, rate, burst, at), refusedOf(t, rate, burst+1, at); y > x {
			rt.Fatalf("%s at %v: a burst of %d refuses %d, one of %d %d", rate, at, burst, x, burst+1, y)
		}
	})
}

func TestWithin(t *testing.T) {
	c := Curve{Points: []Point{{Limit: 1}, {Limit: 2, Counted: true, Refused: Classes{9}}, {Limit: 3}, {Limit: 5, Counted: true, Refused: Classes{4}}, {Limit: 6}}}
	for n, want := range map[int64][2]int64{1: {9, -1}, 2: {9, 9}, 3: {4, 9}, 5: {4, 4}, 6: {0, 4}} {
		if least, most := c.Within(&Point{Limit: n}); least != want[0] || most != want[1] {
			t.Errorf("%d: %d to %d, want %d to %d", n, least, most, want[0], want[1])
		}
	}
}

// A second look is at the rates of which some burst is not counted yet, and at nothing else.
func TestAgain(t *testing.T) {
	open, done := Rate{1, limit.Second}, Rate{1, limit.Minute}
	r := Result{Curves: []Curve{
		{Shape: Shape{Kind: Token, Rate: open}, Points: []Point{{Limit: 4}}},
		{Shape: Shape{Kind: Token, Rate: done}, Points: []Point{{Limit: 7, Counted: true}}},
	}}
	o := r.Again(Options{Kinds: []Kind{Window, Token}, Rates: []Rate{open, done}, Bursts: []int64{9}})
	if !slices.Equal(o.Rates, []Rate{open}) || !slices.Equal(o.BurstsOf[open], []int64{4}) || len(o.BurstsOf) != 1 || len(o.Bursts) > 0 ||
		!slices.Equal(o.Kinds, []Kind{Token}) {
		t.Errorf("%+v", o)
	}
}

// A second look at other requests adds nothing.
func TestAddOfOtherRequests(t *testing.T) {
	r := Result{Judged: 3, Curves: []Curve{{Points: []Point{{Limit: 1}}}}}
	if r.Add(&Result{Judged: 4, Curves: []Curve{{Points: []Point{{Limit: 1, Counted: true}}}}}) || r.Curves[0].Points[0].Counted {
		t.Error("added")
	}
}
