package logfile

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
)

// drawContent makes lines of all kinds, most of them short, some just around the longest allowed.
func drawContent(t *rapid.T, max int) []byte {
	line := rapid.OneOf(
		rapid.StringMatching(`[a-z]{0,12}\r?`),
		rapid.SampledFrom([]string{"", "\r", "\x00", "\x00\xff\xfe\x80", "naïve", `{"a":1}`}),
		rapid.Map(rapid.IntRange(max-1, max+2), func(n int) string { return strings.Repeat("x", n) }),
		rapid.Map(rapid.IntRange(0, 5*max), func(n int) string { return strings.Repeat("y", n) }),
	)
	content := strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "lines"), "\n")
	return []byte(content + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end"))
}

// A placed line is a line and where it stands.
type placedLine struct {
	text   string
	offset int64
}

// slowLines cuts lines as cutter does, in the obvious way: it has the whole content at hand.
func slowLines(content string, max int) (lines []placedLine) {
	offset := int64(len(content))
	content = string(TrimBeginning([]byte(content)))
	offset -= int64(len(content))
	for _, text := range strings.SplitAfter(content, "\n") {
		if text != "" {
			lines = append(lines, placedLine{cutLine(strings.TrimSuffix(text, "\n"), max), offset})
		}
		offset += int64(len(text))
	}
	return lines
}

func cutLine(text string, max int) string { return text[:min(len(text), max+1)] }

// compareLines reads all of cut and compares it with the content, line by line.
func compareLines(t tb, cut *cutter, content []byte) {
	t.Helper()
	want := slowLines(string(content), cut.max)
	var got []placedLine
	var b Block
	var err error
	for err = cut.next(&b); err == nil; err = cut.next(&b) {
		offset := b.Offset
		if len(b.Data) == 0 || len(b.Data) > cut.max+2 {
			t.Fatalf("a block of %d bytes", len(b.Data))
		}
		for _, text := range strings.SplitAfter(string(b.Data), "\n") {
			if text != "" {
				got = append(got, placedLine{strings.TrimSuffix(text, "\n"), offset})
			}
			offset += int64(len(text))
		}
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("got  %.80v\nwant %.80v", got[i], want[i])
		}
	}
}

// Whatever pieces the stream comes in, the lines are the same.
func TestCutterDoesNotCareHowTheStreamComes(t *testing.T) {
	ways := map[string]func(io.Reader) io.Reader{
		"one byte at a time": iotest.OneByteReader,
		"half of each read":  iotest.HalfReader,
		"end with the data":  iotest.DataErrReader,
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			testneeds.Rapid(t, func(t *rapid.T) {
				max := rapid.IntRange(1, 60).Draw(t, "max")
				content := drawContent(t, max)
				cut := newCutter(way(bytes.NewReader(content)), 0)
				cut.size, cut.max = rapid.IntRange(1, max+1).Draw(t, "size"), max
				compareLines(t, cut, content)
			})
		})
	}
}

func TestCutterHandsOverWhatCameBeforeAnError(t *testing.T) {
	cut := newCutter(iotest.TimeoutReader(iotest.HalfReader(strings.NewReader("one\ntwo"+strings.Repeat("x", blockSize)))), 0)
	var b Block
	if err := cut.next(&b); err != nil || !strings.HasPrefix(string(b.Data), "one\ntwo") {
		t.Errorf("got %.20q, %v", b.Data, err)
	}
	for range 2 {
		if err := cut.next(&b); err != iotest.ErrTimeout {
			t.Errorf("then %v, want %v", err, iotest.ErrTimeout)
		}
	}
}

// endless is a stream of the same line that never ends.
type endless struct {
	line string
	at   int // in line
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		k := copy(p[n:], e.line[e.at:])
		n, e.at = n+k, (e.at+k)%len(e.line)
	}
	return n, nil
}

func TestCutterDoesNotAllocate(t *testing.T) {
	for name, line := range map[string]string{
		"short lines":    strings.Repeat("x", 221) + "\n",
		"too long lines": strings.Repeat("x", MaxLine+5000) + "\n",
	} {
		cut := newCutter(&endless{line: line}, 0)
		var b Block
		for range 10 {
			cut.next(&b)
		}
		if n := testing.AllocsPerRun(20, func() { cut.next(&b) }); n != 0 {
			t.Errorf("%s: %v allocations a block", name, n)
		}
	}
}
