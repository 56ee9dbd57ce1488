package flagvalue

import (
	"testing"
	"time"
)

func TestSize(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "512B": 512, "64MiB": 64 << 20, "1GiB": 1 << 30, "1024MiB": 1 << 30, "3KiB": 3 << 10, "1025": 1025,
		"8589934591GiB": 8589934591 << 30, "128MB": 128e6, "2GB": 2e9, "5kB": 5e3, "9223372036GB": 9223372036e9,
	} {
		n, err := ParseSize(text)
		if err != nil || n != want {
			t.Errorf("%s is %d, %v; want %d", text, n, err, want)
		}
		if again, err := ParseSize(FormatSize(n)); err != nil || again != n {
			t.Errorf("%s is written as %s, which is %d, %v", text, FormatSize(n), again, err)
		}
	}
	for n, want := range map[int64]string{0: "0", 5: "5B", 64 << 20: "64MiB", 128e6: "128MB", 2e9: "2GB", 1 << 30: "1GiB"} {
		if text := FormatSize(n); text != want {
			t.Errorf("%d is written as %s, want %s", n, text, want)
		}
	}
	for _, text := range []string{
		"", "0", "-1MiB", "MiB", "1.5GiB", "1 MiB", "64M", "64mib", "8589934592GiB", "9223372036854775808",
	} {
		if n, err := ParseSize(text); err == nil {
			t.Errorf("%q is %d", text, n)
		}
	}
}

// A moment without a zone is one of the zone of now, and a note says so.
func TestMoment(t *testing.T) {
	now := time.Date(2026, 11, 19, 12, 30, 0, 0, time.FixedZone("CET", 3600))
	for text, want := range map[string]struct {
		at    string
		noted bool
	}{
		"2026-11-19T08:00:00Z": {"2026-11-19T08:00:00Z", false},
		"2026-11-18":           {"2026-11-17T23:00:00Z", true},
		"2026-11-18 08:00":     {"2026-11-18T07:00:00Z", true},
		"today":                {"2026-11-18T23:00:00Z", true},
		"yesterday":            {"2026-11-17T23:00:00Z", true},
		"now":                  {"2026-11-19T11:30:00Z", false},
		"1d":                   {"2026-11-18T11:30:00Z", false},
	} {
		m, err := ParseMoment(text)
		if at := time.UnixMicro(int64(m.At(now))).UTC().Format(time.RFC3339); err != nil || at != want.at {
			t.Errorf("%s is %s, %v; want %s", text, at, err, want.at)
		}
		if noted := len(m.ZoneNote("since", now)) > 0; noted != want.noted {
			t.Errorf("%s: a note on its zone: %t", text, noted)
		}
	}
	for _, text := range []string{"", "soon", "2026-13-01", "tomorrow", "-1d"} {
		if m, err := ParseMoment(text); err == nil {
			t.Errorf("%q is %q", text, m)
		}
	}
}
