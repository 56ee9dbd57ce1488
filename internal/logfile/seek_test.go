package logfile

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
)

// numberedLine returns a line whose time is the number it begins with. A reader that begins in the middle of it sees
// another time.
func numberedLine(at, length int) string {
	head := fmt.Sprintf("%d", at)
	return head + strings.Repeat(" 1", max(length-len(head)-1, 2)/2) + "\n"
}

func timeOf(line []byte) (at int, known bool) {
	head, rest, found := strings.Cut(string(line), " ")
	if strings.HasSuffix(rest, "\r") {
		return 0, false // as a strict format would
	}
	at, err := strconv.Atoi(head)
	return at, found && err == nil
}

// olderThan returns what a caller of SkipTo passes.
func olderThan(moment int) func([]byte) (older, known bool) {
	return func(line []byte) (bool, bool) {
		at, known := timeOf(line)
		return at < moment, known
	}
}

// countingReaderAt counts the bytes that a seeker reads.
type countingReaderAt struct {
	io.ReaderAt
	bytes int
}

func (r *countingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	r.bytes += n
	return n, err
}

// seekIn returns where reading begins and how many bytes finding that took.
func seekIn(content string, moment int) (start, read int) {
	file := &countingReaderAt{ReaderAt: strings.NewReader(content)}
	s := seeker{file: file, size: int64(len(content)), before: olderThan(moment)}
	return int(s.find()), file.bytes
}

// firstAt returns the offset of the first line that is not older than moment; of none, the end.
func firstAt(content string, moment int) (offset int) {
	for line := range strings.Lines(content) {
		if at, known := timeOf(bytes.TrimRight([]byte(line), "\r\n")); known && at >= moment {
			break
		}
		offset += len(line)
	}
	return offset
}

// numberedLog makes n lines of some length, one per unit of time.
func numberedLog(from, n, length int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(numberedLine(from+i, length))
	}
	return b.String()
}

func TestSkipToFindsTheMoment(t *testing.T) {
	const piece, mega = seekPiece, 1 << 20
	long := numberedLog(1000, 40_000, 200) // 8 MB
	junk := strings.Repeat("not a log line at all\n", 100)
	for _, c := range []struct {
		name    string
		content string
		moment  int
		slack   int // bytes that are read although they might have been skipped
		read    int // bytes that may be looked at
	}{
		{"empty file", "", 5, 0, 0},
		{"one line, older", "1 a\n", 5, 0, 4},
		{"one line, wanted", "7 a\n", 5, 0, 4},
		{"smaller than a piece", numberedLog(0, 100, 200), 50, piece, piece},
		{"all older", long, 1_000_000, piece, 70 * piece},
		{"none older", long, 0, 0, piece},
		{"first line only", long, 1001, piece, piece},
		{"in the middle", long, 20_000, 2 * piece, 70 * piece},
		{"last line only", long, 40_999, 2 * piece, 70 * piece},
		{"no line feed at the end", strings.TrimSuffix(long, "\n"), 40_999, 2 * piece, 70 * piece},
		{"half a number at the end", long + "4", 41_000, 2 * piece, 70 * piece},
		{"junk around the moment", numberedLog(0, 20_000, 200) + junk + numberedLog(30_000, 20_000, 200), 25_000, 2 * piece, 70 * piece},
		{"junk in the middle", numberedLog(0, 10_000, 200) + strings.Repeat(junk, 2000) + numberedLog(10_000, 10_000, 200), 15_000, 2 * piece, 80 * mega},
		{"junk at the beginning", junk + long, 30_000, 2 * piece, 70 * piece},
		{"junk at the end", long + strings.Repeat(junk, 2000), 30_000, 2 * piece, 60 * mega},
		{"nothing but junk", strings.Repeat(junk, 3_000), 5, 7 * mega, 3 * mega},
		{"CRLF", strings.ReplaceAll(long, "\n", "\r\n"), 20_000, 2 * piece, 70 * piece},
		{"too long lines", numberedLog(0, 20, 200) + numberedLog(20, 20, 1_500_000), 30, 40 * mega, 80 * mega},
		{"lines of 1 MB", numberedLog(0, 30, 1_000_000), 17, 2 * mega, 64 * mega},
		{"a line of 3 MB in the middle", numberedLog(0, 10_000, 200) + numberedLine(10_000, 3_000_000) + numberedLog(10_001, 10_000, 200), 15_000, 2 * piece, 70 * mega},
		{"rotations joined newest first", numberedLog(50_000, 10_000, 200) + numberedLog(0, 10_000, 200), 55_000, 2 * piece, 70 * piece},
		{"one stamp far back", numberedLog(0, 10_000, 200) + "3 \n" + numberedLog(10_000, 10_000, 200), 9_000, 2 * piece, 70 * piece},
		{"no line feed at all", strings.Repeat("z", 9*mega), 5, 9 * mega, 3 * mega},
	} {
		t.Run(c.name, func(t *testing.T) {
			start, read := seekIn(c.content, c.moment)
			first := firstAt(c.content, c.moment)
			if start > 0 && c.content[start-1] != '\n' {
				t.Errorf("reading begins at %d, in the middle of a line", start)
			}
			if start > first {
				t.Errorf("reading begins at %d, behind the first wanted line at %d", start, first)
			}
			if start < first-c.slack {
				t.Errorf("reading begins at %d, long before the first wanted line at %d", start, first)
			}
			if read > c.read {
				t.Errorf("looked at %d bytes, want at most %d", read, c.read)
			}
		})
	}
}

// However the lines lie, as long as they are nearly sorted and the moment is moved back by as much: no wanted line is
// skipped, and reading begins at a line.
func TestSkipToNeverSkipsAWantedLine(t *testing.T) {
	testneeds.Rapid(t, func(r *rapid.T) {
		random := testneeds.Rand(t, rapid.Uint64().Draw(r, "seed"), 0)
		length := rapid.SampledFrom([]int{20, 200, 5_000, 100_000}).Draw(r, "length")
		lines := rapid.IntRange(1, 1_000_000/length).Draw(r, "lines")
		jitter := rapid.IntRange(0, 50).Draw(r, "jitter")
		junk := rapid.Float64Range(0, 1).Draw(r, "junk")
		var b strings.Builder
		for i := range lines {
			if random.Float64() < junk {
				b.WriteString(strings.Repeat("junk", 1+random.IntN(length)))
				b.WriteByte('\n')
			}
			b.WriteString(numberedLine(i+random.IntN(jitter+1), 10+random.IntN(length)))
		}
		content := b.String()
		moment := rapid.IntRange(0, lines+jitter).Draw(r, "moment")
		start, _ := seekIn(content, moment-jitter)
		if start > 0 && content[start-1] != '\n' {
			r.Fatalf("reading begins at %d, in the middle of a line", start)
		}
		if first := firstAt(content, moment); start > first {
			r.Fatalf("reading begins at %d, behind a wanted line at %d", start, first)
		}
	})
}

// A look that gives up in the middle of a line must not take its beginning for a line.
func TestLookIgnoresHalfALine(t *testing.T) {
	junk := strings.Repeat("junk\n", (seekLimit-50)/5)
	content := junk + numberedLine(1, 200)
	s := seeker{file: strings.NewReader(content), size: int64(len(content)), before: olderThan(5)}
	if saw, _ := s.look(0, s.size); saw != nothing {
		t.Errorf("saw %v", saw)
	}
}

// Forty times the file, a few more looks.
func TestSkipToReadsLogarithmically(t *testing.T) {
	small, large := numberedLog(0, 10_000, 200), numberedLog(0, 400_000, 200)
	_, few := seekIn(small, 9_000)
	_, more := seekIn(large, 390_000)
	if more > few+20*seekPiece {
		t.Errorf("looked at %d bytes of %d, and at %d of %d", few, len(small), more, len(large))
	}
}

func TestReadingAfterSkipTo(t *testing.T) {
	content := numberedLog(1000, 40_000, 200)
	in := openInput(t, writeFile(t, "access.log", []byte(content)), nil)
	if _, err := in.Peek(); err != nil {
		t.Fatal(err)
	}
	if err := in.SkipTo(olderThan(20_000)); err != nil {
		t.Fatal(err)
	}
	skipped := in.Consumed()
	if skipped == 0 {
		t.Fatal("nothing skipped")
	}
	var got []byte
	var b Block
	for in.Next(&b) == nil {
		if b.Offset != skipped+int64(len(got)) {
			t.Fatalf("block at offset %d, want %d", b.Offset, skipped+int64(len(got)))
		}
		got = append(got, b.Data...)
	}
	if string(got) != content[skipped:] || in.Consumed() != in.Size() {
		t.Errorf("read something else; consumed %d of %d", in.Consumed(), in.Size())
	}
	if err := in.SkipTo(olderThan(20_000)); err == nil {
		t.Error("SkipTo after Next is let pass")
	}
}

func TestSkipToLeavesTheRestAlone(t *testing.T) {
	content := []byte(numberedLog(1000, 40_000, 200))
	for name, in := range map[string]*Input{
		"gzip":        openInput(t, writeFile(t, "access.log", gzipped(t, content)), nil),
		"stdin":       openInput(t, "-", bytes.NewReader(content)),
		"none before": openInput(t, writeFile(t, "access.log", content), nil),
	} {
		moment := 20_000
		if name == "none before" {
			moment = 0
		}
		if _, err := in.Peek(); err != nil {
			t.Errorf("%s: Peek: %v", name, err)
		}
		if err := in.SkipTo(olderThan(moment)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if readAll(t, in) != string(content) {
			t.Errorf("%s: read something else", name)
		}
	}
}
