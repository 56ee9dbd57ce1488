package sample

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"shadow/request"
	"shadow/testneeds"
	"shadow/traffic"
)

// Known figures of the Chernoff bound: of none in the sample there may be ln(2/miss) weights.
func TestInterval(t *testing.T) {
	for name, c := range map[string]struct {
		sum  Sum
		most Bound
		want Interval
	}{
		"nothing in the sample":   {Sum{}, Bound{Largest: 100, Unseen: 10_000}, Interval{0, 0, 369}},
		"nothing is left":         {Sum{}, Bound{Largest: 100, Unseen: 7}, Interval{0, 0, 7}},
		"all of it is certain":    {Sum{Certain: 12}, Bound{}, Interval{12, 12, 12}},
		"one of ten":              {oneOf(1, 0.1), Bound{Largest: 10, Unseen: 999}, Interval{10, 1, 66}},
		"a hundred times one":     {Sum{Seen: 100, Weighted: 1000}, Bound{Largest: 10, Unseen: 9999}, Interval{1000, 752, 1297}},
		"never below what's seen": {Sum{Certain: 5, Seen: 9, Weighted: 10}, Bound{Largest: 10, Unseen: 1}, Interval{15, 14, 15}},
	} {
		if got := c.sum.Interval(c.most, Miss); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func oneOf(y int64, p float64) (s Sum) {
	s.Add(y, p)
	return s
}

// census is one of clients that sent so many requests.
func census(sizes []int64) *Census {
	c := &Census{Tables: traffic.NewTables()}
	for i := range sizes {
		c.Tables.Clients.ID(fmt.Appendf(nil, "10.%d.%d.%d", i>>16&255, i>>8&255, i&255))
	}
	c.Grow(c.Tables)
	for i, n := range sizes {
		c.Clients.At(int32(i)).ByClass[request.Browser] = n
		c.Requests += n
	}
	return c
}

// However heavy the tail, and whoever is refused: all requests of some clients, or some of all.
func TestCoverage(t *testing.T) {
	const draws, clients = 200, 2000
	rng := testneeds.Rand(t, 1, 2)
	for _, shape := range []float64{0.5, 0.8, 1.2, 3} {
		sizes := make([]int64, clients)
		for i := range sizes {
			sizes[i] = int64(min(1e6, math.Pow(rng.Float64(), -1/shape)))
		}
		c := census(sizes)
		for name, refused := range map[string]func(i int) int64{
			"one in fifty, all of it": func(i int) int64 { return sizes[i] * int64((i%50)/49) },
			"above ten":               func(i int) int64 { return max(0, sizes[i]-10) },
			"all":                     func(i int) int64 { return sizes[i] },
			"the largest":             func(i int) int64 { return max(0, sizes[i]-1000) },
		} {
			var truth, hit, missed, missedHit int64
			for i := range sizes {
				truth += refused(i)
				hit += min(1, refused(i))
			}
			for draw := range draws {
				d := c.Draw(Options{Share: 3, Seed: fmt.Sprint(draw)}, request.Part{})
				var sum, hits Sum
				for i := range sizes {
					if y := refused(i); y > 0 && d.Has(int32(i)) {
						sum.Add(y, d.Probability(int32(i)))
						hits.Add(1, d.Probability(int32(i)))
					}
				}
				requests := func(id int32) int64 { return sizes[id] }
				if r := sum.Interval(d.Bound(requests), Miss); truth < r.Low || truth > r.High {
					missed++
				}
				if r := hits.Interval(d.Bound(func(int32) int64 { return 1 }), Miss); hit < r.Low || hit > r.High {
					missedHit++
				}
			}
			if most := int64(draws * Miss); missed > most || missedHit > most {
				t.Errorf("tail %v, %s: %d of %d miss the requests, %d the clients", shape, name, missed, draws, missedHit)
			}
		}
	}
}

// A sample is as large as was asked for, and the same seed draws the same clients.
func TestDraw(t *testing.T) {
	rng := testneeds.Rand(t, 3, 4)
	sizes := make([]int64, 20_000)
	for i := range sizes {
		sizes[i] = int64(math.Pow(rng.Float64(), -1))
	}
	c := census(sizes)
	for _, share := range []float64{0.1, 1, 10, 50, 99} {
		d, again := c.Draw(Options{Share: share, Seed: "a"}, ByClient), c.Draw(Options{Share: share, Seed: "a"}, ByClient)
		other := c.Draw(Options{Share: share, Seed: "b"}, ByClient)
		var expected, variance float64
		differ := false
		for i := range sizes {
			p := d.Probability(int32(i))
			expected += p
			variance += p * (1 - p)
			differ = differ || d.Has(int32(i)) != other.Has(int32(i))
			if d.Has(int32(i)) != again.Has(int32(i)) {
				t.Fatal("the same seed draws others")
			}
		}
		if want := share / 100 * float64(len(sizes)); math.Abs(expected-want) > 1e-3*want || !differ {
			t.Errorf("%v %%: %v clients are expected, want %v; other seeds draw others: %t", share, expected, want, differ)
		}
		if away := math.Abs(float64(d.Judged) - expected); away > 5*math.Sqrt(variance) {
			t.Errorf("%v %%: %d clients drawn, %v expected", share, d.Judged, expected)
		}
	}
}

func TestUnit(t *testing.T) {
	for text, want := range map[string]string{
		"client": "client", "client client+action": "client", "client/24 client": "client/24", "client/24+action client/24": "client/24",
		"site": "", "client action": "", "user": "", "client/24 client/16": "", "asn": "", "host": "", "field:ja4": "", "client+field:ja4": "client",
	} {
		var keys []request.Key
		for _, word := range strings.Fields(text) {
			k, err := request.ParseKey(word)
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, k)
		}
		unit, err := Unit(keys)
		if err == nil != (want != "") || err == nil && unit.String() != want {
			t.Errorf("%s: %s, %v; want %q", text, unit, err, want)
		}
	}
}
