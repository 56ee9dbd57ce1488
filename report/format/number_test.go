package format

import (
	"math"
	"testing"

	"shadow/limit"
)

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -999: "-999", -1000: "-1,000",
		math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := Thousands(n); got != want {
			t.Errorf("thousands(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		part, whole int64
		want        string
	}{
		{0, 0, "0.00"},
		{0, 7, "0.00"},
		{7, 7, "100.00"},
		{1, 3, "33.33"},
		{1, 8, "12.50"},
		{1, 1_000_000, "<0.01"},
		{999_999, 1_000_000, ">99.99"},
		{1, math.MaxInt64, "<0.01"},
	} {
		if got := Percent(PercentOf(c.part, c.whole)); got != c.want {
			t.Errorf("%d of %d: %s %%, want %s %%", c.part, c.whole, got, c.want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.00 kB", 9_994: "9.99 kB", 9_995: "10.0 kB", 99_949: "99.9 kB", 99_950: "100 kB",
		999_499: "999 kB", 999_500: "1.00 MB", 12_345_678_901: "12.3 GB", math.MaxInt64: "9.22 EB",
	} {
		if got := Size(n); got != want {
			t.Errorf("size(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestSpanText(t *testing.T) {
	for d, want := range map[limit.Time]string{
		0: "0 s", 350 * limit.Millisecond: "0.35 s", 59 * limit.Second: "59 s", 59_999_000: "60.00 s",
		250 * limit.Second: "4 min 10 s", 26*limit.Hour + 3*limit.Minute: "1 d 2 h", limit.Hour: "1 h 0 min",
		1500 * limit.Day: "1,500 d 0 h",
	} {
		if got := Span(d); got != want {
			t.Errorf("span(%d) = %s, want %s", d, got, want)
		}
	}
}

func TestWaitText(t *testing.T) {
	for d, want := range map[limit.Time]string{
		0: "0.0 ms", 1: "0.0 ms", 5 * limit.Millisecond: "5.0 ms", 9_949: "9.9 ms", 9_950: "10 ms", 999_499: "999 ms", 999_500: "1.00 s",
		limit.Second: "1 s", 1_500_000: "1.50 s", 90 * limit.Minute: "1 h 30 min",
	} {
		if got := Wait(InSeconds(d)); got != want {
			t.Errorf("wait(%d µs) = %s, want %s", d, got, want)
		}
	}
}
