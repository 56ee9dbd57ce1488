package limit

import "testing"

func TestArithmetic(t *testing.T) {
	for _, c := range []struct{ a, b, want int64 }{{6, 30, 6}, {7, 30, 1}, {30, 30, 30}, {1, 1 << 62, 1}} {
		if got := GCD(c.a, c.b); got != c.want {
			t.Errorf("GCD(%d, %d) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
	for _, c := range []struct{ a, b, want int64 }{{6, 3, 2}, {7, 3, 3}, {1, 3, 1}, {1<<63 - 1, 1, 1<<63 - 1}} {
		if got := CeilDiv(c.a, c.b); got != c.want {
			t.Errorf("CeilDiv(%d, %d) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
	for _, c := range []struct{ t, now, wait, want Time }{
		{5, 5, 3, 3}, {2, 5, 3, 6}, {-1 << 63, 0, 1, Never}, {0, 1<<63 - 1, 1, Never}, {0, 1, 1<<63 - 2, Never},
	} {
		if got := WaitFrom(c.t, c.now, c.wait); got != c.want {
			t.Errorf("WaitFrom(%d, %d, %d) = %d, want %d", c.t, c.now, c.wait, got, c.want)
		}
	}
	for text, c := range map[string]struct {
		count  int64
		period Time
	}{"5s": {6, 30 * Second}, "1/3 of 1s": {3, Second}, "1/7 of 10s": {14, 20 * Second}, "100ms": {10, Second}} {
		if got := Interval(c.count, c.period); got != text {
			t.Errorf("one of %d per %v every %q, want %q", c.count, c.period, got, text)
		}
	}
}
