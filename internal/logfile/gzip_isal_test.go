//go:build isal && cgo && linux

package logfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// most is the number of bytes that a test reads of a file.
const most = 1 << 20

// unpack reads a gzip file through a buffer of so many bytes, in reads of size bytes.
func unpack(member gzipMember, stored []byte, buffered, size int) (content []byte, failed string) {
	raw := bufio.NewReaderSize(bytes.NewReader(stored), buffered)
	g := &gzipReader{member, raw}
	if err := member.reset(raw); err != nil {
		return nil, err.Error()
	}
	defer g.Close()
	room := make([]byte, size)
	for len(content) < most {
		n, err := g.Read(room)
		content = append(content, room[:n]...)
		var corrupt flate.CorruptInputError
		var internal flate.InternalError
		switch {
		case errors.As(err, &corrupt), errors.As(err, &internal):
			return content, "corrupt" // the libraries disagree by some bytes about the place, and about what it is
		case err != nil:
			return content, err.Error()
		}
	}
	return content[:most], ""
}

// endsEarly reports whether a file is damaged or cut short.
func endsEarly(failed string) bool {
	return failed == "corrupt" || failed == io.ErrUnexpectedEOF.Error() || failed == gzip.ErrChecksum.Error()
}

// compareLibraries has both libraries read a gzip file. Where that ends early, ISA-L may read a little further. Where it
// is damaged in several places, sameError is false: each library may find another one first, and of some
// blocks Go gave a few bytes and ISA-L none.
func compareLibraries(t *testing.T, stored []byte, buffered, size int, sameError bool) {
	t.Helper()
	want, wantFailed := unpack(new(goMember), stored, buffered, size)
	got, failed := unpack(new(isalMember), stored, buffered, size)
	same := failed == wantFailed && bytes.Equal(got, want)
	alike := endsEarly(failed) && endsEarly(wantFailed) && (failed == wantFailed || !sameError) &&
		(bytes.HasPrefix(got, want) || !sameError && failed == "corrupt" && bytes.HasPrefix(want, got))
	if !same && !alike {
		t.Errorf("%d bytes, %d buffered, %d at once: %d bytes, %q; in Go %d bytes, %q",
			len(stored), buffered, size, len(got), failed, len(want), wantFailed)
	}
}

// gzipFiles returns files of all kinds: whole, of several members, with something behind them, cut short, damaged.
func gzipFiles(t tb) [][]byte {
	log := manyLines(100)
	var files [][]byte
	for _, content := range [][]byte{nil, []byte("a"), log, bytes.Repeat([]byte("a"), 1<<18)} {
		for level := gzip.HuffmanOnly; level <= gzip.BestCompression; level++ {
			var b bytes.Buffer
			w, err := gzip.NewWriterLevel(&b, level)
			if err != nil {
				t.Fatal(err)
			}
			w.Name = "access.log"
			w.Write(content)
			w.Flush()
			w.Close()
			files = append(files, b.Bytes())
		}
	}
	files = append(files, command(t, log, "gzip", "-c", "-1"), command(t, log, "gzip", "-c", "-9"))
	whole := files[len(files)-1]
	for _, behind := range []string{"\x00", "x", "\x1f\x8b", "\x00\x00rubbish", string(whole), strings.Repeat(string(files[4]), 3)} {
		files = append(files, append(bytes.Clone(whole), behind...))
	}
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x10
		files = append(files, whole[:i], damaged)
	}
	return files
}

// Both libraries give the same bytes and the same errors.
func TestIsalIsLikeGo(t *testing.T) {
	for i, file := range gzipFiles(t) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			for _, sizes := range [][2]int{{16, 1}, {100, 77}, {readBuffer, 600_000}} {
				compareLibraries(t, file, sizes[0], sizes[1], true)
			}
		})
	}
}

func TestIsalCloses(t *testing.T) {
	m := new(isalMember)
	if err := m.reset(bufio.NewReader(bytes.NewReader(gzipped(t, manyLines(10))))); err != nil {
		t.Fatal(err)
	}
	if n, err := m.Read(make([]byte, 5)); n != 5 || err != nil {
		t.Fatal(n, err)
	}
	for range 2 {
		m.Close()
		if n, err := m.Read(make([]byte, 5)); n != 0 || !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%d bytes, %v after Close", n, err)
		}
	}
}

func FuzzIsalIsLikeGo(f *testing.F) {
	for _, file := range gzipFiles(f)[:60] {
		f.Add(file, uint16(100), uint16(1000))
	}
	f.Add([]byte("\x1f\x8b\b\b000000\x00\x040\x10\x040\xd9\xfbZC2I70\xfb92782Y71212a10"), uint16(100), uint16(1000))
	f.Add([]byte("\x1f\x8b\b\b0000000000000\x00\xec̱\r\x021\x10Dќ*F\x97\xa2\xf3\xcez#'p\x8e #0\x19\"\xa2\x05Z\x17e$\xfc22"+
		strings.Repeat("0", 63)), uint16(100), uint16(1000)) // of whose damaged end ISA-L gives two bytes less
	f.Fuzz(func(t *testing.T, file []byte, buffered, size uint16) {
		compareLibraries(t, file, int(buffered), int(size)+1, false)
	})
}
