package policy_test

import (
	"testing"

	"shadow/policy"
	"shadow/request"
)

// Buckets that nginx has are told as its own limits; those whose rate it rounds too far, windows and combinations are
// not.
func TestNginxOf(t *testing.T) {
	for text, want := range map[string]string{
		"token:6/1m,burst=14":        "nginx:6r/m,burst=13,nodelay",
		"token:1/1s,burst=1":         "nginx:1r/s",
		"token:15/1m,burst=10":       "nginx:15r/m,burst=9,nodelay",
		"token:1/1m,burst=5":         "nginx:1r/m,burst=4,nodelay", // 4 % slower
		"token:600/1h,burst=5":       "nginx:10r/m,burst=4,nodelay",
		"leaky:6/30s":                "",
		"token:6/1h,burst=4":         "",
		"token:40/1h,burst=4":        "", // 1r/m is 44 % faster
		"token:6/1m,debt":            "",
		"token:6/1m,initial=2":       "",
		"window:6/1m":                "",
		"fixed:6/1m":                 "",
		"token:6/1m+token:100/1h":    "",
		"token:6/1m,refill=step":     "",
		"nginx:6r/m,burst=3,nodelay": "",
	} {
		policies, err := policy.ParseLimits([]string{text}, request.ByClient)
		if err != nil {
			t.Fatal(err)
		}
		twin, ok := policy.NginxOf(policies[0])
		if got := twin.Limit(); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %v, %s; want %q", text, ok, got, want)
		}
		if !ok {
			continue
		}
		if _, err := policy.ParseLimits([]string{twin.Limit()}, request.ByClient); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
