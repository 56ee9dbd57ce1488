package calc

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"shadow/limit"
)

// The moments of patterns, in milliseconds.
func TestMoments(t *testing.T) {
	for _, c := range []struct {
		pattern string
		window  limit.Time
		want    string
	}{
		{"none", limit.Second, ""},
		{"constant:4/s", limit.Second, "0 250 500 750"},
		{"constant:3/s", limit.Second, "0 333.334 666.667"},
		{"constant:1/400ms", limit.Second, "0 400 800"},
		{"constant:0.5/s", limit.Second, "0"},
		{"burst:2@400ms", limit.Second, "0 0 400 400 800 800"},
		{"burst:3@1s", limit.Second, "0 0 0"},
		{"burst:1@500ms", limit.Second, "0 500"},
		{"random:4/s", limit.Second, "23.676 89.111 598.26 715.356"},
	} {
		p, err := ParsePattern(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for m := range p.Moments(c.window, 1) {
			texts = append(texts, fmt.Sprint(float64(m)/float64(limit.Millisecond)))
		}
		if got := strings.Join(texts, " "); got != c.want || p.Requests(c.window) != int64(len(texts)) {
			t.Errorf("%s: %s (%d requests), want %s", c.pattern, got, p.Requests(c.window), c.want)
		}
		if p.String() != c.pattern && c.pattern != "constant:0.5/s" {
			t.Errorf("%s is written %s", c.pattern, p)
		}
	}
}

// Random requests are as many as steady ones, in order and inside the window; a seed means the same each time.
func TestRandomMoments(t *testing.T) {
	p, err := ParsePattern("random:150/s")
	if err != nil {
		t.Fatal(err)
	}
	window := 20 * limit.Second
	first := slices.Collect(p.Moments(window, 7))
	if len(first) != 3000 || !slices.IsSorted(first) || first[0] < 0 || first[2999] >= window {
		t.Errorf("%d requests from %d to %d", len(first), first[0], first[len(first)-1])
	}
	if !slices.Equal(first, slices.Collect(p.Moments(window, 7))) || slices.Equal(first, slices.Collect(p.Moments(window, 8))) {
		t.Error("the seed does not tell the moments")
	}
	early, _ := slices.BinarySearch(first, window/2)
	if early < 1400 || early > 1600 { // about 1500 ± 27
		t.Errorf("%d of 3000 in the first half", early)
	}
}

// A steady client's last request lies in the window, even where moments are rounded up.
func TestMomentsEnd(t *testing.T) {
	for count := range int64(200) {
		p := Pattern{kind: constant, rate: Rate{count + 1, 13}}
		var last limit.Time
		for m := range p.Moments(97, 0) {
			if m < last || m >= 97 {
				t.Fatalf("%s: a request at %d after one at %d", p, m, last)
			}
			last = m
		}
	}
}

func TestRequestsAreCapped(t *testing.T) {
	for _, text := range []string{"constant:9000000000000000000/us", "burst:9000000000000000000@1us"} {
		p, err := ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		if n := p.Requests(limit.Day); n != math.MaxInt64 {
			t.Errorf("%s sends %d", text, n)
		}
	}
}

func TestParsePatternErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                "want one such as none, constant:150/s",
		"steady:1/s":      "want one such as",
		"none:1":          "want one such as",
		"constant":        "want a rate such as",
		"constant:0/s":    "must be more than 0",
		"random:x":        "want a rate such as",
		"burst:5":         "such as burst:500@10s",
		"burst:0@10s":     "such as burst:500@10s",
		"burst:5@ten":     "want a length of time",
		"burst:many@10s":  "such as burst:500@10s",
		"burst:5@0.0001s": "",
	} {
		_, err := ParsePattern(text)
		if want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want it to say %s", text, err, want)
		}
	}
}
