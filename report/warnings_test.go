package report

import (
	"slices"
	"testing"
)

// Warnings of one kind are one line: the first, the names of some others, and how many there are more.
func TestFoldWarnings(t *testing.T) {
	texts := []string{"1.2.3.4 sent 30 % of all requests"}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		texts = append(texts, name+".gz: ended early: at byte 17", name+".log: fine")
	}
	texts = append(texts, "a.gz: ended early: at byte 18", "b.gz: ended early: at byte 17")
	apart := []string{"p: not /v1/pay", "q: not /v2/pay", "r: not /v3/pay", "s: twice", "s: twice", "s: twice"}
	got := FoldWarnings(append(append(texts, "x: by itself", "y: by itself"), apart...))
	want := []string{
		"1.2.3.4 sent 30 % of all requests", "a.gz: ended early: at byte 17; likewise b.gz, c.gz, d.gz, and 2 more",
		"a.log: fine; likewise b.log, c.log, d.log, and 2 more", "a.gz: ended early: at byte 18",
		"x: by itself", "y: by itself",
	}
	want = append(want, apart...)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
