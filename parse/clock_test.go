package parse

import (
	"testing"
	"time"

	"shadow/testneeds"
)

// A clock that has read other stamps reads each as a new one does.
func TestClockForgetsNothingAndKeepsNothingWrong(t *testing.T) {
	rng := testneeds.Rand(t, 9, 10)
	zone := time.FixedZone("", 5400)
	kept := clock{zone: zone}
	stamps := []string{
		"12/Mar/2026:14:07:31 +0100", "12/Mar/2026:14:59:60 +0100", "12/Mar/2026:14:60:31 +0100", "12/Mar/2026:14:07:31 -0100",
		"12/mar/2026:14:00:00 +0100", "12/Mar/2026:14:07:31.12345", "12/Mar/2026:14:07:31", "31/Feb/2026:14:07:31 +0100",
		"12/Mar/2026:14:07:31 +01:00", "12/Mar/2026:14:07:31 +9900", "\x00\x00/\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0007:31\x00\x00\x00\x00\x00\x00",
		"\x00\x00/\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0007:31\x00\x00\x00\x00\x00\x00",
	}
	for range 200_000 {
		b := []byte(stamps[rng.IntN(len(stamps))])
		for range rng.IntN(3) {
			b[rng.IntN(len(b))] = "0123456789:/ +\x00\xff"[rng.IntN(16)]
		}
		fresh := clock{zone: zone}
		got, n, reason := kept.local(b)
		if want, m, why := fresh.local(b); got != want || n != m || reason != why {
			t.Fatalf("%q: %d %d %q, want %d %d %q", b, got, n, reason, want, m, why)
		}
	}
}
