package parse

import (
	"slices"
	"testing"
	"time"

	"shadow/internal/testneeds"
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

// The zone is that of the stamp that counts, not of another one in the line.
func TestZoneOfLines(t *testing.T) {
	f, err := Compile(`$time_iso8601 $remote_addr [$time_local] $status`, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	l := f.BehindSyslog().NewLines()
	for _, text := range []string{
		"2026-03-12T10:00:00+02:00 192.0.2.7 [12/Mar/2026:09:00:00 +0100] 200\n",
		"2026-03-12T10:00:01+02:00 192.0.2.7 [12/Mar/2026:09:00:01 +0100] 200\n",
		"2026-03-12T10:00:02+02:00 192.0.2.7 [12/Mar/2026:09:00:02 -0330] no\n",
		"2026-03-12T11:00:03+02:00 192.0.2.7 [12/Mar/2026:10:00:03 +0100] 200\n",
		"2026-03-12T11:00:04+02:00 192.0.2.7 [12/Mar/2026:10:00:04 -0330] 200\n",
	} {
		var r Record
		l.Begin([]byte(text))
		if _, fault := l.Next(&r); fault.OK() {
			got = append(got, l.Zone().String())
		}
	}
	if want := []string{"+0200", "+0200", "+0200", "+0200"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
