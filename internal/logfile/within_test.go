package logfile

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
)

// linesWithin returns the lines of a span of a file.
func linesWithin(t interface{ Fatal(...any) }, path string, span Span) (lines []string) {
	in, err := OpenInput(path, nil)
	if err == nil {
		err = in.Within(span)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var b Block
	for {
		err := in.Next(&b)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(b.Data) {
			lines = append(lines, string(line))
		}
	}
	if in.Problem() != "" {
		t.Fatal(in.Problem())
	}
	return lines
}

// Wherever a file is cut, at a line feed or inside CRLF too, each line is in one span, and all of them come in their order.
func TestWithinCutsAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	testneeds.Rapid(t, func(t *rapid.T) {
		line := rapid.OneOf(rapid.StringMatching(`[a-z]{0,9}\r?`), rapid.SampledFrom([]string{"", "\r", "\ufeff", strings.Repeat("x", 70_000)}))
		content := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), "\n") + rapid.SampledFrom([]string{"", "\n", "\r\n"}).Draw(t, "end")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		size := int64(len(content))
		cuts := append(rapid.SliceOfN(rapid.Int64Range(0, size), 0, 6).Draw(t, "cuts"), 0, size)
		slices.Sort(cuts)
		var got []string
		for i := range cuts[1:] {
			got = append(got, linesWithin(t, path, Span{cuts[i], cuts[i+1]})...)
		}
		if want := linesWithin(t, path, Span{0, size}); !slices.Equal(got, want) {
			t.Fatalf("cut at %v, %q comes as %q", cuts, want, got)
		}
	})
}

// A line belongs to the span of its first byte.
func TestWithinTakesWhoBegins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("aa\r\nbb\r\ncc"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		span Span
		want string
	}{
		{Span{0, 1}, "aa\r\n"},
		{Span{0, 3}, "aa\r\n"},
		{Span{0, 4}, "aa\r\n"},
		{Span{0, 5}, "aa\r\nbb\r\n"},
		{Span{3, 4}, ""},
		{Span{4, 5}, "bb\r\n"},
		{Span{5, 9}, "cc"},
		{Span{9, 10}, ""},
		{Span{7, 7}, ""},
	} {
		if got := strings.Join(linesWithin(t, path, c.span), ""); got != c.want {
			t.Errorf("%v: %q, want %q", c.span, got, c.want)
		}
	}
}
