package logfile

import (
	"bytes"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// writeFile makes a file in a fresh directory.
func writeFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func openInput(t testing.TB, name string, stdin io.Reader) *Input {
	t.Helper()
	in, err := OpenInput(name, stdin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

// readAll joins all blocks, and checks that they lie where they say. It does not know of lines that were cut.
func readAll(t testing.TB, in *Input) string {
	t.Helper()
	var all []byte
	for b := (Block{}); ; {
		err := in.Next(&b)
		if err == io.EOF {
			return string(all)
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.Offset != int64(len(all)) {
			t.Fatalf("block at offset %d, want %d", b.Offset, len(all))
		}
		all = append(all, b.Data...)
	}
}

func manyLines(n int) []byte {
	return []byte(strings.Repeat("192.0.2.1 - - [10/Oct/2025:13:55:36 +0000] \"GET / HTTP/1.1\" 200 2326\n", n))
}

// A byte order mark is no part of the first line, however the log is stored, nor are zeros, however many.
func TestByteOrderMarkIsSkipped(t *testing.T) {
	for _, before := range [][]byte{ByteOrderMark, make([]byte, 3), make([]byte, 5*peekSize), make([]byte, 2*blockSize+1)} {
		skipsBefore(t, before)
	}
}

func skipsBefore(t *testing.T, before []byte) {
	for _, lines := range [][]byte{manyLines(3), logLike(t, 3*peekSize), nil, []byte("\xef\xbb")} {
		content := slices.Concat(before, lines)
		for compression, compress := range compressors {
			stored := compress(t, content)
			for way, in := range map[string]*Input{
				"file":  openInput(t, writeFile(t, "access.log", stored), nil),
				"stdin": openInput(t, "-", iotest.HalfReader(bytes.NewReader(stored))),
			} {
				if head, err := in.Peek(); err != nil || !bytes.HasPrefix(lines, head) || len(head) == 0 != (len(lines) == 0) {
					t.Errorf("%s %s: Peek gives %.20q, %v", compression, way, head, err)
				}
				var all []byte
				var b Block
				err := in.Next(&b)
				if err == nil && b.Offset != int64(len(before)) {
					t.Errorf("%s %s: the first block is at offset %d", compression, way, b.Offset)
				}
				for ; err == nil; err = in.Next(&b) {
					all = append(all, b.Data...)
				}
				if err != io.EOF || !bytes.Equal(all, lines) {
					t.Errorf("%s %s: read %d bytes beginning %.20q, %v; want %d", compression, way, len(all), all, err, len(lines))
				}
			}
		}
	}
}

// Every way to store a log, as a file and piped in: Peek shows its beginning, Next gives all of it.
func TestInputIsPeekedAtAndRead(t *testing.T) {
	lines := logLike(t, 3*peekSize)
	for compression, compress := range compressors {
		stored := compress(t, lines)
		path := writeFile(t, "access.log", stored)
		for way, in := range map[string]*Input{
			"file":  openInput(t, path, nil),
			"stdin": openInput(t, "-", bytes.NewReader(stored)),
		} {
			for range 2 {
				head, err := in.Peek()
				if err != nil || !bytes.HasPrefix(lines, head) || len(head) < peekSize-200 || head[len(head)-1] != '\n' {
					t.Errorf("%s %s: Peek gives %d bytes, %v", compression, way, len(head), err)
				}
				clear(head) // which Next must not notice
			}
			if in.Compression() != compression {
				t.Errorf("%s %s: Compression() = %q", compression, way, in.Compression())
			}
			if readAll(t, in) != string(lines) || in.Problem() != "" {
				t.Errorf("%s %s: read something else; problem %q", compression, way, in.Problem())
			}
			if in.Consumed() != int64(len(stored)) {
				t.Errorf("%s %s: consumed %d of %d", compression, way, in.Consumed(), len(stored))
			}
			var b Block
			if err := in.Next(&b); err != io.EOF {
				t.Errorf("%s %s: after the end: %v", compression, way, err)
			}
		}
	}
}

// What stands in the file comes out, whatever it is.
func TestInputPassesContentThrough(t *testing.T) {
	mega := strings.Repeat("m", 1_000_000)
	for name, content := range map[string]string{
		"empty":            "",
		"one line feed":    "\n",
		"half a last line": "one\ntwo\nthr",
		"CRLF":             "one\r\ntwo\r\n",
		"NUL bytes":        "one\x00two\n\x00\x00\n\x00",
		"binary rubbish":   "\x80\xff\xfe\n\x1b[31m\x7f\xc3\x28",
		"half a mark":      "\xef\xbbone\n",
		"a second mark":    "one\n\xef\xbb\xbftwo\n",
		"lines of 1 MB":    mega + "\n" + mega + "\n" + mega,
		"longest line":     strings.Repeat("l", MaxLine) + "\nshort\n",
		"half a magic":     "\x1f",
	} {
		in := openInput(t, writeFile(t, "access.log", []byte(content)), nil)
		head, err := in.Peek()
		if err != nil || !strings.HasPrefix(content, string(head)) || len(head) == 0 && content != "" {
			t.Errorf("%s: Peek gives %.20q, %v", name, head, err)
		}
		if got := readAll(t, in); got != content || in.Problem() != "" {
			t.Errorf("%s: got %d bytes of %d; problem %q", name, len(got), len(content), in.Problem())
		}
		if piped := readAll(t, openInput(t, "-", strings.NewReader(content))); piped != content {
			t.Errorf("%s, piped in: got %d bytes of %d", name, len(piped), len(content))
		}
	}
}

// A line of 3 MB comes as one line of MaxLine+1 bytes, between its neighbours, and memory stays small.
func TestInputCutsALineThatIsTooLong(t *testing.T) {
	content := "before\n" + strings.Repeat("x", 3_000_000) + "\nafter\n" + strings.Repeat("y", 2_000_000)
	want := slowLines(content, MaxLine)
	for compression, compress := range compressors {
		in := openInput(t, writeFile(t, "access.log", compress(t, []byte(content))), nil)
		var got []placedLine
		for b := (Block{}); in.Next(&b) == nil; {
			offset := b.Offset
			for line := range bytes.Lines(b.Data) {
				got = append(got, placedLine{strings.TrimSuffix(string(line), "\n"), offset})
				offset += int64(len(line))
			}
			if cap(b.Data) > 2*MaxLine {
				t.Errorf("%s: a buffer of %d bytes", compression, cap(b.Data))
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d lines, want %d", compression, len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: line %d: %d bytes at offset %d, want %d at %d", compression, i+1,
					len(got[i].text), got[i].offset, len(want[i].text), want[i].offset)
			}
		}
	}
}

func TestIdentityIsOfBothEndsOnDisk(t *testing.T) {
	fnv1a := func(b []byte) uint64 {
		h := fnv.New64a()
		h.Write(b)
		return h.Sum64()
	}
	lines := manyLines(10_000)
	compressed := gzipped(t, logLike(t, 100_000))
	for name, stored := range map[string][]byte{"empty": nil, "short": []byte("one\ntwo\n"), "plain": lines, "gzip": compressed} {
		size, head, tail := openInput(t, writeFile(t, "access.log", stored), nil).Identity()
		wantHead, wantTail := fnv1a(stored[:min(4096, len(stored))]), fnv1a(stored[max(len(stored)-4096, 0):])
		if size != int64(len(stored)) || head != wantHead || tail != wantTail {
			t.Errorf("%s: Identity() = %d, %x, %x; want %d, %x, %x", name, size, head, tail, len(stored), wantHead, wantTail)
		}
	}
	if size, head, tail := openInput(t, "-", bytes.NewReader(lines)).Identity(); size != -1 || head != 0 || tail != 0 {
		t.Errorf("standard input: Identity() = %d, %x, %x", size, head, tail)
	}
	if got := fnv1a([]byte("foobar")); got != 0x85944171f73967e8 { // FNV test suite, Landon Curt Noll
		t.Errorf("FNV-1a of foobar is %x", got)
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	content := manyLines(600_000) // 42 MB: many blocks
	for compression, stored := range map[string][]byte{"": content, "gzip": gzipped(t, content), "zstd": zstded(t, content)} {
		in := openInput(t, writeFile(t, "access.log", stored), nil)
		var b Block
		for range 20 {
			in.Next(&b)
		}
		n := testing.AllocsPerRun(20, func() {
			if err := in.Next(&b); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("%q: %v allocations a block", compression, n)
		}
	}
}
