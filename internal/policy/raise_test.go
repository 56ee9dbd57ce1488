package policy

import (
	"strings"
	"testing"

	"shadow/internal/request"
)

// Each algorithm that takes a burst has it raised, each other one its count; what else the limit says stays.
func TestNumberOfEveryAlgorithm(t *testing.T) {
	for _, a := range Algorithms {
		if _, has := bursts[a.Name]; has != strings.Contains(a.Options, "burst=N") {
			t.Errorf("%s: has a burst: %v, its options are %s", a.Name, has, a.Options)
		}
		policies, err := ParseLimits([]string{a.Example}, request.ByClientAction)
		if err != nil {
			t.Fatal(err)
		}
		part := policies[0].Parts[0]
		part.Match, part.MatchText = 3, "login"
		name, is := part.Number()
		same, err := part.WithNumber(is)
		if err != nil {
			t.Fatal(err)
		}
		more, err := part.WithNumber(is + 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, n := same.Number(); n != is || same.Match != 3 || same.By != request.ByClientAction || same.MatchText != "login" {
			t.Errorf("%s with %d is %s", part, is, same)
		}
		if newName, n := more.Number(); n != is+1 || newName != name {
			t.Errorf("%s with %d is %s", part, is+1, more)
		}
		if name == "burst" && (more.Spec.Count != part.Spec.Count || more.Spec.Period != part.Spec.Period) {
			t.Errorf("%s with %d is %s: another rate", part, is+1, more)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"token:6/30s": "token:6/30s,burst=9",
		"token:6/30s,burst=7,cooldown=30s,debt=4":  "token:6/30s,burst=9,cooldown=30s,debt=4",
		"nginx:10r/s,nodelay":                      "nginx:10r/s,burst=9,nodelay",
		"window:100/1h,charge=all,cooldown=1m":     "window:9/1h,charge=all,cooldown=1m",
		"leaky:6/30s,drip=5s":                      "leaky:9/30s,drip=5s",
		"token:6/30s,initial=2,cooldown=5m/extend": "token:6/30s,burst=9,cooldown=5m/extend,initial=2",
	} {
		policies, err := ParseLimits([]string{text}, request.ByClient)
		if err != nil {
			t.Fatal(err)
		}
		part, err := policies[0].Parts[0].WithNumber(9)
		if err != nil {
			t.Fatal(err)
		}
		if got := part.Spec.String(); got != want {
			t.Errorf("%s with 9 is %s, want %s", text, got, want)
		}
	}
	policies, err := ParseLimits([]string{"token:6/30s,initial=2"}, request.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := policies[0].Parts[0].WithNumber(1); err == nil {
		t.Error("a bucket of 1 that starts with 2 passes")
	}
}
