package pipeline

import "testing"

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{
		"1": 1, "512B": 512, "64MiB": 64 << 20, "1GiB": 1 << 30, "1024MiB": 1 << 30, "3KiB": 3 << 10, "1025": 1025, "8589934591GiB": 8589934591 << 30,
	} {
		var s, again Size
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("%s is %d, %v; want %d", text, s, err, want)
		}
		if err := again.Set(s.String()); err != nil || again != s {
			t.Errorf("%s is written as %s, which is %d, %v", text, s.String(), again, err)
		}
	}
	for _, text := range []string{"", "0", "-1MiB", "MiB", "1.5GiB", "1 MiB", "64MB", "64mib", "8589934592GiB", "9223372036854775808"} {
		var s Size
		if err := s.Set(text); err == nil {
			t.Errorf("%q is %d", text, s)
		}
	}
}
