package replay

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/limit"
)

func TestPercentiles(t *testing.T) {
	for _, test := range []struct {
		delays   []limit.Time
		p50, p99 limit.Time
	}{
		{nil, 0, 0},
		{[]limit.Time{7}, 7, 7},
		{[]limit.Time{7, 9}, 7, 9},
		{[]limit.Time{9, 7, 8}, 8, 9},
		{[]limit.Time{1, 1, 1, 5, 5, 5}, 1, 5},
	} {
		var d delays
		for _, by := range test.delays {
			d.add(by)
		}
		if got := d.percentiles(50, 99); got[0] != test.p50 || got[1] != test.p99 {
			t.Errorf("%v: %v, want %v and %v", test.delays, got, test.p50, test.p99)
		}
	}
}

// Any rank is that of the sorted delays.
func TestPercentilesOfMany(t *testing.T) {
	rng := testneeds.Rand(t, 0, 0)
	var d delays
	var all []limit.Time
	for n := range 1000 {
		by := limit.Time(1 + rng.IntN(200))
		d.add(by)
		all = append(all, by)
		slices.Sort(all)
		for _, percent := range []int64{1, 50, 99, 100} {
			rank := int(math.Ceil(float64(int64(n+1)*percent) / 100))
			if got := d.percentiles(percent)[0]; got != all[rank-1] {
				t.Fatalf("%d %% of %d: %v, want %v", percent, n+1, got, all[rank-1])
			}
		}
	}
}

// More different delays than there is room for are rounded up, by as little as will do; their sum stays exact.
func TestTooManyDelays(t *testing.T) {
	var d delays
	const n = 4*maxDelays + 5
	for i := range limit.Time(n) {
		d.add(i + 1)
	}
	p := d.percentiles(50, 99, 100)
	if d.coarse != 3 || len(d.counts) > maxDelays || d.n != n || d.total != n*(n+1)/2 {
		t.Errorf("steps of 2^%d µs, %d delays, %d requests, %v in all", d.coarse, len(d.counts), d.n, d.total)
	}
	for i, exact := range []limit.Time{(n + 1) / 2, n - n/100, n} {
		if p[i] < exact || p[i] >= exact+8 {
			t.Errorf("%v, want %v rounded up to a multiple of 8", p[i], exact)
		}
	}
	d.add(limit.Never)
	d.add(limit.Never)
	if p := d.percentiles(100); p[0] < limit.Never-8 || d.total != limit.Never {
		t.Errorf("the longest is %v, the sum %v", p[0], d.total)
	}
}

// Delays that are added up differ by as little as those of the parts.
func TestSumOfDelays(t *testing.T) {
	for _, c := range []struct{ most, coarse int }{{maxDelays, 0}, {maxDelays + 1, 1}, {4 * maxDelays, 2}} {
		var part, d delays
		for i := range c.most {
			part.add(limit.Time(i + 1))
		}
		for range 2 {
			var found bytes.Buffer
			to := traffic.NewEncoder(traffic.NewTables(), &found)
			part.carry(traffic.Carrier{To: to})
			if err := to.Flush(); err != nil {
				t.Fatal(err)
			}
			from := traffic.NewDecoder(found.Bytes(), traffic.NewTables(), nil)
			d.carry(traffic.Carrier{From: from})
			if from.End(); from.Err() != nil {
				t.Fatal(from.Err())
			}
		}
		if d.n != 2*part.n || d.total != 2*part.total || !slices.Equal(d.percentiles(1, 50, 99), part.percentiles(1, 50, 99)) {
			t.Errorf("%+v: %d delays of steps of 2^%d: %v", c, d.n, d.coarse, d.percentiles(1, 50, 99))
		}
		if int(d.coarse) != c.coarse || part.coarse != d.coarse {
			t.Errorf("%+v: steps of 2^%d, and 2^%d", c, d.coarse, part.coarse)
		}
	}
}
